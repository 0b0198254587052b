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

	"github.com/joho/godotenv"
	"golang.org/x/term"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
)

// dotenv reads the variables of .env, which holds secrets and nothing else that we use. A file that others can read is
// a warning.
func dotenv(dir string) (values map[string]string, warning string, err error) {
	name := filepath.Join(dir, ".env")
	values, err = godotenv.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		// Its own error quotes the line, which is a secret.
		return nil, "", fmt.Errorf("%s: expected lines of NAME=value", name)
	}
	if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
		warning = fmt.Sprintf("%s can be read by others (mode %04o); chmod 600 %s", name, info.Mode().Perm(), name)
	}
	return values, warning, nil
}

// jwt is the token that tt-inference-server's vLLM image expects: HS256 over a fixed claim (RFC 7519, its
// setup_host.py).
func jwt(secret string) (string, error) {
	enc := base64.RawURLEncoding
	const header, claim = `{"alg":"HS256","typ":"JWT"}`, `{"team_id":"tenstorrent","token_id":"debug-test"}`
	head := enc.EncodeToString([]byte(header)) + "." + enc.EncodeToString([]byte(claim))
	mac := hmac.New(sha256.New, []byte(secret))
	if _, err := mac.Write([]byte(head)); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return head + "." + enc.EncodeToString(mac.Sum(nil)), nil
}

// secrets are variables of the environment, else of .env.
type secrets map[string]string

func (s secrets) get(name string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return s[name]
}

// key is the API key of the server: OPENAI_API_KEY, or a token made from JWT_SECRET, from the environment or .env. A
// Tenstorrent image that is started gets its secrets from .env; where they are nowhere, a person at the terminal is
// asked.
func (o collectOptions) key(sh *shell, ws *workspace.Workspace) (string, error) {
	if o.Server.Name.Kind == plan.ServerSim {
		return "", nil
	}
	file, warning, err := dotenv(ws.Dir)
	if err != nil {
		return "", failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
	}
	if warning != "" {
		sh.say("warning: %s", warning)
	}
	known := secrets(file)
	if v := file["HF_TOKEN"]; v != "" && os.Getenv("HF_TOKEN") == "" { // for tools; a server's container gets its own
		if err := os.Setenv("HF_TOKEN", v); err != nil {
			return "", fmt.Errorf("collect: %w", err)
		}
	}
	secret := known.get("JWT_SECRET")
	if o.Server.Name.Kind == plan.ServerDocker && server.IsTenstorrent(o.System.Device) && !o.Server.NoAuth && !o.dryRun {
		if known.get("HF_TOKEN") == "" {
			ask(sh, ws, "HF_TOKEN", "the image wants HF_TOKEN")
		}
		if secret == "" {
			secret, _ = ask(sh, ws, "JWT_SECRET", "the image wants JWT_SECRET")
		}
	}
	if k := known.get("OPENAI_API_KEY"); k != "" {
		return k, nil
	}
	if secret != "" {
		return jwt(secret)
	}
	return known.get("API_KEY"), nil
}

// ask lets a person type a secret that is not echoed, and offers to keep it in .env. Where nobody can type, nothing is
// asked.
func ask(sh *shell, ws *workspace.Workspace, name, why string) (value string, asked bool) {
	in, ok := sh.in.(*os.File)
	if !ok || !isTTY(int(in.Fd())) || !isTerminal(sh.err) {
		return "", false
	}
	fmt.Fprintf(sh.err, "%s. %s (not shown, empty for none): ", why, name)
	typed, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(sh.err)
	if value = strings.TrimSpace(string(typed)); err != nil || value == "" {
		return "", false
	}
	fmt.Fprintf(sh.err, "save it in .env, readable by you alone? [y/N] ")
	var answer string
	if _, err := fmt.Fscanln(in, &answer); err == nil && strings.HasPrefix(strings.ToLower(answer), "y") {
		if err := keepSecret(ws.Dir, name, value); err != nil {
			sh.say("warning: it was not saved: %v", err)
		}
	}
	return value, true
}

// keepSecret appends a secret to .env, which is made with mode 0600.
func keepSecret(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".env"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s=%s\n", name, value)
	return errors.Join(err, f.Close())
}
