package site_test

import (
	"path/filepath"
	"testing"
)

// A small picture of a series leads to its page: its levels in the headline, a chart that is drawn, its state in the
// address, and the other metrics of the workload.
func TestASeriesHasAPage(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "explore/index.html"))
	until(t, b, "a row leads to its series", `!!document.querySelector(".rows a[href*='series/index.html#of=']")`)
	eval[bool](t, b, `(document.querySelector(".rows a[href*='series/index.html#of=']").click(), true)`)
	const drawn, h1 = `!!document.querySelector(".canvas canvas")`, `document.querySelector("h1").textContent`
	until(t, b, "the chart of the series is drawn", `location.pathname.endsWith("series/index.html") && `+drawn)
	until(t, b, "the headline names the metric", `/^(TTFT|TPOT|E2EL|Output)/.test(`+h1+`)`)
	if n := eval[int](t, b, `document.querySelectorAll(".smalls a").length`); n < 2 {
		t.Errorf("%d metrics of the workload, want several", n)
	}
	choose(t, b, "scale", "log")
	until(t, b, "the scale is in the address", `location.hash.includes("scale=log") && `+drawn)
	eval[bool](t, b, `(document.querySelector(".smalls a:not([aria-current])").click(), true)`)
	until(t, b, "another metric of it keeps the scale", `location.hash.includes("scale=log") &&
		document.querySelector(".smalls [aria-current] b").textContent === ttreport.read().k && `+drawn)
	b.reload(t)
	until(t, b, "the address opens it again", `document.querySelector("[name=scale]").value === "log" && `+drawn)
	eval[bool](t, b, `(location.hash = "of=none_none", true)`)
	until(t, b, "a series that is not there is said",
		`document.body.textContent.includes("There are no series of this name")`)
}
