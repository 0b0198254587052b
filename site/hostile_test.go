package site_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// hundred are names that try to become script, markup, a formula, a path or an address, each with a mark that shows
// when it did.
func hundred() []string {
	shapes := []string{
		`<script>window.pwned=%d</script>`, `</script><script>window.pwned=%d</script>`,
		`</title><script>window.pwned=%d</script>`, `<img src=x onerror=window.pwned=%d>`,
		`"><img src=x onerror=window.pwned=%d>`,
		`'><svg onload=window.pwned=%d>`, `<svg><script>window.pwned=%d</script></svg>`,
		`" onmouseover="window.pwned=%d" x="`, `' autofocus onfocus='window.pwned=%d`, `javascript:window.pwned=%d`,
		`data:text/html,<script>window.pwned=%d</script>`, `[x](javascript:window.pwned=%d)`,
		`![x](x"onerror="window.pwned=%d)`, `<iframe srcdoc="<script>parent.pwned=%d</script>">`,
		`<math><mtext><script>window.pwned=%d</script>`,
		`${window.pwned=%d}`, `{{constructor.constructor('window.pwned=%d')()}}`, `__f__(window.pwned=%d)__f__`,
		`"}];window.pwned=%d;//`, `'),window.pwned=%d;('`,
		"\u2028window.pwned=%d\u2029", `<style>@import'x%d'</style>`, `<base href=//x%d.example>`,
		`<meta http-equiv=refresh content=0;url=//x%d.example>`, `=HYPERLINK("//x%d.example")`,
	}
	var out []string
	for i := range 100 {
		name := fmt.Sprintf(shapes[i%len(shapes)], i+1)
		switch i / len(shapes) {
		case 1:
			name = strings.ToUpper(name[:min(8, len(name))]) + name[min(8, len(name)):]
		case 2:
			name = "x " + name + " y"
		case 3:
			name = strings.ReplaceAll(name, "<", "\x00<")
		}
		out = append(out, name)
	}
	return out
}

// named is a site in which every name stands wherever a name can stand: model, device, engine, task, condition,
// command, note, problem.
func named(t *testing.T, names []string, dir string) {
	t.Helper()
	var runs []schema.Run
	b := columns.NewBuilder()
	var notes []render.Note
	for i, name := range names {
		for rel := range 3 {
			when := time.Date(2026, 1, 1+rel, 0, i, 0, 0, time.UTC)
			r := schema.Run{
				ID:      fmt.Sprintf("%s-%d", name, rel),
				Start:   when,
				End:     when,
				Release: fmt.Sprintf("%s %d", names[0], rel),
				Model:   schema.Model{ID: name, Name: name, Status: "COMPLETE"},
				Device:  schema.Device{Name: name},
				Impl:    name,
				Stack: schema.Stack{
					Engine:  name,
					Image:   name,
					Version: name,
				},
				Provenance: map[string]schema.Origin{"device.name": {From: schema.From(name), Where: name}},
			}
			p := schema.Point{
				Key: schema.Key{
					Task:        "text",
					Tool:        name,
					ISL:         ptr(128),
					OSL:         ptr(128),
					Concurrency: ptr(1),
					Dataset:     name,
					Dims:        map[string]string{name: name},
				},
				Status: "ok", Repeat: 1, Command: []string{name, name}, Conditions: map[string]string{name: name},
				Metrics: schema.MetricList{schema.Of("ttft", "mean", 100+10*float64(rel*rel))},
				Source:  schema.Source{Path: name, SHA256: "ab", Format: name},
			}
			r.Points = []schema.Point{p}
			r.Scores = []schema.Score{{Task: name, Metric: name, Filter: name, Value: schema.Num(.5), N: 100}}
			r.Problems = []schema.Problem{
				{Severity: schema.SevWarning, Path: name, Code: name, Found: name, Expected: name, Used: name, Hint: name},
			}
			r.Targets = []schema.Target{
				{
					Key:    schema.Key{Task: "text", ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(1)},
					Metric: "ttft",
					Stat:   "mean",
					Value:  105,
					Unit:   "ms",
					Level:  "target",
					Source: name,
				},
			}
			runs = append(runs, r)
			add(b, r)
		}
		notes = append(
			notes,
			render.Note{Release: fmt.Sprintf("%s %d", names[0], i%3), Title: name, Source: "# " + name + "\n\n" + name},
		)
	}
	c := b.Seal()
	judged, err := gate.New(context.Background(), c, judge.Releases(c, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	in := render.Input{Title: names[1], Gate: judged, Version: "test", Notes: notes}
	o := site.Options{Dir: dir, BaseURL: "https://example.org/x",
		Run: func(i int) (schema.Run, *schema.Problem) { return runs[i], nil }}
	if _, err := site.Build(context.Background(), render.New(in), o); err != nil {
		t.Fatal(err)
	}
}

// A hundred hostile names go through every page in a real browser: none runs, none asks anybody for anything, and all
// can be read.
func TestHundredHostileNamesInBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := hundred()
	named(t, names, dir)
	b := openBrowser(t, dir)
	pages := []string{
		"index.html", "explore/index.html", "compare/index.html", "evals/index.html", "targets/index.html",
		"notes/index.html", "problems/index.html",
	}
	for _, kind := range []string{"releases", "models", "runs"} {
		found, err := filepath.Glob(filepath.Join(dir, kind, "*", "index.html"))
		if err != nil {
			t.Fatal(err)
		}
		deeper, err := filepath.Glob(filepath.Join(dir, kind, "*", "*", "index.html"))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, deeper...)
		sort.Strings(found)
		for i := 0; i < len(found); i += max(1, len(found)/16) {
			rel, err := filepath.Rel(dir, found[i])
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, rel)
		}
	}
	for _, page := range pages {
		b.goTo(t, filepath.Join(dir, page))
		if n := eval[float64](t, b, `window.pwned || 0`); n != 0 {
			t.Errorf("%s: name %g ran: %s", page, n, names[int(n)-1])
		}
		if bad := eval[string](t, b, `[...document.querySelectorAll("iframe, base, img, [onerror], script:not([src]), " +
			"[onload], [onfocus], [onmouseover], a[href^='javascript:'], a[href^='data:'], style")]
			.map(function (e) { return e.outerHTML.slice(0, 99); }).join("\n")`); bad != "" {
			t.Errorf("%s holds %s", page, bad)
		}
	}
	b.goTo(t, filepath.Join(dir, "explore/index.html"))
	until(t, b, "the explorer shows all", status+`.indexOf("200 series of 200") === 0`) // one number and one score each
	choose(t, b, "q", names[3])
	until(
		t,
		b,
		"a hostile name is found by its text",
		shown+` >= 1 && document.querySelector(".rows a").textContent.indexOf("<img src=x onerror") >= 0`,
	)
	eval[bool](t, b, `(document.getElementById("search").click(), true)`)
	until(t, b, "the search lists them", `document.querySelectorAll(".search li").length > 9`)
	if n := eval[float64](t, b, `window.pwned || 0`); n != 0 {
		t.Errorf("name %g ran in the explorer or the search", n)
	}
	if len(b.bad) > 0 {
		t.Errorf("%d messages, the first: %q", len(b.bad), b.bad[:min(5, len(b.bad))])
	}
}
