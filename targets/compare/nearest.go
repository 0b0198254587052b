package compare

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Nearest is what keeps two sides apart that have no number in common.
type Nearest struct {
	Differ []Setting // fields of the nearest pairs of numbers, with the values of one pair; "" where a side states none
	N      int       // numbers of B that have such a neighbour in A
}

// Bounds of a search for neighbours.
const (
	mostNeighbours = 400 // numbers a side that are looked at
	mostDiffering  = 3   // fields: what differs in more is no neighbour
)

// nearest finds for each number of B the one of A from which it differs in the fewest fields, and returns what most of
// those that differ in the fewest differ in; nil without a neighbour.
func nearest(a, b *side) *Nearest {
	left, right := a.fields(), b.fields()
	found := map[string]*Nearest{}
	for _, y := range right {
		var best []Setting
		for _, x := range left {
			if d := differing(x, y); best == nil || distance(d) < distance(best) {
				best = d
			}
		}
		if len(best) == 0 || len(best) > mostDiffering {
			continue
		}
		var names []string
		for _, d := range best {
			names = append(names, d.Name)
		}
		name := strings.Join(names, "\n")
		if found[name] == nil {
			found[name] = &Nearest{Differ: best}
		}
		found[name].N++
	}
	names := slices.SortedFunc(maps.Keys(found), func(x, y string) int {
		p, q := found[x], found[y]
		return cmp.Or(cmp.Compare(distance(p.Differ), distance(q.Differ)), cmp.Compare(q.N, p.N), cmp.Compare(x, y))
	})
	if len(names) == 0 {
		return nil
	}
	return found[names[0]]
}

// fieldMetric is a field that differs in kind: another metric is further away than another setting.
const fieldMetric = "metric"

func distance(d []Setting) int {
	n := 2 * len(d)
	if slices.ContainsFunc(d, func(s Setting) bool { return s.Name == fieldMetric }) {
		n++
	}
	return n
}

// fields are those by which numbers of a side are told apart, in the order of cells.
func (s *side) fields() (out []map[string]string) {
	cells := slices.SortedFunc(maps.Keys(s.values), func(x, y cell) int {
		return cmp.Or(cmp.Compare(x.system, y.system), cmp.Compare(x.key, y.key), cmp.Compare(x.metric, y.metric),
			cmp.Compare(x.stat, y.stat), cmp.Compare(x.def, y.def))
	})
	for _, c := range cells[:min(mostNeighbours, len(cells))] {
		k := s.keys[c.key]
		f := map[string]string{
			"model and device": c.system, "task": k.Task, "tool": k.Tool, "isl": stated(k.ISL), "osl": stated(k.OSL),
			"concurrency": stated(k.Concurrency), "rate": stated(k.Rate), "dataset": k.Dataset,
			fieldMetric: c.metric + " " + c.stat, "definition of " + c.metric: c.def,
		}
		maps.Copy(f, k.Dims)
		out = append(out, f)
	}
	return out
}

func stated(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'g', -1, 64)
}

// differing lists the fields in which two numbers differ, by name.
func differing(a, b map[string]string) (out []Setting) {
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a[name] != b[name] {
			out = append(out, Setting{name, a[name], b[name]})
		}
	}
	return out
}
