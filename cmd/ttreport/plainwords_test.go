package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// retired are words that texts for people no longer use; templates/docs/glossary.md has those that they use.
var retired = []*regexp.Regexp{
	regexp.MustCompile(`(?i)rehears|reckon`),
	regexp.MustCompile(`(?i)fit to ship|\bnot fit\b|fit with notes`),
	regexp.MustCompile(`(?i)(probably|confirmed) worse|worse (confirmed|probable)|\bfor information\b`),
	regexp.MustCompile(`(?i)last words|requests at once|command that mends|\bconcur\b`),
	regexp.MustCompile(`(^|[^\w-])--(fresh|inner-port|ranks|levels|least-margin)\b`),
	regexp.MustCompile(`(?i)\bpromis(e|es|ed|ing)\b`),
	regexp.MustCompile(`(?i)\b(speaks?|spoke|tells?) of\b|\btold once\b`),
	regexp.MustCompile(`(?i)\b(hollow|late-step)\b|\bcreep`),
	regexp.MustCompile(`rare among|nobody has said why|saw it again \(|Shaded: less than what|unless its row says|` +
		`Pages that need no script|no earlier score grades|or measured before have|by their own priority, else|` +
		`One row a workload; below a|of ttreport check \(0 pass|^With it $`),
	// "X is no Y", and a person who is not there.
	regexp.MustCompile(`(?i)(which|that|it|value|copy|difference) (is|are) no (pass|verdict|measurement|pair)\b|` +
		`%[a-z] (is|are) no [a-z]|\bis no (JSON|zero|measurement)\b|are no pair\b|are no baseline`),
	regexp.MustCompile(`(?i)beside (the )?history|\bbeside (v\d|%s|the one before|each other)|` +
		`that nobody (has|accepted)|\bnobody's\b|was built with version|confirmed regressions"`),
	regexp.MustCompile("^(twice|clock|perfect|limited)$|`(twice|clock|perfect|limited)`|^## " +
		"(twice|clock|perfect|limited)$"),
}

// allowedText is where a retired word is right.
type allowedText struct {
	path, text *regexp.Regexp
	reason     string
}

var allowedTexts = []allowedText{
	{regexp.MustCompile(`.`), regexp.MustCompile(`(?i)(does|do|did) not fit`), "of room, not of a release"},
	{regexp.MustCompile(`^CHANGELOG\.md$`), regexp.MustCompile(`^\|.*\|.*\|$`), "the table of renames names both"},
	{regexp.MustCompile(`^(ingest/|targets/gate/lint/lint\.go)`), regexp.MustCompile(`^hollow(-success)?$`),
		"a code of problems in documents that are stored already"},
	{regexp.MustCompile(`^render/parity/`), regexp.MustCompile(`^Concur$`), "a head of another program's table"},
	{regexp.MustCompile(`^static/assets/`), regexp.MustCompile(`\bPromise\b`), "of JavaScript"},
	{regexp.MustCompile(`^ARCHITECTURE\.md$`), regexp.MustCompile(`promise of durability`), "of an operating system"},
	{regexp.MustCompile(`^templates/docs/method\.md$`), regexp.MustCompile(`promises? \d+ %`), "of an interval"},
}

// text is a line that people read.
type text struct {
	path string
	line int
	s    string
}

// retiredIn is the retired word of a text, "" for none.
func retiredIn(t text) string {
	for _, word := range retired {
		found := word.FindString(t.s)
		excused := slices.ContainsFunc(allowedTexts, func(a allowedText) bool {
			return a.path.MatchString(t.path) && a.text.MatchString(t.s)
		})
		if found != "" && !excused {
			return found
		}
	}
	return ""
}

// Texts for people use the field's words: help, messages, documentation, templates. Comments and tests are not read
// here.
func TestPlainWords(t *testing.T) {
	t.Parallel()
	texts := append(linesOf(t), literals(t)...)
	if len(texts) < 5000 {
		t.Fatalf("only %d texts: the walk is broken", len(texts))
	}
	for _, x := range texts {
		if word := retiredIn(x); word != "" {
			t.Errorf("%s:%d: %q in %q", x.path, x.line, word, x.s)
		}
	}
}

// The list must be able to say no, and no more than it means.
func TestRetiredWords(t *testing.T) {
	for _, s := range []string{
		"a rehearsal", "its reckoning", "Fit to ship", "not fit", "FIT WITH NOTES", "1 point is probably worse",
		"last words: x", "REQUESTS AT ONCE", "the command that mends it", "use --fresh", "--inner-port=8", "--ranks 8",
		"`--levels`", "--least-margin", "Targets that were promised", "a decision speaks of runs", "it tells of runs",
		"told once", "hollow", "creeping", "late-step", "3 targets for information", "twice", "see `perfect`", "## clock",
		"it is rare among all", "nobody has said why", "a re-run saw it again (first 72.4 ms)",
		"Shaded: less than what matters", "v2, unless its row says otherwise", "Pages that need no script",
		"no reference and no earlier score grades them", "required or measured before have a number",
		"Required by their own priority, else", "One row a workload; below a level", "1 of ttreport check (0 pass",
		"With it ",
		"which is no pass", "that is no verdict", "a copy is no measurement", "%q is no limit of ttft", "it is no JSON",
		"no zero: a crash is no zero", "judged beside history", "v0.6.0 beside v0.5.0", "regressions that nobody accepted",
		"a regression that nobody has explained", "nobody's baseline", "it was built with version v1",
	} {
		if retiredIn(text{"README.md", 1, s}) == "" {
			t.Errorf("%q passes", s)
		}
	}
	for _, s := range []string{
		"--mpi-ranks 8", "it does not fit into memory", "measured twice", "a fresh clone", "the levels", "compromised",
		"concurrency", "the clock", "min-margin", "there is no baseline", "nobody accepts anything for a build",
		"a sidecar beside each", "there is no result",
	} {
		if word := retiredIn(text{"README.md", 1, s}); word != "" {
			t.Errorf("%q is refused for %q", s, word)
		}
	}
}

// linesOf are the lines of documentation and templates.
func linesOf(t *testing.T) []text {
	t.Helper()
	root := os.DirFS(filepath.Join("..", ".."))
	var out []text
	for _, pattern := range []string{
		"README.md", "CHANGELOG.md", "ARCHITECTURE.md", "templates/docs/*.md", "templates/html/*", "templates/html/*/*",
		"static/assets/*.js",
	} {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if info, err := fs.Stat(root, name); err != nil || info.IsDir() || strings.HasSuffix(name, ".min.js") {
				continue
			}
			data, err := fs.ReadFile(root, name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(data), "\n") {
				out = append(out, text{name, i + 1, line})
			}
		}
	}
	return out
}

// literals are the string literals of the product's Go files, without imports and struct tags.
func literals(t *testing.T) []text {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []text
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || len(e.Name()) > 2 && e.Name()[0] == '.'):
			return fs.SkipDir
		case e.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		rel, _ := filepath.Rel(root, name)
		found, err := literalsOf(name, filepath.ToSlash(rel))
		out = append(out, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func literalsOf(name, rel string) ([]text, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []text
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			s, unquoteErr := strconv.Unquote(n.Value)
			if unquoteErr != nil {
				err = fmt.Errorf("%s: %w", rel, unquoteErr)
			}
			first := set.Position(n.Pos()).Line
			for i, line := range strings.Split(s, "\n") {
				out = append(out, text{rel, first + i, line})
			}
		}
		return true
	})
	return out, err
}
