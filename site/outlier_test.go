package site_test

import (
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// A value that a chart shows as an arrow at its edge is in the chart's table with what was measured.
func TestTableOfAChartHasWhatLiesBeyond(t *testing.T) {
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
	_, dir := reportOf(t, render.ModeAuto, runs...)
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, filepath.FromSlash(string(render.PairPath("Tiny-1B", "n150")))))
	until(t, b, "a chart is drawn",
		`[...document.querySelectorAll("[data-chart]")].some(function (e) { return e.ttchart; })`)
	eval[bool](t, b, `(function () {
		window.got = [];
		URL.createObjectURL = function (blob) { blob.text().then(function (x) { got.push(x); }); return "#"; };
		HTMLAnchorElement.prototype.click = function () {};
		var buttons = document.querySelector("[data-chart='chart-ttft']").nextElementSibling.querySelectorAll("button");
		buttons.forEach(function (x) { x.click(); });
		return true;
	})()`)
	until(t, b, "the value in the table", `got.some(function (x) { return /,v0.12.0,4321\n/.test(x); })`)
	b.quiet(t)
}
