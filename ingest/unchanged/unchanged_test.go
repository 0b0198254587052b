package unchanged_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/unchanged"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// A minute ago, so that what is written next has another time.
	if then := time.Now().Add(-time.Minute); os.Chtimes(name, then, then) != nil {
		t.Fatal("no time was set")
	}
}

// A record holds as long as files and options are what they were; its output stands as long as it is what was written.
func TestRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"in", "out"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	read, written := filepath.Join("in", "a.json"), filepath.Join("out", "index.html")
	write(t, read, "1")
	write(t, written, "page")
	in := unchanged.Input{Paths: []string{"in", "missing", ""}, Options: "device n150"}
	if _, ok := unchanged.Load("record.json", in); ok {
		t.Error("a record that was never kept")
	}
	unchanged.Save("record.json", in, unchanged.Record{
		Files: 1, Runs: 1, Output: unchanged.Output{Folder: "out", Options: "public", Files: 1, Headline: "PASS"},
	})
	r, ok := unchanged.Load("record.json", in)
	if !ok || r.Files != 1 || r.Output.Headline != "PASS" || !r.Stands("out", "public") {
		t.Errorf("%+v %v", r, ok)
	}
	if r.Stands("out", "") || r.Stands("elsewhere", "public") {
		t.Error("the output stands for other options or another folder")
	}
	other := in
	other.Options = "device n300"
	if _, ok := unchanged.Load("record.json", other); ok {
		t.Error("other options are the same input")
	}
	write(t, written, "page, changed")
	if r.Stands("out", "public") {
		t.Error("the output was changed and stands")
	}
	write(t, read, "12")
	if _, ok := unchanged.Load("record.json", in); ok {
		t.Error("a file was changed, and the input is the same")
	}
	unchanged.Save("record.json", in, unchanged.Record{Output: unchanged.Output{Folder: "gone"}})
	if _, err := os.Stat("record.json"); err == nil {
		t.Error("a record of an output that does not exist is kept")
	}
}

func TestStamp(t *testing.T) {
	first := unchanged.Stamp("public", []byte("a"))
	if first == "" || unchanged.Stamp("public", []byte("a")) != first {
		t.Error("the same has two stamps")
	}
	if unchanged.Stamp("", []byte("a")) == first {
		t.Error("other options have the same stamp")
	}
	if unchanged.Stamp("public", []byte("b")) == first {
		t.Error("other settings have the same stamp")
	}
}
