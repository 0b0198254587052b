package site_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// browser is a headless Chromium that notes every message on its console and every request.
type browser struct {
	ctx context.Context
	mu  sync.Mutex
	// bad are console messages of any kind, exceptions, and requests that leave the folder.
	bad []string
}

// browsers is where the one Chromium of all tests runs, until stopBrowser ends it.
var browsers, stopBrowser = chromedp.NewExecAllocator(context.Background(),
	append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		// Else a process draws what a graphics card would, and each page has a process.
		chromedp.Flag("disable-gpu", true), chromedp.Flag("process-per-site", true),
		chromedp.Flag("renderer-process-limit", "1"),
		chromedp.WSURLReadTimeout(2*time.Minute))...)

// startBrowser starts Chromium, once.
var startBrowser = sync.OnceValues(func() (context.Context, error) {
	ctx, _ := chromedp.NewContext(browsers) // stopBrowser ends it too
	return ctx, chromedp.Do(ctx)
})

// openBrowser opens a tab with a profile of its own: tests share a browser and nothing that it stores.
func openBrowser(t *testing.T, dir string) *browser {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("CI") != "" {
			t.Log("no Chromium: the pages were not opened in a browser")
		}
		t.Skip("no Chromium on this machine")
	}
	all, err := startBrowser()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(all, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // a tab lives as long as the context that opens it
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(cancel)
	b := &browser{ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 2400)); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, func(ev any) { b.note(ev, dir) }); err != nil {
		t.Fatal(err)
	}
	for _, enable := range []func() error{
		func() error { _, err := chromedp.Call(ctx, log.Enable, struct{}{}); return err },
		func() error { _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); return err },
	} {
		if err := enable(); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// note keeps what a page of dir should not do.
func (b *browser) note(ev any, dir string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *cdpruntime.EventConsoleAPICalled:
		b.bad = append(b.bad, fmt.Sprintf("console %s", e.Type))
	case *cdpruntime.EventExceptionThrown:
		b.bad = append(b.bad, "exception "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.bad = append(b.bad, "log "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, "file://"+dir) && !strings.HasPrefix(u, "data:,") {
			b.bad = append(b.bad, "request "+u)
		}
	}
}

// quiet fails for what the pages should not have done.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.bad) > 0 {
		t.Errorf("%d messages, the first: %q", len(b.bad), b.bad[:min(5, len(b.bad))])
	}
}

// sideways fails for a page that is wider than the window.
func (b *browser) sideways(t *testing.T, page string) {
	t.Helper()
	if w := eval[float64](t, b, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
		t.Errorf("%.60s scrolls sideways by %g px", page, w)
	}
}

func (b *browser) goTo(t *testing.T, file string) {
	t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
}

func eval[T any](t *testing.T, b *browser, js string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits for something to become true in the page, which may be on its way to another one.
func until(t *testing.T, b *browser, what, js string) {
	t.Helper()
	var last error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		var is bool
		if is, last = chromedp.Run(b.ctx, chromedp.Evaluate[bool](js)); is && last == nil {
			return
		}
	}
	t.Fatalf("not after 20 seconds: %s (%s): %v", what, js, last)
}

// reload loads the page again and waits for it.
func (b *browser) reload(t *testing.T) {
	t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
}

// Pages opened from disk write nothing to the console, send no request, and draw their charts.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", schema.Simulated)
	b := openBrowser(t, dir)
	model := "models/Tiny-1B~2db558b5/simulated/index.html"
	pages := append(slices.DeleteFunc(everyPage(), func(p string) bool { return strings.HasPrefix(p, "models/") }), model)
	for _, theme := range []string{"light", "dark"} {
		for _, page := range pages {
			file, at, _ := strings.Cut(page, "#")
			b.goTo(t, filepath.Join(dir, file)+"?theme="+theme+"#"+at)
			if got := eval[string](t, b, `document.documentElement.dataset.theme`); got != theme {
				t.Errorf("%s: theme %q, want %q: the script did not run", page, got, theme)
			}
			b.sideways(t, page)
		}
	}
	chartsAreDrawn(t, b)
	tooltipsHaveText(t, b)
	chartsAreOffered(t, b)
	b.quiet(t)
}

