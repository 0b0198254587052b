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
	set, packages := token.NewFileSet(), map[string][]source{}
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
			s, err := parse(set, path, data)
			if err != nil {
				return err
			}
			packages[s.folder()] = append(packages[s.folder()], s)
		}
		return nil
	})
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		found = append(found, inspect(packages[folder])...)
	}
	if err == nil && len(packages) == 0 {
		err = errors.New("no Go files")
	}
	return found, err
}

// lengths finds long lines. A tab is one character.
func lengths(path, text string) []finding {
	var found []finding
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if n := len([]rune(line)); n > 120 && !strings.HasPrefix(line, "//go:") {
			found = append(found, finding{longLine, path, i + 1, fmt.Sprint(n, " characters")})
		}
	}
	return found
}

// source is a parsed Go file.
type source struct {
	path string
	set  *token.FileSet
	file *ast.File
}

func parse(set *token.FileSet, name string, data []byte) (source, error) {
	file, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
	return source{name, set, file}, err
}

// folder is the package's folder; a package of external tests is one of its own.
func (s source) folder() string { return path.Dir(s.path) + ":" + s.file.Name.Name }

func (s source) line(n ast.Node) int { return s.set.Position(n.Pos()).Line }

// inspect finds violations in the declarations of a package.
func inspect(files []source) []finding {
	of := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	var list []*ast.File
	for _, s := range files {
		list = append(list, s.file)
	}
	unresolved := types.Config{Error: func(error) {}} // the names of other packages
	_, _ = unresolved.Check(files[0].file.Name.Name, files[0].set, list, of)
	var found []finding
	for i, s := range files {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		vague := []string{"util", "utils", "common", "helper", "helpers", "types", "models", "misc"}
		if i == 0 && slices.Contains(vague, name) {
			found = append(found, finding{vagueName, s.path, s.line(s.file), name})
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := s.set.Position(f.End()).Line - s.line(f) + 1; n > 100 {
				found = append(found, finding{longFunction, s.path, s.line(f), fmt.Sprint(f.Name.Name, " has ", n)})
			}
			if n := cyclomatic(f); n > 15 {
				found = append(found, finding{complexity, s.path, s.line(f), fmt.Sprint(f.Name.Name, " has ", n)})
			}
			if f.Recv == nil && f.Name.Name == "init" {
				found = append(found, finding{initFunction, s.path, s.line(f), s.file.Name.Name})
			}
			found = append(found, s.assignments(f, of)...)
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

// assignments finds where a function assigns to a variable of its package or to a part of one.
func (s source) assignments(f *ast.FuncDecl, of *types.Info) []finding {
	var found []finding
	target := func(e ast.Expr) {
		if v, ok := of.Uses[root(e)].(*types.Var); ok && v.Parent() == v.Pkg().Scope() {
			found = append(found, finding{changedVar, s.path, s.line(e), v.Name()})
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				target(e)
			}
		case *ast.IncDecStmt:
			target(n.X)
		}
		return true
	})
	return found
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
