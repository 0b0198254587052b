//go:build !race

package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/ttreport/ttreport/templates"
)

// docRules is what testdata/docs.txtar says of the lines in the documentation.
type docRules struct {
	words     *strings.Replacer // what a reader puts in place of a placeholder, such as URL
	elsewhere []string          // beginnings of lines that need a real tool, a network or a person, with the reason
	exits     map[string]int    // exit codes other than 0, by the beginning of a line
	used      map[string]bool
}

// rulesOf reads the comment of the archive: "put WORD | TEXT", "elsewhere BEGINNING | reason", "exit N | BEGINNING".
func rulesOf(t *testing.T, comment string) *docRules {
	t.Helper()
	r := &docRules{exits: map[string]int{}, used: map[string]bool{}}
	var pairs []string
	for line := range strings.Lines(comment) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		a, b, ok := strings.Cut(rest, " | ")
		switch {
		case kind == "put" && ok:
			pairs = append(pairs, a, b)
		case kind == "elsewhere" && ok && b != "":
			r.elsewhere = append(r.elsewhere, a)
		case kind == "exit" && ok && len(a) == 1:
			r.exits[b] = int(a[0] - '0')
		case kind != "" && kind != "#":
			t.Fatalf("testdata/docs.txtar: %q is no rule", line)
		}
	}
	r.words = strings.NewReplacer(pairs...)
	return r
}

// isElsewhere reports that a line runs in another test, or cannot run in one.
func (r *docRules) isElsewhere(line string) bool {
	i := slices.IndexFunc(r.elsewhere, func(begin string) bool { return strings.HasPrefix(line, begin) })
	if i >= 0 {
		r.used[r.elsewhere[i]] = true
	}
	return i >= 0
}

// exit is the code with which a line ends.
func (r *docRules) exit(line string) int {
	longest, code := "", 0
	for begin, n := range r.exits {
		if strings.HasPrefix(line, begin) && len(begin) > len(longest) {
			longest, code = begin, n
		}
	}
	return code
}

var (
	inlineCommand = regexp.MustCompile("`(ttreport [a-z]+ [^`]*)`")
	described     = regexp.MustCompile(` {2,}.*$|\s+# .*$`) // what a line does stands behind it
	intoFile      = regexp.MustCompile(` > \S+$| \|\| (true|code=\$\?)$`)
)

// commandsOf finds the lines of ttreport in a page: in blocks of code, and in running text.
func commandsOf(page string) []string {
	var out []string
	page = strings.ReplaceAll(page, "\\\n", " ")
	for line := range strings.Lines(page) {
		for _, m := range inlineCommand.FindAllStringSubmatch(line, -1) {
			out = append(out, m[1])
		}
		code, isCode := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if !isCode {
			continue
		}
		code = strings.TrimSpace(code)
		code = strings.TrimPrefix(strings.TrimPrefix(code, "$ "), "- ")
		if inner, isJenkins := strings.CutPrefix(code, "sh '"); isJenkins {
			code = strings.TrimSuffix(inner, "'")
		}
		code = strings.ReplaceAll(code, "go run ./cmd/ttreport", "ttreport")
		if strings.HasPrefix(code, "ttreport ") {
			out = append(out, described.ReplaceAllString(strings.Join(unpadded(code), " "), ""))
		}
	}
	var single []string
	for _, line := range out {
		for part := range strings.SplitSeq(line, " && ") {
			for cut := ""; cut != part; {
				cut, part = part, strings.TrimSpace(intoFile.ReplaceAllString(part, ""))
			}
			if strings.HasPrefix(part, "ttreport ") && !strings.Contains(part, "ttreport COMMAND") {
				single = append(single, part)
			}
		}
	}
	return single
}

// unpadded keeps one line as it is, but joins what a backslash had divided: the second half has blanks before it.
func unpadded(code string) []string {
	if i := strings.Index(code, "         --"); i > 0 && strings.Contains(code[:i], "'") {
		return []string{strings.TrimSpace(code[:i]), strings.TrimSpace(code[i:])}
	}
	return []string{code}
}

// Every line of ttreport in the README and in the documentation does what the page says: it runs, or its command line
// is understood, or it is named with a reason.
// Hundreds of commands, each several times slower with the race detector: .ci/run runs them without it.
func TestDocumentedCommands(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	archive, err := txtar.ParseFile("testdata/docs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	parity, err := txtar.ParseFile("testdata/parity.txtar")
	if err != nil {
		t.Fatal(err)
	}
	archive.Files = append(archive.Files, parity.Files...)
	rules := rulesOf(t, string(archive.Comment))
	lines := documentedLines(t)
	if len(lines) < 60 {
		t.Fatalf("%d lines were found in the documentation", len(lines))
	}
	base := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(base, ".cache"))
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(base, ".run"))
	t.Setenv("HF_HUB_OFFLINE", "1")
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	w := preparedWorkspace(t, filepath.Join(base, "w"), archive, string(readme))
	for _, line := range lines {
		if rules.isElsewhere(line) {
			continue
		}
		args := argumentsOf(t, rules.words.Replace(line), w)
		if len(args) == 0 {
			continue
		}
		begin := time.Now()
		t.Chdir(w.folderFor(t, args, filepath.Join(base, "fresh")))
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		code := run(ctx, args, strings.NewReader(""), &out, &out)
		cancel()
		if code != rules.exit(line) {
			t.Errorf("%s\n  as %q: exit %d, and the rules in testdata/docs.txtar say %d\n%.1200s", line, args, code,
				rules.exit(line), out.String())
		}
		t.Chdir(base)
		if took := time.Since(begin); testing.Verbose() && took > time.Second {
			t.Logf("%v: %s", took, line)
		}
		if err := os.RemoveAll(filepath.Join(base, "fresh")); err != nil {
			t.Fatal(err)
		}
	}
	for _, begin := range rules.elsewhere {
		if !rules.used[begin] {
			t.Errorf("testdata/docs.txtar names %q, which no page has", begin)
		}
	}
}

