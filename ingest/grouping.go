package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// grouping holds the runs that results make.
type grouping struct {
	runs     []schema.Run // by start, then id
	reasons  map[string]string
	runOf    map[*source]string // id of the run that a source belongs to
	problems []schema.Problem

	index   map[string]int    // of a run in runs, by id
	folders map[string]string // of a run, by id
}

// completeModels gives results that know their model by name alone the id that others of the same run folder state for
// it, if it is one: the name of an eval's folder has no organisation, and its benchmarks state it.
func completeModels(results []*result) {
	type named struct{ folder, model string }
	ids := map[named]*result{}
	ambiguous := map[named]bool{}
	for _, r := range results {
		at := named{r.runFolder, r.facts.Model.Name}
		if r.facts.Model.ID == "" || r.runFolder == "" {
			continue
		}
		if first := ids[at]; first != nil && first.facts.Model.ID != r.facts.Model.ID {
			ambiguous[at] = true
		} else if first == nil {
			ids[at] = r
		}
	}
	for _, r := range results {
		at := named{r.runFolder, r.facts.Model.Name}
		if from := ids[at]; r.facts.Model.ID == "" && r.facts.Model.Name != "" && from != nil && !ambiguous[at] {
			r.facts.Model.ID = from.facts.Model.ID
			r.derive("model.id", "the results of the same model in "+from.shown())
		}
	}
}

// groupRuns groups results into runs: by the id in a manifest or spec, else by folder, system and build without long
// pauses.
func groupRuns(results []*result) *grouping {
	completeModels(results)
	buckets := map[bucket][]*result{}
	var order []bucket
	for _, r := range results {
		if !r.counts() {
			continue
		}
		key := bucketOf(r)
		if buckets[key] == nil {
			order = append(order, key)
		}
		buckets[key] = append(buckets[key], r)
	}
	g := &grouping{
		reasons: map[string]string{}, runOf: map[*source]string{}, index: map[string]int{}, folders: map[string]string{},
	}
	for _, key := range order {
		separateScores(buckets[key])
		for _, one := range served(buckets[key]) {
			for _, part := range split(one) {
				g.add(part)
			}
		}
	}
	for i := range g.runs {
		g.report(&g.runs[i], repeat.Separate(g.runs[i].Points)...)
		g.report(&g.runs[i], repeat.SeparateScores(g.runs[i].Scores)...)
		g.runs[i].Arrange()
	}
	slices.SortStableFunc(g.runs, func(a, b schema.Run) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.ID, b.ID))
	})
	return g
}

// separateScores tells the scores of one folder, system and build apart by the names of their files, also where a pause
// divides them into runs: eval files of one model that say nothing of its quantisation would become one series. What a
// collector of ours measured is described beside it.
func separateScores(results []*result) {
	var all []*schema.Score
	for _, r := range results {
		if r.journal != nil || r.sidecar {
			continue
		}
		for i := range r.reading.Scores {
			all = append(all, &r.reading.Scores[i])
		}
	}
	for _, p := range repeat.SeparateScoreFiles(all) {
		for _, r := range results {
			if r.shown() == p.Path {
				r.report(p)
				break
			}
		}
	}
}

// add makes a run of results and adds it to the others.
func (g *grouping) add(part []*result) {
	first := part[0]
	run, reason := assemble(part)
	g.report(&run, incomplete(first.journal)...)
	isDerived := first.facts.RunID == "" && !run.Start.IsZero()
	if other := g.folders[run.ID]; isDerived && other != "" && other != first.runFolder {
		run.ID = derivedID(first, run.Start, first.runFolder) // another folder that is named alike
	}
	g.folders[run.ID] = first.runFolder
	at, free, merge := g.place(&run)
	if !merge {
		if free != run.ID {
			g.report(&run, schema.Problem{
				Severity: schema.SevError, Path: first.shown(), Code: "run-id-taken",
				Found: fmt.Sprintf("run id %s for %s, which %s has already",
					run.ID, describe(&run), describe(&g.runs[at])),
				Expected: "one id per run", Used: "both, this one as " + free,
				Hint: "give one of them another id in its manifest",
			})
			run.ID = free
		}
		g.index[run.ID] = len(g.runs)
		g.reasons[run.ID] = reason
		g.runs = append(g.runs, run)
	} else {
		mergeRun(&g.runs[at], &run)
		run.ID = g.runs[at].ID
	}
	for _, r := range part {
		g.runOf[r.source] = run.ID
		r.identity = identity{}
	}
}

// report adds problems of a run.
func (g *grouping) report(run *schema.Run, problems ...schema.Problem) {
	run.Problems = append(run.Problems, problems...)
	g.problems = append(g.problems, problems...)
}

// place returns where a run belongs: to an earlier run of the same id and system, else by itself under the first free
// id.
func (g *grouping) place(run *schema.Run) (at int, free string, merge bool) {
	free = run.ID
	first := -1
	for n := 2; ; n++ {
		i, taken := g.index[free]
		if !taken {
			return max(first, 0), free, false
		}
		if first < 0 {
			first = i
		}
		if sameSystem(&g.runs[i], run) {
			return i, free, true
		}
		free = fmt.Sprintf("%s~%d", run.ID, n)
	}
}

func sameSystem(a, b *schema.Run) bool {
	return a.Model.Name == b.Model.Name && schema.SameDevice(a.Device.Name, b.Device.Name) && a.Impl == b.Impl &&
		a.Release == b.Release
}

// describe returns a run's system and release for a message.
func describe(r *schema.Run) string {
	model, device := cmp.Or(r.Model.Name, "an unknown model"), cmp.Or(r.Device.Name, "an unknown device")
	return strings.TrimSpace(fmt.Sprintf("%s on %s %s", model, device, r.Release))
}

// mergeRun adds the results of a second source of the same run.
func mergeRun(into, more *schema.Run) {
	into.Points = append(into.Points, more.Points...)
	into.Scores = append(into.Scores, more.Scores...)
	into.Targets = schema.MergeTargets(into.Targets, more.Targets)
	into.Acceptance = into.Acceptance.With(more.Acceptance)
	into.Problems = append(into.Problems, more.Problems...)
	into.Start = earlier(into.Start, more.Start)
	into.End = later(into.End, more.End)
}

// incomplete returns the problems in a run's journal: measurements that failed, and a missing end.
func incomplete(journal *source) []schema.Problem {
	if journal == nil {
		return nil
	}
	var out []schema.Problem
	ended, last := false, "nothing"
	for _, e := range manifest.ReadJournal(journal.file.Data) {
		ended = ended || e.Event == manifest.EventRunDone
		last = strings.TrimSpace(e.Event + " " + e.Item)
		if strings.HasSuffix(e.Event, "-failed") {
			out = append(out, schema.Problem{
				Severity: schema.SevWarning, Path: journal.shown(), Code: e.Event,
				Found: strings.Trim(e.Item+": "+e.Note, ": "), Expected: "a result", Hint: "measure it again",
			})
		}
	}
	if !ended {
		out = append(out, schema.Problem{
			Severity: schema.SevWarning, Path: journal.shown(), Code: "run-incomplete",
			Found:    "a collection that did not come to its end; its last entry is " + last,
			Expected: manifest.EventRunDone, Used: "what was measured until then",
			Hint: "what is missing is listed with the release",
		})
	}
	return out
}
