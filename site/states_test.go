package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ttreport/ttreport/ingest/schema"
)

// On a phone the rows that a long list does not show come with a button, on pages that a script paints too.
func TestListsOfARunOnAPhone(t *testing.T) {
	t.Parallel()
	run := fixtureRun("m", "n150", 0, 0)
	for i := range 9 {
		s := run.Scores[0]
		s.Task = fmt.Sprintf("task-%d", i)
		run.Scores = append(run.Scores, s)
	}
	_, dir := reportOf(t, run)
	b := openBrowser(t, dir)
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(390, 800)); err != nil {
		t.Fatal(err)
	}
	b.goTo(t, filepath.Join(dir, "runs/index.html")+"#run-0-0")
	const list = `#evals .list tbody tr`
	const seen = `[...document.querySelectorAll("` + list + `")]
		.filter(function (r) { return r.getClientRects().length; }).length`
	until(t, b, "five of ten scores", seen+` === 5`)
	until(t, b, "and a button", `/all 10/.test((document.querySelector("#evals .rest") || {}).textContent)`)
	eval[bool](t, b, `(document.querySelector("#evals .rest").click(), true)`)
	until(t, b, "all of them", seen+` === 10`)
	b.sideways(t, "the page of a run")
	b.quiet(t)
}

// What "Open the run" and "Copy as markdown" say of a score is the score, and no point.
func TestDrawerOfAScore(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "index.html")+"#run-3-0/e1/acc")
	until(t, b, "the drawer of a score", drawerText+`.indexOf("Raw file") > 0`)
	if to := eval[string](t, b, `document.querySelector(".drawer .top a").hash`); to != "#run-3-0/e1" {
		t.Errorf("the run is opened at %s", to)
	}
	eval[bool](t, b, `(navigator.clipboard.writeText = function (x) { window.copied = x; return Promise.resolve(); },
		[...document.querySelectorAll(".drawer button")]
			.find(function (x) { return /markdown/.test(x.textContent); }).click(), true)`)
	until(t, b, "the text leads to the score", `/#run-3-0\/e1\/acc\)\n$/.test(window.copied || "")`)
	b.quiet(t)
}

// A bound that cannot be read is text, which finds nothing, and is not ignored.
func TestExploreBounds(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "explore/index.html")+"#release=v0.10.0&metric=TTFT%20mean&device=n150")
	until(t, b, "two numbers, 111 and 142", shown+` === 2`)
	for _, x := range []struct {
		q    string
		left int
	}{
		{"value>=111", 2}, {"value>111", 1}, {"value>1,000", 0}, {"value<1,000", 2}, {"value>100ms", 0}, {"value>>1", 0},
		{"change>5%", 2}, {"change<-5%", 0}, {"change<=", 0}, {"value>.5", 2},
	} {
		choose(t, b, "q", x.q)
		until(t, b, fmt.Sprintf("%s leaves %d", x.q, x.left), fmt.Sprintf(`%s === %d &&
			decodeURIComponent(location.hash).indexOf("q=" + %q) > 0`, shown, x.left, x.q))
	}
	b.quiet(t)
}

// A release whose file has percent, and one whose file has fractions, are compared as shares.
func TestScoresOfTwoScales(t *testing.T) {
	t.Parallel()
	runs := []schema.Run{fixtureRun("m", "n150", 0, 0), fixtureRun("m", "n150", 1, 0)}
	for i, value := range []float64{53, .55} {
		runs[i].Scores[0].Value = schema.Num(value)
		p := runs[i].Scores[0]
		p.Task, p.Metric, p.Direction, p.Value = "wiki", "word_perplexity", "lower", schema.Num(.9+float64(i)/10)
		runs[i].Scores = append(runs[i].Scores, p)
	}
	r, dir := reportOf(t, runs...)
	table := r.ReleaseSeries(1)
	for i, m := range table.Metric {
		if c := table.Change[i]; table.Metrics[m].Name == "acc" && (c == nil || *c < .019 || *c > .021) {
			t.Errorf("the change from 53 to 0.55 is %v", c)
		}
	}
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "compare/index.html")+"#all=1&sort=Metric")
	const row = `[...` + rows + `].map(function (r) { return r.textContent; })
		.find(function (s) { return /^%s/.test(s); })`
	until(t, b, "both scores", `!!(`+fmt.Sprintf(row, "acc")+`) && !!(`+fmt.Sprintf(row, "word_perp")+`)`)
	if got := eval[string](t, b, fmt.Sprintf(row, "acc")); !strings.Contains(got, "+2.0\u202fpp") {
		t.Errorf("53 and 0.55 are %q", got)
	}
	got := eval[string](t, b, fmt.Sprintf(row, "word_perp"))
	if strings.Contains(got, "pp") && !strings.Contains(got, "+0.100") {
		t.Errorf("perplexities of 0.9 and 1 are %q", got)
	}
	b.quiet(t)
}

// The name of a task may have a colon: its column can be sorted both ways, and a link shows the order.
func TestSortOfANameWithAColon(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for i, model := range []string{"a", "b", "c"} {
		r := fixtureRun(model, "n150", 0, 0)
		r.ID = "run-" + model
		r.Scores[0].Task, r.Scores[0].Value = "leaderboard|arc:challenge", schema.Num(.4+float64(i*7%3)/10)
		r.Scores[0].Source.Format = "lighteval"
		runs = append(runs, r)
	}
	_, dir := reportOf(t, runs...)
	if page := read(t, dir, "evals/index.html"); strings.Contains(page, "explore/index.html#tool=") {
		t.Error("a link that says All leads to the scores of one tool")
	}
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "evals/index.html"))
	const head = `[...document.querySelectorAll("#board th[data-sort]")]
		.find(function (h) { return /arc:challenge/.test(h.textContent); })`
	for _, order := range []string{"descending", "ascending"} {
		eval[bool](t, b, `(`+head+`.querySelector("button").click(), true)`)
		until(t, b, order, head+`.getAttribute("aria-sort") === "`+order+`"`)
	}
	b.reload(t)
	until(t, b, "the link shows the order", `!!(`+head+`) && `+head+`.getAttribute("aria-sort") === "ascending"`)
	b.quiet(t)
}

// A site without its data says so, where a person asks for the search.
func TestSearchWithoutData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", "n150")
	if err := os.Remove(filepath.Join(dir, "data/shards/search.js")); err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "index.html"))
	for range 2 {
		eval[bool](t, b, `(document.getElementById("search").click(), true)`)
		until(t, b, "the page says what is missing", `document.querySelectorAll("[role=alert]").length === 1 &&
			/data\/shards\/ belongs to the site/.test(document.querySelector("[role=alert]").textContent)`)
	}
}
