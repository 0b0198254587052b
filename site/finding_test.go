package site_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
)

// "/" searches models, devices, releases and the documentation, from any page.
func TestSearch(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	const found = `[...document.querySelectorAll(".search li a")].map(function (a) { return a.textContent; }).join("|")`
	press := func(keys string) {
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(keys)); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []string{"index.html", "releases/v0.12.0/index.html", "models/Tiny-1B~2db558b5/n150/index.html"} {
		for typed, want := range map[string][2]string{
			"v0.11": {"releasev0.11.0", "releases/v0.11.0/"}, "t3k": {"model on deviceTiny-1B on t3k", "/t3k/index.html"},
			"exit":            {"helpExit-codes", "about/exit-codes.html"},
			"tiny 128/128/32": {"workloadTiny-1B on ", "explore/index.html"},
			"t3k isl=128 c32": {"workloadTiny-1B on t3k: 128/128/32", "explore/index.html"},
		} {
			b.goTo(t, filepath.Join(dir, page))
			press("/")
			until(t, b, "the search is open", `!!document.querySelector("dialog[open] input:focus")`)
			eval[bool](t, b, `(function () {
				var e = document.querySelector(".search input");
				e.value = "`+typed+`";
				return e.dispatchEvent(new Event("input"));
			})()`)
			until(t, b, typed+" is found", found+`.indexOf("`+want[0]+`") === 0`)
			press(kb.Enter)
			until(t, b, typed+" is opened", `location.pathname.indexOf("`+want[1]+`") > 0`)
		}
	}
	b.goTo(t, filepath.Join(dir, "explore/index.html"))
	until(t, b, "the explorer", shown+` > 4`)
	eval[bool](t, b, `(document.querySelector("[name=q]").focus(), true)`)
	press("/")
	if eval[bool](t, b, `!!document.querySelector("dialog[open]") || `+field("q")+` !== "/"`) {
		t.Error("a slash in a field is no text")
	}
	b.quiet(t)
}

// The order of a table is in the address: a link shows it, and back undoes it.
func TestOrderOfATableIsInTheAddress(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	page := filepath.Join(dir, "releases/v0.12.0/index.html")
	b.goTo(t, page)
	const (
		column = `[...document.querySelectorAll("#history tbody tr")]
			.map(function (r) { return r.cells[5].dataset.v; }).join(" ")`
		sorted = `[...document.querySelectorAll("#history tbody tr")].map(function (r) {
			return parseFloat(r.cells[5].dataset.v); }).every(function (v, i, all) { return !i || !(all[i - 1] > v); })`
	)
	first := eval[string](t, b, column)
	click := `(document.querySelector("#history th[data-sort] button").click(), true)`
	eval[bool](t, b, click)
	eval[bool](t, b, click)
	until(t, b, "ascending", `location.hash === "#sort-history=Change" && `+sorted)
	order := eval[string](t, b, column)
	if order == first {
		t.Fatal("sorting changes nothing: the test proves nothing")
	}
	b.goTo(t, filepath.Join(dir, "index.html"))
	b.goTo(t, page+"#sort-history=Change")
	until(t, b, "a link shows the order", column+` === "`+order+`"`)
	eval[bool](t, b, click)
	until(t, b, "the other way", `location.hash === "#sort-history=Change%3Adown" && `+column+` !== "`+order+`"`)
	eval[bool](t, b, `(history.back(), true)`)
	until(t, b, "back", column+` === "`+order+`"`)
	b.quiet(t)
}

// What a chart is zoomed to and which of its lines are shown are in the address.
func TestStateOfAChartIsInTheAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs, in := fixtureOf("Tiny-1B", "n150", 12)
	_, err := site.Build(t.Context(), render.New(in), site.Options{Dir: dir,
		Run: func(i int) (schema.Run, *schema.Problem) { return runs[i], nil }})
	if err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t, dir)
	page := filepath.Join(dir, "models/Tiny-1B~2db558b5/n150/index.html")
	const (
		place = `document.querySelector("[data-chart='chart-ttft']")`
		chart = place + `.ttchart`
		ready = `(` + place + `.scrollIntoView(), !!` + chart + `)`
		state = `JSON.stringify([` + chart + `.getOption().legend[0].selected, ` + chart +
			`.getOption().dataZoom[0].startValue, ` + chart + `.getOption().dataZoom[0].endValue])`
	)
	b.goTo(t, page)
	until(t, b, "the chart is drawn", ready)
	eval[bool](t, b, `(`+chart+`.dispatchAction({ type: "legendToggleSelect", name: "128/128/1" }), true)`)
	eval[bool](t, b, `(`+chart+`.dispatchAction({ type: "dataZoom", startValue: 4, endValue: 9 }), true)`)
	until(t, b, "both are in the address", `location.hash === "#off=128%2F128%2F1&zoom=v0.13.0~v0.18.0"`)
	b.goTo(t, filepath.Join(dir, "index.html"))
	b.goTo(t, page+"#off=128%2F128%2F1&zoom=v0.13.0~v0.18.0")
	until(t, b, "the chart is drawn again", ready)
	until(t, b, "as it was", state+`.indexOf('"128/128/1":false') > 0 && `+state+`.indexOf(",4,9]") > 0`)
	b.quiet(t)
}

// The page of a release leads to those before and after it.
func TestReleasesBesideEachOther(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	for name, want := range map[string][2]string{
		"v0.9.0": {`rel="next" href="../../releases/v0.10.0/index.html"`, ""},
		"v0.11.0": {
			`rel="next" href="../../releases/v0.12.0/index.html"`, `rel="prev" href="../../releases/v0.10.0/index.html"`,
		},
		"v0.12.0": {"", `rel="prev" href="../../releases/v0.11.0/index.html"`},
	} {
		page := read(t, dir, "releases/"+name+"/index.html")
		for i, rel := range []string{"next", "prev"} {
			if strings.Contains(page, `rel="`+rel) != (want[i] != "") || !strings.Contains(page, want[i]) {
				t.Errorf("%s: %s is not %q", name, rel, want[i])
			}
		}
	}
}

// A chart is one stop of the tab key; arrows go along its lines, and Enter opens the run.
func TestChartByTheKeyboard(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "models/Tiny-1B~2db558b5/n150/index.html"))
	const place = `document.querySelector("[data-chart='chart-ttft']")`
	until(t, b, "the chart is drawn", `(`+place+`.scrollIntoView(), !!`+place+`.ttchart && `+place+`.tabIndex === 0)`)
	const said = place + `.parentNode.querySelector("output").textContent`
	press := func(key string) {
		eval[bool](t, b, place+`.dispatchEvent(new KeyboardEvent("keydown", { key: "`+key+`" }))`)
	}
	press("ArrowRight")
	until(t, b, "the oldest value", said+`.indexOf("101") > 0 && `+said+`.indexOf("v0.9.0") > 0`)
	press("ArrowRight")
	until(t, b, "the next one", said+`.indexOf("v0.10.0") > 0`)
	press("ArrowDown")
	until(t, b, "the other line", said+`.indexOf("128/128/32") === 0 && `+said+`.indexOf("v0.10.0") > 0`)
	if n := eval[int](t, b, place+`.querySelectorAll("a, button, [tabindex]").length`); n > 0 {
		t.Errorf("%d more stops in the chart", n)
	}
	press("Enter")
	until(t, b, "the run is opened", `location.pathname.indexOf("runs/index.html") > 0`)
	b.quiet(t)
}
