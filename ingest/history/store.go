package history

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// StartInID is how an id that is derived begins: with the start of its run.
const StartInID = "20060102T150405Z-"

// Undated begins the id of a run that nothing dates.
const Undated = "undated-"

// PathOf returns the path of a run's document below the history folder.
func PathOf(r *schema.Run) string {
	return filepath.Join(schema.Slug(r.Model.Name), schema.Slug(r.Device.Name), schema.Slug(r.ID)+".json")
}

// Read returns one document.
func Read(name string) (schema.Run, *schema.Problem) {
	data, err := rootfs.ReadFile(name, mostDocument)
	if err != nil {
		return schema.Run{}, unreadable(name, err)
	}
	return Decode(filepath.ToSlash(name), data)
}

// put writes the document of a run; it is on the disk when put returns.
func put(dir, rel string, r *schema.Run, data []byte) (changed bool, err error) {
	if err := rootfs.Within(dir, rel); err != nil {
		return false, fmt.Errorf("updating run %s: %w", r.ID, err)
	}
	name := filepath.Join(dir, rel)
	if durable.Holds(name, data) {
		return false, nil
	}
	return true, durable.WriteSynced(name, data)
}

// Put writes a run, or updates its existing document, and reports whether anything changed. A document that cannot be
// read is never overwritten. Stored targets in force stay, unless retarget replaces them with the run's own.
func Put(dir string, r schema.Run, retarget bool) (changed bool, err error) {
	base := r.ID
	for n := 2; ; n++ {
		if err := rootfs.Within(dir, PathOf(&r)); err != nil {
			return false, fmt.Errorf("updating run %s: %w", r.ID, err)
		}
		name := filepath.Join(dir, PathOf(&r))
		if _, statErr := os.Stat(name); statErr != nil {
			return Replace(dir, r)
		}
		old, problem := Read(name)
		if problem != nil {
			return false, fmt.Errorf("updating run %s: %w", r.ID, *problem)
		}
		if old.ID != r.ID || differ(old.Release, r.Release) || differ(old.Impl, r.Impl) || old.Model.Name != r.Model.Name ||
			!schema.SameDevice(old.Device.Name, r.Device.Name) {
			// One id for two runs: both are kept, with a problem.
			r.ID = fmt.Sprintf("%s~%d", base, n)
			r.Problems = append(slices.Clone(r.Problems), schema.Problem{
				Severity: schema.SevError, Path: filepath.ToSlash(name), Code: "run-id-taken",
				Found:    fmt.Sprintf("run id %s of release %q, and here of release %q", base, old.Release, r.Release),
				Expected: "one id per run", Used: "both, this one as " + r.ID,
				Hint: "give one of them another id in its manifest",
			})
			continue
		}
		return Replace(dir, Update(old, r, retarget))
	}
}

// differ reports that two readings of one run state something differently: what one leaves open, the other states.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// Replace writes a run in the place of its document, whatever that holds, and reports whether anything changed.
func Replace(dir string, r schema.Run) (changed bool, err error) {
	return put(dir, PathOf(&r), &r, Encode(&r))
}

// Remove deletes a document of a history, and the folders that are left empty.
func Remove(dir, name string) error {
	err := os.Remove(name)
	for at := filepath.Dir(name); err == nil && at != filepath.Clean(dir) && os.Remove(at) == nil; {
		at = filepath.Dir(at)
	}
	return err
}

// Overlay writes a run in the place of a document of another folder, which it replaces where both are loaded; not where
// that is equal.
func Overlay(base, dir, rel string, r schema.Run) (changed bool, err error) {
	data := Encode(&r)
	if durable.Holds(filepath.Join(base, rel), data) {
		return false, nil
	}
	return put(dir, rel, &r, data)
}

// Peek returns the stored document of a run, if it exists and can be read.
func Peek(dir string, r *schema.Run) (schema.Run, bool) {
	old, problem := Read(filepath.Join(dir, PathOf(r)))
	return old, problem == nil
}

// Update merges a run that was read again with its stored document. Results of files that were not read this time,
// the stamped targets in force, unless they are to be those of now, and fields that this version does not know, are
// kept.
func Update(old, now schema.Run, retarget bool) schema.Run {
	own := now.Targets
	if now = join(old, now, keepResults); retarget {
		now.Targets = own
	}
	return now
}

// Merge adds the results of another run, which may be of the same files.
func Merge(other, run schema.Run) schema.Run {
	return join(other, run, func(other, run *schema.Run) {
		run.Points = append(slices.Clip(run.Points), other.Points...)
		run.Scores = append(run.Scores, other.Scores...)
		run.Problems = append(slices.Clip(run.Problems), other.Problems...)
	})
}

