package render

// Widget is a part of a page that a script fills.
type Widget struct {
	Tool     string       // explore or compare
	Data     Address      // of its shard, or ""
	Releases []ReleaseRef // oldest first
	A, B     string       // releases that stand beside each other at first
	At       string       // the address that says what else is chosen at first
}

// ReleaseRef is a release with the address of its numbers.
type ReleaseRef struct {
	Name  string  `json:"name"`
	Shard Address `json:"shard"`
	Of    string  `json:"-"` // what it measured, where nobody gave it a name that says so
}

// Kind implements Block.
func (Widget) Kind() string { return "widget" }

// Plain implements Block.
func (w Widget) Plain() []Block {
	return []Block{Prose{"The " + w.Tool + " page is interactive: open it in the built site."}}
}
