package site_test

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// tall are the rows of lists that are higher than two lines, folded ones too.
const tall = `document.querySelectorAll("main details").forEach(function (d) { d.open = true; });
[].filter.call(document.querySelectorAll(".list > tbody > tr"), function (r) {
	var s = getComputedStyle(r.cells[0]), line = parseFloat(s.lineHeight);
	return r.getBoundingClientRect().height > 2.5 * line + parseFloat(s.paddingTop) + parseFloat(s.paddingBottom);
}).map(function (r) { return r.innerText.replace(/\s+/g, " ").slice(0, 200); })`

// On a screen a row of a list is one or two lines high, also where names are as long as those of accelerators are.
func TestRowsAreTwoLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, dir, "Meta-Llama-3-8B-Instruct", "NVIDIA H100 80GB HBM3")
	b := openBrowser(t, dir)
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(1440, 900)); err != nil {
		t.Fatal(err)
	}
	pages := []string{"index.html", "releases/v0.12.0/index.html", "changes/index.html",
		"targets/index.html", "evals/index.html"}
	models, err := filepath.Glob(filepath.Join(dir, "models", "*", "*", "index.html"))
	if err != nil || len(models) == 0 {
		t.Fatalf("no page of a model: %v", err)
	}
	for _, p := range models {
		rel, _ := filepath.Rel(dir, p)
		pages = append(pages, rel)
	}
	rows := 0
	for _, p := range pages {
		b.goTo(t, filepath.Join(dir, p))
		for _, row := range eval[[]string](t, b, tall) {
			t.Errorf("%s: %s", p, row)
		}
		rows += eval[int](t, b, `document.querySelectorAll(".list > tbody > tr").length`)
		b.sideways(t, p)
	}
	if rows < 30 {
		t.Errorf("only %d rows", rows)
	}
}
