// Package credentials finds the secrets that servers, images and tools want: in the environment, else in .env, else
// from a person.
//
// In: a folder, the environment, and a function that asks a person. Out: the key of a server. A secret is in no error
// and no message. The package must not know terminals.
package credentials

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/joho/godotenv"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/rootfs"
)

// Variables in which secrets are.
const (
	HFToken   = "HF_TOKEN"
	OpenAIKey = "OPENAI_API_KEY"
	JWTSecret = "JWT_SECRET"
	apiKey    = "API_KEY"
)

// File is .env in a folder.
type File struct {
	Warning string // that others can read it; "" when they cannot
	values  map[string]string
}

// Open reads .env, which holds secrets and nothing else that is used here. A file that does not exist has none.
func Open(dir string) (File, error) {
	name := filepath.Join(dir, ".env")
	data, err := rootfs.ReadFile(name, 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return File{}, nil
	case err != nil:
		return File{}, err
	}
	values, err := godotenv.UnmarshalBytes(data)
	if err != nil {
		// Its own error quotes the line, which is a secret.
		return File{}, fmt.Errorf("%s: expected lines of NAME=value", name)
	}
	for name, v := range values {
		redact.KnowEnvironment([]string{name + "=" + v})
	}
	f := File{values: values}
	if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
		f.Warning = fmt.Sprintf("%s can be read by others (mode %04o); chmod 600 %s", name, info.Mode().Perm(), name)
	}
	return f, nil
}

// Get is a variable of the environment, else of the file; "" for one that is not set.
func (f File) Get(name string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return f.values[name]
}

// Source says where a variable is set: "the environment", ".env", or "" for nowhere.
func (f File) Source(name string) string {
	switch {
	case os.Getenv(name) != "":
		return "the environment"
	case f.values[name] != "":
		return ".env"
	}
	return ""
}

// Ask lets a person type a secret; ok is false where there is nobody, or nothing was typed.
type Ask func(name, why string) (value string, ok bool)

// Key is the API key of a server: [OpenAIKey], or a token made from [JWTSecret]. It is "" where none is set. A
// Tenstorrent image that is started gets its secrets from .env (image is true); for those that are nowhere, a person is
// asked.
func (f File) Key(image bool, ask Ask) (string, error) {
	for _, name := range []string{HFToken, JWTSecret} {
		if !image || f.Get(name) != "" {
			continue
		}
		typed, ok := ask(name, "the image wants "+name)
		if !ok {
			continue
		}
		if err := os.Setenv(name, typed); err != nil { // it may not have been saved, and the container needs it
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	key, secret := f.Get(OpenAIKey), f.Get(JWTSecret)
	if key == "" && secret != "" {
		// The token that tt-inference-server's vLLM image expects: HS256 over a fixed claim (RFC 7519, its setup_host.py).
		enc := base64.RawURLEncoding
		const header, claim = `{"alg":"HS256","typ":"JWT"}`, `{"team_id":"tenstorrent","token_id":"debug-test"}`
		key = enc.EncodeToString([]byte(header)) + "." + enc.EncodeToString([]byte(claim))
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(key)) // never fails
		key += "." + enc.EncodeToString(mac.Sum(nil))
	}
	return cmp.Or(key, f.Get(apiKey)), nil
}

// ExportToken sets [HFToken] from the file in this process's environment, for tools that are started. The container of
// a server gets its own.
func (f File) ExportToken() error {
	if v := f.values[HFToken]; v != "" && os.Getenv(HFToken) == "" {
		return os.Setenv(HFToken, v)
	}
	return nil
}

// Save appends a secret to .env, which is made with mode 0600.
func Save(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".env"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s=%s\n", name, value)
	return errors.Join(err, f.Close())
}
