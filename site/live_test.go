package site_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ttreport/ttreport/site/preview"
)

// serve serves a folder until the test ends.
func serve(t *testing.T, dir string) (*preview.Server, string) {
	t.Helper()
	s := preview.New(dir)
	ctx, stop := context.WithCancel(context.Background())
	at, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- s.Serve(ctx, 0, func(url string) { at <- url }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, <-at
}

func TestPreviewAnswersThisMachineAlone(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", "n150")
	_, url := serve(t, dir)
	get := func(path, host string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	if code, body := get("releases/v0.12.0/", ""); code != 200 || !strings.Contains(body, "_ttreport/live.js") ||
		!strings.Contains(body, "connect-src 'self'") {
		t.Errorf("%d %.200s", code, body)
	}
	if code, body := get("no/such/page/", ""); code != 404 || !strings.Contains(body, "There is no page here") {
		t.Errorf("%d %.200s", code, body)
	}
	if code, body := get("data/points/v0.12.0.csv", ""); code != 200 || !strings.HasPrefix(body, "release,") {
		t.Errorf("%d %.200s", code, body)
	}
	if code, _ := get("index.html", "results.example.org"); code != 421 {
		t.Errorf("another name is answered: %d", code)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "data", "link.csv")); err != nil {
		t.Fatal(err)
	}
	if code, body := get("data/link.csv", ""); code == 200 || strings.Contains(body, "root:") {
		t.Errorf("a link that leads out is followed: %d", code)
	}
	for method, want := range map[string]int{"HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405, "OPTIONS": 405} {
		req, err := http.NewRequest(method, url+"index.html", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != want || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %v", method, res.StatusCode, res.Header)
		}
	}
	if code, body := get("../../../etc/passwd", ""); code == 200 && strings.Contains(body, "root:") {
		t.Error("a file outside of the folder")
	}
}

// A page that a build changed reloads where the reader was, with what stands in its address; one that failed says so
// and stays.
func TestLivePages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	s, url := serve(t, dir)
	const page = "releases/v0.12.0/index.html"
	at := chromedp.Navigate(url + page + "?theme=dark#targets")
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(900, 400), at); err != nil {
		t.Fatal(err)
	}
	eval[bool](t, b, `scrollTo(0, 333), window.old = true`)
	until(t, b, "scrolled", `scrollY === 333`)
	s.Failed("ttreport.yaml:3: title stands twice <b>")
	until(t, b,
		"the problem is shown",
		`(document.getElementById("ttreport-problem") || {textContent: ""}).textContent
			.indexOf("title stands twice <b>") > 0`,
	)
	s.Built([]string{"runs/run-0-0/index.html"})
	until(t, b, "the problem is over", `!document.getElementById("ttreport-problem")`)
	if !eval[bool](t, b, `window.old === true`) {
		t.Error("a page that did not change was loaded again")
	}
	html, err := os.ReadFile(filepath.Join(dir, page))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, page), strings.Replace(string(html), "<h1>", "<h1>! ", 1))
	s.Built([]string{page})
	until(t, b,
		"the new page is shown",
		`!window.old && (document.querySelector("h1") || {textContent: ""}).textContent.indexOf("! ") === 0`,
	)
	until(t, b,
		"where the reader was",
		`scrollY === 333 && location.hash === "#targets" && location.search === "?theme=dark"`,
	)
}
