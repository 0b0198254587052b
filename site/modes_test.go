package site_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// reportOf is a report of runs, with its site in a folder.
func reportOf(t *testing.T, runs ...schema.Run) (*render.Report, string) {
	t.Helper()
	return reportWith(t, render.Prices{}, runs...)
}

// reportWith is [reportOf] with prices of devices.
func reportWith(t *testing.T, prices render.Prices, runs ...schema.Run) (*render.Report, string) {
	t.Helper()
	b := columns.NewBuilder()
	for _, r := range runs {
		add(b, r)
	}
	c := b.Seal()
	judged, err := gate.New(context.Background(), c, judge.Releases(c, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, dir := render.New(render.Input{Title: "Results", Gate: judged, Prices: prices}), t.TempDir()
	opt := site.Options{Dir: dir, Run: func(i int) (schema.Run, *schema.Problem) { return runs[i], nil }}
	if _, err := site.Build(context.Background(), r, opt); err != nil {
		t.Fatal(err)
	}
	return r, dir
}

// builds are runs of a model on some devices that state no release, so many of each.
func builds(n int, devices ...string) []schema.Run {
	var out []schema.Run
	for i := range n {
		for d, device := range devices {
			r := fixtureRun("m", device, i, d)
			r.Release, r.Targets = "", nil
			out = append(out, r)
		}
	}
	return out
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The front page answers the question that the history can answer.
func TestModes(t *testing.T) {
	released := fixtureRun("m", "n150", 0, 0)
	scores := builds(1, "n150")
	scores[0].Points = nil
	nights := builds(5, "n150")
	for _, c := range []struct {
		name  string
		runs  []schema.Run
		has   string
		hides string
	}{
		{"a release", []schema.Run{released}, "Exit code", "Models by task"},
		{"devices", builds(1, "n150", "t3k"), "no release is stated, so nothing is judged", "Exit code"},
		{"scores", scores, "m: m has 0.5", "Exit code"},
		{"nights", nights, "5 builds on channel dev cannot serve as a baseline", "no release is stated, so"},
	} {
		_, dir := reportOf(t, c.runs...)
		front := read(t, dir, "index.html")
		if !strings.Contains(front, c.has) {
			t.Errorf("%s: the front page does not have %q", c.name, c.has)
		}
		if strings.Contains(front, c.hides) {
			t.Errorf("%s: the front page has %q", c.name, c.hides)
		}
	}
}

// Builds that cannot be a baseline are counted, and the line to type is there.
func TestNoBaselineNamesTheLine(t *testing.T) {
	_, dir := reportOf(t, builds(6, "n150")...)
	front := read(t, dir, "index.html")
	for _, want := range []string{"6 builds on channel dev cannot serve as a baseline",
		"ttreport build --channel main PATH"} {
		if !strings.Contains(front, want) {
			t.Errorf("the front page does not have %q", want)
		}
	}
	nights := builds(6, "n150")
	for i := range nights {
		nights[i].Channel = schema.ChannelMain
	}
	r, dir := reportOf(t, nights...)
	if at := r.Newest(); r.Gate.Before(at) < 0 || strings.Contains(read(t, dir, "index.html"), "cannot serve") {
		t.Error("builds of main have no baseline")
	}
}

// A site that compares devices says nothing of shipping, on no page about what was measured.
func TestCompareModeSaysNothingOfShipping(t *testing.T) {
	runs := builds(1, "n150", "t3k")
	_, dir := reportOf(t, runs...)
	shipping := regexp.MustCompile(`(?i)\bship|NOT GRADED|\bPASS\b|\bFAIL\b|Exit code|not a pass|regress|baseline`)
	for _, name := range []string{"index.html", "models/m/n150/index.html", "evals/index.html",
		fmt.Sprintf("releases/%s/index.html", runs[0].ID)} {
		body := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(read(t, dir, name), " ")
		if at := shipping.FindStringIndex(body); at != nil {
			t.Errorf("%s: %q", name, body[max(0, at[0]-60):min(len(body), at[1]+60)])
		}
		if strings.Contains(read(t, dir, name), ">Coverage<") {
			t.Errorf("%s links to the page of coverage", name)
		}
	}
}

// The page of evals of a site without scores says so, and how to get some; it has no table without rows.
func TestNoScores(t *testing.T) {
	runs := builds(1, "n150")
	runs[0].Scores = nil
	_, dir := reportOf(t, runs...)
	page := read(t, dir, "evals/index.html")
	if !strings.Contains(page, "No eval was run.") || !strings.Contains(page, "collect --only evals") ||
		strings.Contains(page, "<table") {
		t.Errorf("the page says %s", page[strings.Index(page, "<main"):])
	}
}

// What a release could hide stands once on the front page: in the card.
func TestSizesAreSaidOnce(t *testing.T) {
	dir := shared(t, "Tiny-1B", "n150")
	front := read(t, dir, "index.html")
	if n := strings.Count(front, "could hide"); n > 1 {
		t.Errorf("said %d times", n)
	}
	if strings.Contains(front, "as one family") ||
		!strings.Contains(read(t, dir, "releases/v0.12.0/index.html"), "as one family") {
		t.Error("how sure the comparison is stands on the front page, or not on that of the release")
	}
}

// Why says what the columns beside it do not: the change, the baseline and the value stand there already.
func TestWhySaysOnlyTheRest(t *testing.T) {
	dir := shared(t, "Tiny-1B", "n150")
	front := read(t, dir, "index.html")
	changed, _, _ := strings.Cut(front[strings.Index(front, `id="changed"`):], "</table>")
	cells := regexp.MustCompile(`<td[^>]*class="[^"]*why[^"]*"[^>]*>([^<]*)`).FindAllStringSubmatch(changed, -1)
	if len(cells) == 0 {
		t.Fatal("no row says why")
	}
	for _, c := range cells {
		if strings.Contains(c[1], "→") || strings.Contains(c[1], " above ") || strings.Contains(c[1], " below the mean") {
			t.Errorf("a row repeats its columns: %q", c[1])
		}
	}
}

// A note is no problem, and where there are only notes no page says that there was one, or that every file was read.
func TestANoteIsNoProblem(t *testing.T) {
	t.Parallel()
	run := fixtureRun("m", "n150", 0, 0)
	run.Problems = []schema.Problem{{Severity: schema.SevNote, Path: "a.log", Found: "a table of a benchmark"}}
	_, dir := reportOf(t, run)
	page := read(t, dir, "problems/index.html")
	for _, wrong := range []string{"Every file was read", "1 problem", "1 warning", "0 errors"} {
		if strings.Contains(page, wrong) {
			t.Errorf("the page of problems says %q of a note", wrong)
		}
	}
	if !strings.Contains(page, "No error and no warning.") {
		t.Error("the page of problems does not say that there is none")
	}
	if strings.Contains(read(t, dir, "index.html"), "problem found") {
		t.Error("the first page counts a note as a problem")
	}
	run.Problems[0].Severity = schema.SevWarning
	_, dir = reportOf(t, run)
	if !strings.Contains(read(t, dir, "problems/index.html"), "1 warning.") {
		t.Error("a warning is not counted")
	}
	beside := fixtureRun("n", "n150", 0, 1) // a file that could not be read is told with each run of its folder
	beside.Problems = run.Problems
	_, dir = reportOf(t, run, beside)
	if !strings.Contains(read(t, dir, "problems/index.html"), "1 warning.") {
		t.Error("one problem of two runs is counted twice")
	}
	run.Problems = nil
	_, dir = reportOf(t, run)
	if page := read(t, dir, "problems/index.html"); strings.Contains(page, "Every file was read") {
		t.Error("files that are no results have notes, which the history does not have")
	}
}
