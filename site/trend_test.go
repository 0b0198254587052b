package site_test

import (
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
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
	eval[bool](t, b, `([...document.querySelectorAll(".tabs a")].find(a => a.textContent === "Log").click(), true)`)
	until(t, b, "the scale is in the address", `location.hash.includes("scale=log") && `+drawn)
	eval[bool](t, b, `(document.querySelector(".smalls a:not([aria-current])").click(), true)`)
	until(t, b, "another metric of it keeps the scale", `location.hash.includes("scale=log") &&
		document.querySelector(".smalls [aria-current] b").textContent === ttreport.read().k && `+drawn)
	b.reload(t)
	until(t, b, "the address opens it again",
		`document.querySelector("[aria-label=Scale] [aria-current]").textContent === "Log" && `+drawn)
	eval[bool](t, b, `(location.hash = "of=none_none", true)`)
	until(t, b, "a series that is not there is said",
		`document.body.textContent.includes("There are no series of this name")`)
}

// The chart of a series has its zoom in the address, says each release to a keyboard and a pointer, offers a picture
// and a table with verdicts, and names what lies beyond its axis. Numbers that are not judged have a chart too.
func TestTheChartOfASeries(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for i, ttft := range []float64{100, 101, 99, 4321, 100, 101, 99, 100} {
		r := fixtureRun("Tiny-1B", "n150", i, 0)
		r.Points = r.Points[:1]
		m := schema.Of("ttft", "mean", ttft)
		m.N = 256
		r.Points[0].Metrics.Put(m)
		runs = append(runs, r)
	}
	_, dir := reportOf(t, runs...)
	b := openBrowser(t, dir)
	page := filepath.Join(dir, "series/index.html") + "#of=Tiny-1B~2db558b5_n150"
	const canvas, zoom = `document.querySelector(".canvas")`, `chart.getOption().dataZoom[0]`
	const drawn = `(window.chart = (` + canvas + ` || {}).ttchart, !!chart)`
	b.goTo(t, page)
	until(t, b, "the chart is drawn", drawn)
	eval[bool](t, b, `(chart.dispatchAction({ type: "dataZoom", startValue: 1, endValue: 5 }), true)`)
	until(t, b, "the zoom is in the address", `location.hash.includes("zoom=v0.10.0~v0.14.0")`)
	b.reload(t)
	until(t, b, "the address opens it again", drawn+` && `+zoom+`.startValue === 1 && `+zoom+`.endValue === 5`)
	b.goTo(t, page+"&k=TTFT%20mean")
	b.reload(t)
	until(t, b, "what lies beyond is said",
		drawn+` && document.body.textContent.includes("Beyond the axis: v0.12.0 4,321.")`)
	for _, text := range eval[[]string](t, b, `(function () {
		var out = [], text = chart.getOption().tooltip[0].formatter;
		for (var i = 0; i < 8; i++) out.push(text([{ dataIndex: i }]));
		return out.filter(t => !/^v0\.\d+\.0\b/.test(t) || /undefined|NaN/.test(t));
	})()`) {
		t.Errorf("the chart says %q", text)
	}
	eval[bool](t, b, canvas+`.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }))`)
	until(t, b, "the release before the newest", canvas+`.getAttribute("aria-label").startsWith("v0.15.0")`)
	eval[bool](t, b, `(function () {
		window.got = [];
		URL.createObjectURL = function (blob) { blob.text().then(x => got.push(x)); return "#"; };
		HTMLAnchorElement.prototype.click = function () {};
		document.querySelectorAll(".downloads button").forEach(x => x.click());
		return true;
	})()`)
	until(t, b, "a picture and a table", `got.length === 2 && got.some(x => x.indexOf("PNG") === 1) &&
		got.some(x => /^release,day,TTFT mean ms,verdict\n/.test(x) && /\nv0.12.0,[\d-]*,4321,\w/.test(x))`)
	if n := eval[int](t, b, `document.querySelectorAll(".tw tbody .v").length`); n != len(runs) {
		t.Errorf("%d verdicts of %d releases", n, len(runs))
	}
	b.goTo(t, page+"&k=E2EL%20p99&embed=1")
	b.reload(t)
	until(t, b, "a number that is not judged, in a frame",
		drawn+` && document.querySelector("h1").textContent.startsWith("E2EL p99") &&
		!document.querySelector(".mast").getClientRects().length`)
	eval[bool](t, b, canvas+`.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }))`)
	until(t, b, "Enter opens the run", `location.pathname.endsWith("runs/index.html")`)
	b.quiet(t)
}
