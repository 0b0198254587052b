package repeat

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/naming"
)

// nameOf is what scores have in common that may be repeats.
func nameOf(s *schema.Score) string { return s.Task + "\x00" + s.Metric + "\x00" + s.Filter + "\x00" }

// SeparateScores tells scores of one run apart that have one name and were asked for in different ways: with other
// shots, limits or versions of the task. It adds what differs to the filter, in place, and returns a problem for each
// name.
func SeparateScores(scores []schema.Score) []schema.Problem {
	all := make([]*schema.Score, len(scores))
	for i := range scores {
		all[i] = &scores[i]
		all[i].Filter = schema.NamedFilter(all[i].Filter)
	}
	var out []schema.Problem
	for _, group := range schema.Alike(all, nameOf) {
		if len(group) < 2 {
			continue
		}
		values := make([]map[string]string, len(group))
		for i, s := range group {
			values[i] = s.Asked()
		}
		names := differing(values)
		for _, what := range names {
			for i, s := range group {
				if v := values[i][what]; v != "" {
					s.Filter += schema.FilterMark + what + " " + v
				}
			}
		}
		if len(names) > 0 {
			out = append(out, schema.Problem{
				Severity: schema.SevNote, Path: group[0].Source.Path, Code: schema.CodeToldApart,
				Found:    fmt.Sprintf("%d scores of %s with different %s", len(group), group[0].Task, strings.Join(names, ", ")),
				Expected: "repeats to agree in what was asked", Used: "each under a name of its own",
			})
		}
	}
	return out
}

// SeparateScoreFiles tells scores apart that state one eval and come from files whose names differ by more than a date
// or a counter: "int4.json" and "int8.json". What differs is added to the filter, in place; a problem for each set of
// files says so. The scores may be of several runs of one folder.
func SeparateScoreFiles(scores []*schema.Score) []schema.Problem {
	type told struct {
		scores, files int
		first         *schema.Score
		dims          []map[string]string // of each file, as of all evals that they have
	}
	var found []*told
	by := map[string]*told{} // the paths of the files
	isMarked := func(s *schema.Score) bool { return schema.FileOf(s.Filter) != "" }
	unmarked := func(s *schema.Score) string { // one that was told apart before tells the next one apart
		one := *s
		one.Filter, _ = schema.SplitFilter(s.Filter)
		if isMarked(s) && stamped.MatchString(naming.Stem(path.Base(s.Source.Path))) {
			one.Filter = schema.NamedFilter(s.Filter) // a person added it
		}
		return nameOf(&one) + fmt.Sprint(s.Asked())
	}
	for _, group := range schema.Alike(scores, unmarked) {
		files := map[string]bool{}
		for _, s := range group {
			files[s.Source.Path] = true
		}
		if len(files) < 2 {
			continue
		}
		paths := slices.Sorted(maps.Keys(files))
		t := by[strings.Join(paths, "\x00")]
		if t == nil {
			t = &told{files: len(paths), dims: naming.Differences(paths)}
			by[strings.Join(paths, "\x00")] = t
		}
		if group = slices.DeleteFunc(group, isMarked); t.dims == nil || len(group) == 0 {
			continue
		}
		for _, s := range group {
			i, _ := slices.BinarySearch(paths, s.Source.Path)
			s.Filter += markOf(t.dims[i])
		}
		if t.first == nil {
			t.first, found = group[0], append(found, t)
		}
		t.scores += len(group)
	}
	var out []schema.Problem
	for _, t := range found {
		out = append(out, namedApart(t.first, fmt.Sprintf(
			"%d scores of %d files that state one eval, under names that differ by more than a date or a number",
			t.scores, t.files)))
	}
	return out
}

// markOf writes what tells a file apart: its name, or what it states of parallelism.
func markOf(dims map[string]string) string {
	var marks []string
	for _, dim := range slices.Sorted(maps.Keys(dims)) {
		if value := dims[dim]; value != "" && dim == naming.File {
			marks = append(marks, value)
		} else if value != "" {
			marks = append(marks, dim+value)
		}
	}
	if len(marks) == 0 {
		return ""
	}
	return schema.FileMark + strings.Join(marks, " ")
}

// namedApart is the problem about scores that the names of their files tell apart.
func namedApart(s *schema.Score, found string) schema.Problem {
	return schema.Problem{
		Severity: schema.SevWarning, Path: s.Source.Path, Code: schema.CodeToldApart, Found: found,
		Expected: "results that state what was different", Used: "what differs as a part of each score's name",
		Hint: "repeats have one name and a number, such as x-1.json; " +
			"of another model or build, state it in a manifest, or with {model} or {release} in --pattern",
	}
}

// stamped matches the names that eval harnesses write by themselves, results_<time>.json, and what a person added.
var stamped = lazyregexp.New(`^results_\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?[-_. ]+(.+)$`)

// AddedNames marks the scores of a file with what a person added to the name that its tool gave it, in place, and
// returns a problem about it. What the model or the tasks are called says nothing more, nor does a counter.
func AddedNames(scores []schema.Score, model string) []schema.Problem {
	if len(scores) == 0 {
		return nil
	}
	m := stamped.FindStringSubmatch(naming.Stem(path.Base(scores[0].Source.Path)))
	if m == nil {
		return nil
	}
	added := strings.Trim(strings.ToLower(m[1]), "-_. ()")
	isTask := func(s schema.Score) bool { return strings.Contains(strings.ToLower(s.Task), added) }
	if naming.IsCount(added) || strings.Contains(strings.ToLower(model), added) || slices.ContainsFunc(scores, isTask) {
		return nil
	}
	for i := range scores {
		scores[i].Filter += schema.FileMark + added
	}
	return []schema.Problem{namedApart(&scores[0],
		fmt.Sprintf("%d scores of a file whose name has %q after the time that its tool wrote", len(scores), added))}
}
