package ingest_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

// What a file says and nothing can use is a problem at its place, and never missing without a word.
func TestOddValuesAreSaid(t *testing.T) {
	for members, want := range map[string]string{
		`"median_ttft_ms":1e999,`:                               "number-too-large: median_ttft_ms is 1e999",
		`"median_ttft_ms":"123,4",`:                             `number-with-comma: median_ttft_ms is "123,4"`,
		`"rtfx":10.5,"rtfx":1,`:                                 `name-twice: "rtfx" twice in one object: 10.5 and then 1`,
		`"max_concurrency":-3,`:                                 "bad-load: max_concurrency of -3",
		`"max_concurrency":0,`:                                  "bad-load: max_concurrency of 0",
		`"note":"1,2,3","batch":"8,16","max_concurrency":2.5,`:  "",
		`"median_ttft_ms":10.5,"median_ttft_ms":10.5,"x":null,`: "",
	} {
		files := fstest.MapFS{"x.json": {Data: []byte(serve(members))}}
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
		got := ""
		for _, p := range set.Problems {
			if got += p.Code + ": " + p.Found; p.Column == 0 && p.Line == 0 {
				t.Errorf("%s: no place: %v", members, p)
			}
		}
		if err != nil || got != want || len(points(set)) != 1 {
			t.Errorf("%s: %q, want %q", members, got, want)
		}
	}
}

// A date with a zone is exact; one that cannot be is said, and so is one that has not come yet.
func TestOddDates(t *testing.T) {
	for date, want := range map[string]string{
		`"2026-03-12T00:30:00+05:30"`: "2026-03-11 18:59 ",
		`"20261345-996000"`:           "0001-01-01 00:00 bad-date",
		`0`:                           "0001-01-01 00:00 bad-date",
		`"29990101-000000"`:           "2998-12-31 23:59 future-date",
	} {
		text := strings.Replace(serve(""), `"20260101-000000"`, date, 1)
		files := fstest.MapFS{"x.json": {Data: []byte(text)}}
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
		if err != nil || len(set.Runs) != 1 {
			t.Fatal(err, set.Runs)
		}
		got := set.Runs[0].Start.Format("2006-01-02 15:04 ")
		for _, p := range set.Problems {
			got += p.Code
		}
		if got != want {
			t.Errorf("%s: %s, want %s", date, got, want)
		}
	}
}

// A rate that its own totals contradict is replaced where another rate agrees with them; a table's bold numbers are
// numbers, and a row without one is named.
func TestRatesThatTotalsContradict(t *testing.T) {
	const totals = `"total_input_tokens":64,"total_output_tokens":80,"request_throughput":4,"total_token_throughput":`
	for total, want := range map[string]int{"72.0": 1, "216.0": 2} {
		files := fstest.MapFS{"x.json": {Data: []byte(serve(totals + total + ","))}} // 20.5 output tok/s of 40
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
		if err != nil || len(points(set)) != 1 || len(set.Problems) != want {
			t.Fatalf("%s: %v, %v", total, set.Problems, err)
		}
		p := points(set)[0]
		if x, _ := p.Value("output_tps", "value"); x != 40 || drafttest.Metric(p,
			"output_tps").Kind().From != schema.FromRecomputed {
			t.Errorf("%s: %g output tok/s", total, x)
		}
	}
}

func TestBoldRowsAndErrors(t *testing.T) {
	rows := bench("0", "34ce48d97 (7356)", "pp512 | **3290.92 ± 37.67**", "tg128 | `172.86 ± 0.23`", "pp1024 | ERROR")
	files := fstest.MapFS{"x.md": {Data: []byte(rows)}}
	set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
	if err != nil || len(points(set)) != 2 || len(set.Problems) != 1 || set.Problems[0].Line != 5 ||
		!strings.Contains(set.Problems[0].Found, `"ERROR"`) {
		t.Errorf("%d points, %v, %v", len(points(set)), set.Problems, err)
	}
}
