package ingest_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// bench is a table of llama-bench, whose numbers have four digits.
func bench(fa, build string, rows ...string) string {
	out := "| model | size | params | backend | ngl | fa | test | t/s |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n"
	for _, row := range rows {
		out += "| llama 7B Q4_0 | 3.56 GiB | 6.74 B | Vulkan | 100 | " + fa + " | " + row + " |\n"
	}
	return out + "\nbuild: " + build + "\n"
}

// A printed speed of few digits is the same in many measurements: those of two releases, devices, builds, settings or
// deviations stay two.
func TestEqualSpeedsAreNoCopies(t *testing.T) {
	const one, other = "34ce48d97 (7356)", "a81a56957 (7361)"
	const slow, fast, tg = "pp512 | 758.55 ± 12.18", "pp512 | 771.15 ± 2.18", "tg128 | 32.03 ± 0.02"
	for name, c := range map[string]struct {
		first, second, pattern string
		want, copies           int
	}{
		"releases":     {bench("0", one, slow, tg), bench("0", one, fast, tg), "{release}/x.md", 4, 0},
		"devices":      {bench("0", one, slow, tg), bench("0", one, fast, tg), "{device}/x.md", 4, 0},
		"builds":       {bench("0", one, slow, tg), bench("0", other, fast, tg), "", 4, 0},
		"settings":     {bench("0", one, slow, tg), bench("1", one, fast, tg), "", 4, 0},
		"deviations":   {bench("0", one, tg), bench("0", one, "tg128 | 32.03 ± 0.11"), "", 2, 0},
		"one speed":    {bench("0", one, slow, tg), bench("0", one, fast, tg), "", 4, 0},
		"a whole copy": {bench("0", one, slow, fast, tg), "text\n" + bench("0", one, slow, fast, tg), "", 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"a/x.md": {Data: []byte(c.first)}, "b/x.md": {Data: []byte(c.second)}}
			var opt ingest.Options
			if c.pattern != "" {
				p, err := manifest.NewPattern(c.pattern)
				if err != nil {
					t.Fatal(err)
				}
				opt.Patterns = []manifest.Pattern{p}
			}
			set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, opt)
			copies := 0
			for _, f := range set.Files {
				copies += f.Copies
			}
			if got := len(points(set)); err != nil || got != c.want || copies != c.copies {
				t.Errorf("%d points and %d copies, %v; want %d and %d", got, copies, err, c.want, c.copies)
			}
		})
	}
}

// Points that are left out as copies are counted, and the file that has them is named.
func TestCopiesAreSaid(t *testing.T) {
	files := fstest.MapFS{
		"a/x.json": {Data: []byte(serve(`"request_throughput":4.125,`))},
		"b/y.json": {Data: []byte(serve(`"request_throughput":4.125,"total_token_throughput":1024.5,`))},
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
	if err != nil || len(points(set)) != 1 || set.Files[0].Copies != 1 || len(set.Problems) != 1 {
		t.Fatalf("%d points, %+v, %v", len(points(set)), set.Files, err)
	}
	if p := set.Problems[0]; p.Severity != schema.SevNote || !strings.Contains(p.Found, "b/y.json") {
		t.Error(p)
	}
}
