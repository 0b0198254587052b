package spec

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A checkout is read from its newest file; a folder without one, a file without specifications and a path that does not
// exist are errors that say so.
func TestImport(t *testing.T) {
	dir := t.TempDir()
	const text = `{"a":{"model_name":"M","hf_model_repo":"acme/M",` +
		`"device_model_spec":{"device":"N150","max_concurrency":32,"max_context":4096}}}`
	for name, data := range map[string]string{"model_spec.json": `{}`, "release_model_spec.json": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var f File
	if n, err := f.Import(dir); n != 1 || err != nil || len(f.Models) != 1 || f.Models[0].Device != "n150" {
		t.Errorf("%d %v %+v", n, err, f)
	}
	var out strings.Builder
	if err := f.Write(&out); err != nil || !strings.Contains(out.String(), "M      n150          4096     32") {
		t.Errorf("%v\n%s", err, out.String())
	}
	for name, want := range map[string]error{
		filepath.Join(dir, "model_spec.json"): ErrNoSpec,
		filepath.Join(dir, "missing"):         fs.ErrNotExist,
		t.TempDir():                           ErrNoSpecFile,
	} {
		if _, err := f.Import(name); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
