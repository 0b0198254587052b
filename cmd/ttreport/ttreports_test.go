package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// difference is a row of the table of deliberate differences in the documentation, and the places that it covers.
type difference struct {
	row string
	at  *regexp.Regexp
}

// differences are all of them: anything else that differs fails.
var differences = []difference{
	{"P99 of fewer than 100 requests", regexp.MustCompile(`p99_|P99`)},
	{"name and time of a report", regexp.MustCompile(`report_id|generated_at`)},
	{"paths", regexp.MustCompile(`runtime_model_spec_json`)},
	{"metadata", regexp.MustCompile(`docker_image|written_by|release|metadata/(run_command|model_repo|inference_engine|` +
		`tt_metal_commit|vllm_commit|model_impl)|\d+/metadata/|/id$`)},
	{"structured output in the statistics", regexp.MustCompile(`dataset|structured_output_ratio|correct_rate`)},
	{"tiers", regexp.MustCompile(`acceptance_summary|acceptance_blockers|informational_blockers|waivers_applied_count|` +
		`failed_enforced_tiers|blockers`)},
	{"tests without results", regexp.MustCompile(`parameter_support_tests`)},
}

// oracle compares what ttreport wrote with what tt-inference-server did.
type oracle struct {
	t       *testing.T
	used    map[string]bool
	numbers int
	// history keeps seven significant digits: numbers with more, and cells that differ by one unit of the last digit
	seven, last int
}

// differs reports a difference, unless it is deliberate.
func (o *oracle) differs(at string, theirs, ours any) {
	for _, d := range differences {
		if d.at.MatchString(at) {
			o.used[d.row] = true
			return
		}
	}
	o.t.Errorf("%s: theirs %v, ours %v", at, theirs, ours)
}

// text compares two cells: as numbers where both are, rounded to a count of decimals.
func (o *oracle) text(at, theirs, ours string, decimals int) {
	theirs, ours = strings.TrimSpace(theirs), strings.TrimSpace(ours)
	a, err1 := strconv.ParseFloat(theirs, 64)
	b, err2 := strconv.ParseFloat(ours, 64)
	if err1 != nil || err2 != nil {
		if theirs != ours {
			o.differs(at, theirs, ours)
		}
		return
	}
	o.number(at, a, b, 1.01*math.Pow(10, -float64(decimals)))
}

// number compares two numbers, which may differ by a unit of the last digit.
func (o *oracle) number(at string, a, b, unit float64) {
	o.numbers++
	switch gap := math.Abs(a - b); {
	case gap <= 1e-9*math.Abs(a):
	case gap <= 1e-6*math.Abs(a):
		o.seven++
	case gap <= unit && gap <= 1e-2*math.Abs(a):
		o.last++
	default:
		o.differs(at, a, b)
	}
}

// value compares two values of JSON; what only ours has must be deliberate.
func (o *oracle) value(at string, theirs, ours any) {
	switch a := theirs.(type) {
	case map[string]any:
		b, _ := ours.(map[string]any)
		for _, key := range keysOf(a, b) {
			o.value(at+"/"+key, a[key], b[key])
		}
	case []any:
		b, _ := ours.([]any)
		if len(a) != len(b) {
			o.differs(at, fmt.Sprintf("%d values", len(a)), fmt.Sprintf("%d values", len(b)))
			return
		}
		for i := range a {
			o.value(at+"/"+strconv.Itoa(i), a[i], b[i])
		}
	case float64:
		if b, ok := ours.(float64); ok {
			o.number(at, a, b, 1e-4)
			return
		}
		o.differs(at, theirs, ours)
	case string:
		if b, ok := ours.(string); ok {
			o.text(at, a, b, max(decimalsOf(a), 1))
			return
		}
		o.differs(at, theirs, ours)
	default:
		if fmt.Sprint(theirs) != fmt.Sprint(ours) {
			o.differs(at, theirs, ours)
		}
	}
}

func decimalsOf(cell string) int {
	_, decimals, _ := strings.Cut(strings.TrimSpace(cell), ".")
	return len(decimals)
}

