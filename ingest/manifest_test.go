package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

// A manifest applies to every folder below it, whichever folder is read; a nearer one takes precedence.
func TestManifestsAbove(t *testing.T) {
	top := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ttreport.manifest.yaml",
		"device: {name: n150}\nrelease: v1\nfiles:\n  - {glob: 'lab/*/x.json', stack: {engine: vllm}}\n")
	write("lab/inner/ttreport.manifest.yaml", "release: v2\n")
	write("lab/inner/x.json", serve(`"random_input_len":128,"random_output_len":32,`))
	for _, c := range []struct{ from, ask string }{
		{".", "."}, {".", "lab"}, {".", "lab/inner"}, {".", "lab/inner/x.json"}, {"lab", "."}, {"lab/inner", "."},
		{"lab/inner", "x.json"}, {"lab", "inner"}, {"lab/inner", ".."}, {".", top + "/lab"},
	} {
		t.Chdir(filepath.Join(top, c.from))
		root, err := ingest.OSRoot(c.ask)
		if err != nil {
			t.Fatal(err)
		}
		set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
		if err != nil || len(set.Runs) != 1 || len(set.Problems) != 0 {
			t.Fatalf("%s from %s: %v, %d runs, %v", c.ask, c.from, err, len(set.Runs), set.Problems)
		}
		r := set.Runs[0]
		if r.Device.Name != "n150" || r.Release != "v2" || r.Stack.Engine != "vllm" ||
			r.Provenance["device.name"].From != "manifest" {
			t.Errorf("%s from %s: device %q by %+v, release %q, engine %q", c.ask, c.from, r.Device.Name,
				r.Provenance["device.name"], r.Release, r.Stack.Engine)
		}
	}
}

// Above a workspace or a repository no manifest is looked for, and one of another user counts for nothing.
func TestForeignManifests(t *testing.T) {
	top := t.TempDir()
	manifest, results := filepath.Join(top, "ttreport.manifest.yaml"), filepath.Join(top, "ws", "results")
	if err := os.MkdirAll(results, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		manifest: "device: {name: n150}\n", filepath.Join(results, "x.json"): serve(`"random_input_len":128,`),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (device string, problems int) {
		root, err := ingest.OSRoot(results)
		if err != nil {
			t.Fatal(err)
		}
		set, err := ingest.Load(t.Context(), []ingest.Root{root}, ingest.Options{})
		if err != nil || len(set.Runs) != 1 {
			t.Fatal(err, len(set.Runs))
		}
		return set.Runs[0].Device.Name, len(set.Problems)
	}
	if device, _ := read(); device != "n150" {
		t.Fatalf("device %q", device)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(manifest, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		if device, problems := read(); device == "n150" || problems != 1 {
			t.Errorf("of another user: device %q, %d problems", device, problems)
		}
		_ = os.Chown(manifest, 0, 0)
	}
	for _, mark := range []string{"ttreport.yaml", ".git", "history"} {
		name := filepath.Join(top, "ws", mark)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if device, problems := read(); device == "n150" || problems != 0 {
			t.Errorf("above %s: device %q, %d problems", mark, device, problems)
		}
		_ = os.Remove(name)
	}
}
