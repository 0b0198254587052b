package manifest

import (
	"github.com/ttreport/ttreport/ingest/schema"
)

// field is one fact that can be merged and compared.
type field struct {
	name string
	text func(*schema.Facts) *string
}

// fields lists the facts that are plain text, by their name in provenance.
var fields = []field{
	{"id", func(f *schema.Facts) *string { return &f.RunID }},
	{"release", func(f *schema.Facts) *string { return &f.Release }},
	{"channel", func(f *schema.Facts) *string { return &f.Channel }},
	{"line", func(f *schema.Facts) *string { return &f.Line }},
	{"model.id", func(f *schema.Facts) *string { return &f.Model.ID }},
	{"model.name", func(f *schema.Facts) *string { return &f.Model.Name }},
	{"model.key", func(f *schema.Facts) *string { return &f.Model.Key }},
	{"model.precision", func(f *schema.Facts) *string { return &f.Model.Precision }},
	{"model.status", func(f *schema.Facts) *string { return &f.Model.Status }},
	{"impl", func(f *schema.Facts) *string { return &f.Impl }},
	{"device.name", func(f *schema.Facts) *string { return &f.Device.Name }},
	{"device.mesh", func(f *schema.Facts) *string { return &f.Device.Mesh }},
	{"device.firmware", func(f *schema.Facts) *string { return &f.Device.Firmware }},
	{"stack.engine", func(f *schema.Facts) *string { return &f.Stack.Engine }},
	{"stack.version", func(f *schema.Facts) *string { return &f.Stack.Version }},
	{"stack.image", func(f *schema.Facts) *string { return &f.Stack.Image }},
	{"stack.digest", func(f *schema.Facts) *string { return &f.Stack.Digest }},
}

// Merge returns first with its unstated facts taken from second.
func Merge(first, second schema.Facts) schema.Facts {
	out, _, _ := MergeNoted(first, second)
	return out
}

// Conflict is a fact that two sources state differently; the first one's value is used.
type Conflict struct{ Field, First, Second string }

// Conflicts lists where two sources contradict each other.
func Conflicts(first, second *schema.Facts) []Conflict {
	var out []Conflict
	for _, f := range fields {
		if a, b := *f.text(first), *f.text(second); a != "" && b != "" && a != b {
			out = append(out, Conflict{f.name, a, b})
		}
	}
	return out
}

// MergeNoted is like Merge, but also returns which facts came from second and where the two contradict each other.
func MergeNoted(first, second schema.Facts) (merged schema.Facts, taken []string, conflicts []Conflict) {
	merged = first
	taken, conflicts = Take(&merged, &second)
	return merged, taken, conflicts
}

// Take is [MergeNoted] in place: merged takes what it does not state from second.
func Take(merged, second *schema.Facts) (taken []string, conflicts []Conflict) {
	for _, f := range fields {
		a, b := f.text(merged), *f.text(second)
		switch {
		case b == "":
		case *a == "":
			*a = b
			taken = append(taken, f.name)
		case *a != b:
			conflicts = append(conflicts, Conflict{f.name, *a, b})
		}
	}
	if merged.Start.IsZero() && !second.Start.IsZero() {
		merged.Start, merged.StartNote = second.Start, second.StartNote
		taken = append(taken, "start")
	}
	if merged.End.IsZero() && !second.End.IsZero() {
		merged.End = second.End
	}
	if merged.Device.Chips == 0 && second.Device.Chips != 0 {
		merged.Device.Chips = second.Device.Chips
		taken = append(taken, "device.chips")
	}
	if len(merged.Stack.Commits) == 0 && len(second.Stack.Commits) > 0 {
		merged.Stack.Commits = second.Stack.Commits
		taken = append(taken, "stack.commits")
	}
	merged.Stack.Dirty = merged.Stack.Dirty || second.Stack.Dirty
	return taken, conflicts
}

// Without clears the facts that are in conflict.
func Without(f *schema.Facts, conflicts []Conflict) {
	for _, x := range fields {
		for _, c := range conflicts {
			if c.Field == x.name {
				*x.text(f) = ""
			}
		}
	}
}

// EachText replaces every stated text of f with the result of change.
func EachText(f *schema.Facts, change func(string) string) {
	for _, x := range fields {
		if p := x.text(f); *p != "" {
			*p = change(*p)
		}
	}
}
