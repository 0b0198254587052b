// Command style checks what gofmt, vet and staticcheck do not: the length of lines, the length and complexity of
// functions, vague package names, func init, and package variables that change.
//
//	go run ./.ci/style [FOLDER]
//
// It prints every finding, then counts, and exits 1 when there is a finding. Long functions of tests, which may be
// tables of cases, are counted only.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
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
	longFunction rule = "functions over 100 lines"
	complexity   rule = "functions with a cyclomatic complexity over 15"
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

// report prints findings and counts, and returns how many are not forgiven.
func report(found []finding) int {
	count := map[rule]int{}
	forgiven := 0
	for _, f := range found {
		if (f.rule == longFunction || f.rule == complexity) && strings.HasSuffix(f.path, "_test.go") {
			// a table of cases may be long, and so may a story
			forgiven++
			continue
		}
		count[f.rule]++
		fmt.Printf("%s:%d: %s: %s\n", f.path, f.line, f.rule, f.what)
	}
	for _, r := range []rule{longLine, longFunction, complexity, vagueName, initFunction, changedVar} {
		fmt.Printf("%5d %s\n", count[r], r)
	}
	fmt.Printf("%5d long or complex functions in tests, which may be\n", forgiven)
	return len(found) - forgiven
}

// check reads all Go files and Python scripts below a folder; not testdata and what tools put there.
func check(root fs.FS) ([]finding, error) {
	set, packages := token.NewFileSet(), map[string][]*ast.File{} // by folder; external tests are one of their own
	var found []finding
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata", "_site"}, e.Name()):
			return fs.SkipDir
		case e.IsDir() || !slices.Contains([]string{".go", ".py"}, path.Ext(name)):
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for i, line := range lines { // a tab is one character
			if n := utf8.RuneCountInString(line); n > 120 && !strings.HasPrefix(line, "//go:") {
				found = append(found, finding{longLine, name, i + 1, fmt.Sprint(n, " characters")})
			}
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := path.Dir(name) + ":" + file.Name.Name
		packages[folder] = append(packages[folder], file)
		return nil
	})
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		found = append(found, inspect(set, packages[folder])...)
	}
	if err == nil && len(packages) == 0 {
		err = errors.New("no Go files")
	}
	return found, err
}

// inspect finds violations in the declarations of a package.
func inspect(set *token.FileSet, files []*ast.File) (found []finding) {
	of := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	unresolved := types.Config{Error: func(error) {}} // the names of other packages
	_, _ = unresolved.Check(files[0].Name.Name, set, files, of)
	add := func(r rule, at ast.Node, what ...any) {
		place := set.Position(at.Pos())
		found = append(found, finding{r, place.Filename, place.Line, fmt.Sprint(what...)})
	}
	name := strings.TrimSuffix(files[0].Name.Name, "_test")
	if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "models", "misc"}, name) {
		add(vagueName, files[0], name)
	}
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > 100 {
				add(longFunction, f, f.Name.Name, " has ", n)
			}
			if n := cyclomatic(f); n > 15 {
				add(complexity, f, f.Name.Name, " has ", n)
			}
			if f.Recv == nil && f.Name.Name == "init" {
				add(initFunction, f, file.Name.Name)
			}
			for _, e := range assigned(f) {
				if v, ok := of.Uses[root(e)].(*types.Var); ok && v.Parent() == v.Pkg().Scope() {
					add(changedVar, e, v.Name())
				}
			}
		}
	}
	return found
}

// cyclomatic counts the paths through a function as McCabe does: one, and one more for each if, for, case, select
// clause, && and ||, those of function literals included.
func cyclomatic(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f.Body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// assigned is what a function assigns to.
func assigned(f *ast.FuncDecl) (targets []ast.Expr) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			targets = append(targets, n.Lhs...)
		case *ast.IncDecStmt:
			targets = append(targets, n.X)
		}
		return true
	})
	return targets
}

// root returns the variable in x, x.f, x[i] or *x.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
