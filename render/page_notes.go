package render

import "github.com/ttreport/ttreport/ingest/schema"

// NotesPage has all notes of people, newest release first; those on releases that nobody measured last.
func (r *Report) NotesPage() Page {
	p := Page{
		Path: "notes/index.html", Title: "Notes", Nav: "notes", Description: "What people wrote about releases.",
		Crumbs: []Link{{"Overview", "index.html"}, {"Notes", ""}},
		Lead:   Lead{Text: "What people wrote about releases."}, Simulated: r.simulated(-1),
	}
	known := map[string]bool{}
	add := func(name string, href Address) {
		if notes := r.NotesOf(name); len(notes) > 0 && !known[name] {
			s := Section{ID: "note-" + schema.Slug(name), Title: name, Blocks: []Block{Notes(notes)}}
			if href != "" {
				s.End = &Link{"the release", href}
			}
			p.Sections = append(p.Sections, s)
		}
		known[name] = true
	}
	for at := len(r.Releases) - 1; at >= 0; at-- {
		add(r.Releases[at].Name, ReleasePath(r.Releases[at].Name))
	}
	for _, n := range r.Notes {
		add(n.Release, "")
	}
	if len(p.Sections) == 0 {
		p.Sections = []Section{
			{
				ID: "none", Title: "Notes",
				Blocks: []Block{
					Empty{
						What: "No notes",
						Why:  "Markdown files in notes/, named after a release, are shown here and on the page of the release.",
					},
				},
			},
		}
	}
	return p
}
