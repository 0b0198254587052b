package bisection

import (
	"errors"
	"fmt"
	"math"
)

// Rules are the parameters of a search.
type Rules struct {
	Least, Most float64 // size of the change that is searched, as ln(1 + relative change); Most at least twice Least
	Error       float64 // probability of a wrong answer at which the search ends
	Stay        float64 // a build is measured again while its probability to be bad is further than this from 0 and 1
}

// DefaultRules searches a change of a size or more, as ln(1 + relative change); one to more than eight times the value
// is as bad as one to eight times.
func DefaultRules(least float64) Rules {
	return Rules{Least: least, Most: math.Max(4*least, math.Log(8)), Error: .02, Stay: .08}
}

// errRules is returned for rules that no search can follow.
var errRules = errors.New("a bisection needs a build, a size above zero, and an error between 0 and 1/2")

// Search is a search in progress: builds 1 … n follow the good one, and n is the bad end.
type Search struct {
	n       int
	rules   Rules
	effects []float64   // grid of sizes
	scales  []float64   // grid of noise
	log     [][]float64 // by first bad build (n+1: none), by effect and scale: ln of the posterior, up to a constant
	skipped []bool
	counts  []int // measurements by build
	at      int   // the build that was chosen last; 0 for none
	known   *Posterior
}

// Of the grids: both are even on the log scale.
const (
	effectSteps = 24
	scaleSteps  = 12
	leastScale  = .001
	mostScale   = .3
	freedom     = 4
)

// New begins a search over n builds.
func New(n int, rules Rules) (*Search, error) {
	if n < 1 || !(rules.Least > 0) || !(rules.Most > rules.Least) || !(rules.Error > 0 && rules.Error < .5) {
		return nil, fmt.Errorf("%w: %d builds, %+v", errRules, n, rules)
	}
	s := &Search{n: n, rules: rules, skipped: make([]bool, n+1), counts: make([]int, n+1)}
	s.effects, s.scales = grid(rules.Least, rules.Most, effectSteps), grid(leastScale, mostScale, scaleSteps)
	usual, sum := make([]float64, len(s.effects)), 0. // weights of sizes, with mean 1
	for i, e := range s.effects {
		const common = .25 // larger ones are the less common the larger they are
		usual[i] = 1 / (1 + e*e/(common*common))
		sum += usual[i]
	}
	for k := 1; k <= n+1; k++ {
		prior := math.Log(1 / float64(n))
		if k == n+1 {
			prior = 0 // that nothing changed is as probable as that something did
		}
		row := make([]float64, effectSteps*scaleSteps)
		for i := range row {
			row[i] = prior
			if k <= n {
				row[i] += math.Log(usual[i/scaleSteps] * effectSteps / sum)
			}
		}
		s.log = append(s.log, row)
	}
	return s, nil
}

func grid(least, most float64, steps int) []float64 {
	out := make([]float64, steps)
	for i := range out {
		out[i] = least * math.Pow(most/least, float64(i)/float64(steps-1))
	}
	return out
}

// Observe adds a measurement of a build: ln of its value over the good build's, positive is worse.
func (s *Search) Observe(build int, d float64) {
	if build < 1 || build > s.n || math.IsNaN(d) || math.IsInf(d, 0) {
		return
	}
	d = math.Max(-s.rules.Most, math.Min(s.rules.Most, d))
	s.counts[build]++
	s.known = nil
	var good, bad [effectSteps * scaleSteps]float64
	for e, effect := range s.effects {
		for c, scale := range s.scales {
			good[e*scaleSteps+c], bad[e*scaleSteps+c] = density(d, scale), density(d-effect, scale)
		}
	}
	for k := range s.log {
		from := &good
		if build >= k+1 {
			from = &bad
		}
		for i := range s.log[k] {
			s.log[k][i] += from[i]
		}
	}
}

// density is ln of Student's density, up to a constant.
func density(x, scale float64) float64 {
	return -math.Log(scale) - (freedom+1)/2.*math.Log1p(x*x/(freedom*scale*scale))
}

// Skip leaves out a build that cannot be measured.
func (s *Search) Skip(build int) {
	if build >= 1 && build <= s.n {
		s.skipped[build] = true
	}
}