// chartsAreDrawn scrolls through a page with charts: they are drawn when in view, with every line of their tables.
func chartsAreDrawn(t *testing.T, b *browser) {
	t.Helper()
	const all = `[...document.querySelectorAll("[data-chart]")]`
	eval[bool](t, b, `(document.querySelectorAll("section > details").forEach(function (d) { d.open = true; }), true)`)
	until(t, b, "the charts are drawn", `(window.step = (window.step || 0) + 1, scrollTo(0, step % 12 * 600),
		`+all+`.length > 0 && `+all+`.every(function (e) { return e.ttchart && e.querySelector("canvas"); }))`)
	for _, missing := range eval[[]string](t, b, all+`.flatMap(function (e) {
		var drawn = e.ttchart.getOption().series.map(function (s) { return s.name; });
		var heads = [...e.closest("figure").querySelectorAll("thead th")].slice(1);
		return heads.map(function (th) { return th.firstChild.textContent.trim(); })
			.filter(function (name) { return drawn.indexOf(name) < 0; })
			.map(function (name) { return e.dataset.chart + ": " + name; });
	})`) {
		t.Errorf("in the table and not in the chart: %s", missing)
	}
}

// tooltipsHaveText moves the pointer over every chart, on marks, lines and limits, and reads what it is told.
func tooltipsHaveText(t *testing.T, b *browser) {
	t.Helper()
	said := eval[[]string](t, b, `[...document.querySelectorAll("[data-chart]")].flatMap(function (e) {
		var out = [], w = e.ttchart.getWidth(), high = e.ttchart.getHeight();
		var text = e.ttchart.getOption().tooltip[0].formatter;
		e.ttchart.setOption({ tooltip: { formatter: function (p) {
			out.push(e.dataset.chart + ": " + text(p));
			return text(p);
		} } });
		for (var x = 2; x < w; x += 16) for (var y = 2; y < high; y += 12)
			e.ttchart.dispatchAction({ type: "showTip", x: x, y: y });
		return [...new Set(out)];
	})`)
	if len(said) == 0 {
		t.Error("no chart says anything under the pointer")
	}
	for _, text := range said {
		if strings.Contains(text, "undefined") || strings.Contains(text, "NaN") {
			t.Errorf("a tooltip says %q", text)
		}
	}
	t.Log(len(said), "texts, such as", said[:min(3, len(said))])
}

// chartsAreOffered downloads a chart: as a picture, and as a table of what is drawn.
func chartsAreOffered(t *testing.T, b *browser) {
	t.Helper()
	eval[bool](t, b, `(function () {
		window.got = [];
		URL.createObjectURL = function (blob) {
			blob.arrayBuffer().then(function (b) { got.push(new TextDecoder().decode(b)); });
			return "#";
		};
		HTMLAnchorElement.prototype.click = function () {};
		var buttons = document.querySelector("[data-chart='chart-ttft']").nextElementSibling.querySelectorAll("button");
		buttons.forEach(function (x) { x.click(); });
		return true;
	})()`)
	until(t, b, "a picture and a table", `got.length === 2 && got.some(function (x) { return x.indexOf("PNG") === 1; })`)
	const head = `series,release,ms\n128/128/1,v0.9.0,101\n`
	until(t, b, "the table's rows", `got.some(function (x) { return x.indexOf("`+head+`") === 0; })`)
}

// Hostile names do not run, and a phone's width does not scroll sideways.
func TestHostileNamesInBrowser(t *testing.T) {
	t.Parallel()
	dir, err := sitesFolder()
	if err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t, dir)
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(360, 900)); err != nil {
		t.Fatal(err)
	}
	for _, name := range hostile {
		sub := shared(t, name, name)
		b.goTo(t, filepath.Join(sub, "index.html"))
		b.sideways(t, name)
		b.goTo(t, filepath.Join(sub, filepath.FromSlash(string(render.PairPath(name, name)))))
		if n := eval[int](t, b, `document.querySelectorAll("img,iframe,object,svg[onload]").length`); n > 0 {
			t.Errorf("%.20q made %d elements", name, n)
		}
	}
	b.quiet(t)
}