func keysOf(list ...map[string]any) []string {
	var out []string
	for _, m := range list {
		for key := range m {
			if !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	slices.Sort(out)
	return out
}

// table compares two tables: their columns are ours, in their order.
func (o *oracle) table(at string, theirs, ours [][]string) {
	if len(theirs) != len(ours) {
		o.differs(at, fmt.Sprintf("%d rows", len(theirs)), fmt.Sprintf("%d rows", len(ours)))
		return
	}
	decimals := map[int]int{} // of a column: 21.7 beside 21.65 is 21.70
	for i := range theirs {
		for c, cell := range theirs[i] {
			decimals[c] = max(decimals[c], decimalsOf(cell))
		}
	}
	for i := range theirs {
		for c, cell := range theirs[i] {
			mine := ""
			if c < len(ours[i]) {
				mine = ours[i][c]
			}
			o.text(fmt.Sprintf("%s row %d %s", at, i, theirs[0][c]), cell, mine, decimals[c])
		}
	}
	for _, more := range ours[0][min(len(theirs[0]), len(ours[0])):] {
		o.differs(at+" column "+strings.TrimSpace(more), "none", more)
	}
}

// markdown compares the headings and tables of two reports.
func (o *oracle) markdown(name string, theirs, ours []byte) {
	a, b := partsOf(theirs), partsOf(ours)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i].head != b[i].head {
			o.t.Errorf("%s: heading %d differs:\n%s", name, i, headsOf(a, b))
			return
		}
		o.table(name+" "+a[i].head, a[i].rows, b[i].rows)
	}
}

// part is a heading with the table below it.
type part struct {
	head string
	rows [][]string
}

func partsOf(text []byte) []part {
	var out []part
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			out = append(out, part{head: line, rows: [][]string{{}}})
		case strings.HasPrefix(line, "|") && !strings.Contains(line, "--"):
			if len(out) == 0 {
				out = append(out, part{rows: [][]string{{}}})
			}
			p := &out[len(out)-1]
			if len(p.rows) == 1 && len(p.rows[0]) == 0 {
				p.rows = nil
			}
			p.rows = append(p.rows, strings.Split(strings.Trim(line, "|"), "|"))
		}
	}
	return out
}

func headsOf(a, b []part) string {
	var out strings.Builder
	for i := range max(len(a), len(b)) {
		for _, list := range [][]part{a, b} {
			if i < len(list) {
				fmt.Fprintf(&out, "  %s\n", list[i].head)
			}
		}
	}
	return out.String()
}

// pair is one file of both programs.
func (o *oracle) pair(theirs, ours string) {
	a, err1 := os.ReadFile(theirs)
	b, err2 := os.ReadFile(ours)
	if err1 != nil || err2 != nil {
		o.t.Errorf("%v; %v", err1, err2)
		return
	}
	name := filepath.Base(filepath.Dir(theirs)) + "/" + filepath.Base(theirs)
	switch filepath.Ext(theirs) {
	case ".csv":
		o.table(name, csvOf(o.t, a), csvOf(o.t, b))
	case ".json":
		var x, y any
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
			o.t.Fatalf("%s is no JSON", name)
		}
		o.value(name, x, y)
	default:
		o.markdown(name, a, b)
	}
}

func csvOf(t *testing.T, data []byte) [][]string {
	t.Helper()
	table, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// only is the one file that matches a pattern.
func only(t *testing.T, pattern string) string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d files match %s", len(list), pattern)
	}
	return list[0]
}

// reportsOf builds the reports of a tree.
func reportsOf(t *testing.T, tree string) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	args := []string{"build", tree, "--release", "v1", "--reports", "tt"}
	var said bytes.Buffer
	if code := run(context.Background(), args, strings.NewReader(""), io.Discard, &said); code != 0 {
		t.Fatalf("build exits %d: %s", code, said.String())
	}
	return filepath.Join(dir, "reports_output")
}

