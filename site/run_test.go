package site_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
)

// said is what the main part of a page says: headings, and tables cell by cell with their roles and links.
const said = `[...document.querySelectorAll("main h1, main h2, main section > header p, main th, main td, main pre, " +
		"main figcaption")]
	.filter(function (e) { return e.getClientRects().length > 0 && !e.closest("details"); })
	.map(function (e) {
		var a = e.querySelector("a:not(.at)");
		return [e.tagName, e.className, e.title, e.dataset.l || "", e.textContent.replace(/\s+/g, " ").trim(),
			a ? a.getAttribute("href").replace(/^(\.\.\/)+|^https:\/\/x\.org\//, "") : ""].join(" | ");
	})`

// The page of a run that the script paints says what the page says that is one file, of every run; nothing is lost in
// packing, and every number, title and link is in its place.
func TestRunIsPainted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", schema.Simulated)
	runs, in := fixture("Tiny-1B", schema.Simulated)
	report := render.New(in)
	b := openBrowser(t, dir)
	for i := range runs {
		id := report.Columns.Runs[i].ID
		html, err := site.Single(report, report.RunPage(&runs[i], id), "https://x.org", site.Theme{})
		if err != nil {
			t.Fatal(err)
		}
		alone := filepath.Join(dir, "alone.html")
		write(t, alone, string(html))
		b.goTo(t, alone)
		want := eval[[]string](t, b, said)
		b.goTo(t, filepath.Join(dir, "index.html"))
		b.goTo(t, filepath.Join(dir, "runs/index.html#"+id))
		until(t, b, "the run is painted", `document.title.startsWith("Run `+id+`")`)
		got := eval[[]string](t, b, said)
		if len(want) < 20 || len(got) != len(want) {
			t.Errorf("%s: %d things are painted, the file has %d", id, len(got), len(want))
		}
		for k := range min(len(got), len(want)) {
			if got[k] != want[k] {
				t.Errorf("%s: painted is %q, the file has %q", id, got[k], want[k])
			}
		}
		if n := eval[int](t, b, `document.querySelectorAll("td.absent [hidden]").length`); n > 0 {
			t.Errorf("%s: %d reasons why a number is missing are cut at a comma", id, n)
		}
		if eval[bool](t, b, `document.querySelector("aside.marked:not([hidden])") !== null`) != runs[i].IsSimulated() {
			t.Errorf("%s is simulated, or is marked so, and not the other", id)
		}
		if err := os.Remove(alone); err != nil {
			t.Fatal(err)
		}
	}
	b.quiet(t)
}

// The head of a page has its height before the script shows the buttons in it.
func TestButtonsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	for _, width := range []int64{1280, 412, 390} {
		if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
			t.Fatal(err)
		}
		b.goTo(t, filepath.Join(dir, "index.html"))
		const height = `document.querySelector(".mast").getBoundingClientRect().height`
		with := eval[float64](t, b, height)
		const hide = `document.querySelectorAll(".mast button").forEach(e => { e.hidden = true; })`
		before := eval[float64](t, b, `(`+hide+`, `+height+`)`)
		if with != before {
			t.Errorf("%d px: the head is %g px high, and %g px before the buttons are shown", width, with, before)
		}
	}
}

// An address names a run and a row of it; the page follows it, and says when there is no such run.
func TestRunAddresses(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	page := filepath.Join(dir, "runs/index.html")
	b.goTo(t, page+"#run-3-0/p2")
	until(t, b, "the row is marked", `document.querySelector("tr.here") !== null`)
	if got := eval[string](t, b, `document.querySelector("tr.here").id`); got != "run-3-0/p2" {
		t.Errorf("marked is %s", got)
	}
	eval[bool](t, b, `(location.hash = "#run-0-0", true)`)
	until(t, b, "another run", `document.title.indexOf("Run run-0-0") === 0`)
	eval[bool](t, b, `(history.back(), true)`)
	until(t, b, "back", `document.title.indexOf("Run run-3-0") === 0`)
	for _, hash := range []string{"#nothing-of-the-kind", "#constructor", "#%E0%A4", "#"} {
		eval[bool](t, b, fmt.Sprintf(`(location.hash = %q, true)`, hash))
		until(t, b, "the list of releases is there for "+hash, `document.querySelector("#releases:not([hidden])") !== null`)
	}
	eval[bool](t, b, `(location.hash = "#nothing-of-the-kind", true)`)
	until(t, b, "the page says so", `document.querySelector(".widget .more").textContent.indexOf("There is no run") === 0`)
	b.quiet(t)
}

// A release whose runs do not fit into one script has several; the index names the right one for each, and a build that
// keeps them says the same.
func TestManyRunsOfARelease(t *testing.T) {
	runs, in := fixture("Tiny-1B", "n150")
	for i := range runs { // long enough for one script each
		for n := range 4000 {
			runs[i].Problems = append(runs[i].Problems, schema.Problem{
				Severity: schema.SevWarning, Code: "made-up", Path: fmt.Sprintf("a/b/c/%d/%d.json", i, n), Found: "something",
			})
		}
		runs[i].Points[0].Command = []string{strings.Repeat(fmt.Sprintf("--flag-%d x ", i), 200_000)}
	}
	dir, record := t.TempDir(), filepath.Join(t.TempDir(), "record")
	var before map[string]string
	for range 2 {
		opt := site.Options{
			Dir: filepath.Join(dir, "site"), Record: record, Stamp: "one",
			Run: func(i int) (schema.Run, *schema.Problem) { return runs[i], nil },
		}
		if _, err := site.Build(context.Background(), render.New(in), opt); err != nil {
			t.Fatal(err)
		}
		all := files(t, opt.Dir)
		text := all["data/shards/runs.js"]
		var index struct {
			Files []string
			Runs  map[string]int
		}
		if err := json.Unmarshal([]byte(text[strings.Index(text, ",")+1:strings.LastIndex(text, ")")]), &index); err != nil {
			t.Fatal(err)
		}
		if len(index.Runs) != len(runs) || len(index.Files) <= len(in.Gate.Releases) {
			t.Fatalf("%d runs in %d scripts", len(index.Runs), len(index.Files))
		}
		for name, at := range index.Runs {
			if !strings.Contains(all[index.Files[at]], fmt.Sprintf(`<article id=%q`, name)) {
				t.Errorf("%s is not in %s", name, index.Files[at])
			}
		}
		if before != nil && fmt.Sprint(all) != fmt.Sprint(before) {
			t.Error("a build of the same gives another site")
		}
		before = all
	}
}

// An address of an earlier site, at which a run had a page of its own, leads to the run.
func TestOldRunAddresses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	html, err := os.ReadFile(filepath.Join(dir, "404.html"))
	if err != nil {
		t.Fatal(err)
	}
	old := strings.ReplaceAll(string(html), `src="assets/`, `src="../../assets/`)
	write(t, filepath.Join(dir, "runs/run-3-0/index.html"), old) // what a host answers there
	b.goTo(t, filepath.Join(dir, "runs/run-3-0/index.html"))
	until(t, b, "the run is shown", `document.title.indexOf("Run run-3-0") === 0`)
	if got := eval[string](t, b, `location.href`); !strings.HasSuffix(got, "/runs/index.html#run-3-0") {
		t.Errorf("it is shown at %s", got)
	}
}
