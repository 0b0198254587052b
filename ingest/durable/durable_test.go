package durable_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ttreport/ttreport/ingest/durable"
)

func TestWriteFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new", "folder", "a.txt")
	for _, text := range []string{"first", "second, which is longer", ""} {
		if err := durable.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if !durable.Holds(name, []byte(text)) {
			t.Errorf("the file does not hold %q", text)
		}
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v: a web server must be able to read it", info.Mode(), err)
	}
}

func TestWriteChanged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.txt")
	for _, c := range []struct {
		text    string
		changed bool
	}{{"a", true}, {"a", false}, {"b", true}} {
		if changed, err := durable.WriteChanged(name, []byte(c.text)); err != nil || changed != c.changed {
			t.Errorf("writing %q: changed %t, %v", c.text, changed, err)
		}
	}
}

// A file that cannot replace the old one leaves the old one, and no temporary file.
func TestFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(taken, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(taken, []byte("x")); err == nil {
		t.Error("a file took the place of a folder that is not empty")
	}
	if err := durable.WriteFile(filepath.Join(taken, "inside", "..", "..", "file", "a"), nil); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(filepath.Join(dir, "file", "a", "b"), []byte("x")); err == nil {
		t.Error("a file was written below a file")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A reader finds the old content or the new one, also while others write.
func TestReadersSeeWholeFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	a, b := bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<15)
	if err := durable.WriteFile(name, a); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, data := range [][]byte{a, b} {
		writers.Go(func() {
			for range 50 {
				if err := durable.WriteFile(name, data); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		if !durable.Holds(name, a) && !durable.Holds(name, b) {
			data, _ := os.ReadFile(name)
			if !bytes.Equal(data, a) && !bytes.Equal(data, b) {
				t.Fatalf("a half file of %d bytes", len(data))
			}
		}
	}
	writers.Wait()
}

// A record of which a byte is other than it was, or that ends early, is none.
func TestRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r")
	if got := durable.ReadRecord(name); got != nil {
		t.Errorf("%q without a file", got)
	}
	if err := durable.WriteRecord(name, []byte("what was built")); err != nil {
		t.Fatal(err)
	}
	if got := durable.ReadRecord(name); string(got) != "what was built" {
		t.Errorf("%q is read", got)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1
		for _, text := range [][]byte{bad, data[:i]} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := durable.ReadRecord(name); got != nil {
				t.Fatalf("byte %d: %q is read of what was damaged", i, got)
			}
		}
	}
}

// What another program wrote is flushed on every system, although Windows has no flush of folders and none of files
// that are open for reading.
func TestSync(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(name, []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := durable.Sync(name); err != nil {
		t.Error(err)
	}
	if err := durable.WriteSynced(name, []byte("b")); err != nil || !durable.Holds(name, []byte("b")) {
		t.Error(err)
	}
	if err := durable.Sync(name + ".none"); err == nil {
		t.Error("a file that is not there was flushed")
	}
}
