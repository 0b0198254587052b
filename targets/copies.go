package targets

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/validity"
)

// copied is a run that stands in the history a second time.
type copied struct {
	of   string // id of the one that counts
	same bool   // with the same numbers
}

// copies finds runs that are another run once more: by the same stated id, or by the same start, system and numbers; where no
// start is stated, by system and measured numbers alone, since no two measurements of a point agree to the last digit. A copy is
// no independent run: it must neither confirm a change nor double a repeat. The first by path counts.
func copies(c *columns.Columns) map[*columns.RunHead]copied {
	out := map[*columns.RunHead]copied{}
	byID, byStart := map[string]int{}, map[string][]int{}
	for _, i := range c.ByPath() {
		h := &c.Runs[i]
		id := cmp.Or(h.Stated, h.ID)
		if first, twice := byID[id]; twice {
			out[h] = copied{id, sameNumbers(c, first, i)}
			continue
		}
		byID[id] = i
		if h.Start.IsZero() && h.PointsEnd == h.FirstPoint {
			continue // a score may well be the same twice
		}
		at := h.Start.String() + "\x00" + h.Model.Name + "\x00" + h.Device + "\x00" + h.Impl
		for _, other := range byStart[at] {
			if sameNumbers(c, other, i) {
				out[h] = copied{c.Runs[other].ID, true}
				break
			}
		}
		byStart[at] = append(byStart[at], i)
	}
	return out
}

// sameNumbers reports whether two runs hold the same points and scores, and any.
func sameNumbers(c *columns.Columns, a, b int) bool {
	x, y := &c.Runs[a], &c.Runs[b]
	s, t := c.ScoresOf(a), c.ScoresOf(b)
	n := x.PointsEnd - x.FirstPoint
	if n != y.PointsEnd-y.FirstPoint || len(s) != len(t) || n+len(s) == 0 {
		return false
	}
	for i := range n {
		p, q := &c.Points[x.FirstPoint+i], &c.Points[y.FirstPoint+i]
		ps, pv := c.Span(p)
		qs, qv := c.Span(q)
		if p.Key != q.Key || p.Repeat != q.Repeat || p.Status != q.Status || !slices.Equal(ps, qs) || !slices.Equal(pv, qv) {
			return false
		}
	}
	return slices.EqualFunc(s, t, func(x, y columns.ScoreRow) bool {
		return x.Task == y.Task && x.Metric == y.Metric && x.Filter == y.Filter && x.Value == y.Value && x.N == y.N
	})
}

// twice names the copies among the runs of a release.
func (j *Judgement) twice(release int) []schema.Lint {
	var out []schema.Lint
	for _, run := range j.Releases[release].Runs {
		h := &j.Columns.Runs[run]
		c, is := j.Policy.copies[h]
		if !is {
			continue
		}
		l := schema.Lint{ID: "twice", Severity: validity.Severity("twice"), Release: j.Releases[release].Name, Run: h.ID, Model: h.Model.Name, Device: h.Device, Count: 1,
			Reason: schema.Reason{Code: "lint-twice", Args: map[string]string{"path": h.Path, "of": c.of, "same": "yes"}}}
		if !c.same {
			l.Severity, l.Reason.Args["same"] = schema.SevError, "no"
		}
		out = append(out, l)
	}
	return out
}
