package ingest_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRecorded reads what real tools wrote: every file is recognised, none has an error that the tool did not report,
// and formats, points, scores and problems are those of the golden file.
func TestRecorded(t *testing.T) {
	cases, err := filepath.Glob("../testdata/recorded/*/*")
	if err != nil || len(cases) < 15 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	var b strings.Builder
	for _, dir := range cases {
		summary, err := recorded(dir)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s\n", strings.TrimPrefix(filepath.ToSlash(dir), "../testdata/recorded/"), summary)
	}
	const golden = "testdata/recorded.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// recorded sums up a case: formats of files, runs, points, scores and codes of problems.
func recorded(dir string) (string, error) {
	root, err := ingest.OSRoot(dir)
	if err != nil {
		return "", err
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
	if err != nil {
		return "", err
	}
	formats, problems := map[string]int{}, map[string]int{}
	for _, f := range set.Files {
		if filepath.Base(f.Path) != "cmd.txt" {
			formats[fmt.Sprint(f.Format)]++
		}
	}
	points, scores := 0, 0
	for _, r := range set.Runs {
		points, scores = points+len(r.Points), scores+len(r.Scores)
	}
	for _, p := range set.Problems {
		if p.Severity != schema.SevNote {
			problems[string(p.Severity)+" "+p.Code]++
		}
	}
	return fmt.Sprintf("%s; %d runs, %d points, %d scores; %s", counts(formats), len(set.Runs), points, scores,
		counts(problems)), nil
}

// counts prints a tally in the order of its names.
func counts(m map[string]int) string {
	if len(m) == 0 {
		return "none"
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s x%d", k, m[k]))
	}
	return strings.Join(out, ", ")
}
