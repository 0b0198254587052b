package collect

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// An interrupted run is resumed on the node's own disk and replaces what it was; readers never see half of it.
func TestStage(t *testing.T) {
	results, scratch := t.TempDir(), t.TempDir()
	write(t, results+"/r1/journal.jsonl", "old\n")
	write(t, results+"/r1/raw/a.json", "1")
	write(t, results+"/"+staged+"/r1/journal.jsonl", "half of an attempt that was killed")
	write(t, results+"/notes.txt", "not a run")
	dir, put, err := Stage(scratch, results)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(dir + "/r1/raw/a.json"); err != nil || string(data) != "1" {
		t.Fatalf("%v %s", err, data)
	}
	write(t, dir+"/r1/journal.jsonl", "old\nnew\n")
	write(t, dir+"/r1/raw/b.json", "2")
	write(t, dir+"/r2/journal.jsonl", "another\n")
	if err := put(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"r1/journal.jsonl": "old\nnew\n", "r1/raw/a.json": "1", "r1/raw/b.json": "2", "r2/journal.jsonl": "another\n",
		"notes.txt": "not a run",
	} {
		if data, err := os.ReadFile(filepath.Join(results, name)); err != nil || string(data) != want {
			t.Errorf("%s: %v %q", name, err, data)
		}
	}
	if left, _ := filepath.Glob(scratch + "/*"); len(left) > 0 {
		t.Errorf("left on the node: %v", left)
	}
	if _, err := os.Stat(filepath.Join(results, staged)); err == nil {
		t.Error("the folder for what is on its way is left")
	}
}

// Where results cannot be moved they stay on the node, and the error says where.
func TestStageKeepsWhatCannotBeMoved(t *testing.T) {
	results, scratch := filepath.Join(t.TempDir(), "results"), t.TempDir()
	write(t, results+"/x", "")
	dir, put, err := Stage(scratch, results)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/r1/journal.jsonl", "measured\n")
	if err := os.RemoveAll(results); err != nil {
		t.Fatal(err)
	}
	write(t, results, "a file is where the folder was")
	if err := put(); err == nil {
		t.Fatal("no error")
	}
	if data, err := os.ReadFile(dir + "/r1/journal.jsonl"); err != nil || string(data) != "measured\n" {
		t.Errorf("%v %q", err, data)
	}
	if _, _, err := Stage("/nowhere", results); err == nil {
		t.Error("a scratch folder that is not there")
	}
}
