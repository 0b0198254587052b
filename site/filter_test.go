package site_test

import (
	"path/filepath"
	"testing"
)

// The page of coverage has a row for each workload that is measured or expected, all of them, with what is missing and
// the command that measures it; a text and choices leave some, and the address keeps them.
func TestCoverageIsFiltered(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	page := filepath.Join(dir, "coverage/index.html")
	b.goTo(t, page)
	const left = `[...document.querySelectorAll("#map tbody tr")].filter(r => !r.hidden)`
	until(t, b, "all rows", `/^\d+ of \d+ rows$/.test(`+status+`) && parseInt(`+status+`) === `+left+`.length`)
	all := eval[int](t, b, left+`.length`)
	choose(t, b, "Device", "t3k")
	until(t, b, "those of a device", left+`.length > 0 && `+left+`.every(r => r.cells[2].innerText === "t3k") &&
		location.hash.includes("map-Device=t3k")`)
	if n := eval[int](t, b, left+`.length`); n == 0 || n >= all {
		t.Errorf("%d of %d rows are of one device", n, all)
	}
	link := eval[string](t, b, `location.hash`)
	choose(t, b, "Text", "no such workload")
	until(t, b, "none", left+`.length === 0`)
	b.goTo(t, filepath.Join(dir, "index.html"))
	b.goTo(t, page+link)
	until(t, b, "the link shows the same", field("Device")+` === "t3k"`)
	if eval[bool](t, b, `/\b(pass|fail|regressed|improved)\b/i.test(document.querySelector("#map").innerText)`) {
		t.Error("coverage says pass or fail")
	}
	b.quiet(t)
}
