package site_test

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestSameInputSameBytes(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	build(t, a, "Tiny-1B", "n150")
	build(t, b, "Tiny-1B", "n150")
	x, y := files(t, a), files(t, b)
	for name := range x {
		if x[name] != y[name] {
			t.Errorf("%s differs between two builds of one input", name)
		}
	}
	if again, _ := build(t, a, "Tiny-1B", "n150"); len(again.Changed) != 0 || again.Removed != 0 {
		t.Errorf("a second build wrote %d files and removed %d", len(again.Changed), again.Removed)
	}
}

var (
	linkRE  = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	valueRE = regexp.MustCompile(`="[^"]*"`)
	styleRE = regexp.MustCompile(`(?i)<[^>]+\sstyle=|<[^>]+\son[a-z]+=|<script[^>]*>[^<]`)
)

// forbidden finds a style or event attribute, or an inline script, in a page; what stands inside quoted values is text.
func forbidden(page string) string { return styleRE.FindString(valueRE.ReplaceAllString(page, `=""`)) }

// Every page obeys its security policy, has one heading, and links only to what is there.
func TestPages(t *testing.T) {
	dir := shared(t, "Tiny-1B", "n150")
	all := files(t, dir)
	for name, text := range all {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if m := forbidden(text); m != "" {
			t.Errorf("%s has what its security policy forbids: %s", name, m)
		}
		if n := strings.Count(text, "<h1"); n != 1 {
			t.Errorf("%s has %d headings of the first level", name, n)
		}
		for _, m := range linkRE.FindAllStringSubmatch(text, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			target, _, _ = strings.Cut(target, "?")
			if target == "" || strings.HasPrefix(target, "data:,") {
				continue
			}
			if strings.Contains(target, ":") {
				t.Errorf("%s leads elsewhere: %s", name, m[1])
				continue
			}
			if _, ok := all[filepath.Join(filepath.Dir(name), target)]; !ok {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
			_, number, ok := strings.Cut(m[1], "runs/index.html#")
			run, _, _ := strings.Cut(number, "/")
			if ok && !strings.Contains(all["data/shards/runs.js"], strconv.Quote(run)+":") {
				t.Errorf("%s links to run %s, which is not in the index of runs", name, run)
			}
		}
	}
	if strings.Contains(all["index.html"], "simulated") {
		t.Error("a real device is called simulated")
	}
}

// What the simulator made is marked on every page that shows it.
func TestSimulatedIsMarked(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "Tiny-1B", schema.Simulated)
	all := files(t, dir)
	for _, page := range []string{
		"index.html", "releases/v0.12.0/index.html", "models/Tiny-1B~2db558b5/simulated/index.html",
		"data/shards/runs/v0.12.0.js",
		"reports/v0.12.0/Tiny-1B~2db558b5_simulated.md",
	} {
		if !strings.Contains(all[page], "simulated") {
			t.Errorf("%s does not say that its numbers are simulated", page)
		}
	}
}

// hostile names go through every page.
var hostile = []string{
	`</script><img src=x onerror=alert(1)>`, `"><svg onload=alert(2)>`, `'; alert(3); '`, `__f__(alert(4),0)__f__`,
	`javascript:alert(5)`, `{{.}}`, `../../../etc/passwd`, `=cmd|' /C calc'!A0`, "a\nb\tc",
	`[x](javascript:alert(6))`, `<!--`, `|x|y|`, "\u202egnp.exe", strings.Repeat("long", 100), `%00`, `&lt;b&gt;`,
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range hostile {
		dir := shared(t, name, name)
		for page, text := range files(t, dir) {
			if strings.HasPrefix(page, "..") || strings.HasPrefix(page, "assets") {
				continue
			}
			switch {
			case strings.HasSuffix(page, ".html"):
				text = strings.ReplaceAll(text, "<!-- raw HTML omitted -->", "") // goldmark's mark
				for _, bad := range []string{"<img src=x", "<svg onload", `href="javascript:`, "<!--"} {
					if strings.Contains(text, bad) {
						t.Errorf("%q: %s has %s", name, page, bad)
					}
				}
				if m := forbidden(text); m != "" {
					t.Errorf("%q: %s has %s", name, page, m)
				}
			case strings.HasSuffix(page, ".js"):
				if strings.Contains(text, "</script") || strings.Contains(text, "<!--") {
					t.Errorf("%q: %s ends a script", name, page)
				}
			case strings.HasSuffix(page, ".csv"):
				rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
				if err != nil {
					t.Errorf("%q: %s: %v", name, page, err)
				}
				for _, row := range rows[1:] {
					for _, cell := range row {
						if cell != "" && strings.ContainsRune("=+@", rune(cell[0])) {
							t.Errorf("%q: %s has a formula: %s", name, page, cell)
						}
					}
				}
			}
		}
	}
}

