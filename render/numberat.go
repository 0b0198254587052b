package render

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// numberAt is the address of the number that a verdict is about: of the point or the score of its run; "" for none.
func (r *Report) numberAt(v *schema.Verdict) Address {
	run, ok := r.runAt(v.Run)
	if _, has := v.Value.Get(); !has || !ok {
		return ""
	}
	h := &r.Columns.Runs[run]
	key := v.Key.String()
	if v.Key.IsEval() {
		if s := r.scoreOf(v); s != nil {
			return r.scoreAt(s)
		}
		return ""
	}
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		p := &r.Columns.Points[i]
		if r.Columns.KeyName(p.Key) != key {
			continue
		}
		if value, _ := r.Columns.Value(p, v.Metric, v.Stat); !present(value) {
			continue
		}
		at := NumberPath(h.ID, i-h.FirstPoint+1, v.Metric)
		if v.Stat != "" && v.Stat != "mean" && v.Stat != "value" {
			at += "/" + Address(v.Stat)
		}
		return at
	}
	return ""
}

func present(n schema.Number) bool {
	_, ok := n.Get()
	return ok
}

// runAt is the index of a run.
func (r *Report) runAt(id string) (int, bool) {
	r.numbering.Do(func() {
		r.byID = make(map[string]int, len(r.Columns.Runs))
		for i := range r.Columns.Runs {
			r.byID[r.Columns.Runs[i].ID] = i
		}
	})
	at, ok := r.byID[id]
	return at, ok
}

// scoreAt is the address of a score in the columns.
func (r *Report) scoreAt(s *columns.ScoreRow) Address {
	list := r.Columns.ScoresOf(int(s.Run))
	for i := range list {
		if &list[i] == s {
			return ScorePath(r.Columns.Runs[s.Run].ID, i+1, s.Metric)
		}
	}
	return ""
}

// numberIn is a cell with the number of a verdict and its address.
func (r *Report) numberIn(v *schema.Verdict) Cell {
	c := number(v.Value)
	c.Href = r.numberAt(v)
	return c
}

// scoreIn is a cell with a score and its address.
func (r *Report) scoreIn(s *columns.ScoreRow) Cell {
	c := number(s.Value)
	c.Href = r.scoreAt(s)
	return c
}
