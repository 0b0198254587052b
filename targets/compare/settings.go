package compare

import (
	"maps"
	"slices"
	"strings"
)

// Setting is one that changes what a number means, and that the sides do not share.
type Setting struct{ Name, A, B string } // values with commas, where a side has several

// state notes a setting of a side; an empty value is none.
func (s *side) state(name, value string) {
	if value == "" {
		return
	}
	if s.stated[name] == nil {
		s.stated[name] = map[string]bool{}
	}
	s.stated[name][value] = true
}

// settings lists what both sides state and state differently.
func settings(a, b map[string]map[string]bool) []Setting {
	var out []Setting
	for _, name := range slices.Sorted(maps.Keys(a)) {
		x, y := strings.Join(slices.Sorted(maps.Keys(a[name])), ", "), strings.Join(slices.Sorted(maps.Keys(b[name])), ", ")
		if y != "" && x != y {
			out = append(out, Setting{name, x, y})
		}
	}
	return out
}
