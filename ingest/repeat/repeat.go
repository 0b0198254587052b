package repeat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// DimFile is the dimension of points that only the names of their files tell apart.
const DimFile = "file"

// Separate makes dimensions of what differs between points with equal keys, in place, and returns a problem for each
// kind of difference. How many devices share the model, as file and folder names state it, is always a dimension: other
// numbers of them are often measured in other runs, or later. Dimensions of an earlier call are taken back first: the
// same points always get the same keys, whichever were there before.
func Separate(points []schema.Point) []schema.Problem {
	groups := map[string][]*schema.Point{}
	var order []string
	for i := range points {
		p := &points[i]
		takeBack(p)
		for dim, value := range parallelism(p) {
			add(p, dim, value)
		}
		key := p.Key.String()
		if len(groups[key]) == 0 {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	var out []schema.Problem
	for _, key := range order {
		if len(groups[key]) > 1 {
			out = append(out, separate(groups[key])...)
		}
	}
	return out
}

// takeBack removes the dimensions that an earlier call added.
func takeBack(p *schema.Point) {
	for name, from := range p.Stated {
		if dim, ok := strings.CutPrefix(name, statedDim); ok && from == string(schema.FromDerived) {
			p.Key.Dims, p.Stated = without(p.Key.Dims, dim), without(p.Stated, name)
		}
	}
}

// statedDim begins the name of a dimension among what was stated of a point.
const statedDim = "dims."

// without returns a copy of m without one entry, nil when nothing is left; points may share maps.
func without(m map[string]string, name string) map[string]string {
	out := maps.Clone(m)
	delete(out, name)
	if len(out) == 0 {
		return nil
	}
	return out
}

// add makes a dimension of a point.
func add(p *schema.Point, dim, value string) {
	if _, has := p.Key.Dims[dim]; value == "" || has {
		return
	}
	p.Key.Dims, p.Stated = maps.Clone(p.Key.Dims), maps.Clone(p.Stated)
	if p.Key.Dims == nil {
		p.Key.Dims = map[string]string{}
	}
	if p.Stated == nil {
		p.Stated = map[string]string{}
	}
	p.Key.Dims[dim], p.Stated[statedDim+dim] = value, string(schema.FromDerived)
}

// separate tells the points of one key apart: first by settings, then, among those that still have one key, by the
// names of their files.
func separate(group []*schema.Point) []schema.Problem {
	var out []schema.Problem
	values := make([]map[string]string, len(group))
	for i, p := range group {
		values[i] = Settings(p)
	}
	measures(group, values)
	for _, name := range differing(values) {
		for i, p := range group {
			add(p, name, values[i][name])
		}
		out = append(out, schema.Problem{
			Severity: schema.SevNote, Path: group[0].Source.Path, Code: "told-apart",
			Found:    fmt.Sprintf("%d results of one workload with different %s", len(group), name),
			Expected: "repeats to agree in what was set", Used: name + " as a part of the workload",
			Hint: "if it makes no difference, measure under the same value, or leave it out of the metadata",
		})
	}
	left := map[string][]*schema.Point{}
	for _, p := range group {
		left[p.Key.String()] = append(left[p.Key.String()], p)
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		if len(left[key]) > 1 {
			out = append(out, separateFiles(left[key])...)
		}
	}
	return out
}

// differing lists the settings that have several values in a group. A point without one differs from those with it.
func differing(values []map[string]string) []string {
	all := map[string]bool{}
	for _, v := range values {
		for name := range v {
			all[name] = true
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(values, func(v map[string]string) bool { return v[name] != values[0][name] }) {
			out = append(out, name)
		}
	}
	return out
}

// foreign reports a point that no collector of ours describes.
func foreign(p *schema.Point) bool { return len(p.Client) == 0 || len(p.Command) == 0 }

// separateFiles tells points apart by the names of their files and folders, where no setting does. What a collector of
// ours measured is described in full beside it, and its names say nothing more.
func separateFiles(group []*schema.Point) []schema.Problem {
	if !slices.ContainsFunc(group, foreign) {
		return nil
	}
	paths := make([]string, len(group))
	for i, p := range group {
		paths[i] = WithoutLoad(p.Source.Path, &p.Key)
	}
	dims := differences(paths)
	if dims == nil {
		return nil
	}
	names := map[string]bool{}
	for i, p := range group {
		for dim, value := range dims[i] {
			add(p, dim, value)
			names[dim] = true
		}
	}
	list := slices.Sorted(maps.Keys(names))
	return []schema.Problem{{
		Severity: schema.SevWarning, Path: group[0].Source.Path, Code: "told-apart",
		Found: fmt.Sprintf("%d results that state one workload, under names that differ by more than a date or a number",
			len(group)),
		Expected: "results that state what was different", Used: strings.Join(list, ", ") + " as a part of the workload",
		Hint: "state what differs in a manifest or with --pattern; repeats have one name and a number, such as x-1.json",
	}}
}
