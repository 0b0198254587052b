package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// prior is the prior distribution of a cell's noise, estimated from all cells of a release: s² ~ s0² d0 / χ²(d0).
type prior struct {
	d0    float64   // degrees of freedom; +Inf when cells do not differ more than by chance
	s02   []float64 // typical variance by stratum; NaN where nothing is known
	sumNu float64   // of all cells: the most degrees of freedom that a test can have (limma's cap)
	known bool      // at least one cell has a variance
}

// fitPrior estimates the prior from the unfloored variances of a release: one d0 for all strata, one s0² for each
// (Smyth 2004, section 6.2, by moments of ln s²). With few cells (a hundred or less), the spread of variances between
// cells is taken one standard error larger than estimated, because a d0 that is too large relies too much on the
// common noise. s2 and nu are by cell, nu 0 where a cell has no variance.
func fitPrior(s2, nu []float64, stratum []int32, strata int) prior {
	return fitAlike(s2, nu, stratum, strata, 1)
}

// fitAlike is [fitPrior] where only a share of the cells are independent witnesses.
func fitAlike(s2, nu []float64, stratum []int32, strata int, share float64) prior {
	p := prior{d0: math.Inf(1), s02: make([]float64, strata)}
	for i := range p.s02 {
		p.s02[i] = math.NaN()
	}
	seen := make([]float64, 0, len(s2))
	for i, v := range s2 {
		if nu[i] > 0 {
			p.sumNu += share * nu[i]
			if v > 0 {
				seen = append(seen, v)
			}
		}
	}
	if len(seen) == 0 {
		p.known = p.sumNu > 0 // all constant: only the floors remain
		for i := range p.s02 {
			p.s02[i] = 0
		}
		return p
	}
	p.known = true
	slices.Sort(seen)
	least := 1e-5 * seen[len(seen)/2]
	m := newMoments(s2, nu, stratum, strata, least)
	v, _ := m.spread(nil)
	v, mean := m.spread(func(psi1 float64) float64 { return 1 / (math.Max(v, 0) + psi1) })
	free := math.Max(1, share*float64(m.cells)-float64(m.strata))
	careful := v + math.Sqrt(2/free)*math.Min(1, 100/free)*(math.Max(v, 0)+mean)
	if careful > 0 {
		p.d0 = 2 * inverseTrigamma(careful)
	}
	m.typical(&p)
	return p
}

// moments are the sums behind a fit: e = ln s² − ψ(ν/2) + ln(ν/2) has expectation ln σ².
type moments struct {
	e, psi1       []float64
	stratum       []int32
	centre        []float64 // by stratum
	weight        []float64
	pooled, sum   []float64 // Σ ν s², Σ ν by stratum
	cells, strata int       // cells with a variance, strata with a cell
}

func newMoments(s2, nu []float64, stratum []int32, strata int, least float64) *moments {
	m := &moments{
		centre: make([]float64, strata), weight: make([]float64, strata),
		pooled: make([]float64, strata), sum: make([]float64, strata),
		e: make([]float64, 0, len(s2)), psi1: make([]float64, 0, len(s2)), stratum: make([]int32, 0, len(s2)),
	}
	type pair struct{ shift, psi1 float64 }
	memo := map[float64]pair{}
	for i, v := range s2 {
		if nu[i] <= 0 {
			continue
		}
		m.pooled[stratum[i]] += nu[i] * v
		m.sum[stratum[i]] += nu[i]
		if v <= 0 {
			continue // an exact zero shows that values are rounded or copied, not that there is no noise
		}
		g, ok := memo[nu[i]]
		if !ok {
			g = pair{math.Log(nu[i]/2) - mathext.Digamma(nu[i]/2), trigamma(nu[i] / 2)}
			memo[nu[i]] = g
		}
		m.e = append(m.e, math.Log(math.Max(v, least))+g.shift)
		m.psi1, m.stratum = append(m.psi1, g.psi1), append(m.stratum, stratum[i])
	}
	m.cells = len(m.e)
	return m
}

// spread estimates how much ln σ² differs between cells of one stratum, beyond what chance explains, and the mean
// chance variance. weigh is nil for equal weights.
func (m *moments) spread(weigh func(psi1 float64) float64) (v, mean float64) {
	clear(m.centre)
	clear(m.weight)
	for i, e := range m.e {
		w := 1.
		if weigh != nil {
			w = weigh(m.psi1[i])
		}
		m.centre[m.stratum[i]] += w * e
		m.weight[m.stratum[i]] += w
	}
	m.strata = 0
	for s, w := range m.weight {
		if w > 0 {
			m.centre[s] /= w
			m.strata++
		}
	}
	sq, wsum, chance := 0., 0., 0.
	for i, e := range m.e {
		w := 1.
		if weigh != nil {
			w = weigh(m.psi1[i])
		}
		d := e - m.centre[m.stratum[i]]
		sq += w * d * d
		wsum += w
		chance += w * m.psi1[i]
	}
	free := float64(m.cells - m.strata)
	if free <= 0 {
		return 0, chance / wsum
	}
	return sq/wsum*float64(m.cells)/free - chance/wsum, chance / wsum
}

// typical sets s0² by stratum; a stratum without any variance takes the typical one of all.
func (m *moments) typical(p *prior) {
	at := func(e float64) float64 {
		if math.IsInf(p.d0, 1) {
			return math.Exp(e)
		}
		return math.Exp(e + mathext.Digamma(p.d0/2) - math.Log(p.d0/2))
	}
	var all []float64
	for s := range p.s02 {
		switch {
		case m.sum[s] == 0:
			continue
		case math.IsInf(p.d0, 1) || m.weight[s] == 0:
			p.s02[s] = m.pooled[s] / m.sum[s]
		default:
			p.s02[s] = at(m.centre[s])
		}
		if p.s02[s] > 0 {
			all = append(all, math.Log(p.s02[s]))
		}
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	for s := range p.s02 {
		if math.IsNaN(p.s02[s]) {
			p.s02[s] = math.Exp(all[len(all)/2])
		}
	}
}

// moderate returns the posterior variance of a cell and its degrees of freedom. It is NaN where nothing is known.
func (p *prior) moderate(s2, nu float64, stratum int32) (v, df float64) {
	if !p.known {
		return math.NaN(), 0
	}
	s0 := p.s02[stratum]
	if math.IsInf(p.d0, 1) {
		return s0, p.sumNu
	}
	return (p.d0*s0 + nu*s2) / (p.d0 + nu), math.Min(p.d0+nu, p.sumNu)
}

// typicalSd returns the typical noise of what a release compared, as tests use it: never below the floor. Other strata
// have a default only, or do not exist yet.
func (j *judge) typicalSd(p *prior, tests []test) float64 {
	var known []float64
	seen := map[int32]bool{}
	for i := range tests {
		if s := j.t.Cells[tests[i].cell].Stratum; tests[i].ok && !seen[s] {
			seen[s] = true
			if v := p.s02[s]; v > 0 {
				known = append(known, math.Max(v, j.rules.Floor*j.rules.Floor))
			}
		}
	}
	slices.Sort(known)
	if len(known) == 0 {
		return math.NaN()
	}
	sum := 0.
	for _, v := range known {
		sum += math.Log(v)
	}
	return math.Exp(.5 * sum / float64(len(known)))
}