// documentedLines are the lines of all pages, each once.
func documentedLines(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../templates/docs/*.md")
	if err != nil || len(pages) < 15 {
		t.Fatal(pages, err)
	}
	var lines []string
	for _, name := range append(pages, "../../README.md") {
		if filepath.Base(name) == "parity.md" {
			continue // TestParity runs its lines
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, commandsOf(string(data))...)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// workspaceOfDocs is a workspace in which the lines run: the demo, and files of the names that the pages use.
type workspaceOfDocs struct{ dir, verdict string }

func preparedWorkspace(t *testing.T, dir string, archive *txtar.Archive, readme string) workspaceOfDocs {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var out bytes.Buffer
	for _, args := range [][]string{{"collect"}, {"ingest", "results"}, {"check"}, {"check", "--format", "json"}} {
		out.Reset()
		if code := run(context.Background(), args, strings.NewReader(""), &out, &out); code > 1 {
			t.Fatalf("%q: exit %d\n%s", args, code, out.String())
		}
		_, shown, _ := strings.Cut(readme, "\n    $ ttreport "+strings.Join(args, " ")+"\n")
		shown, _, _ = strings.Cut(shown, "      …\n")
		for line := range strings.Lines(shown) { // what the README shows of the demo
			if plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }; !strings.Contains(
				plain(out.String()), plain(line)) { // blanks that do not break are blanks
				t.Errorf("README.md shows %q of %q, which prints\n%.2000s", line, args, out.String())
			}
		}
	}
	id := regexp.MustCompile(`"id": ?"([0-9a-f]{12})"`).FindStringSubmatch(out.String())
	if id == nil {
		t.Fatalf("no verdict in %.2000s", out.String())
	}
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "bin/") {
			if err := os.Chmod(filepath.Join(dir, f.Name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"results-of-somebody", "out", "before", "after"} { // names of the pages
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(dir, "workflow_logs"))); err != nil {
			t.Fatal(err)
		}
	}
	return workspaceOfDocs{dir, id[1]}
}

// argumentsOf are the words of a line. What would measure a server is planned, and not measured.
func argumentsOf(t *testing.T, line string, w workspaceOfDocs) []string {
	t.Helper()
	words, err := shellquote.Split(strings.ReplaceAll(line, "VERDICT", w.verdict))
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return nil
	}
	args := words[1:]
	if args[0] == "collect" && len(args) > 1 && !slices.Contains(args, "--help") && !slices.Contains(args, "sim") &&
		!slices.Contains(args, "--dry-run") && !slices.Contains(args, "reports") {
		at := len(args)
		if i := slices.Index(args, "--"); i >= 0 {
			at = i
		}
		args = slices.Insert(args, at, "--dry-run")
	}
	return args
}

// folderFor is the folder in which a line runs: one of its own where it writes, an empty one for the demo.
func (w workspaceOfDocs) folderFor(t *testing.T, args []string, fresh string) string {
	t.Helper()
	var err error
	switch {
	case len(args) == 1 && (args[0] == "collect" || args[0] == "demo"):
		err = os.MkdirAll(fresh, 0o777)
	case changes(args):
		err = linkFolder(w.dir, fresh)
	default:
		return w.dir
	}
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

// linkFolder makes a folder with the files of another one. Files are replaced and never changed, so links do.
func linkFolder(from, to string) error {
	return filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(at, 0o777)
		}
		return os.Link(name, at)
	})
}

// changes reports that a line writes to the workspace, so that it gets one of its own.
func changes(args []string) bool {
	switch args[0] {
	case "accept", "waive", "build", "history", "ingest", "init", "models", "verify":
		return true
	case "collect":
		return !slices.Contains(args, "--dry-run")
	case "targets":
		return slices.Contains(args, "import") || slices.Contains(args, "propose")
	}
	return false
}

// whoAndWhen is how a page begins: "For teams on GitLab, when results are to be judged there".
var whoAndWhen = regexp.MustCompile(`^For .+,? when .+`)

// Each page says in its first line for whom it is, and when.
func TestPagesSayForWhom(t *testing.T) {
	t.Parallel()
	for _, name := range topics() {
		page, err := fs.ReadFile(templates.Docs(), name+".md")
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.SplitN(string(page), "\n", 4); len(lines) < 3 || !whoAndWhen.MatchString(lines[2]) {
			t.Errorf("%s begins with %.60q", name, lines)
		}
	}
}

// The page of environment variables has each one that the program asks for by its name.
func TestPageHasEveryVariable(t *testing.T) {
	page, err := fs.ReadFile(templates.Docs(), "environment.md")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`os\.(?:Getenv|LookupEnv)\("([A-Z_]+)"\)`)
	seen := map[string]bool{}
	err = filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && strings.HasPrefix(e.Name(), ".") && e.Name() != ".." {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		for _, m := range asked.FindAllStringSubmatch(string(text), -1) {
			if seen[m[1]] = true; !strings.Contains(string(page), "`"+m[1]+"`") {
				t.Errorf("%s asks for %s, which help environment lacks", name, m[1])
			}
		}
		return err
	})
	if err != nil || len(seen) < 10 {
		t.Errorf("%v; %d variables", err, len(seen))
	}
}
