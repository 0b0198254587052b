package site_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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
			"TTFT 128/128/32": {"seriesTiny-1B on ", "series/index.html"},
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
	page := filepath.Join(dir, "models/Tiny-1B~2db558b5/n150/index.html")
	b.goTo(t, page)
	const (
		column = `[...document.querySelectorAll("#noisy tbody tr")]
			.map(function (r) { return r.cells[5].dataset.v; }).join(" ")`
		sorted = `[...document.querySelectorAll("#noisy tbody tr")].map(function (r) {
			return parseFloat(r.cells[5].dataset.v); }).every(function (v, i, all) { return !i || !(all[i - 1] > v); })`
	)
	first := eval[string](t, b, column)
	click := `(document.querySelector("#noisy th[data-sort] button").click(), true)`
	eval[bool](t, b, click)
	eval[bool](t, b, click)
	until(t, b, "ascending", `location.hash === "#sort-noisy=Change" && `+sorted)
	order := eval[string](t, b, column)
	if order == first {
		t.Fatal("sorting changes nothing: the test proves nothing")
	}
	b.goTo(t, filepath.Join(dir, "index.html"))
	b.goTo(t, page+"#sort-noisy=Change")
	until(t, b, "a link shows the order", column+` === "`+order+`"`)
	eval[bool](t, b, click)
	until(t, b, "the other way", `location.hash === "#sort-noisy=Change%3Adown" && `+column+` !== "`+order+`"`)
	eval[bool](t, b, `(history.back(), true)`)
	until(t, b, "back", column+` === "`+order+`"`)
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