func join(old, now schema.Run, results func(old, now *schema.Run)) schema.Run {
	old.Scores, now.Scores = old.DatedScores(), now.DatedScores()
	now.Release, now.Impl = cmp.Or(now.Release, old.Release), cmp.Or(now.Impl, old.Impl)
	if now.Model.Name == old.Model.Name {
		now.Model.ID = cmp.Or(now.Model.ID, old.Model.ID)
	}
	keepPaths(&old, &now)
	results(&old, &now)
	now.Targets = schema.MergeTargets(old.Targets, now.Targets)
	now.Acceptance = now.Acceptance.With(old.Acceptance)
	if len(now.Plan) == 0 {
		now.Plan = old.Plan
	}
	now.Unknown, now.Model.Unknown = old.Unknown, old.Model.Unknown
	now.Device.Unknown, now.Stack.Unknown = old.Device.Unknown, old.Stack.Unknown
	if len(now.Extra) == 0 {
		now.Extra = old.Extra
	}
	for field, origin := range old.Provenance {
		if _, has := now.Provenance[field]; !has {
			if now.Provenance == nil {
				now.Provenance = map[string]schema.Origin{}
			}
			now.Provenance[field] = origin
		}
	}
	if !old.Start.IsZero() && (old.Start.Before(now.Start) || now.Start.IsZero() && !strings.HasPrefix(now.ID, Undated)) {
		now.Start = old.Start
	}
	if old.End.After(now.End) {
		now.End = old.End
	}
	repeat.Separate(now.Points) // what differs is a problem of the reading that has both
	repeat.SeparateScores(now.Scores)
	now.Arrange()
	return now
}

// keepPaths gives what was read again from the same bytes the path under which they were first read: where a copy or a
// clone of them lies says nothing about the measurement.
func keepPaths(old, now *schema.Run) {
	first := map[string]string{} // by hash
	for s := range old.Sources() {
		first[s.SHA256] = s.Path
	}
	delete(first, "")
	moved := map[string]string{} // what paths begin with today, and how they began
	for s := range now.Sources() {
		if was := first[s.SHA256]; was != "" && was != s.Path {
			today, before := beginnings(s.Path, was)
			moved[today], s.Path = before, was
		}
	}
	if len(moved) == 0 {
		return
	}
	now.Problems, now.Provenance = slices.Clone(now.Problems), maps.Clone(now.Provenance)
	now.Acceptance.KnownIssues = slices.Clone(now.Acceptance.KnownIssues)
	paths := []*string{&now.Acceptance.Source}
	for i := range now.Problems {
		paths = append(paths, &now.Problems[i].Path)
	}
	for i := range now.Acceptance.KnownIssues {
		paths = append(paths, &now.Acceptance.KnownIssues[i].Source)
	}
	for _, today := range slices.Sorted(maps.Keys(moved)) {
		for _, p := range paths {
			if rest, ok := strings.CutPrefix(*p, today); ok {
				*p = moved[today] + rest
			}
		}
		for field, origin := range now.Provenance {
			origin.Where = strings.Replace(origin.Where, today, moved[today], 1)
			if was, has := old.Provenance[field]; has && was == origin {
				now.Provenance[field] = was
			}
		}
	}
}

// beginnings cuts the last parts that two paths share off both.
func beginnings(a, b string) (string, string) {
	for {
		i, j := strings.LastIndexByte(a, '/'), strings.LastIndexByte(b, '/')
		if i < 0 || j < 0 || a[i:] != b[j:] {
			return a, b
		}
		a, b = a[:i], b[:j]
	}
}

// keepResults adds the results of files that were not read again, with their problems. A file is known by its content
// or its path.
func keepResults(old, now *schema.Run) {
	type file struct{ sha256, path string }
	read := map[file]bool{}
	for s := range now.Sources() {
		read[file{sha256: s.SHA256}], read[file{path: s.Path}] = true, true
	}
	isRead := func(s schema.Source) bool { return read[file{sha256: s.SHA256}] || read[file{path: s.Path}] }
	type place struct { // of a point
		path, key string
		repeat    int
	}
	at := map[place]int{}
	for i := range slices.Backward(now.Points) { // the first of several counts
		p := &now.Points[i]
		at[place{p.Source.Path, p.Key.String(), p.Repeat}] = i
	}
	kept := map[string]bool{}
	for _, p := range old.Points {
		if !isRead(p.Source) {
			now.Points = append(now.Points, p)
			kept[p.Source.Path] = true
		} else if i, ok := at[place{p.Source.Path, p.Key.String(), p.Repeat}]; ok && len(p.Unknown) > 0 {
			now.Points[i].Unknown = p.Unknown
		}
	}
	for _, s := range old.Scores {
		if !isRead(s.Source) {
			now.Scores = append(now.Scores, s)
			kept[s.Source.Path] = true
		}
	}
	for _, p := range old.Problems {
		if kept[p.Path] || p.Code == schema.CodeUnread && !p.IsAmong(now.Problems) {
			now.Problems = append(now.Problems, p)
		}
	}
}

// Lost are the problems for which a document of the history counts for nothing.
func Lost(problems []schema.Problem) []schema.Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p schema.Problem) bool { return !p.Lost })
}

// Unstored are the problems of files that made no run: those of others are stored with their runs (c), or were met when
// history was loaded (met). Notes are left out.
func Unstored(problems, met []schema.Problem, c *columns.Columns) []schema.Problem {
	type place struct{ path, code string }
	known, unread := map[place]bool{}, map[string]bool{}
	for i := range met {
		known[place{met[i].Path, met[i].Code}] = true
	}
	for i := range c.Problems {
		p := &c.Problems[i]
		known[place{p.Path, p.Code}] = true
		if p.Code == schema.CodeUnread {
			unread[p.Path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(problems), func(p schema.Problem) bool {
		return p.Severity == schema.SevNote || known[place{p.Path, p.Code}] || unread[p.Path] && p.Severity == schema.SevError
	})
}
