// Package templates holds the embedded page templates, documentation pages and files of a new workspace. Package site
// parses the templates, and cmd/ttreport prints the documentation and writes the files. The package must not import any
// other package of ours.
package templates

import (
	"embed"
	"io/fs"
)

//go:embed all:html all:docs all:init
var files embed.FS

// HTML returns the page templates.
func HTML() fs.FS { return sub("html") }

// Docs returns the documentation, one markdown file per topic.
func Docs() fs.FS { return sub("docs") }

// Init returns the files of a new workspace. Each is a text template with [[ and ]] around its actions, since {{ and }}
// belong to workflows.
func Init() fs.FS { return sub("init") }

func sub(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // the folder is embedded above: it cannot be missing
	}
	return f
}
