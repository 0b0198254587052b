package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ttreport/ttreport/ingest/archive"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

func zipped(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = io.WriteString(f, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600, Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(files[i+1], "->"); ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, target, 0
			files[i+1] = ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, files[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func zstded(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(data, nil)
}

// each lists the members of an archive and the codes of its problems.
func each(data []byte, lim decode.Limits) (members []string, codes string, found bool) {
	problems, found := archive.Each("a.zip", bytes.NewReader(data), int64(len(data)), lim, func(m archive.Member) {
		members = append(members, m.Path+"="+string(m.Data))
	})
	var list []string
	for _, p := range problems {
		list = append(list, p.Code)
	}
	slices.Sort(members)
	return members, strings.Join(list, " "), found
}

func TestEnvelopes(t *testing.T) {
	inner := tarred(t, "deep/r.json", "{}")
	want := []string{"a.zip/deep/r.json={}"}
	for name, data := range map[string][]byte{
		"zip": zipped(t, "deep/r.json", "{}"), "tar": inner, "tar.gz": gzipped(inner), "tar.zst": zstded(inner),
	} {
		if got, codes, found := each(data, decode.DefaultLimits()); !found || codes != "" || !slices.Equal(got, want) {
			t.Errorf("%s: %v %q %v", name, got, codes, found)
		}
	}
	nested := zipped(t, "x.zip", string(zipped(t, "y.tar.gz", string(gzipped(inner)))), "plain.json.gz",
		string(gzipped([]byte("{}"))))
	got, codes, _ := each(nested, decode.DefaultLimits())
	if len(got) != 2 || got[1] != "a.zip/x.zip/y.tar.gz/deep/r.json={}" ||
		!strings.HasPrefix(got[0], "a.zip/plain.json.gz=") || codes != "" {
		t.Errorf("nested: %q %q", got, codes)
	}
	for name, data := range map[string][]byte{
		"gzip of a file": gzipped([]byte("{}")), "json": []byte("{}"), "nothing": nil,
	} {
		if _, _, found := each(data, decode.DefaultLimits()); found {
			t.Errorf("%s is taken for an archive", name)
		}
	}
}

// One case for each limit and each trick.
func TestHostile(t *testing.T) {
	lim := decode.DefaultLimits()
	small := lim
	small.Packed, small.Total, small.Members, small.Nesting = 100, 250, 3, 2
	for _, c := range []struct {
		name  string
		data  []byte
		lim   decode.Limits
		codes string
		left  int
	}{
		{"a path out of the archive", zipped(t, "../../etc/passwd", "x", "ok.json", "{}"), lim, "unsafe-path", 1},
		{"an absolute path", zipped(t, "/etc/passwd", "x"), lim, "unsafe-path", 0},
		{"a path with backslashes", zipped(t, `..\..\x`, "x"), lim, "unsafe-path", 0},
		{"a drive", zipped(t, `C:\x`, "x"), lim, "unsafe-path", 0},
		{"links", tarred(t, "link", "->/etc/passwd", "ok.json", "{}"), lim, "", 1},
		{"hidden files", zipped(t, ".git/config", "x", "__MACOSX/a", "x", "ok.json", "{}"), lim, "", 1},
		{"a member too large", zipped(t, "big", strings.Repeat("x", 101), "ok.json", "{}"), small, "too-large", 1},
		{"too many members", zipped(t, "1", "", "2", "", "3", "", "4", ""), small, "too-many-members", 3},
		{
			"too much in all",
			zipped(t, "1", strings.Repeat("x", 90), "2", strings.Repeat("x", 90), "3", strings.Repeat("x", 90)), small,
			"too-large", 2,
		},
		{
			"too deep", zipped(t, "a.zip", string(zipped(t, "b.zip", string(zipped(t, "c", "x"))))), lim2(lim, 2), "too-deep",
			0,
		},
		{"a name twice", zipped(t, "a.json", "{}", "./a.json", "[]"), lim, "name-twice", 1},
		{"cut", zipped(t, "a.json", "{}")[:40], lim, "bad-zip", 0},
		{"a cut tar", tarred(t, "a.json", strings.Repeat("x", 2000))[:1200], lim, "bad-tar", 0},
	} {
		got, codes, found := each(c.data, c.lim)
		if !found || codes != c.codes || len(got) != c.left {
			t.Errorf("%s: %v, %q, %d members %.80q; want %q and %d", c.name, found, codes, len(got), got, c.codes, c.left)
		}
	}
}

func lim2(l decode.Limits, nesting int) decode.Limits { l.Nesting = nesting; return l }

// A kilobyte that expands to gigabytes is refused by its ratio.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 64 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	f := decode.NewFile("bomb.json.gz", b.Bytes(), time.Time{}, decode.DefaultLimits())
	if len(f.Problems) != 1 || f.Problems[0].Code != "too-large" || len(f.Data) > 0 {
		t.Errorf("%v, %d bytes", f.Problems, len(f.Data))
	}
}

func FuzzEach(f *testing.F) {
	inner := tarred(f, "deep/r.json", "{}")
	for _, seed := range [][]byte{
		zipped(f, "a.json", "{}", "../b", "x"), inner, gzipped(inner), zstded(inner),
		zipped(f, "a.zip", string(zipped(f, "b", "c"))), []byte("PK\x03\x04"),
	} {
		f.Add(seed)
	}
	lim := decode.Limits{Packed: 1 << 20, Total: 1 << 21, Members: 100, Nesting: 3}
	f.Fuzz(func(t *testing.T, data []byte) {
		total := 0
		archive.Each("a", bytes.NewReader(data), int64(len(data)), lim, func(m archive.Member) {
			if total += len(m.Data); len(m.Data) > 1<<20 || total > 1<<21 {
				t.Fatalf("more content than the limit: %d", total)
			}
			if !strings.HasPrefix(m.Path, "a/") || strings.Contains(m.Path, "..") && strings.Contains("/"+m.Path+"/", "/../") {
				t.Fatalf("a member outside the archive: %q", m.Path)
			}
		})
	})
}

// An archive whose members lie on each other holds two hundred times its bytes at most: a thousand entries for the one
// member, of a few kilobytes, would be gigabytes.
func TestMembersOnEachOther(t *testing.T) {
	whole := zipped(t, "a.json", strings.Repeat(" ", 4<<20))
	at := bytes.LastIndex(whole, []byte("PK\x01\x02"))
	end := bytes.LastIndex(whole, []byte("PK\x05\x06"))
	const entries = 1000
	directory := bytes.Repeat(whole[at:end], entries)
	packed := append(slices.Clone(whole[:at]), directory...)
	tail := slices.Clone(whole[end:])
	for _, field := range []int{8, 10} {
		binary.LittleEndian.PutUint16(tail[field:], entries)
	}
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(directory)))
	packed = append(packed, tail...)
	var content int
	problems, found := archive.Each("x.zip", bytes.NewReader(packed), int64(len(packed)), decode.DefaultLimits(),
		func(m archive.Member) { content += len(m.Data) })
	if !found || len(problems) == 0 || content > 16<<20 {
		t.Errorf("%d MB of %d kB, %v", content>>20, len(packed)>>10, problems)
	}
}
