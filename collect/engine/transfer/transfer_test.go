package transfer

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder makes a folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Results arrive byte by byte among other lines, which stay in the log; a line is short enough for every runtime.
func TestResultsInALog(t *testing.T) {
	noise := make([]byte, 100_000)
	_, _ = rand.Read(noise) // never fails
	files := map[string]string{"r/journal.jsonl": "{}\n", "r/raw/a.json": string(noise), "r/empty": ""}
	var out bytes.Buffer
	out.WriteString("1 point measured\n")
	if err := Write(&out, folder(t, files)); err != nil {
		t.Fatal(err)
	}
	out.WriteString("bye")
	for line := range strings.Lines(out.String()) {
		if len(line) > 16<<10 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
	dir := folder(t, map[string]string{"r/old": "x"})
	var log strings.Builder
	if err := Read(&out, &log, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v, %d bytes", name, err, len(got))
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "r", "old")); err == nil || log.String() != "1 point measured\nbye\n" {
		t.Errorf("%v %q", err, log.String())
	}
}

// What did not arrive whole changes nothing, and the log is kept.
func TestResultsThatAreCut(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, folder(t, map[string]string{"r/a": strings.Repeat("text", 10)})); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"none": {"error: no server\n", ErrNone}, "no end": {lines[0], ErrCut}, "no begin": {lines[1], ErrCut},
		"twice": {lines[0] + lines[0] + lines[1], ErrCut}, "cut line": {lines[0][:40] + "\n" + lines[1], ErrCut},
		"another": {lines[0] + last + strings.Repeat("0", 64), ErrCut},
	} {
		dir := folder(t, map[string]string{"r/a": "before"})
		var log strings.Builder
		if err := Read(strings.NewReader("first\n"+c.text), &log, dir); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		entries, _ := os.ReadDir(dir)
		if got, _ := os.ReadFile(filepath.Join(dir, "r/a")); string(got) != "before" || len(entries) != 1 ||
			!strings.HasPrefix(log.String(), "first\n") {
			t.Errorf("%s: %q %v %q", name, got, entries, log.String())
		}
	}
}

// An archive of somebody else's making stays in its folder.
func TestHostileResults(t *testing.T) {
	for _, h := range []tar.Header{
		{Name: "../out", Typeflag: tar.TypeReg}, {Name: "/tmp/out", Typeflag: tar.TypeReg},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc"},
		{Name: "big", Typeflag: tar.TypeReg, Size: mostBytes + 1},
	} {
		var zipped bytes.Buffer
		zip := gzip.NewWriter(&zipped)
		archive := tar.NewWriter(zip)
		if err := archive.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		_ = archive.Flush() // a header may promise more than there is
		_ = zip.Close()
		var out bytes.Buffer
		l := &lineWriter{to: bufio.NewWriter(&out), sum: sha256.New()}
		_, _ = l.Write(zipped.Bytes())
		if err := l.end(); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "in")
		if err := Read(&out, &bytes.Buffer{}, dir); !errors.Is(err, ErrCut) {
			t.Errorf("%s: %v", h.Name, err)
		}
		entries, _ := os.ReadDir(filepath.Dir(dir))
		if inside, _ := os.ReadDir(dir); len(entries) != 1 || len(inside) != 0 {
			t.Errorf("%s: %v %v", h.Name, entries, inside)
		}
	}
}
