package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// mismatch returns why a run of a release and the one that it names are no pair that speaks for the release; nil where
// nothing that is stated says so. found is whether there is a run with.
func (j *Judgement) mismatch(release, run, with int, found bool) *schema.Mismatch {
	h := &j.Columns.Runs[run]
	if !found {
		return &schema.Mismatch{Kind: schema.MismatchPartner, B: h.Interleaved.With}
	}
	b := &j.Columns.Runs[with]
	if !b.Interleaved.Baseline || b.Interleaved.With != h.ID {
		return &schema.Mismatch{Kind: schema.MismatchPartner, A: b.Interleaved.With, B: h.Interleaved.With}
	}
	if systemOf(b) != systemOf(h) {
		return &schema.Mismatch{Kind: schema.MismatchPlace, Fact: "system", A: name(systemOf(b)), B: name(systemOf(h))}
	}
	if why := schema.Mismatched(b.TurnSide(), h.TurnSide()); why != nil {
		return why
	}
	if why := j.otherLoad(b, h); why != nil {
		return why
	}
	for _, x := range []struct {
		release int
		of      *columns.RunHead
	}{{Named(j.Releases, b.Release), b}, {release, h}} {
		if x.release < 0 {
			continue
		}
		if why := j.otherBuild(x.release, x.of); why != nil {
			return why
		}
	}
	return nil
}

func name(of schema.System) string { return fmt.Sprint(of.Model, " on ", of.Device, " ", of.Impl) }

// otherBuild compares the run of a pair with the runs of the release that it names, on the same system, which are no
// part of a pair.
func (j *Judgement) otherBuild(release int, pair *columns.RunHead) *schema.Mismatch {
	var others []schema.Build
	for _, run := range j.Releases[release].Runs {
		if h := &j.Columns.Runs[run]; h.Interleaved.IsZero() && systemOf(h) == systemOf(pair) && !j.screen.excludes(h) {
			others = append(others, h.TurnSide().Build)
		}
	}
	return schema.OtherBuild(pair.TurnSide().Build, j.Releases[release].Name, others)
}

// otherLoad returns a condition that two runs of a pair state differently for the same workload. One client measures
// both.
func (j *Judgement) otherLoad(a, b *columns.RunHead) *schema.Mismatch {
	conditions := map[int32]columns.Conditions{}
	for i := a.FirstPoint; i < a.PointsEnd; i++ {
		p := &j.Columns.Points[i]
		conditions[p.Key] = j.Columns.Conds[p.Cond]
	}
	for i := b.FirstPoint; i < b.PointsEnd; i++ {
		p := &j.Columns.Points[i]
		was, both := conditions[p.Key]
		if !both {
			continue
		}
		is := j.Columns.Conds[p.Cond]
		for _, fact := range slices.Sorted(maps.Keys(is)) {
			if v := was[fact]; (Blocking(fact) || fact == columns.ToolVersion) && v != "" && v != is[fact] {
				return &schema.Mismatch{Kind: schema.MismatchLoad, Fact: fact, A: v, B: is[fact]}
			}
		}
	}
	return nil
}
