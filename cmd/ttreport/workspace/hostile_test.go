package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const planted = "PLANTED_SECRET"

// forked is a workspace whose files a fork could have written: content, or "-> target" for a link.
func forked(t *testing.T, files map[string]string) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "ws")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "secret"), []byte("title: "+planted+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		to, link := strings.CutPrefix(text, "-> ")
		err := os.Symlink(to, full)
		if !link {
			_ = os.Remove(full)
			err = os.WriteFile(full, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// everything is what a workspace reads, as text, with its errors.
func everything(dir string) string {
	var b strings.Builder
	w, err := Open(dir)
	if err != nil {
		return "error: " + err.Error()
	}
	b.WriteString(w.Title())
	notes, problems, err := w.ReadNotes()
	for _, n := range notes {
		b.WriteString(n.Source)
	}
	for _, p := range problems {
		b.WriteString(" problem: " + p.Error())
	}
	logo, err2 := w.ReadLogo()
	b.Write(logo)
	lib, problems, err3 := w.Library(nil)
	for _, p := range problems {
		b.WriteString(" problem: " + p.Error() + p.Hint)
	}
	if err3 == nil {
		for _, e := range lib.List() {
			b.WriteString(" targets of " + e.Model)
		}
	}
	_, err4 := w.ReadSettings()
	_, err5 := w.Policy(time.Time{})
	for _, err := range []error{err, err2, err3, err4, err5} {
		if err != nil {
			b.WriteString(" error: " + err.Error())
		}
	}
	return b.String()
}

func TestLinksOutOfAWorkspace(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"note":              {"notes/v1.md": "-> ../../secret"},
		"note, absolute":    {"notes/v1.md": "-> /proc/self/environ"},
		"notes":             {"notes": "-> .."},
		"targets":           {"targets/a.yaml": "-> ../../secret"},
		"folder of targets": {"targets": "-> .."},
		"configuration":     {"ttreport.yaml": "-> ../secret"},
		"logo":              {"logo.svg": "-> ../secret", "ttreport.yaml": "site:\n  logo: logo.svg\n"},
		"logo, upwards":     {"ttreport.yaml": "site:\n  logo: ../secret\n"},
		"logo, absolute":    {"ttreport.yaml": "site:\n  logo: /proc/self/environ\n"},
		"logo, device":      {"ttreport.yaml": "site:\n  logo: ../../../../../../dev/zero\n"},
		"results":           {"results": "-> .."},
		"history":           {"history": "-> .."},
		"site":              {"_site": "-> .."},
		"state":             {".ttreport": "-> .."},
		"note, folder":      {"notes/v1.md/x": ""},
		"note, large":       {"notes/v1.md": strings.Repeat("x", mostText+1)},
	} {
		got := everything(forked(t, files))
		if strings.Contains(got, planted) || strings.Contains(got, "PATH=") {
			t.Errorf("%s: read: %.200s", name, got)
		}
		if !strings.Contains(got, "problem: ") && !strings.Contains(got, "error: ") {
			t.Errorf("%s: passes without a word", name)
		}
	}
}

// Many files, and patterns that are tried in many ways, take neither all memory nor all time.
func TestBoundsOfAWorkspace(t *testing.T) {
	many := func(name string, n int, text string) map[string]string {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf(name, i)] = text
		}
		return files
	}
	alternatives := strings.Repeat("{a,a}", 30)
	decisions := strings.Repeat("  - {id: x, kind: waive}\n", 501)
	for name, files := range map[string]map[string]string{
		"notes":           many("notes/v%d.md", mostNotes+1, "x"),
		"text of notes":   many("notes/v%d.md", 5, strings.Repeat("x", mostText)),
		"targets":         many("targets/v%d.yaml", mostTargetFiles+1, "targets: []"),
		"text of targets": many("targets/v%d.json", 9, strings.Repeat(" ", mostText)),
		"hide":            {"ttreport.yaml": "models: {hide: ['" + alternatives + "']}\n"},
		"long list":       {"ttreport.yaml": "devices:\n  hide:\n" + strings.Repeat("    - x\n", mostListed+1)},
		"decisions":       {"ttreport.yaml": "decisions:\n" + decisions},
		"decision's glob": {"ttreport.yaml": "decisions:\n  - {id: x, kind: pin, reason: y, release: '" + alternatives +
			"'}\n"},
		"decision's braces": {"ttreport.yaml": "decisions:\n  - {id: x, kind: pin, reason: y, release: 'v{1'}\n"},
	} {
		folder := forked(t, files)
		began := time.Now()
		if got := everything(folder); !strings.Contains(got, "problem: ") && !strings.Contains(got, "error: ") {
			t.Errorf("%s: passes without a word: %.200s", name, got)
		}
		if took := time.Since(began); took > 2*time.Minute { // without bounds, hours
			t.Errorf("%s: took %s", name, took)
		}
	}
}

func TestLinksWithinAWorkspace(t *testing.T) {
	got := everything(forked(t, map[string]string{
		"notes/v1.md": "-> ../docs/v1.md", "docs/v1.md": "a note of ours", "ttreport.yaml": "-> conf/t.yaml",
		"conf/t.yaml": "title: ours\n",
	}))
	if !strings.Contains(got, "a note of ours") || !strings.Contains(got, "ours") || strings.Contains(got, "error") {
		t.Error(got)
	}
}

// A cache in a workspace could have been committed by anybody, so there is none.
func TestCacheIsNotInTheWorkspace(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("CI", "")
	seen := map[string]bool{}
	for _, text := range []string{"a", "b"} {
		dir := forked(t, map[string]string{".ttreport/build.json": text})
		w, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{w.SiteRecord("_site"), w.LastBuild()} {
			if name == "" || strings.HasPrefix(name, dir) || seen[name] {
				t.Errorf("%q is kept in, or shared by, workspaces", name)
			}
			seen[name] = true
		}
		t.Setenv("CI", "true")
		if w.SiteRecord("_site") != "" || w.LastBuild() != "" {
			t.Error("something is cached in CI")
		}
		t.Setenv("CI", "")
	}
}
