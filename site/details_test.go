package site_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// details looks for what spoils a page: what scrolls and the keyboard cannot reach, a command that is cut at the edge,
// a heading in two weights, and blue, the colour of what improved, on anything else.
const details = `(function () {
	var out = [], probe = document.body.appendChild(document.createElement("span"));
	probe.style.color = "var(--good)";
	var blue = getComputedStyle(probe).color;
	probe.remove();
	document.querySelectorAll("body *").forEach(function (e) {
		var s = getComputedStyle(e), name = e.tagName + "." + (e.getAttribute("class") || "");
		if (!e.getClientRects().length) return;
		if (/auto|scroll/.test(s.overflowX + s.overflowY) && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0 &&
			!e.querySelector("a[href], button, select, [tabindex]")) out.push("not reached: " + name);
		if (e.tagName === "PRE" && !e.closest(".prose") && e.scrollWidth > e.clientWidth + 1)
			out.push("cut: " + e.textContent);
		if (e.matches("h1 .v") && s.fontWeight !== getComputedStyle(e.closest("h1")).fontWeight)
			out.push("weight of " + name);
		if (!e.closest(".improved, .recovered, .plane, .chart") &&
			[s.color, s.fill, s.stroke, s.borderLeftColor].indexOf(blue) >= 0) out.push("blue: " + name);
	});
	return out;
})()`

// Every kind of page, and every page of the documentation, wide and on a phone.
func TestDetailsOfPages(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	pages := everyPage()
	topics, err := os.ReadDir(filepath.Join(dir, "about"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range topics {
		pages = append(pages, "about/"+e.Name())
	}
	b := openBrowser(t, dir)
	for _, p := range pages {
		for _, width := range []int64{1440, 390} { // what is loaded wide is narrowed: others are loaded on a phone
			if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
				t.Fatal(err)
			}
			if width == 1440 {
				b.goTo(t, filepath.Join(dir, p))
			}
			b.sideways(t, p)
			for _, found := range eval[[]string](t, b, details) {
				t.Errorf("%s at %d px: %s", p, width, found)
			}
		}
	}
	b.quiet(t)
}

// The longest command that the site asks to run is whole on a wide page and on a phone.
func TestCommandsAreWhole(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	for _, width := range []int64{1440, 390} {
		if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
			t.Fatal(err)
		}
		b.goTo(t, filepath.Join(dir, "index.html"))
		cut := eval[[]string](t, b, `[".lead", ".card .ways li", "section"].map(function (where) {
			var pre = document.createElement("pre");
			pre.textContent = "ttreport collect --model m --workload isl=128,osl=128,c=1 ".repeat(12);
			document.querySelector(where).appendChild(pre);
			return pre.scrollWidth > pre.clientWidth + 1 ? where : "";
		}).filter(Boolean)`)
		if len(cut) > 0 {
			t.Errorf("a long command is cut at %d px in %s", width, cut)
		}
	}
}

// A time of day is shown where a file states one; the fixture's runs state a date.
func TestDatesWithoutATime(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	for name, text := range files(t, dir) {
		if at := strings.Index(text, "00:00"); at >= 0 && !strings.HasPrefix(name, "assets/") &&
			!regexp.MustCompile(`T00:00:00Z`).MatchString(text[max(0, at-12):at+9]) {
			t.Errorf("%s: …%s…", name, text[max(0, at-40):min(len(text), at+20)])
		}
	}
}

// Every link to a number leads to a run that has it, also those of baselines; every file that is said to have all rows
// is there.
func TestWhatLinksAndSentencesPromise(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	runs, _ := fixture("Tiny-1B", "n150")
	number := regexp.MustCompile(`runs/index\.html#([\w.~-]+)/p(\d+)/([\w%]+)(?:/(\w+))?"`)
	all := regexp.MustCompile(`(data/[\w./~-]*\w) has all`)
	links := 0
	for name, text := range files(t, dir) {
		if filepath.Ext(name) != ".html" {
			continue
		}
		for _, m := range number.FindAllStringSubmatch(text, -1) {
			links++
			at, _ := strconv.Atoi(m[2])
			stat := cmp.Or(m[4], "mean", "value")
			metric, _ := pointOf(t, runs, m[1], at).Metrics.Get(m[3])
			_, mean := metric.Stats.Get(stat)
			_, value := metric.Stats.Get("value")
			if !mean && (!value || m[4] != "") {
				t.Errorf("%s links to %s of %s/p%d, which has none", name, m[3], m[1], at)
			}
		}
		for _, m := range all.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
				t.Errorf("%s: %s has nothing", name, m[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links to numbers", links)
	}
}

// Lists to choose from are in the order of their numbers.
func TestNumbersAreNotSortedAsText(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "explore/index.html"))
	const want = "128/128/4 128/128/16 128/128/32 128/128/128 128/128/256"
	if got := eval[string](t, b, `ttreport.series.sorted(["128/128/128", "128/128/16", "128/128/256", "128/128/32",
		"128/128/4"]).join(" ")`); got != want {
		t.Error(got)
	}
	until(t, b, "the workloads to choose from", `[...document.querySelectorAll("[name=workload] option")]
		.map(function (o) {
		return o.value; }).join(" ").indexOf(" 128/128/1 128/128/32 ") === 0`)
}
