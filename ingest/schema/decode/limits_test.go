package decode_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// tightLimits are small enough to be reached by a test.
func tightLimits() decode.Limits {
	lim := decode.DefaultLimits()
	lim.Bytes, lim.Packed, lim.Text, lim.Depth, lim.Values = 1000, 500, 300, 5, 3
	return lim
}

func packed(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// limitCase is a file just within a limit, and one beyond it.
type limitCase struct {
	name, file, within, beyond, code string
	lim                              decode.Limits
}

func limitCases() []limitCase {
	lim := tightLimits()
	object := func(size int) string { return `{"a":"` + strings.Repeat("x", size-8) + `"}` }
	return []limitCase{
		{"Bytes", "x.json", object(1000), object(1001), "too-large", lim},
		{"Packed", "x.json.gz", packed(object(500)), packed(object(501)), "too-large", lim},
		{"Depth", "x.json", `[[[[[1]]]]]`, `[[[[[[1]]]]]]`, "bad-json", lim},
		{
			"Depth of what is skipped", "x.json", `{"a":1}` + "\n" + `[[[[[1]]]]]`, `{"a":1}` + "\n" + `[[[[[[1]]]]]]`,
			"bad-json", lim,
		},
		{"Values", "x.jsonl", strings.Repeat("{}\n", 3), strings.Repeat("{}\n", 4), "bad-json", lim},
		{
			"nodes of one value", "x.json", `[` + strings.Repeat(`"a",`, 400_000) + `"a"]`,
			`[` + strings.Repeat(`"a",`, 500_001) + `"a"]`, "bad-json", decode.DefaultLimits(),
		},
		{
			"expansion", "x.json.gz", packed(strings.Repeat(" ", 16<<20-2) + "{}"), packed(strings.Repeat(" ", 17<<20) + "{}"),
			"too-large", decode.DefaultLimits(),
		},
		{
			"YAML", "x.yaml", "results: {a: 1}\n" + strings.Repeat("# x\n", 200_000),
			"results: {a: 1}\n" + strings.Repeat("# x\n", 300_000), "bad-yaml", decode.DefaultLimits(),
		},
		{
			"nesting of YAML", "x.yaml", "results: " + strings.Repeat("[", 90) + strings.Repeat("]", 90),
			"results: " + strings.Repeat("[", 110) + strings.Repeat("]", 110), "bad-yaml", decode.DefaultLimits(),
		},
	}
}

// One case for each limit: a file within it is read, a file beyond it is a problem.
func TestLimits(t *testing.T) {
	for _, c := range limitCases() {
		in := decode.NewFile(c.file, []byte(c.within), time.Time{}, c.lim)
		for range in.Values() { // to the end, for its faults
		}
		if len(in.Problems) > 0 || in.Form != decode.JSON {
			t.Errorf("%s: what lies within is form %d with %v", c.name, in.Form, in.Problems)
		}
		out := decode.NewFile(c.file, []byte(c.beyond), time.Time{}, c.lim)
		for range out.Values() {
		}
		if len(out.Problems) != 1 || out.Problems[0].Code != c.code || out.Problems[0].Found == "" {
			t.Errorf("%s: what lies beyond gives %v", c.name, out.Problems)
		}
	}
}

func TestTextIsCut(t *testing.T) {
	text := decode.NewFile("x.log", []byte(strings.Repeat("word ", 100)), time.Time{}, tightLimits())
	if !text.Cut || len(text.Data) != 300 || text.SHA256 != "" {
		t.Errorf("Text: %d bytes of a log, cut %v, and a hash of what was not read: %q", len(text.Data), text.Cut,
			text.SHA256)
	}
}

// Reading a file of damaged values stops after a hundred, and the number is reported.
func TestFaultsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\"a\":1}\n")
	for i := range 500 {
		fmt.Fprintf(&b, "{\"a\":what%d}\n", i)
	}
	f := decode.NewFile("x.jsonl", []byte(b.String()), time.Time{}, decode.DefaultLimits())
	for range f.Values() {
	}
	if n := len(f.Problems); n == 0 || n > 10 || !strings.Contains(f.Problems[n-1].Found, "the rest was not read") {
		t.Errorf("%d problems, the last %v", n, f.Problems[max(0, n-1)])
	}
}

// Numbers in arrays may be as many as the text has room for, and no more are allocated than that.
func TestManyNumbers(t *testing.T) {
	f := decode.NewFile("x.json", []byte(`{"ttfts":[`+strings.Repeat("1,", 2_000_000)+`1]}`), time.Time{},
		decode.DefaultLimits())
	if _, ok := f.First.Get("ttfts").Floats(); ok || len(f.Problems) != 1 {
		t.Errorf("two million numbers of two bytes were kept: %v", f.Problems)
	}
	f = decode.NewFile("x.json", []byte(`{"ttfts":[`+strings.Repeat("1.234567,", 2_000_000)+`1]}`), time.Time{},
		decode.DefaultLimits())
	if list, ok := f.First.Get("ttfts").Floats(); !ok || len(list) != 2_000_001 {
		t.Errorf("%d numbers of a file of real ones: %v", len(list), f.Problems)
	}
}
