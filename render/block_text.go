package render

import "strings"

// Prose is paragraphs.
type Prose []string

// Kind implements Block.
func (Prose) Kind() string { return "prose" }

// Plain implements Block: prose is elementary.
func (Prose) Plain() []Block { return nil }

// Commands are commands as a shell takes them.
type Commands []string

// Kind implements Block.
func (Commands) Kind() string { return "commands" }

// Plain implements Block: commands are elementary.
func (Commands) Plain() []Block { return nil }

// Links lead elsewhere in the site.
type Links []Link

// Kind implements Block.
func (Links) Kind() string { return "links" }

// Plain implements Block: links are elementary.
func (Links) Plain() []Block { return nil }

// Note is what a person wrote about a release.
type Note struct {
	Release string
	Title   string
	Source  string // markdown
}

// Notes are what people wrote, newest first.
type Notes []Note

// Kind implements Block.
func (Notes) Kind() string { return "notes" }

// Plain implements Block: notes are elementary.
func (Notes) Plain() []Block { return nil }

// Topic is a page of the documentation, by name, shown in place.
type Topic string

// Kind implements Block.
func (Topic) Kind() string { return "topic" }

// Plain implements Block.
func (t Topic) Plain() []Block {
	return []Block{Prose{"The documentation page " + string(t) + ":"}, Commands{"ttreport help " + string(t)}}
}

// Empty says that there is nothing, why, and what to do.
type Empty struct{ What, Why, Cmd string }

// Kind implements Block.
func (Empty) Kind() string { return "empty" }

// Plain implements Block.
func (e Empty) Plain() []Block {
	out := []Block{Prose{strings.TrimSpace(e.What + ". " + e.Why)}}
	if e.Cmd != "" {
		out = append(out, Commands{e.Cmd})
	}
	return out
}
