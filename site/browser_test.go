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
	"github.com/chromedp/cdproto/target"
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

// openTab opens a tab in a profile of its own, without a window: to draw one, with its frame, takes a browser three
// times as long as to open a page in it.
func openTab(t *testing.T, browser context.Context) (context.Context, context.CancelFunc) {
	t.Helper()
	profile, err := chromedp.CallBrowser(browser, target.CreateBrowserContext, target.CreateBrowserContextParams{})
	if err != nil {
		t.Fatal(err)
	}
	tab, err := chromedp.CallBrowser(browser, target.CreateTarget, target.CreateTargetParams{
		URL: "about:blank", BrowserContextID: profile.BrowserContextID, Hidden: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	return chromedp.NewContext(browser, chromedp.WithTargetID(tab.TargetID))
}

// openWindow opens a tab in a profile and a window of its own. Only a window prints.
func openWindow(_ *testing.T, browser context.Context) (context.Context, context.CancelFunc) {
	return chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
}

// openBrowser opens a tab of one test: tests share a browser and nothing that it stores.
func openBrowser(t *testing.T, dir string) *browser { return openIn(t, dir, openTab) }

func openIn(t *testing.T, dir string,
	open func(*testing.T, context.Context) (context.Context, context.CancelFunc)) *browser {
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
	ctx, cancel := open(t, all)
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

// A tab finds nothing that the test before it stored.
func TestTabsStoreNothing(t *testing.T) {
	dir := shared(t, "Tiny-1B", "n150")
	for range 2 {
		t.Run("tab", func(t *testing.T) {
			b := openBrowser(t, dir)
			b.goTo(t, filepath.Join(dir, "404.html"))
			if n := eval[int](t, b, `localStorage.length + sessionStorage.length`); n != 0 {
				t.Errorf("%d values are there", n)
			}
			eval[bool](t, b, `(localStorage.x = 1, sessionStorage.x = 1, true)`)
		})
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
	b.quiet(t)
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
