// Package templates holds the embedded page templates and the documentation pages. It is a leaf: the site executes the
// templates, the shell prints the documentation, and this package knows neither.
package templates

import (
	"embed"
	"io/fs"
)

//go:embed all:html all:docs
var files embed.FS

// HTML returns the page templates: layout.html, navigation.html, section.html, table.html with row.html and
// cell.html, one file a block in blocks/, one file a small picture in pictures/.
func HTML() fs.FS { return sub("html") }

// Docs returns the documentation, one markdown file a topic.
func Docs() fs.FS { return sub("docs") }

func sub(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // the folder is embedded above: it cannot be missing
	}
	return f
}
