// Package markdown writes pages as markdown and turns people's markdown into safe HTML. It is the only importer of
// goldmark.
//
// In go views of package render and notes; out go files for a pull request or a ticket, and HTML fragments without
// raw HTML, script or unsafe links, whatever the notes contain.
package markdown
