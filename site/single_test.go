package site_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
)

// A page that stands alone has its style and script, asks nobody for anything, and says nothing on the console.
func TestSingleFile(t *testing.T) {
	t.Parallel()
	runs, in := fixture("Tiny-1B", "n150")
	r := render.New(in)
	dir := t.TempDir()
	for name, page := range map[string]render.Page{
		"release": r.ReleasePage(3), "run": r.RunPage(&runs[7], "run-3-1"), "pair": r.PairPage(r.Pairs[0]),
	} {
		html, err := site.Single(r, page, "", site.Theme{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linkRE.FindAllStringSubmatch(string(html), -1) {
			if m[1] != "data:," && !strings.HasPrefix(m[1], "#") {
				t.Errorf("%s leads to %s", name, m[1])
			}
		}
		file := filepath.Join(dir, name+".html")
		if err := os.WriteFile(file, html, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	linked, err := site.Single(r, r.ReleasePage(3), "https://example.org/results/", site.Theme{})
	if err != nil ||
		!strings.Contains(string(linked), `href="https://example.org/results/models/Tiny-1B~2db558b5/n150/index.html"`) {
		t.Errorf("no link to the site: %v", err)
	}
	b := openBrowser(t, dir)
	for _, name := range []string{"release", "run", "pair"} {
		b.goTo(t, filepath.Join(dir, name+".html")+"?theme=dark")
		got := eval[string](t, b, `[
			document.documentElement.dataset.theme, getComputedStyle(document.querySelector("table")).borderCollapse,
			document.querySelectorAll("h1").length
		].join(" ")`)
		if got != "dark collapse 1" {
			t.Errorf("%s: %s: style or script did not come through", name, got)
		}
		if name == "pair" && !eval[bool](t, b, `document.querySelectorAll("svg path").length > 10 &&
			document.querySelectorAll("figure table a, svg span").length === 0`) {
			t.Error("the drawings are not whole, or links are left")
		}
	}
	b.quiet(t)
}

// A public site tells nothing of paths, addresses, users, registries and commands, whichever field held them; what
// looks like them and is none stays.
func TestPublicSite(t *testing.T) {
	t.Parallel()
	private := regexp.MustCompile(
		`(?i)karel|/mnt|weights/llama|\\Users|tt-host-7|10\.20\.30|192\.168|corp\.example|--secret-flag|secretteam|harbor|` +
			`88\.77|fd00|gpu-9|lab-rack|host n150`)
	kept := []string{
		"128/128/1", "80.17.0.0", "pass@1", "ghcr.io/acme/img", "at 12:30:05", "isl:2048/128/1", "vLLM 0.11.2", "c:1/2",
	}
	for _, is := range []bool{true, false} {
		dir := t.TempDir()
		buildSecret(t, dir, strings.Join(append(secrets(), kept...), " "), is)
		leaks, all := 0, ""
		for name, text := range files(t, dir) {
			if found := private.FindString(text); found != "" {
				if leaks++; is {
					t.Errorf("%s shows %q", name, found)
				}
			}
			all += text
		}
		if !is && leaks == 0 {
			t.Error("the fixture holds no secret: the test proves nothing")
		}
		site := []string{"https://example.org/results/releases/v0.12.0/", "x", `href="../../assets/site.css`}
		for _, want := range append(site, kept...) {
			if !strings.Contains(all, want) {
				t.Errorf("public %v: %s is gone", is, want)
			}
		}
	}
}

// secrets are what no public site shows.
func secrets() []string {
	return []string{
		"/home/karel/models/x", "/mnt/weights/llama", `C:\Users\karel\x`, "http://tt-host-7.corp.example:8000/v1",
		"karel@tt-host-7.corp", "10.20.30.40:8000", "192.168.1.7", "registry.corp.example:5000/team/img",
		"registry.corp.example/secretteam/img", "Harbor.Corp.Example/secretteam/sub/img", "harbor:5000/secretteam/img",
		"88.77.66.55:5000/secretteam/img", "[fd00::77]:8000", "88.77.66.55:8000", "gpu-9.lab.internal", "gpu-9.local:22",
		"measured on lab-rack-3, not on LAB-RACK-3.corp.example", "host lab-rack-3 → n150: up",
	}
}

// buildSecret builds the fixture with a text in many of its fields.
func buildSecret(t *testing.T, dir, text string, public bool) {
	t.Helper()
	runs, in := fixture("Tiny-1B", "n150")
	for i := range runs {
		for k := range runs[i].Points {
			p := &runs[i].Points[k]
			p.Command, p.Conditions["where"] = []string{"run", "--secret-flag"}, text
			p.Source.Path = "/home/karel/models/x/" + p.Source.Path
		}
		runs[i].Problems = append(runs[i].Problems, schema.Problem{
			Severity: schema.SevWarning, Path: "/home/karel/models/x/y.json", Code: "x", Found: text,
		})
		in.Gate.Columns.Runs[i].Setting = map[string]string{"host": []string{"lab-rack-3", "n150", ""}[i%3]}
		runs[i].Stack.Image = "registry.corp.example:5000/team/img:1"
	}
	in.Public = public
	in.Notes = append(in.Notes, render.Note{Release: "v0.11.0", Title: "v0.11.0", Source: "See " + text})
	in.Problems = append(in.Problems, schema.Problem{
		Severity: schema.SevError, Path: "/mnt/weights/llama/a.json", Code: "x", Found: text,
	})
	_, err := site.Build(t.Context(), render.New(in), site.Options{Dir: dir, BaseURL: "https://example.org/results",
		Run: func(i int) (schema.Run, *schema.Problem) { return runs[i], nil }})
	if err != nil {
		t.Fatal(err)
	}
}
