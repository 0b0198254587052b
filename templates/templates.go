// Package templates holds the embedded page templates and documentation pages. Package site parses the templates, and
// cmd/ttreport prints the documentation. The package must not import any other package of ours.
package templates

import (
	"embed"
	"io/fs"
)

//go:embed all:html all:docs
var files embed.FS

// HTML returns the page templates.
func HTML() fs.FS { return sub("html") }

// Docs returns the documentation, one markdown file per topic.
func Docs() fs.FS { return sub("docs") }

func sub(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // the folder is embedded above: it cannot be missing
	}
	return f
}
