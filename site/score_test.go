package site_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// A score is a number as any other: it is found and compared, and its address opens what is behind it.
func TestScoresAreNumbers(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "explore/index.html")+"#metric=acc")
	until(t, b, "the explorer has the scores", status+`.indexOf("2 series of 18") === 0`)
	eval[bool](t, b, `(document.querySelector(".rows td a[href*='/e1/acc']").click(), true)`)
	until(t, b, "the drawer of a score", drawerText+`.indexOf("Raw file") > 0`)
	got := eval[string](t, b, drawerText)
	for _, want := range []string{"Tiny-1B acc", "0.500", "Standard error", "100 of 200", "SHA-256cdcd", "Verdict", "95"} {
		if !strings.Contains(strings.ReplaceAll(got, "\n", ""), want) {
			t.Errorf("the drawer says nothing of %s: %s", want, got)
		}
	}
	b.goTo(t, filepath.Join(dir, "compare/index.html")+"#all=1&sort=Metric")
	until(t, b, "scores stand in the comparison, in points", `[].some.call(`+rows+`, function (r) {
		return /^acc/.test(r.textContent) && /±0\.0.pp/.test(r.textContent); })`)
	for _, hash := range []string{"#run-3-0/e9/acc", "#run-3-0/e1/f1"} {
		b.goTo(t, filepath.Join(dir, "index.html")+hash)
		until(t, b, "there is none at "+hash, drawerText+`.indexOf("No such number") >= 0`)
	}
	b.quiet(t)
}

// Every number that a page shows as measured, and every score, leads to what is behind it.
func TestMeasuredCellsAreLinks(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	for page, want := range map[string]string{
		"targets/index.html":                       `runs/index.html#run-3-0/p1/ttft"`,
		"releases/v0.12.0/index.html":              `runs/index.html#run-3-0/p1/ttft"`,
		"evals/index.html":                         `runs/index.html#run-3-0/e1/acc"`,
		string(render.PairPath("Tiny-1B", "n150")): `runs/index.html#run-3-0/p1/`,
	} {
		if !strings.Contains(read(t, dir, page), want) {
			t.Errorf("%s has no link to %s", page, want)
		}
	}
}

// The release leads to Compare with the one before; its report has what the tool says, without script.
func TestBesideTheReleaseBefore(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	const at = "compare/index.html#arelease=v0.11.0&brelease=v0.12.0"
	if page := read(t, dir, "releases/v0.12.0/index.html"); !strings.Contains(page, strings.ReplaceAll(at, "&", "&amp;")) {
		t.Error("the page of the release does not lead there")
	}
	report := read(t, dir, string(render.ReleaseReportPath("v0.12.0")))
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, at)+"&all=1")
	until(t, b, "both releases", status+`.indexOf("on both sides") > 0`)
	said := eval[string](t, b, status)
	counts := regexp.MustCompile(`: (\d+) regressed and (\d+) improved`).FindStringSubmatch(said)
	mean := regexp.MustCompile(`TTFT mean ([+−±][\d.]+)`).FindStringSubmatch(said)
	if counts == nil || mean == nil {
		t.Fatalf("the tool says %q", said)
	}
	for _, want := range []string{counts[1] + " regressed and " + counts[2] + " improved, as v0.12.0 was judged",
		"changes: TTFT " + mean[1]} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q; the tool says %q", want, said)
		}
	}
	b.quiet(t)
}

// The curves of both sides lie over each other, named by what tells the sides apart; which curve is in the address.
func TestCompareOverlaysCurves(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for i := range 4 {
		r := fixtureRun("Tiny-1B", []string{"n150", "t3k"}[i%2], 1+i/2, i%2)
		r.Points[1].Key.Dims = nil // two loads of one workload
		runs = append(runs, r)
	}
	_, dir := reportOf(t, runs...)
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "compare/index.html")+"#arelease=v0.10.0&brelease=v0.11.0&all=1")
	const drawn = `[...document.querySelectorAll(".widget .curves svg")]`
	until(t, b, "a picture a metric", drawn+`.length === 4`)
	if got := eval[string](t, b, `[...new Set(`+drawn+`.flatMap(function (s) {
		return [...s.querySelectorAll(".lbl")].map(function (x) { return x.textContent; });
	}))].sort().join(" ")`); got != "v0.10.0 v0.11.0" {
		t.Errorf("the lines are %q", got)
	}
	if n := eval[int](t, b, drawn+`[0].querySelectorAll("path.ln").length`); n != 2 {
		t.Errorf("%d lines", n)
	}
	until(t, b, "both devices can be chosen", `document.querySelectorAll("[name=curve] option").length === 2`)
	name := eval[string](t, b, `[...document.querySelectorAll("[name=curve] option")].pop().value`)
	choose(t, b, "curve", name)
	until(t, b, "the address has it", `decodeURIComponent(location.hash).indexOf("curve=") > 0`)
	b.reload(t)
	until(t, b, "a link shows it", `(document.querySelector("[name=curve]") || {}).value === `+fmt.Sprintf("%q", name))
	b.quiet(t)
}

// The tool and the report, which needs no script, count the same, also where conditions differ: two values of one, or a
// window that one release does not have.
func TestBothComparisonsAgree(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for i := range 8 {
		r := fixtureRun("Tiny-1B", []string{"n150", "t3k"}[i%2], i/2, i%2)
		other := map[int]map[string]string{4: {"endpoint": "chat"}, 6: {"endpoint": "completions"},
			7: {schema.ConditionWindow: schema.WindowSteady}}
		r.Points[0].Conditions = other[i]
		r.Points = append(r.Points, fixturePoint("Tiny-1B", i/2, 8))
		if i == 6 { // the score of the newest release is lower than any before
			r.Scores[0].Value, r.Scores[0].Stderr = schema.Num(.05), schema.Num(.001)
		}
		runs = append(runs, r)
	}
	r, dir := reportOf(t, runs...)
	at := len(r.Releases) - 1
	c := r.Against(at)
	if c == nil || c.Unlike == 0 || c.Scores != 2 || len(c.Means) == 0 || len(c.Differ) != 2 {
		t.Fatalf("the fixture has no difference of conditions: %+v", c)
	}
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "compare/index.html")+"#all=1")
	until(t, b, "both releases", status+`.indexOf("on both sides") > 0`)
	said := eval[string](t, b, status)
	only := func(side string, n int) string { // nothing is not counted
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("; %d only in %s", n, side)
	}
	for _, want := range []string{
		fmt.Sprintf("%d numbers and %d scores on both sides: %d regressed and %d improved,", c.Numbers, c.Scores,
			c.Regressed, c.Improved),
		only("A", c.OnlyA), only("B", c.OnlyB), fmt.Sprintf("; %d not comparable", c.Unlike),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the tool does not say %q: %s", want, said)
		}
	}
	for _, m := range c.Means {
		if info, _ := schema.MetricByName(m.Metric); !strings.Contains(said, words.Change(m.Change)) {
			t.Errorf("the mean of %s, %s, is not in %s", info.Label, words.Change(m.Change), said)
		}
	}
	above := eval[string](t, b, `document.querySelector(".widget [role=note]").textContent`)
	for _, x := range c.Differ {
		if want := fmt.Sprintf("%s %s → %s (%d number", x.Name, x.A, x.B, x.N); !strings.Contains(above, want) {
			t.Errorf("the conditions lack %q: %s", want, above)
		}
	}
	b.quiet(t)
}
