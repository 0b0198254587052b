package ingest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// gap is how long a run may pause before what follows is another run.
const gap = 6 * time.Hour

var stamps = regexp.MustCompile(`\d{4}-?\d\d-?\d\d[T_-]?\d\d[-:]?\d\d[-:]?\d\d(?:\.\d+)?Z?|\d{8}-\d{6}`)

// group joins files into runs: by the id that a manifest or spec states, else by folder, system and build with gaps of
// up to six hours.
func group(items []*item, problems *[]schema.Problem) ([]schema.Run, map[string]string) {
	buckets := map[string][]*item{}
	var order []string
	for _, it := range items {
		if !it.counts() {
			continue
		}
		key := bucket(it)
		if buckets[key] == nil {
			order = append(order, key)
		}
		buckets[key] = append(buckets[key], it)
	}
	var runs []schema.Run
	why := map[string]string{}
	byID, roots := map[string]int{}, map[string]string{}
	for _, key := range order {
		for _, part := range split(buckets[key]) {
			run, reason := build(part)
			apart := tellApart(run.Points)
			run.Problems, *problems = append(run.Problems, apart...), append(*problems, apart...)
			run.Arrange()
			if cut := incomplete(part[0].journal); len(cut) > 0 {
				run.Problems = append(run.Problems, cut...)
				*problems = append(*problems, cut...)
			}
			if part[0].facts.RunID == "" && roots[run.ID] != "" && roots[run.ID] != part[0].runRoot { // of another folder that is named alike
				run.ID = derivedID(part[0], run.Start, part[0].runRoot)
			}
			roots[run.ID] = part[0].runRoot
			if i, free, merge := home(runs, byID, run); merge {
				mergeRun(&runs[i], run)
				note(part, runs[i].ID)
				continue
			} else if free != run.ID {
				p := schema.Problem{Severity: schema.SevError, Path: part[0].shown(), Code: "run-id-taken",
					Found:    fmt.Sprintf("run id %s for %s, which %s has already", run.ID, describe(run), describe(runs[i])),
					Expected: "one id per run", Used: "both, this one as " + free, Hint: "give one of them another id in its manifest"}
				*problems = append(*problems, p)
				run.Problems = append(run.Problems, p)
				run.ID = free
			}
			byID[run.ID] = len(runs)
			why[run.ID] = reason
			note(part, run.ID)
			runs = append(runs, run)
		}
	}
	sort.SliceStable(runs, func(i, j int) bool {
		if !runs[i].Start.Equal(runs[j].Start) {
			return runs[i].Start.Before(runs[j].Start)
		}
		return runs[i].ID < runs[j].ID
	})
	return runs, why
}

// home finds where a run of an id belongs: to an earlier run of the same id and system, or to itself under the first free
// id.
func home(runs []schema.Run, byID map[string]int, run schema.Run) (i int, free string, merge bool) {
	free = run.ID
	first := -1
	for n := 2; ; n++ {
		at, taken := byID[free]
		if !taken {
			return max(first, 0), free, false
		}
		if first < 0 {
			first = at
		}
		if sameSystem(runs[at], run) {
			return at, free, true
		}
		free = fmt.Sprintf("%s~%d", run.ID, n)
	}
}

// describe names a run's system and release for a message.
func describe(r schema.Run) string {
	return strings.TrimSpace(fmt.Sprintf("%s on %s %s", cmp.Or(r.Model.Name, "an unknown model"), cmp.Or(r.Device.Name, "an unknown device"), r.Release))
}

func note(part []*item, id string) {
	for _, it := range part {
		it.group = id
	}
}

// bucket is the key under which files may be one run.
func bucket(it *item) string {
	f := it.facts
	if f.RunID != "" {
		return strings.Join([]string{"id", f.RunID, it.runRoot}, "\x00")
	}
	if it.runRoot == "" {
		it.runRoot = groupRoot(it)
	}
	return strings.Join([]string{"at", it.runRoot, system(f), buildName(f)}, "\x00")
}

func system(f schema.Facts) string {
	return strings.Join([]string{f.Model.ID, f.Model.Name, f.Impl, f.Device.Name, f.Device.Mesh, f.Stack.Engine}, "\x00")
}

func buildName(f schema.Facts) string {
	var commits []string
	for name, c := range f.Stack.Commits {
		commits = append(commits, name+"="+c)
	}
	sort.Strings(commits)
	return strings.Join(append(commits, f.Release, f.Stack.Version, f.Stack.Digest, f.Stack.Image), "\x00")
}

// split cuts a bucket where nothing started for longer than the gap. Files under a stated id are never split.
func split(items []*item) [][]*item {
	sort.SliceStable(items, func(i, j int) bool { return items[i].facts.Start.Before(items[j].facts.Start) })
	if items[0].facts.RunID != "" {
		return [][]*item{items}
	}
	var out [][]*item
	start, last := 0, time.Time{}
	for i, it := range items {
		if i > start && it.facts.Start.Sub(last) > gap {
			out = append(out, items[start:i])
			start = i
		}
		if i == start {
			last = it.facts.Start
		}
		if it.facts.Start.After(last) {
			last = it.facts.Start
		}
		if it.facts.End.After(last) {
			last = it.facts.End
		}
	}
	return append(out, items[start:])
}

