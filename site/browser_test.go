package site_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ttreport/ttreport/ingest/schema"
)

// browser is a headless Chromium that notes every message on its console and every request.
type browser struct {
	ctx context.Context
	mu  sync.Mutex
	// bad are console messages of any kind, exceptions, and requests that leave the folder.
	bad []string
}

func openBrowser(t *testing.T, dir string) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Log("no Chromium: the pages were not opened in a browser")
		}
		t.Skip("no Chromium on this machine")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &browser{ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 2400)); err != nil {
		t.Fatal(err)
	}
	err = chromedp.Listen(ctx, func(ev any) {
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
	})
	if err != nil {
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

// Pages opened from disk say nothing on the console, ask nobody for anything, and draw their charts where the SVG had them.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", schema.Simulated)
	b := openBrowser(t, dir)
	for _, theme := range []string{"light", "dark"} {
		for _, page := range []string{"index.html", "releases/v0.12.0/index.html", "runs/run-3-1/index.html", "problems/index.html", "about/index.html", "explore/index.html", "compare/index.html", "404.html", "evals/index.html", "targets/index.html", "notes/index.html", "models/Tiny-1B/simulated/index.html"} {
			b.goTo(t, filepath.Join(dir, page)+"?theme="+theme)
			if got := eval[string](t, b, `document.documentElement.dataset.theme`); got != theme {
				t.Errorf("%s: theme %q, want %q: the script did not run", page, got, theme)
			}
			if w := eval[float64](t, b, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
				t.Errorf("%s scrolls sideways by %g px", page, w)
			}
		}
	}
	// The last page has charts: they are drawn when in view.
	drawn := false
	for i := range 100 {
		eval[bool](t, b, fmt.Sprintf(`(scrollTo(0, %d), true)`, i%8*800))
		if drawn = eval[bool](t, b, `document.querySelectorAll("figure.drawn").length === document.querySelectorAll("figure[data-chart]").length && !!document.querySelector("figure")`); drawn {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !drawn {
		t.Fatal("the charts were not drawn")
	}
	// What is offered for download is what is shown.
	eval[bool](t, b, `(function () {
		window.got = [];
		URL.createObjectURL = function (blob) { blob.text().then(function (text) { got.push(text); }); return "#"; };
		HTMLAnchorElement.prototype.click = function () {};
		document.querySelector("figure[data-chart='chart-ttft']").querySelectorAll(".downloads button").forEach(function (x) { x.click(); });
		return true;
	})()`)
	until(t, b, "a drawing that stands alone and a table", `got.length === 2 && got.some(function (x) { return new DOMParser().parseFromString(x, "image/svg+xml").querySelectorAll("svg[width] path[stroke^='rgb']").length > 3; })`)
	until(t, b, "the table's rows", `got.some(function (x) { return x.indexOf("series,release,value,unit\n128/128/1,v0.9.0,101,ms\n") === 0; })`)
	// Each mark of the SVG and the pixel where ECharts has the same value.
	type pair struct{ X, Y, X2, Y2 float64 }
	pairs := eval[[]pair](t, b, `[...document.querySelectorAll("figure[data-chart]")].flatMap(function (f) {
		var svg = f.querySelector("svg"), scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width, out = [];
		var series = f.ttchart.getOption().series;
		svg.querySelectorAll("g.k1 circle").forEach(function (c, i) {
			var values = series[0].data.map(function (d) { return d.value || d; }).filter(function (v) { return v[1] !== null; });
			var p = f.ttchart.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, values[i]);
			out.push({ X: c.cx.baseVal.value * scale, Y: c.cy.baseVal.value * scale, X2: p[0], Y2: p[1] });
		});
		return out;
	})`)
	if len(pairs) < 12 {
		t.Fatalf("only %d marks compared", len(pairs))
	}
	for _, p := range pairs {
		if math.Abs(p.X-p.X2) > 1 || math.Abs(p.Y-p.Y2) > 1 {
			t.Errorf("the SVG has a value at %.1f,%.1f and ECharts at %.1f,%.1f", p.X, p.Y, p.X2, p.Y2)
		}
	}
	// Whatever the picture says in words, the drawn chart says too: an axis without labels is a riddle.
	for _, text := range eval[[]string](t, b, `[...document.querySelectorAll("figure[data-chart]")].flatMap(function (f) {
		var drawn = f.ttchart.getZr().storage.getDisplayList(true).map(function (e) { return String(e.style && e.style.text || ""); });
		return [...f.querySelectorAll("svg text")].map(function (e) { return e.textContent; }).filter(function (s) { return s && drawn.indexOf(s) < 0; });
	})`) {
		t.Errorf("the drawn chart does not say %q, the SVG does", text)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.bad {
		t.Error(m)
	}
}

// Hostile names do not run, and a phone's width does not scroll sideways.
func TestHostileNamesInBrowser(t *testing.T) {
	dir := t.TempDir()
	b := openBrowser(t, dir)
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(360, 900)); err != nil {
		t.Fatal(err)
	}
	for i, name := range hostile {
		sub := filepath.Join(dir, fmt.Sprint(i))
		build(t, sub, name, name)
		b.goTo(t, filepath.Join(sub, "index.html"))
		if w := eval[float64](t, b, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
			t.Errorf("%.20q: the first page scrolls sideways by %g px at 360", name, w)
		}
		b.goTo(t, filepath.Join(sub, "models", schema.Slug(name), schema.Slug(name), "index.html"))
		if n := eval[int](t, b, `document.querySelectorAll("img,iframe,object,svg[onload]").length`); n > 0 {
			t.Errorf("%.20q made %d elements", name, n)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.bad {
		t.Error(m)
	}
}
