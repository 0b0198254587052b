package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// source is a parsed Go file.
type source struct {
	path string
	set  *token.FileSet
	file *ast.File
}

func parse(name string, data []byte) (source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
	return source{name, set, file}, err
}

// folder is the package's folder; a package of external tests is one of its own.
func (s source) folder() string { return path.Dir(s.path) + ":" + s.file.Name.Name }

func (s source) line(n ast.Node) int { return s.set.Position(n.Pos()).Line }

// inspect finds violations in the declarations of a package.
func inspect(files []source) []finding {
	vars := packageVars(files)
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
			if n := s.set.Position(f.End()).Line - s.line(f) + 1; n >= 50 {
				found = append(found, finding{longFunction, s.path, s.line(f), fmt.Sprint(f.Name.Name, " has ", n)})
			}
			if f.Recv == nil && f.Name.Name == "init" {
				found = append(found, finding{initFunction, s.path, s.line(f), s.file.Name.Name})
			}
			found = append(found, s.assignments(f, vars)...)
		}
	}
	return found
}

// packageVars collects the names of a package's variables.
func packageVars(files []source) map[string]bool {
	vars := map[string]bool{}
	for _, s := range files {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					vars[name.Name] = name.Name != "_"
				}
			}
		}
	}
	return vars
}

// assignments finds where a function assigns to a package variable or to a part of one. It works on names: a name
// that the function declares anywhere counts as local. So its findings are correct, but not complete.
func (s source) assignments(f *ast.FuncDecl, vars map[string]bool) []finding {
	own := declared(f)
	var found []finding
	target := func(e ast.Expr) {
		if name := root(e); vars[name] && !own[name] {
			found = append(found, finding{changedVar, s.path, s.line(e), name})
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

// root returns the name of the variable in x, x.f, x[i] or *x.
func root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// declared collects every name that a function declares: its receiver, parameters, results and variables.
func declared(f *ast.FuncDecl) map[string]bool {
	own := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if n.Tok == token.DEFINE {
					own[root(e)] = true
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				own[root(n.Key)] = true
				if n.Value != nil {
					own[root(n.Value)] = true
				}
			}
		}
		return true
	})
	return own
}
