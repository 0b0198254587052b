package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render/rows"
)

// An export that ends at any of its files leaves whole files, and no release in the table of runs that is not in the
// others; the next one finishes it.
func TestExportCutShort(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	t.Chdir(t.TempDir())
	command := func(args ...string) (code int, said string) {
		var out bytes.Buffer
		code = run(context.Background(), args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	for _, args := range [][]string{{"collect"}, {"ingest", "results"}, {"export", "parquet", "whole"}} {
		if code, said := command(args...); code != 0 {
			t.Fatal(said)
		}
	}
	names, err := filepath.Glob("whole/*/*/" + partName)
	if err != nil || len(names) < 8 {
		t.Fatalf("%v %v", names, err)
	}
	for i := 0; i < len(names); i += 5 { // every fifth is enough
		if err := os.RemoveAll("warehouse"); err != nil {
			t.Fatal(err)
		}
		blocked := strings.Replace(names[i], "whole", "warehouse", 1)
		if err := os.MkdirAll(filepath.Join("warehouse", "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		mark, err := os.ReadFile(filepath.Join("whole", exportName))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("warehouse", exportName), mark, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(blocked, "in the way"), 0o777); err != nil {
			t.Fatal(err)
		}
		code, said := command("export", "parquet", "warehouse")
		if code != exitUsage || !strings.Contains(said, "check that warehouse can be written") {
			t.Fatalf("%s: exit %d: %s", blocked, code, said)
		}
		releases, err := filepath.Glob("warehouse/runs/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, release := range releases {
			for _, table := range rows.Tables() {
				name := filepath.Join("warehouse", table, filepath.Base(release), partName)
				data, err := os.ReadFile(name)
				if name != blocked && filepath.Join(release, partName) != blocked &&
					(err != nil || !bytes.HasSuffix(data, []byte("PAR1"))) {
					t.Errorf("%s: %s is in runs, and %s is not whole: %v", blocked, release, name, err)
				}
			}
		}
		if err := os.RemoveAll(blocked); err != nil {
			t.Fatal(err)
		}
		if code, said := command("export", "parquet", "warehouse"); code != 0 {
			t.Fatalf("exit %d: %s", code, said)
		}
		after, err := filepath.Glob("warehouse/*/*/" + partName)
		if err != nil || !slices.EqualFunc(after, names, func(a, b string) bool {
			return a == strings.Replace(b, "whole", "warehouse", 1)
		}) {
			t.Errorf("%v %v", after, err)
		}
	}
}

// What a standard says of a release is read again as it was: every score, and every statistic of a point.
func TestStandardsAreRead(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	dir := t.TempDir()
	recorded, err := filepath.Abs("../../testdata/recorded")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("given/a_isl128_osl64.json", `{"date":"20260102-030405","model_id":"acme/tiny","num_prompts":900,`+
		`"request_rate":"inf","max_concurrency":4,"duration":2.5,"completed":898,"failed":2,"request_throughput":2.25,`+
		`"output_throughput":128.5,`+
		`"mean_ttft_ms":10.25,"median_ttft_ms":9,"std_ttft_ms":1.5,"p99_ttft_ms":20,"mean_tpot_ms":2.5,`+
		`"median_tpot_ms":2,"p99_tpot_ms":3,"mean_e2el_ms":100.5}`)
	write("given/results_2026-01-02T03-04-05.json", `{"results":{"gsm8k":{"alias":"gsm8k","exact_match,strict-match":0.5,`+
		`"exact_match_stderr,strict-match":0.05,"exact_match,flexible-extract":0.625,`+
		`"exact_match_stderr,flexible-extract":0.0484},"wikitext":{"word_perplexity,none":12.5}},"n-shot":{"gsm8k":5},`+
		`"n-samples":{"gsm8k":{"original":1319,"effective":100}},"higher_is_better":{"gsm8k":{"exact_match":true},`+
		`"wikitext":{"word_perplexity":false}},"model_name":"acme/tiny","date":1767323045.5}`)
	gauges := func(work, from string, keep func(line string) string) (lines []string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, work), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Chdir(filepath.Join(dir, work))
		for _, args := range [][]string{
			{"ingest", from, "--release", "v1", "--device", "n150"}, {"export", "openmetrics", "metrics"},
			{"export", "every-eval-ever", "every-eval-ever"}, {"export", "llm-d", "llm-d"},
			{"export", "eval-results", "eval-results"}, {"export", "bencher", "bencher"}, {"export", "ctrf", "ctrf"},
		} {
			var out bytes.Buffer
			if code := run(context.Background(), args, strings.NewReader(""), &out, &out); code != 0 &&
				from != recorded { // where no request of two files completed
				t.Fatalf("%q: %s", args, out.String())
			}
		}
		data, err := os.ReadFile(filepath.Join("metrics", "metrics.txt"))
		if err != nil || !strings.HasSuffix(string(data), "\n# EOF\n") {
			t.Fatalf("%v: %s", err, data)
		}
		for line := range strings.Lines(string(data)) {
			if line = keep(line); line != "" {
				lines = append(lines, line)
			}
		}
		slices.Sort(lines)
		return lines
	}
	place := regexp.MustCompile(`,?(run|place|repeat|workload|definition|filter|metric)="[^"]*"`)
	bare := func(line string) string { return place.ReplaceAllString(line, "") }
	// how many requests a statistic is of, and its error, are no part of a report; its duration is that of the run
	// how many gaps a P99 of ITL is of, and points of which every request failed
	statistic := regexp.MustCompile(`^ttreport_(ttft|n?tpot|e2el|isl|osl|(in|out)put|total|rps).*` +
		`stat="(value|mean|median|std|min|max|p[\d.]+)"|^ttreport_itl.*stat="(mean|median|std|min|max|p[1-9][05])"|` +
		`^ttreport_requests.*model="tiny"`)
	// evals of one folder are read as one run, whose scores are told apart by what they have of their own; the setups of
	// a release that only folders name are not exported
	without := regexp.MustCompile(`,?(run|place|implementation)="[^"]*"| \| shots 0`)
	for _, c := range []struct {
		standard string
		least    int
		keep     func(line string) string
	}{
		{"every-eval-ever", 3, func(line string) string {
			if strings.HasPrefix(line, "ttreport_score{") {
				return without.ReplaceAllString(line, "")
			}
			return ""
		}},
		{"eval-results", 3, func(line string) string {
			if _, rest, ok := strings.Cut(bare(line), "task="); ok { // the model is the folder's, which a file does not state
				return rest
			}
			return ""
		}},
		{"llm-d", 12, func(line string) string {
			if !statistic.MatchString(line) {
				return ""
			}
			return bare(line)
		}},
	} {
		if c.standard != "eval-results" { // whose tasks have no filters
			want := gauges("recorded", recorded, c.keep)
			got := gauges("recorded-"+c.standard, filepath.Join(dir, "recorded", c.standard), c.keep)
			if !slices.Equal(got, want) || len(want) < c.least {
				t.Errorf("%s:\n%s\nwant\n%s", c.standard, strings.Join(got, ""), strings.Join(want, ""))
			}
		}
		want := gauges("first", filepath.Join(dir, "given"), c.keep)
		got := gauges("from-"+c.standard, filepath.Join(dir, "first", c.standard), c.keep)
		if c.standard == "every-eval-ever" { // what was asked, which decides what a score is compared with
			docs, _ := filepath.Glob(filepath.Join(dir, "from-every-eval-ever", "history", "*", "*", "*.json"))
			text, err := os.ReadFile(docs[0])
			asked := strings.Contains(string(text), `"fewshot":5`) && strings.Contains(string(text), `"total":1319`)
			if err != nil || !asked {
				t.Errorf("%v: %s", err, text)
			}
		}
		if !slices.Equal(got, want) || len(want) < c.least {
			t.Errorf("%s:\n%s\nwant\n%s", c.standard, strings.Join(got, ""), strings.Join(want, ""))
		}
	}
}
