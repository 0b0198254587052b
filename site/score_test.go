package site_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render"
)

// A score is a number as any other: it is found and compared, and its address opens what is behind it.
func TestScoresAreNumbers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", "n150")
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
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", "n150")
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
