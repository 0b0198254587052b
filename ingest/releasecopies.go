package ingest

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// releaseCopy is a result with the content of another release's.
type releaseCopy struct{ copy, of *result }

// ofTwoReleases reports that two results state different releases.
func ofTwoReleases(a, b *result) bool {
	x, y := a.facts.Release, b.facts.Release
	return x != "" && y != "" && x != y
}

// measuredIn is what a release measured.
type measuredIn struct{ release, model, device string }

func measuredInOf(r *result) measuredIn {
	return measuredIn{r.facts.Release, modelOf(&r.facts), schema.FoldDevice(r.facts.Device.Name)}
}

// settleCopies leaves out the copies in a release that measured others of its results itself. Where all that it has of
// a model and device are copies, they stay with an error: the release would else be gone, and the one before pass for
// it.
func settleCopies(results []*result, copies []releaseCopy) {
	if len(copies) == 0 {
		return
	}
	copied, own := map[*result]bool{}, map[measuredIn]bool{}
	for _, c := range copies {
		copied[c.copy] = true
	}
	for _, r := range results {
		if r.counts() && !copied[r] {
			own[measuredInOf(r)] = true
		}
	}
	for _, c := range copies {
		if at := measuredInOf(c.copy); own[at] || at.model == "" || at.device == "" {
			c.copy.dropCopyOf(c.of)
			continue
		}
		c.copy.report(schema.Problem{
			Severity: schema.SevError, Path: c.copy.shown(), Code: schema.CodeCopy,
			Found:    "the same content as " + c.of.shown() + " of " + c.of.facts.Release,
			Expected: "one release for one measurement", Used: "no number of it: the release is not measured",
			Hint: "put the results of " + c.copy.facts.Release + " in its place, and delete its document from the history",
		})
	}
}

// onlyCopies reports that all files of a run are copies of another release's, which has their measurements.
func onlyCopies(r *schema.Run) bool {
	return slices.ContainsFunc(r.Problems, func(p schema.Problem) bool {
		return p.Code == schema.CodeCopy && p.Severity == schema.SevError
	})
}

// tellOfCopies gives runs the problems of the copies that were left out of them.
func (g *grouping) tellOfCopies(results []*result) {
	for _, r := range results {
		if r.counts() || g.runOf[r.source] != "" {
			continue
		}
		for _, p := range r.reading.Problems {
			if p.Code == schema.CodeCopy {
				g.tell(r, p)
			}
		}
	}
}

// tell gives a problem to the first run of what a result states.
func (g *grouping) tell(r *result, p schema.Problem) {
	for i := range g.runs {
		run := &g.runs[i]
		of := schema.Facts{Model: run.Model}
		if run.Release == r.facts.Release && modelOf(&of) == modelOf(&r.facts) &&
			schema.SameDevice(run.Device.Name, r.facts.Device.Name) {
			run.Problems = append(run.Problems, p)
			return
		}
	}
}
