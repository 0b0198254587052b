package site_test

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/site"
)

const square = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><path d="M0 0h40v20H0z"/></svg>`

// What an owner sets is either readable and harmless, or refused with what is wrong.
func TestThemeRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		logo, file string
		tokens     map[string]string
		want       string
	}{
		"fine":            {square, "a.svg", map[string]string{"good": "#00594c #55c7a6"}, ""},
		"one for both":    {"", "", map[string]string{"hair": "#888888"}, ""},
		"no token":        {"", "", map[string]string{"blue": "#0000ff"}, `token "blue" is none; tokens are bad, bad-wash`},
		"no colour":       {"", "", map[string]string{"good": "red"}, "neither #rrggbb nor two"},
		"an escape":       {"", "", map[string]string{"good": "#fff;} body{display:none"}, "neither #rrggbb nor two"},
		"faint in dark":   {"", "", map[string]string{"good": "#00594c"}, "in the dark theme; text needs 4.5"},
		"paper too dark":  {"", "", map[string]string{"paper": "#777777 #15171a"}, "in the light theme"},
		"script":          {`<svg viewBox="0 0 1 1"><script>x</script></svg>`, "a.svg", nil, "element script has no place"},
		"handler":         {`<svg viewBox="0 0 1 1" onload="alert(1)"></svg>`, "a.svg", nil, "attribute onload"},
		"elsewhere":       {`<svg viewBox="0 0 1 1"><image href="https://x.org/x"/></svg>`, "a.svg", nil, "attribute href"},
		"no size":         {`<svg></svg>`, "a.svg", nil, "no viewBox"},
		"not a picture":   {"hello", "a.png", nil, "unknown format"},
		"another kind":    {"hello", "a.gif", nil, "neither .svg, .png nor .jpg"},
		"too heavy":       {strings.Repeat("x", 100_001), "a.png", nil, "at most 100"},
		"too wide":        {`<svg viewBox="0 0 999 1"></svg>`, "a.svg", nil, "no room for the site's name"},
		"a page, not svg": {`<html><body/></html>`, "a.svg", nil, "element html"},
	} {
		_, err := site.NewTheme([]byte(tt.logo), tt.file, tt.tokens)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// The logo and the colours reach every page and a page that stands alone, where the policy allows them by hash.
func TestThemeIsShown(t *testing.T) {
	theme, err := site.NewTheme([]byte(square), "brand.svg", map[string]string{"good": "#00594c #55c7a6"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, built, err := buildWith("Tiny-1B", "n150", site.Options{Dir: dir, Theme: theme})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"index.html": `<img src="assets/logo.svg?v=`, "about/index.html": `href="../assets/theme.css?v=`,
		"assets/theme.css": "light-dark(#00594c, #55c7a6)", "assets/logo.svg": square,
	} {
		if data, err := os.ReadFile(filepath.Join(dir, path)); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s lacks %s (%v)", path, want, err)
		}
	}
	page, err := site.Single(built, built.ReleasePage(0), "", theme)
	if err != nil || !strings.Contains(html.UnescapeString(string(page)), `src="data:image/svg+xml;base64,`) ||
		!strings.Contains(string(page), "#00594c") {
		t.Errorf("the page that stands alone does not have the theme (%v)", err)
	}
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "index.html"))
	const good = `getComputedStyle(document.documentElement).getPropertyValue("--good")`
	if got := eval[string](t, b, good); !strings.Contains(got, "#00594c") {
		t.Errorf("--good is %q in the browser", got)
	}
	if w := eval[float64](t, b, `document.querySelector(".brand img").naturalWidth`); w == 0 {
		t.Error("the logo does not load")
	}
}
