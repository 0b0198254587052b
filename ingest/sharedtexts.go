package ingest

import (
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// sharedTexts holds each set of conditions once: those of a sweep are the same for most of its points, and a tree has
// tens of thousands of them. Nothing after a reader changes such a map in place.
type sharedTexts map[string]map[string]string

// share replaces the maps of points by equal ones that others have.
func (s sharedTexts) share(points []schema.Point) {
	for i := range points {
		p := &points[i]
		p.Conditions, p.Stated = s.one(p.Conditions), s.one(p.Stated)
	}
}

// one returns the map that stands for all equal ones.
func (s sharedTexts) one(m map[string]string) map[string]string {
	if len(m) == 0 {
		return m
	}
	var key []byte
	for _, name := range slices.Sorted(maps.Keys(m)) {
		key = append(append(append(append(key, name...), 0), m[name]...), 0)
	}
	if known, ok := s[string(key)]; ok {
		return known
	}
	s[string(key)] = m
	return m
}
