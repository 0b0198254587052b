package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func writeBefore(t *testing.T, name, text string) {
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
func TestBuildRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"in", "out"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	read, written := filepath.Join("in", "a.json"), filepath.Join("out", "index.html")
	writeBefore(t, read, "1")
	writeBefore(t, written, "page")
	in := buildInput{Paths: []string{"in", "missing", ""}, Options: "device n150"}
	if _, ok := loadRecord("record.json", in); ok {
		t.Error("a record that was never kept")
	}
	saveRecord("record.json", in, buildRecord{
		Files: 1, Runs: 1, Folder: "out", Options: "public", Written: 1, Headline: "PASS",
	})
	r, ok := loadRecord("record.json", in)
	if !ok || r.Files != 1 || r.Headline != "PASS" || !r.stands("out", "public") {
		t.Errorf("%+v %v", r, ok)
	}
	if r.stands("out", "") || r.stands("elsewhere", "public") {
		t.Error("the output stands for other options or another folder")
	}
	other := in
	other.Options = "device n300"
	if _, ok := loadRecord("record.json", other); ok {
		t.Error("other options are the same input")
	}
	writeBefore(t, written, "page, changed")
	if r.stands("out", "public") {
		t.Error("the output was changed and stands")
	}
	writeBefore(t, read, "12")
	if _, ok := loadRecord("record.json", in); ok {
		t.Error("a file was changed, and the input is the same")
	}
	saveRecord("record.json", in, buildRecord{Folder: "gone"})
	if _, err := os.Stat("record.json"); err == nil {
		t.Error("a record of an output that does not exist is kept")
	}
}

func TestBuildStamp(t *testing.T) {
	first := stampOf("public", []byte("a"))
	if first == "" || stampOf("public", []byte("a")) != first {
		t.Error("the same has two stamps")
	}
	if stampOf("", []byte("a")) == first {
		t.Error("other options have the same stamp")
	}
	if stampOf("public", []byte("b")) == first {
		t.Error("other settings have the same stamp")
	}
}
