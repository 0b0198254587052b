package regression

import "math"

// follow brings the state of a cell up to date with its word: whether a change is open, and what waits to be counted as
// an outlier. The runs of an open change stay out of baselines until later ones settle it.
func (j *judge) follow(c *claim) {
	st := &j.state[c.x.cell]
	j.weigh(c)
	if c.row.Evidence == Confirmed && c.row.Why != WhyShift {
		return
	}
	if st.suspect >= 0 {
		j.continued(c)
	}
	if st.suspect >= 0 || c.row.Why == WhyShift {
		return
	}
	switch {
	case c.row.Why.gone() || c.row.Why == WhyRunsDisagree:
		if c.row.Why.gone() {
			c.row.exclude(c.release, c.release)
		}
	case c.row.Why == WhyOtherHost:
		j.open(c, true)
		for st.suspect = c.x.joint.first; st.suspect < c.x.obs && !j.joins(st.suspect); {
			st.suspect++
		}
		for i := st.suspect; i < c.x.obs; i++ {
			j.rows[i].exclude(j.t.Obs[i].Release, c.release)
		}
	case c.row.Evidence == Suspected:
		j.open(c, true)
	case c.x.base.n > 2 && c.x.raw < suspicious && math.Abs(c.x.d) >= c.cell.Delta:
		j.open(c, false) // a large deviation that the gate does not report, but that may be the first of several
	}
}

// suspicious is the p value below which a deviation that matters waits for the next run outside the baseline.
const suspicious = 1e-4

func (j *judge) open(c *claim, gated bool) {
	st := &j.state[c.x.cell]
	st.suspect, st.dir, st.gated, st.seen = c.x.obs, math.Copysign(1, c.x.d), gated, 0
	c.row.exclude(c.release, c.release)
}

// continued decides whether this release settles an open change: where it does not show half of what matters, the
// change is gone, and its runs are outliers. Where it keeps showing it and is never sure, its runs are ordinary after
// all.
func (j *judge) continued(c *claim) {
	const most = 3
	st := &j.state[c.x.cell]
	if c.row.Why.gone() || st.dir*c.x.d < c.cell.Delta/2 {
		if st.gated {
			j.rows[st.suspect].Follow = -(c.release + 1)
		}
		st.suspect = -1
		return
	}
	c.row.exclude(c.release, c.release)
	st.gated = st.gated || c.row.Evidence == Suspected
	if c.row.Why == WhyOtherHost { // it is sure, and waits for another host
		return
	}
	if st.seen++; st.seen < most {
		return
	}
	for i := st.suspect; i <= c.x.obs; i++ {
		j.rows[i].readmit(c.release)
	}
	st.suspect = -1
}

// close forgets an open change.
func (j *judge) close(cell int32) {
	st := &j.state[cell]
	st.suspect, st.extreme = -1, 0
}

// weigh counts large deviations that went away again: they are no change, and show how far values stray. One that stays
// may be a change, and is counted only when it was never confirmed.
func (j *judge) weigh(c *claim) {
	const stays = 2
	st := &j.state[c.x.cell]
	if st.extreme != 0 {
		same := c.x.d*st.off > 0 && math.Abs(c.x.d) >= math.Abs(st.off)/2
		if same {
			st.stays++
		}
		confirmed := c.row.Evidence == Confirmed && c.row.Why != WhyShift
		if !same || st.stays > stays && !confirmed {
			j.stray(c, st.extreme, st.off)
		}
		if !same || st.stays > stays || confirmed {
			st.extreme = 0
		}
		if same || confirmed {
			return
		}
	}
	if math.IsNaN(c.x.raw) || c.x.base.n < 2 || c.row.Evidence == Confirmed || c.row.Why == WhyShift {
		return
	}
	if c.o.K2 > 0 && math.Abs(j.second(c.x)) < math.Abs(c.x.d)/2 {
		j.stray(c, c.x.t, c.x.d)
		return
	}
	st.extreme, st.off, st.stays = c.x.t, c.x.d, 0
}

func (j *judge) stray(c *claim, t, d float64) {
	j.outliers.happened(event{cell: c.x.cell, system: c.cell.System, stratum: c.cell.Stratum, t: t, d: d})
}
