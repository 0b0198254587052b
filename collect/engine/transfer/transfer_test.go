package transfer

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"math"
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
	if err := (&Printer{To: &out, Dir: folder(t, files)}).Print(); err != nil {
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
	from := folder(t, map[string]string{"r/a": strings.Repeat("text", 10)})
	if err := (&Printer{To: &out, Dir: from}).Print(); err != nil {
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

// What grows is printed as it grows, each file once while it stays as it is; what follows the last whole archive is
// left out, and one that is missing is found out.
func TestResultsThatGrow(t *testing.T) {
	var out bytes.Buffer
	dir := folder(t, map[string]string{"r/journal": "1\n", "r/a": "a", "r/server.log": "x"})
	p := &Printer{To: &out, Dir: dir}
	add := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, "r", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var ends []int
	for i, step := range []func(){
		func() {}, func() { add("b", "b"); add("journal", "1\n2\n") }, func() { add("c", "c") },
	} {
		step()
		var later []string
		if i < 2 {
			later = []string{"server.log"}
		}
		if err := p.Print(later...); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, out.Len())
	}
	all := out.String()
	for text, want := range map[string]string{
		all: "a b c journal server.log", all[:ends[1]]: "a b journal", all[:ends[1]+100]: "a b journal",
		all[:ends[0]]: "a journal", all[ends[0]:]: "cut", all[:ends[0]] + all[ends[1]:]: "cut",
	} {
		to := t.TempDir()
		got := "cut"
		if err := Read(strings.NewReader(text), io.Discard, to); err == nil {
			list, _ := os.ReadDir(filepath.Join(to, "r"))
			var names []string
			for _, e := range list {
				names = append(names, e.Name())
			}
			got = strings.Join(names, " ")
		} else if !errors.Is(err, ErrCut) {
			t.Error(err)
		}
		if got != want {
			t.Errorf("%q of %d bytes, want %q", got, len(text), want)
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
		if err := printPart(&out, &zipped, sha256.New(), 0, math.MaxInt64); err != nil {
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

// Parts of results that no log keeps whole arrive like one log: each is short enough for a kubelet, states how many
// there are, and none may be missing or come twice.
func TestResultsInParts(t *testing.T) {
	const part = 20_000
	noise := make([]byte, 2*part+1000)
	_, _ = rand.Read(noise) // never fails
	from := folder(t, map[string]string{"r/journal.jsonl": "{}\n", "r/raw/a.bin": string(noise)})
	var logs []string
	for i := range 3 {
		var out bytes.Buffer
		err := WritePart(&out, from, i, part)
		if err != nil || PartsOf(out.String()) != 3 || out.Len() > part*9_000_000/PartBytes {
			t.Fatalf("%v, %d parts, %d bytes", err, PartsOf(out.String()), out.Len())
		}
		logs = append(logs, out.String())
	}
	if err := WritePart(&bytes.Buffer{}, from, 3, part); err == nil || PartsOf("1 point measured\n") != 0 {
		t.Error("there is a fourth part")
	}
	for name, list := range map[string][]int{
		"all": {0, 1, 2}, "one is missing": {0, 2}, "the end is missing": {0, 1}, "one came twice": {0, 1, 1, 2},
	} {
		dir, text, log := t.TempDir(), "", &strings.Builder{}
		for _, i := range list {
			text += logs[i]
		}
		err := Read(strings.NewReader(text), log, dir)
		got, _ := os.ReadFile(filepath.Join(dir, "r/raw/a.bin"))
		if whole := bytes.Equal(got, noise) && err == nil; whole != (name == "all") || !whole && !errors.Is(err, ErrCut) ||
			log.Len() > 0 {
			t.Errorf("%s: %v, %d bytes, %q", name, err, len(got), log)
		}
	}
}

// Results on a file system that is mounted here are copied as if they had come through a log; a link is none.
func TestCopy(t *testing.T) {
	from := folder(t, map[string]string{"r/journal.jsonl": "{}\n", "r/raw/a.json": "1"})
	dir := folder(t, map[string]string{"r/old": "x"})
	if err := Copy(from, dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "r/raw/a.json"))
	list, _ := os.ReadDir(dir)
	if string(got) != "1" || err != nil || len(list) != 1 {
		t.Errorf("%q %v %v", got, err, list)
	}
	if _, err := os.Stat(filepath.Join(dir, "r/old")); err == nil {
		t.Error("what was there before is still there")
	}
	for _, none := range []string{t.TempDir(), filepath.Join(from, "none")} {
		if err := Copy(none, dir); !errors.Is(err, ErrNone) {
			t.Errorf("%v", err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(from, "r", "link")); err != nil {
		t.Fatal(err)
	}
	if err := Copy(from, dir); err == nil {
		t.Error("a link was followed")
	}
}
