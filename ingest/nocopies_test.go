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

// The table that llama-benchy prints is one measurement with the JSON that it wrote, and with the log of its screen.
func TestPrintedTableIsOneWithItsFile(t *testing.T) {
	const printed = "| model | test | t/s | peak t/s | ttfr (ms) | est_ppt (ms) | e2e_ttft (ms) |\n" +
		"| acme/m | pp2048 | 980.51 ± 1.50 | | 2076.21 ± 2.00 | 2000.11 ± 2.00 | 2080.31 ± 2.00 |\n" +
		"| acme/m | tg32 | 49.52 ± 0.50 | 51.61 ± 0.01 | | | |\n"
	const json = `{"model":"acme/m","timestamp":"2026-02-07 19:09:00Z","benchmarks":[{"concurrency":1,"context_size":0,` +
		`"prompt_size":2048,"response_size":32,"is_context_prefill_phase":false,"pp_throughput":{"mean":980.5123},` +
		`"tg_throughput":{"mean":49.5161},"tg_req_throughput":{"mean":49.5161},"peak_throughput":{"mean":51.6142},` +
		`"ttfr":{"mean":2076.2111},"est_ppt":{"mean":2000.1123},"e2e_ttft":{"mean":2080.3111}}]}`
	set := load(t, ingest.Options{}, map[string]string{"a/x.json": json, "a/x.md": printed, "a/x.log": printed})
	if list := points(set); len(list) != 1 || list[0].Source.Path != "in/a/x.json" {
		t.Errorf("%d points, %+v", len(list), list)
	}
	set = load(t, ingest.Options{}, map[string]string{
		"a/x.md": printed, "a/y.md": strings.ReplaceAll(printed, "9.52", "9.82"),
	})
	if list := points(set); len(list) != 2 {
		t.Errorf("%d points of two tables", len(list))
	}
}
