package credentials

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes .env into a folder.
func write(t *testing.T, dir, text string, mode os.FileMode) {
	t.Helper()
	name := filepath.Join(dir, ".env")
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// unset takes all secrets out of the environment.
func unset(t *testing.T) {
	t.Helper()
	for _, name := range []string{HFToken, OpenAIKey, JWTSecret, apiKey} {
		t.Setenv(name, "")
	}
}

// .env is read as shells and compose files write it; a file that others can read is a warning, and an error never
// quotes a secret.
func TestOpen(t *testing.T) {
	unset(t)
	dir := t.TempDir()
	if f, err := Open(dir); f.values != nil || f.Warning != "" || err != nil {
		t.Errorf("no file: %+v %v", f, err)
	}
	write(t, dir, "# keys\nexport HF_TOKEN='a b'\nJWT_SECRET=x # mine\nEMPTY=\nQ=\"c\"\n", 0o600)
	f, err := Open(dir)
	if err != nil || f.Warning != "" || f.Get("HF_TOKEN") != "a b" || f.Get("JWT_SECRET") != "x" || f.Get("Q") != "c" {
		t.Errorf("%+v %v", f, err)
	}
	write(t, dir, "A=b\n", 0o644)
	if f, err = Open(dir); err != nil || !strings.Contains(f.Warning, "mode 0644") {
		t.Errorf("%+v %v", f, err)
	}
	write(t, dir, "sk-planted-secret\n", 0o600)
	if _, err = Open(dir); err == nil || strings.Contains(err.Error(), "planted") {
		t.Errorf("a line that is no variable: %v", err)
	}
}

// The environment comes before the file.
func TestSource(t *testing.T) {
	unset(t)
	f := File{values: map[string]string{OpenAIKey: "file"}}
	if f.Source(OpenAIKey) != ".env" || f.Source(JWTSecret) != "" || f.Get(OpenAIKey) != "file" {
		t.Error("a variable of .env is not found")
	}
	t.Setenv(OpenAIKey, "environment")
	if f.Source(OpenAIKey) != "the environment" || f.Get(OpenAIKey) != "environment" {
		t.Error("the environment does not come first")
	}
}

// A key is what is set, else a token made from a secret; a person is asked for what an image lacks, and for nothing
// else.
func TestKey(t *testing.T) {
	unset(t)
	typed := map[string]string{HFToken: "hf", JWTSecret: "typed"}
	for _, c := range []struct {
		values map[string]string
		image  bool
		want   string // "signed:SECRET" for a token
		asked  string
	}{
		{nil, false, "", ""},
		{map[string]string{OpenAIKey: "k", JWTSecret: "s", apiKey: "a"}, false, "k", ""},
		{map[string]string{JWTSecret: "s", apiKey: "a"}, false, "signed:s", ""},
		{map[string]string{apiKey: "a"}, false, "a", ""},
		{nil, true, "signed:typed", "HF_TOKEN JWT_SECRET"},
		{map[string]string{HFToken: "h"}, true, "signed:typed", "JWT_SECRET"},
		{map[string]string{HFToken: "h", JWTSecret: "s"}, true, "signed:s", ""},
	} {
		unset(t)
		var asked []string
		got, err := File{values: c.values}.Key(c.image, func(name, _ string) (string, bool) {
			asked = append(asked, name)
			return typed[name], typed[name] != ""
		})
		if secret, ok := strings.CutPrefix(c.want, "signed:"); ok {
			if !signedBy(t, got, secret) {
				t.Errorf("%+v: %q is not a token signed by %q", c.values, got, secret)
			}
		} else if got != c.want {
			t.Errorf("%+v: %q, want %q", c.values, got, c.want)
		}
		for _, name := range asked { // what was typed reaches the container by the environment
			if os.Getenv(name) != typed[name] {
				t.Errorf("%+v: %s is %q in the environment", c.values, name, os.Getenv(name))
			}
		}
		if err != nil || strings.Join(asked, " ") != c.asked {
			t.Errorf("%+v: asked for %v, %v", c.values, asked, err)
		}
	}
}

// signedBy checks a token as a server does.
func signedBy(t *testing.T, token, secret string) bool {
	t.Helper()
	at := strings.LastIndex(token, ".")
	if at < 0 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(token[:at]))
	return token[at+1:] == base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// A secret is kept for its owner alone, beside those that are there.
func TestSave(t *testing.T) {
	unset(t)
	dir := t.TempDir()
	for _, name := range []string{HFToken, JWTSecret} {
		if err := Save(dir, name, "v-"+name); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(dir)
	if err != nil || f.Warning != "" || f.Get(HFToken) != "v-HF_TOKEN" || f.Get(JWTSecret) != "v-JWT_SECRET" {
		t.Errorf("%+v %v", f, err)
	}
}

// What a tool is started with has the token of .env, unless the environment has one.
func TestExportToken(t *testing.T) {
	unset(t)
	f := File{values: map[string]string{HFToken: "file"}}
	if err := f.ExportToken(); err != nil || os.Getenv(HFToken) != "file" {
		t.Errorf("%q %v", os.Getenv(HFToken), err)
	}
	t.Setenv(HFToken, "mine")
	if err := f.ExportToken(); err != nil || os.Getenv(HFToken) != "mine" {
		t.Errorf("%q %v", os.Getenv(HFToken), err)
	}
}