// Every number of the reports that tt-inference-server 0.17 and 0.20 made of the same files is in ours, under the same
// name and in the same place, except for what the documentation lists.
func TestReportsEqualTheirs(t *testing.T) {
	corpus := os.Getenv("TTREPORT_CORPUS")
	if corpus == "" {
		t.Skip("TTREPORT_CORPUS names no folder of real files")
	}
	o := &oracle{t: t, used: map[string]bool{}}
	docs, err := os.ReadFile("../../templates/docs/tt-reports.md")
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(corpus, "tenstorrent", "era1-synthetic", "workflow_logs")
	theirs, ours := filepath.Join(tree, "reports_output"), reportsOf(t, tree)
	for _, pattern := range []string{
		"benchmarks/benchmark_display_*.md", "benchmarks/data/*.csv", "benchmarks_aiperf/*.md",
		"benchmarks_aiperf/data/*.csv", "benchmarks_genai_perf/*.md", "benchmarks_genai_perf/data/*.csv",
		"evals/data/*.json", "release/report_id_*.md", "release/data/report_data_id_*.json",
	} {
		o.pair(only(t, filepath.Join(theirs, pattern)), only(t, filepath.Join(ours, pattern)))
	}
	o.summaries(only(t, theirs+"/evals/*.md"), only(t, ours+"/evals/*.md"))
	t.Logf("v0.17: %d numbers are equal, %d of them to seven digits, %d in all but the last digit", o.numbers, o.seven,
		o.last)
	if o.numbers < 2000 {
		t.Errorf("only %d numbers were compared", o.numbers)
	}
	o.sections(only(t, filepath.Join(corpus, "tenstorrent/era2-synthetic/v2out/data/*.json")),
		only(t, ours+"/release/data/report_data_meta*.json"))
	era2 := filepath.Join(corpus, "tenstorrent", "era2-synthetic", "v2out")
	before := o.numbers
	ours = reportsOf(t, era2)
	o.pair(only(t, era2+"/*.md"), only(t, ours+"/release/report_meta*.md"))
	o.pair(only(t, era2+"/data/*.json"), only(t, ours+"/release/data/report_data_meta*.json"))
	t.Logf("v0.20: %d numbers", o.numbers-before)
	if o.numbers-before < 300 {
		t.Errorf("only %d numbers were compared", o.numbers-before)
	}
	for _, d := range differences {
		if !o.used[d.row] {
			t.Errorf("%q is listed as a difference, and nothing differs by it", d.row)
		}
		if !bytes.Contains(docs, []byte("| "+d.row+" ")) {
			t.Errorf("the documentation does not list %q", d.row)
		}
	}
}

// sections compares what v0.20 and ours made of the same results of vLLM.
func (o *oracle) sections(theirs, ours string) {
	list := [2][]any{}
	for i, name := range []string{theirs, ours} {
		var report struct {
			Sections []struct {
				Title string
				Data  any
			}
		}
		data, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(data, &report) != nil {
			o.t.Fatalf("%s: %v", name, err)
		}
		for _, s := range report.Sections {
			if strings.HasPrefix(s.Title, "vLLM Benchmark") {
				list[i] = append(list[i], s.Data)
			}
		}
	}
	o.value("sections", list[0], list[1])
}

// summaries compares the lines of the evals, whose order is that of files on their disk.
func (o *oracle) summaries(theirs, ours string) {
	list := [2][][]string{}
	for i, name := range []string{theirs, ours} {
		text, err := os.ReadFile(name)
		if err != nil {
			o.t.Fatal(err)
		}
		rows := partsOf(append([]byte("#\n"), text...))[0].rows[1:]
		slices.SortFunc(rows, func(a, b []string) int {
			return strings.Compare(strings.Join(strings.Fields(a[0]+a[1]), " "), strings.Join(strings.Fields(b[0]+b[1]), " "))
		})
		list[i] = append([][]string{{"Task Name", "Metric", "Value"}}, rows...)
	}
	o.table("evals/summary", list[0], list[1])
}
