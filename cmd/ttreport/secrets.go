package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// dotenv reads NAME=VALUE lines of .env, which holds secrets and nothing else that we use. A file that others can read is a warning.
func dotenv(dir string) (values map[string]string, warning string, err error) {
	name := filepath.Join(dir, ".env")
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf(".env: %w", err)
	}
	if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
		warning = fmt.Sprintf("%s can be read by others (mode %04o); chmod 600 %s", name, info.Mode().Perm(), name)
	}
	values = map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		values[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	return values, warning, nil
}

// jwt is the token that tt-inference-server's vLLM image expects: HS256 over a fixed claim (RFC 7519, its setup_host.py).
func jwt(secret string) (string, error) {
	enc := base64.RawURLEncoding
	head := enc.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc.EncodeToString([]byte(`{"team_id":"tenstorrent","token_id":"debug-test"}`))
	mac := hmac.New(sha256.New, []byte(secret))
	if _, err := mac.Write([]byte(head)); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return head + "." + enc.EncodeToString(mac.Sum(nil)), nil
}
