package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// .env is read as shells and compose files write it; a file that others can read is a warning, and an error never
// quotes a secret.
func TestDotenv(t *testing.T) {
	dir := t.TempDir()
	if values, warning, err := dotenv(dir); values != nil || warning != "" || err != nil {
		t.Errorf("no file: %v %q %v", values, warning, err)
	}
	name := filepath.Join(dir, ".env")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("# keys\nexport HF_TOKEN='a b'\nJWT_SECRET=x # mine\nEMPTY=\nQ=\"c\"\n", 0o600)
	values, warning, err := dotenv(dir)
	if err != nil || warning != "" || values["HF_TOKEN"] != "a b" || values["JWT_SECRET"] != "x" || values["Q"] != "c" {
		t.Errorf("%v %q %v", values, warning, err)
	}
	write("A=b\n", 0o644)
	if _, warning, err = dotenv(dir); err != nil || !strings.Contains(warning, "mode 0644") {
		t.Errorf("%q %v", warning, err)
	}
	write("sk-planted-secret\n", 0o600)
	if _, _, err = dotenv(dir); err == nil || strings.Contains(err.Error(), "planted") {
		t.Errorf("a line that is no variable: %v", err)
	}
}
