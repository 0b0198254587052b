package judge

import (
	"cmp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// Open is a number that an earlier release was confirmed to have made worse and that is no better yet: it became the
// baseline of the releases since, which alone would say no more of it.
type Open struct {
	Confirmed schema.Verdict // of the release that confirmed it
	Effect    float64        // relative change of this release against the level before; positive is worse
	// Largest is the release in which more than half of it began, where that is not the one of Confirmed; else "".
	Largest string
}

// Open lists the numbers of a release that are worse by what matters than before a regression that an earlier release
// confirmed. Those that a person accepted or pinned since, that recovered, that were measured under other conditions
// since, and that the release itself confirms to have regressed are not among them. A build that never serves as a
// baseline has none: it is not asked what its base did.
func (j *Judgement) Open(release int) []Open {
	if !j.table.Releases[release].Joins {
		return nil
	}
	var out []Open
	readers := map[int32]*reader{}
	for _, i := range j.byCell[release] {
		at, level := j.openAt(j.cellOf[i], i)
		if at < 0 {
			continue
		}
		verdict := func(obs int32) schema.Verdict {
			found := j.table.Obs[obs].Release
			if readers[found] == nil {
				readers[found] = j.reader(int(found))
			}
			return readers[found].verdict(obs)
		}
		s := &j.Series[j.cellOf[i]]
		o := Open{Confirmed: verdict(at), Effect: relative(sign(s.Metric), j.reported(i)-level)}
		if largest := j.largestStep(at, i); 2*j.rows.Rows[largest].D > j.reported(i)-level && largest != at {
			v := verdict(largest)
			o.Largest = cmp.Or(v.First, v.Release)
		}
		out = append(out, o)
	}
	return out
}

// largestStep is the observation that confirmed the largest regression of a cell from one observation on.
func (j *Judgement) largestStep(from, now int32) int32 {
	largest := from
	for i := from + 1; i < now; i++ {
		row := &j.rows.Rows[i]
		step := row.Word == regression.Regressed && row.Evidence == regression.Confirmed &&
			j.table.Releases[j.table.Obs[i].Release].Joins
		if step && row.D > j.rows.Rows[largest].D {
			largest = i
		}
	}
	return largest
}

// openAt finds the observation that confirmed the oldest regression of a cell that is open in a later one, and the
// level before that; -1 for none.
func (j *Judgement) openAt(cell, now int32) (at int32, level float64) {
	at = -1
	delta := j.table.Cells[cell].Delta
	if r := &j.rows.Rows[now]; r.Word == regression.Regressed && r.Evidence == regression.Confirmed {
		return at, 0
	}
	other := func(i int32) bool { return at >= 0 && j.classes.Block(j.table.Obs[at].Cond, j.table.Obs[i].Cond) }
	for i := j.table.Cells[cell].First; i < now; i++ {
		row, o := &j.rows.Rows[i], &j.table.Obs[i]
		joins := j.table.Releases[o.Release].Joins
		if o.Pin || o.Accept || joins && other(i) {
			at = -1
		}
		if o.Accept || row.Evidence != regression.Confirmed || !joins {
			continue
		}
		switch z := j.reported(i); {
		case row.Word == regression.Regressed && at < 0:
			at, level = i, z-row.D
		case row.Word != regression.Regressed && at >= 0 && z-level < delta:
			at = -1
		}
	}
	if o := &j.table.Obs[now]; at < 0 || other(now) || o.Pin || o.Accept || j.reported(now)-level < delta {
		return -1, 0
	}
	return at, level
}

// reported is the value of an observation that its row is about, on the scale where larger is worse.
func (j *Judgement) reported(obs int32) float64 {
	if o := &j.table.Obs[obs]; !later(&j.rows.Rows[obs]) {
		return o.Z
	} else {
		return o.Z2
	}
}
