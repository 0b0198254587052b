package site_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
)

// stopping is a context that ends after some files: a build asks it before each of them.
type stopping struct {
	context.Context
	left *atomic.Int64
}

func stopAfter(ctx context.Context, files int64) context.Context {
	s := stopping{ctx, new(atomic.Int64)}
	s.left.Store(files)
	return s
}

func (s stopping) Err() error {
	if s.left.Add(-1) < 0 {
		return context.Canceled
	}
	return s.Context.Err()
}

// buildOf builds the fixture with some releases, keeping what an earlier build made, and counts the documents that
// were read.
func buildOf(
	t *testing.T,
	ctx context.Context,
	dir string,
	releases int,
	stop int, // after so many files; 0: not
) (res site.Result, read int64, err error) {
	t.Helper()
	runs, in := fixtureOf("Tiny-1B", "n150", releases)
	if stop > 0 {
		ctx = stopAfter(ctx, int64(stop))
	}
	var n atomic.Int64
	res, err = site.Build(
		ctx,
		render.New(in),
		site.Options{Dir: dir, Record: dir + ".units", Stamp: "one program", Run: func(i int) (schema.Run, *schema.Problem) {
			n.Add(1)
			return runs[i], nil
		}},
	)
	return res, n.Load(), err
}

// A document that one build could not read is on its page in the next one, which can; until then the page says why it
// is not.
func TestUnreadOnce(t *testing.T) {
	t.Parallel()
	runs, in := fixtureOf("Tiny-1B", "n150", 3)
	fine, damaged := t.TempDir(), t.TempDir()
	for _, x := range []struct {
		dir  string
		lost int // run
	}{{fine, -1}, {damaged, 1}, {damaged, -1}} {
		res, err := site.Build(t.Context(), render.New(in), site.Options{
			Dir: x.dir, Record: x.dir + ".units", Stamp: "one program",
			Run: func(i int) (schema.Run, *schema.Problem) {
				if i == x.lost {
					return schema.Run{}, &schema.Problem{Severity: schema.SevError, Code: "x", Found: "a full disk"}
				}
				return runs[i], nil
			}})
		if err != nil || len(res.Problems) != map[bool]int{true: 1}[x.lost >= 0] {
			t.Fatalf("%v: %+v", err, res.Problems)
		}
		said := false
		for name, text := range files(t, x.dir) {
			said = said || strings.HasPrefix(name, "data/shards/runs/") && strings.Contains(text, "a full disk")
		}
		if said != (x.lost >= 0) {
			t.Errorf("lost %d, and the details of the run say so: %v", x.lost, said)
		}
	}
	same(t, "after a document that could not be read", damaged, fine)
}

// same compares two sites byte for byte.
func same(t *testing.T, what, a, b string) {
	t.Helper()
	x, y := files(t, a), files(t, b)
	if len(x) != len(y) {
		t.Errorf("%s: %d and %d files", what, len(x), len(y))
	}
	for name := range x {
		if x[name] != y[name] {
			t.Errorf("%s: %s differs: %s", what, name, firstDifference(y[name], x[name]))
		}
	}
}

// A site that grew release by release is the site that is built at once, and of what was there only the touched is
// made anew.
func TestIncremental(t *testing.T) {
	t.Parallel()
	grown, whole := t.TempDir(), t.TempDir()
	ctx := context.Background()
	for releases := 1; releases <= 4; releases++ {
		if _, _, err := buildOf(t, ctx, grown, releases, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := buildOf(t, ctx, whole, 4, 0); err != nil {
		t.Fatal(err)
	}
	same(t, "grown and whole", grown, whole)
	res, read, err := buildOf(t, ctx, grown, 4, 0)
	if err != nil || len(res.Changed) != 0 || read != 0 {
		t.Errorf("a build of the same: %d files written, %d documents read, %v", len(res.Changed), read, err)
	}

	// One that was built up to the third release, then to the fourth: the pages of the first two stay untouched.
	three := t.TempDir()
	for _, n := range []int{3, 4} {
		if res, read, err = buildOf(t, ctx, three, n, 0); err != nil {
			t.Fatal(err)
		}
	}
	if read != 2 {
		t.Errorf("%d documents read for a release of two runs", read)
	}

	// A build that is cut short leaves nothing that the next one takes for current.
	dir := t.TempDir()
	for stop := 1; stop < 40; stop += 3 {
		if _, _, err := buildOf(t, ctx, dir, 3, 0); err != nil {
			t.Fatal(err)
		}
		if _, _, err := buildOf(t, ctx, dir, 4, stop); err == nil {
			break
		}
		if _, _, err := buildOf(t, ctx, dir, 3, 0); err != nil { // back to what it was
			t.Fatal(err)
		}
		if _, _, err := buildOf(t, ctx, dir, 4, 0); err != nil {
			t.Fatal(err)
		}
		same(t, "after a stopped build", dir, whole)
	}
}

// The page of a release says the same when later releases come, unless they confirm what it saw.
func TestOldPagesStay(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	if _, _, err := buildOf(t, ctx, dir, 3, 0); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	if _, _, err := buildOf(t, ctx, dir, 4, 0); err != nil {
		t.Fatal(err)
	}
	after := files(t, dir)
	for name := range before {
		old := strings.Contains(name, "v0.9.0") || strings.Contains(name, "v0.10.0")
		if old && before[name] != after[name] {
			t.Errorf("%s changed: %s", name, firstDifference(before[name], after[name]))
		}
	}
}

// What a build that was killed had written of something that is withdrawn is removed by the next one, and so are
// halves of files; files of somebody else stay.
func TestKilledBuildLeavesNothing(t *testing.T) {
	dir, whole := t.TempDir(), t.TempDir()
	ctx := context.Background()
	for _, d := range []string{dir, whole} {
		if _, _, err := buildOf(t, ctx, d, 3, 0); err != nil {
			t.Fatal(err)
		}
	}
	// A build of four releases gets as far as its data, and the machine goes down: its manifest names the files of both
	// builds, and there is a half.
	full := t.TempDir()
	if _, _, err := buildOf(t, ctx, full, 4, 0); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(dir, ".ttreport-site.json"))
	if err != nil {
		t.Fatal(err)
	}
	named := ""
	for _, name := range []string{"data/points/v0.12.0.csv", "releases/v0.12.0/index.html",
		"data/shards/runs/v0.12.0.js"} {
		data, err := os.ReadFile(filepath.Join(full, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(data))
		named += strconv.Quote(name) + ","
	}
	write(t, filepath.Join(dir, ".ttreport-site.json"), strings.Replace(string(list), "[", "["+named, 1))
	write(t, filepath.Join(dir, ".ttreport-new/123"), "half a page")
	write(t, filepath.Join(dir, "releases/mine.txt"), "of somebody else")
	if _, _, err := buildOf(t, ctx, dir, 3, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "releases/mine.txt")); err != nil {
		t.Fatal("a file of somebody else is gone")
	}
	same(t, "after a build that was killed", dir, whole)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