// golden compares a file with its golden one, or rewrites that.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs from its golden file; go test ./site -update rewrites it\n%s", name,
			firstDifference(string(want), string(got)))
	}
}

// The golden files are the exact HTML of each kind of page, and the data and reports beside it.
func TestGolden(t *testing.T) {
	dir := shared(t, "Tiny-1B", "n150")
	all := files(t, dir)
	for name, page := range map[string]string{
		"landing": "index.html", "release": "releases/v0.12.0/index.html", "model": "models/Tiny-1B~2db558b5/n150/index.html",
		"runs": "runs/index.html", "evals": "evals/index.html", "targets": "targets/index.html",
		"problems": "problems/index.html", "notes": "notes/index.html", "about": "about/exit-codes.html",
		"explore": "explore/index.html", "compare": "compare/index.html", "404": "404.html",
	} {
		html := fingerprintRE.ReplaceAllString(all[page], "?v=FINGERPRINT")
		golden(t, "golden/"+name+".html", []byte(html))
	}
	for name, file := range map[string]string{
		"report.md":  "reports/v0.12.0/Tiny-1B~2db558b5_n150.md",
		"release.md": "reports/v0.12.0/release.md", "points.csv": "data/points/v0.12.0.csv",
		"scores.csv": "data/scores/v0.12.0.csv", "verdicts.csv": "data/verdicts/v0.12.0.csv",
	} {
		golden(t, "golden/"+name, []byte(all[file]))
	}
	_, runs, _ := strings.Cut(all["data/shards/runs/v0.12.0.js"], ",")
	golden(t, "golden/run.html", []byte(strings.TrimSuffix(runs, ");\n")))
}

var fingerprintRE = regexp.MustCompile(`\?v=[0-9a-f]{8}`)

// firstDifference shows both texts around the first byte in which they differ.
func firstDifference(want, got string) string {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	from := max(0, at-60)
	return fmt.Sprintf("byte %d\nwant %q\n got %q", at, want[from:min(len(want), at+60)], got[from:min(len(got), at+60)])
}

func TestFolders(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "mine.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	runs, in := fixture("Tiny-1B", "n150")
	opt := site.Options{Dir: foreign, Run: func(i int) (schema.Run, *schema.Problem) { return runs[i], nil }}
	if _, err := site.Build(context.Background(), render.New(in), opt); err == nil {
		t.Error("a foreign folder was written to")
	}
	if got := files(t, foreign); len(got) != 1 {
		t.Errorf("a foreign folder was changed: %d files", len(got))
	}
	// Stale pages go, foreign files stay.
	dir := t.TempDir()
	build(t, dir, "Old-1B", "n150")
	if err := os.WriteFile(filepath.Join(dir, "CNAME"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	build(t, dir, "New-1B", "n150")
	var left []string
	for name := range files(t, dir) {
		if strings.Contains(name, "Old-1B") {
			left = append(left, name)
		}
	}
	sort.Strings(left)
	if len(left) > 0 {
		t.Errorf("pages of the old build: %v", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "CNAME")); err != nil {
		t.Error("a foreign file is gone")
	}
}

// A build that is stopped, or that meets a full disk, leaves whole files and can be built over.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "Old-1B", "n150")
	before := files(t, dir)
	runs, in := fixture("New-1B", "n150")
	opt := site.Options{
		Dir: dir,
		Run: func(i int) (schema.Run, *schema.Problem) { return runs[i], nil },
	}
	if _, err := site.Build(stopAfter(t.Context(), 12), render.New(in), opt); err == nil {
		t.Fatal("a stopped build ended well")
	}
	after := files(t, dir)
	for name := range before {
		if _, ok := after[name]; !ok {
			t.Errorf("%s is gone after a build that was stopped", name)
		}
	}
	for name := range after {
		if strings.Contains(name, "ttreport-tmp") {
			t.Errorf("a temporary file is left: %s", name)
		}
	}
	build(t, dir, "New-1B", "n150")
	for name := range files(t, dir) {
		if strings.Contains(name, "Old-1B") {
			t.Errorf("%s is left after the next build", name)
		}
	}
}