// build makes one run of files that belong together and says why they do.
func build(items []*item) (schema.Run, string) {
	first := items[0]
	f := first.facts
	run := schema.Run{ID: f.RunID, Start: f.Start, Release: f.Release, Channel: f.Channel, Line: f.Line, Model: f.Model, Impl: f.Impl,
		Device: f.Device, Stack: f.Stack, Provenance: first.origin, Targets: first.targets, Plan: first.plan}
	for _, it := range items {
		for _, p := range it.reading.Points {
			if p.Start.IsZero() {
				p.Start, p.End = it.facts.Start, it.facts.End
			}
			run.Points = append(run.Points, p)
		}
		run.Scores = append(run.Scores, it.reading.Scores...)
		run.Problems = append(run.Problems, it.reading.Problems...)
		for name, v := range it.reading.Extra {
			if _, has := run.Extra[name]; !has {
				run.Extra = withUnknown(run.Extra, name, v)
			}
		}
		if it.facts.Start.Before(run.Start) {
			run.Start = it.facts.Start
		}
		for _, end := range []time.Time{it.facts.End, it.facts.Start} {
			if end.After(run.End) {
				run.End = end
			}
		}
	}
	run.Problems = onceEach(run.Problems)
	reason := fmt.Sprintf("%s under id %s", countFiles(len(items)), run.ID)
	if run.ID == "" {
		run.ID = derivedID(first, run.Start, relative(first))
		reason = fmt.Sprintf("%s in %s, one system and build, no pause over 6 h", countFiles(len(items)), first.runRoot)
	}
	return run, reason
}

// derivedID is the id of a run that nothing names: when it began, and a hash of who was measured and of its folder.
func derivedID(first *item, start time.Time, folder string) string {
	sum := sha256.Sum256([]byte(system(first.facts) + "\x00" + buildName(first.facts) + "\x00" + folder + "\x00" + start.Format(time.RFC3339)))
	return start.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(sum[:4])
}

// withUnknown adds a foreign field of a file to those of its run.
func withUnknown(to schema.Unknown, name string, v []byte) schema.Unknown {
	if to == nil {
		to = schema.Unknown{}
	}
	to[name] = v
	return to
}

// relative is the group's folder within its root, so that an id does not depend on where the root lies.
func relative(it *item) string {
	return strings.TrimPrefix(strings.TrimPrefix(it.runRoot, it.root.Name), "/")
}

func sameSystem(a, b schema.Run) bool {
	return a.Model.Name == b.Model.Name && a.Device.Name == b.Device.Name && a.Impl == b.Impl && a.Release == b.Release
}

// mergeRun adds the results of a second source of the same run.
func mergeRun(into *schema.Run, more schema.Run) {
	into.Points = append(into.Points, more.Points...)
	into.Scores = append(into.Scores, more.Scores...)
	into.Problems = append(into.Problems, more.Problems...)
	if more.Start.Before(into.Start) {
		into.Start = more.Start
	}
	if more.End.After(into.End) {
		into.End = more.End
	}
	into.Arrange()
}

// incomplete says what a run's journal says went wrong: measurements that failed, and an end that never came.
func incomplete(journal *item) []schema.Problem {
	if journal == nil {
		return nil
	}
	var out []schema.Problem
	ended, last := false, "nothing"
	for _, e := range manifest.ReadJournal(journal.file.Data) {
		ended = ended || e.Event == "run-done"
		last = strings.TrimSpace(e.Event + " " + e.Item)
		if strings.HasSuffix(e.Event, "-failed") {
			out = append(out, schema.Problem{Severity: schema.SevWarning, Path: journal.shown(), Code: e.Event, Found: strings.Trim(e.Item+": "+e.Note, ": "), Expected: "a result", Hint: "measure it again"})
		}
	}
	if !ended {
		out = append(out, schema.Problem{Severity: schema.SevWarning, Path: journal.shown(), Code: "run-incomplete", Found: "a collection that did not come to its end; its last word is " + last,
			Expected: "run-done", Used: "what was measured until then", Hint: "what is missing is listed with the release"})
	}
	return out
}

// onceEach keeps one of several contradictions that say the same of several files, with their number.
func onceEach(list []schema.Problem) []schema.Problem {
	out, count := schema.Alike(list, func(p schema.Problem) string {
		if p.Code != "contradiction" {
			return ""
		}
		return p.Found
	})
	for i, n := range count {
		if n > 1 {
			out[i].Found += fmt.Sprintf(" (in %d files)", n)
		}
	}
	return out
}

func countFiles(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
