package capacity

import "math"

// Probe is one measurement of a search.
type Probe struct {
	Concurrency int
	Worst       float64 // largest share of a limit: at most 1 holds
	Look        bool    // it was short: it says where to go on, and any other one of the same concurrency replaces it
}

// Holds reports whether the objective held.
func (p Probe) Holds() bool { return p.Worst <= 1 }

// Answer is the result of a search.
type Answer struct {
	Holds   int  // largest concurrency that holds; 0: not even one
	Fails   int  // smallest concurrency that does not; 0: every one up to the most held
	Settled bool // both ends were measured at least twice, and each was clearly so
	Probes  []Probe
}

// mostProbes bounds a search. A doubling to 1024, a dozen steps between and the second looks are about 25.
// mostVotes bounds the measurements of one concurrency: after as many that contradict each other most of them decide.
const (
	mostProbes = 40
	mostVotes  = 7
)

// search is a search in progress.
type search struct {
	most    int
	measure func(concurrency int) (Probe, error)
	answer  Answer
	votes   map[int]*votes
}

// votes are the measurements of one concurrency.
type votes struct {
	held, failed int
	worst        float64 // mean of the finite ones
	looks        bool    // they are looks
}

// Find doubles the concurrency from one until the objective fails, then closes in on the last one that holds, until
// both ends are within 2 % or one of each other. Both are then measured again, and the search goes on where they do not
// say the same twice: a single measurement near the limit is as good as a coin. most is the largest concurrency to try.
func Find(most int, measure func(concurrency int) (Probe, error)) (Answer, error) {
	return FindFrom(1, most, measure)
}

// FindFrom begins with another concurrency than one, which most likely holds. The unit may be any: a rate in steps. The
// answer beside an error has the ends that were known by then.
func FindFrom(first, most int, measure func(concurrency int) (Probe, error)) (Answer, error) {
	s := &search{most: most, measure: measure, votes: map[int]*votes{}}
	next := first
	for len(s.answer.Probes) < mostProbes {
		if err := s.probe(next); err != nil {
			s.answer.Holds, s.answer.Fails = s.ends()
			return s.answer, err
		}
		var done bool
		if next, done = s.next(); done {
			s.answer.Settled = s.clear()
			break
		}
	}
	s.answer.Holds, s.answer.Fails = s.ends()
	return s.answer, nil
}

func (s *search) probe(c int) error {
	p, err := s.measure(c)
	if err != nil {
		return err
	}
	s.answer.Probes = append(s.answer.Probes, p)
	v := s.votes[c]
	if v == nil || v.looks {
		v = &votes{looks: p.Look}
		s.votes[c] = v
	}
	if p.Holds() {
		v.held++
	} else {
		v.failed++
	}
	n := float64(v.held + v.failed)
	v.worst += (math.Min(p.Worst, 100) - v.worst) / n
	return nil
}

// ends returns the largest concurrency that mostly holds below the smallest that mostly fails. Of as many votes the
// mean decides.
func (s *search) ends() (holds, fails int) {
	for c, v := range s.votes {
		if !v.holds() && (fails == 0 || c < fails) {
			fails = c
		}
	}
	for c, v := range s.votes {
		if v.holds() && c > holds && (fails == 0 || c < fails) {
			holds = c
		}
	}
	return holds, fails
}

func (v *votes) holds() bool {
	if v.held != v.failed {
		return v.held > v.failed
	}
	return v.worst <= 1
}

// next returns the concurrency to measure next; done where both ends are settled.
func (s *search) next() (concurrency int, done bool) {
	holds, fails := s.ends()
	if fails == 0 {
		if holds == s.most {
			return s.unsettled(holds)
		}
		return min(2*max(holds, 1), s.most), false
	}
	if fails-holds > max(1, holds*2/100) {
		return s.between(holds, fails), false
	}
	if c, done := s.unsettled(holds); !done {
		return c, false
	}
	return s.unsettled(fails)
}

// unsettled returns an end that was not measured often enough; done where it was.
func (s *search) unsettled(c int) (int, bool) {
	v := s.votes[c]
	if v == nil { // none holds: there is nothing below one
		return 0, true
	}
	return c, v.clear() || !v.looks && v.held+v.failed >= mostVotes
}

// clear reports whether the measurements of a concurrency agree.
func (v *votes) clear() bool {
	return v == nil || !v.looks && (v.held >= v.failed+2 || v.failed >= v.held+2)
}

// clear reports whether those of both ends do.
func (s *search) clear() bool {
	holds, fails := s.ends()
	return s.votes[holds].clear() && s.votes[fails].clear()
}

// between guesses where the share of the limit becomes one, from that of both ends, away from the ends themselves.
func (s *search) between(holds, fails int) int {
	at := .5
	if low, high := s.votes[holds], s.votes[fails]; low != nil && high.worst > low.worst && high.worst < 100 {
		at = (1 - low.worst) / (high.worst - low.worst)
	}
	at = math.Max(.1, math.Min(.9, at))
	c := holds + int(math.Round(at*float64(fails-holds)))
	return max(holds+1, min(c, fails-1))
}
