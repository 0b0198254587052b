package site_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// everyPage is one of each kind.
func everyPage() []string {
	return []string{
		"index.html", "releases/v0.12.0/index.html", "models/Tiny-1B~2db558b5/n150/index.html", "runs/index.html#run-3-1",
		"evals/index.html", "targets/index.html", "problems/index.html", "notes/index.html", "about/index.html",
		"about/lints.html", "about/collect.html", "about/run-py.html", "about/ci.html", "explore/index.html",
		"compare/index.html", "404.html",
		"changes/index.html", "coverage/index.html",
	}
}

// content counts what a reader gets: headings, rows, pictures, words of the main part.
const content = `(function () {
	var m = document.querySelector("main");
	function seen(what) {
		return [].filter.call(m.querySelectorAll(what), function (e) { return e.getClientRects().length > 0; }).length;
	}
	return { H: seen("h1, h2"), Rows: seen("tr"), Pictures: seen("svg"), Words: m.textContent.split(/\s+/).length };
})()`

type amount struct{ H, Rows, Pictures, Words int }

// Without script every page says what it says with it; the two tools lead to the pages that need none.
func TestPagesWithoutScript(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	with := map[string]amount{}
	for _, p := range everyPage() {
		b.goTo(t, filepath.Join(dir, p))
		with[p] = eval[amount](t, b, content)
	}
	off := emulation.SetScriptExecutionDisabledParams{Value: true}
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, off); err != nil {
		t.Fatal(err)
	}
	for _, p := range everyPage() {
		b.goTo(t, filepath.Join(dir, p))
		got := eval[amount](t, b, content)
		if p == "explore/index.html" || p == "compare/index.html" {
			if !eval[bool](t, b, `!!document.querySelector('main .widget a[href$="index.html#models"]')`) {
				t.Errorf("%s does not lead to the pages that need no script", p)
			}
			continue
		}
		if strings.HasPrefix(p, "runs/") {
			if got.Rows < 2 {
				t.Errorf("%s lists no page that needs no script", p)
			}
			continue
		}
		if got.H != with[p].H || got.Rows < with[p].Rows || got.Pictures < with[p].Pictures || got.Words < with[p].Words-40 {
			t.Errorf("%s: %+v without script, %+v with it", p, got, with[p])
		}
		if eval[bool](t, b, `!document.getElementById("theme").hidden`) {
			t.Errorf("%s shows a button that does nothing", p)
		}
	}
}

// smallest is the size of the smallest letters of a page, px.
const smallest = `(function () {
	var texts = document.querySelectorAll("main p, main td, main th, main a, main svg text");
	return Math.min.apply(null, [].map.call(texts, function (e) {
		var m = e.getScreenCTM && e.getScreenCTM();
		return parseFloat(getComputedStyle(e).fontSize) * (m ? m.a : 1);
	}).concat(99));
})()`

// A phone of 360 px and a page at 200 % of 1280 px read without scrolling sideways, in no letters under 10 px.
func TestPagesNarrowAndLarge(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	for _, size := range []struct {
		width int64
		scale float64
	}{{360, 2}, {640, 2}} {
		view := chromedp.EmulateViewport(size.width, 900, chromedp.EmulateScale(size.scale))
		if err := chromedp.Do(b.ctx, view); err != nil {
			t.Fatal(err)
		}
		for _, p := range everyPage() {
			b.goTo(t, filepath.Join(dir, p))
			b.sideways(t, p)
			if small := eval[float64](t, b, smallest); small < 10 {
				t.Errorf("%s at %d px has letters of %.1f px", p, size.width, small)
			}
		}
	}
}

// On A4 nothing is cut off at the side and nothing stays folded; the PDF has pages.
func TestPagesOnPaper(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openIn(t, dir, openWindow)
	const text = 703 // px: 210 mm less margins of 12 mm, at 96 px an inch
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(text, 1000)); err != nil {
		t.Fatal(err)
	}
	for _, p := range everyPage() {
		b.goTo(t, filepath.Join(dir, p))
		media := emulation.SetEmulatedMediaParams{Media: "print"}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		cut := eval[[]string](t, b, fmt.Sprintf(`[].filter.call(document.querySelectorAll("main *"), function (e) {
			var r = e.getBoundingClientRect(); return r.width > 0 && r.right > %d + 1 && !e.closest(".vh, .widget");
		}).slice(0, 5).map(function (e) { return e.tagName + " " + e.textContent.slice(0, 40); })`, text))
		for _, c := range cut {
			t.Errorf("%s: cut off on A4: %s", p, c)
		}
		if n := eval[int](t, b, `[].filter.call(document.querySelectorAll("details table"), function (e) {
			return e.getBoundingClientRect().height === 0;
		}).length`); n > 0 {
			t.Errorf("%s: %d tables stay folded on paper", p, n)
		}
		pdf, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: new(true)})
		if err != nil {
			t.Fatal(err)
		}
		data := []byte(pdf.Data)
		if raw, err := base64.StdEncoding.DecodeString(string(pdf.Data)); err == nil {
			data = raw
		}
		if !bytes.HasPrefix(data, []byte("%PDF")) || !regexp.MustCompile(`/Type\s*/Page\b`).Match(data) {
			t.Errorf("%s: no PDF came of it", p)
		}
	}
}

// Tab reaches every value of every chart in its table, and every table that scrolls.
func TestKeyboardReachesEveryValue(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "models/Tiny-1B~2db558b5/n150/index.html"))
	eval[bool](t, b, `(function () {
		window.at = [];
		document.querySelectorAll("details").forEach(function (d) { d.open = true; });
		document.addEventListener("focusin", function (e) { at.push(e.target); });
		scrollTo(0, 0);
		return true;
	})()`)
	for i := range 600 {
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Tab)); err != nil {
			t.Fatal(err)
		}
		if i > 5 &&
			eval[bool](t, b, `document.activeElement === document.body || at.indexOf(document.activeElement) < at.length - 1`) {
			break
		}
	}
	for _, what := range []string{
		"main td a[href]", ".tw[tabindex]", "main a[href]", "summary", "#theme",
	} {
		if missed := eval[int](t, b, fmt.Sprintf(`[].filter.call(document.querySelectorAll(%q), function (e) {
			return e.getClientRects().length && at.indexOf(e) < 0;
		}).length`, what)); missed > 0 {
			t.Errorf("the keyboard does not reach %d of %s", missed, what)
		}
	}
	if n := eval[int](t, b, `document.querySelectorAll("main td a[href]").length`); n < 10 {
		t.Fatalf("only %d values", n)
	}
	if nameless := eval[int](t, b, `[].filter.call(document.querySelectorAll("svg a"), function (a) {
		return !a.querySelector("title") || !a.querySelector("title").textContent;
	}).length`); nameless > 0 {
		t.Errorf("%d points have no name", nameless)
	}
	b.quiet(t)
}
