package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	found, err := check(os.DirFS(root))
	if err != nil {
		fmt.Fprintln(os.Stderr, "style:", err)
		os.Exit(2)
	}
	if report(found) > 0 {
		os.Exit(1)
	}
}

// rule is a rule that a finding violates.
type rule string

const (
	longLine     rule = "lines over 120 characters"
	longFunction rule = "functions of 50 lines or more"
	longFile     rule = "files over 400 lines"
	vagueName    rule = "packages with a name that says nothing"
	initFunction rule = "func init"
	changedVar   rule = "package variables that are assigned to"
)

// finding is a violation of a rule.
type finding struct {
	rule
	path string
	line int
	what string
}

// forgiven reports a function of a test: a table of cases may be long.
func (f finding) forgiven() bool {
	return f.rule == longFunction && strings.HasSuffix(f.path, "_test.go")
}

// report prints findings and counts, and returns how many are not forgiven.
func report(found []finding) int {
	count := map[rule]int{}
	forgiven := 0
	for _, f := range found {
		if f.forgiven() {
			forgiven++
			continue
		}
		count[f.rule]++
		fmt.Printf("%s:%d: %s: %s\n", f.path, f.line, f.rule, f.what)
	}
	for _, r := range []rule{longLine, longFunction, longFile, vagueName, initFunction, changedVar} {
		fmt.Printf("%5d %s\n", count[r], r)
	}
	fmt.Printf("%5d %s in tests, which may be\n", forgiven, longFunction)
	return len(found) - forgiven
}

// check reads all Go files and Python scripts below a folder; not testdata and what tools put there.
func check(root fs.FS) ([]finding, error) {
	packages := map[string][]source{}
	var found []finding
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata", "_site"}, e.Name()):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		end := filepath.Ext(path)
		if end != ".go" && end != ".py" {
			return nil
		}
		data, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		found = append(found, lengths(path, string(data))...)
		if end == ".go" {
			s, err := parse(path, data)
			if err != nil {
				return err
			}
			packages[s.folder()] = append(packages[s.folder()], s)
		}
		return nil
	})
	for _, folder := range sorted(packages) {
		found = append(found, inspect(packages[folder])...)
	}
	if err == nil && len(packages) == 0 {
		err = errors.New("no Go files")
	}
	return found, err
}

func sorted(packages map[string][]source) []string {
	var out []string
	for folder := range packages {
		out = append(out, folder)
	}
	slices.Sort(out)
	return out
}

// lengths finds long lines and a long file. A tab is one character.
func lengths(path, text string) []finding {
	var found []finding
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if n := len([]rune(line)); n > 120 && !strings.HasPrefix(line, "//go:") {
			found = append(found, finding{longLine, path, i + 1, fmt.Sprint(n, " characters")})
		}
	}
	if len(lines) > 400 {
		found = append(found, finding{longFile, path, 1, fmt.Sprint(len(lines), " lines")})
	}
	return found
}