// Posterior is what is known now.
type Posterior struct {
	First  []float64 // probability of build i+1 to be the first bad one, given that one is
	None   float64   // probability that the bad end is not worse than the good one
	Effect float64   // most probable size, as ln(1 + relative change)
	Noise  float64   // scale of one measurement
}

// Posterior returns what is known now.
func (s *Search) Posterior() Posterior {
	if s.known != nil {
		return *s.known
	}
	most := math.Inf(-1)
	for _, row := range s.log {
		for _, v := range row {
			most = math.Max(most, v)
		}
	}
	p := Posterior{First: make([]float64, s.n)}
	total, effect, noise, changed := 0., 0., 0., 0.
	for k, row := range s.log {
		for i, v := range row {
			w := math.Exp(v - most)
			total += w
			noise += w * math.Log(s.scales[i%scaleSteps])
			if k < s.n {
				p.First[k] += w
				changed += w
				effect += w * s.effects[i/scaleSteps]
			} else {
				p.None += w
			}
		}
	}
	p.None /= total
	p.Noise = math.Exp(noise / total)
	if changed > 0 {
		p.Effect = effect / changed
		for k := range p.First {
			p.First[k] /= changed
		}
	}
	s.known = &p
	return p
}

// Answer is the result of a search: the first bad build is one of From … To, which only skipped builds tell apart.
type Answer struct {
	From, To int
	P        float64 // probability that it is one of them
	None     bool    // the ends do not differ; P is the probability of that
}

// Best returns the most probable answer now, and whether it is decided at the error of the rules.
func (s *Search) Best() (a Answer, decided bool) {
	p := s.Posterior()
	if p.None >= .5 {
		return Answer{None: true, P: p.None}, p.None >= 1-s.rules.Error && s.counts[s.n] > 1
	}
	from, sum := 1, 0.
	for i := 1; i <= s.n; i++ {
		sum += p.First[i-1]
		if s.skipped[i] && i < s.n {
			continue
		}
		if sum > a.P {
			a = Answer{From: from, To: i, P: sum}
		}
		from, sum = i+1, 0
	}
	return a, p.None <= s.rules.Error/2 && a.P >= 1-s.rules.Error && s.unsupported(a) == 0
}

// unsupported returns a build beside an answer that was measured less than twice, which is no evidence of its noise; 0
// where there is none. The good build before the first needs none: it is one side of every measurement.
func (s *Search) unsupported(a Answer) int {
	for _, build := range []int{a.To, a.From - 1} {
		if build >= 1 && s.counts[build] < 2 && !s.skipped[build] {
			return build
		}
	}
	return 0
}

// Next returns the build to measure next: the bad end until it is known whether it differs; then the same build as
// before while it is open whether it is good or bad; then the one that halves the probability. It is 0 where no build
// can tell more.
func (s *Search) Next() int {
	p := s.Posterior()
	if p.None > s.rules.Error/2 {
		if s.skipped[s.n] {
			return 0
		}
		s.at = s.n
		return s.n
	}
	if a, _ := s.Best(); a.P >= 1-s.rules.Error {
		if s.at = s.unsupported(a); s.at > 0 {
			return s.at
		}
	}
	bad := make([]float64, s.n+1) // probability of each build to be bad
	for i := 1; i <= s.n; i++ {
		bad[i] = bad[i-1] + p.First[i-1]
	}
	if s.at > 0 && s.at < s.n && bad[s.at] > s.rules.Stay && bad[s.at] < 1-s.rules.Stay && !s.skipped[s.at] {
		return s.at
	}
	s.at = s.halving(bad)
	return s.at
}

// halving is the build that halves the probability; where every build is decided, the bad end until it was measured
// twice; else 0.
func (s *Search) halving(bad []float64) int {
	best, from := 0, math.Inf(1)
	for i := 1; i < s.n; i++ {
		if d := math.Abs(bad[i] - .5); d < from && !s.skipped[i] {
			best, from = i, d
		}
	}
	switch {
	case best > 0 && bad[best] >= 1e-4 && bad[best] <= 1-1e-4:
		return best
	case s.counts[s.n] < 2 && !s.skipped[s.n]:
		return s.n
	}
	return 0
}
