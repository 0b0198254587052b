package latency

import "math"

// Request is the timeline of one request, in milliseconds and tokens.
type Request struct {
	OK   bool      // the tool counted it as completed
	TTFT float64   // sending to first chunk; NaN when not measured
	ITL  []float64 // gaps between consecutive chunks
	E2EL float64   // sending to last chunk
	In   int       // prompt tokens
	Out  int       // output tokens
}

// Hollow reports a request that counts as completed and has no output tokens. vLLM up to 0.6.3 counted these as
// successes with a TTFT of zero, which lowers every mean.
func (r Request) Hollow() bool { return r.OK && r.Out == 0 }

// Set holds the statistics of one measurement.
type Set struct {
	TTFT, TPOT, ITL, E2EL Sample
	OK, Failed, Hollow    int
	In, Out               int // tokens of completed requests
	DurationS             float64
}

// Summarise computes a Set from timelines over a wall duration in seconds. Hollow requests are left out of every
// distribution and counted separately.
func Summarise(requests []Request, durationS float64) Set {
	set := Set{DurationS: durationS}
	var ttft, tpot, itl, e2el []float64
	for _, r := range requests {
		switch {
		case !r.OK:
			set.Failed++
			continue
		case r.Hollow():
			set.Hollow++
			continue
		}
		set.OK++
		set.In += r.In
		set.Out += r.Out
		ttft = append(ttft, r.TTFT)
		e2el = append(e2el, r.E2EL)
		itl = append(itl, r.ITL...)
		if r.Out > 1 && !math.IsNaN(r.TTFT) {
			tpot = append(tpot, (r.E2EL-r.TTFT)/float64(r.Out-1))
		}
	}
	set.TTFT, set.TPOT, set.ITL, set.E2EL = NewSample(ttft), NewSample(tpot), NewSample(itl), NewSample(e2el)
	return set
}

// RPS returns completed requests a second; 0 when the duration is unknown.
func (s Set) RPS() float64 { return over(float64(s.OK), s.DurationS) }

// OutputTPS returns output tokens a second.
func (s Set) OutputTPS() float64 { return over(float64(s.Out), s.DurationS) }

// TotalTPS returns input and output tokens a second.
func (s Set) TotalTPS() float64 { return over(float64(s.In+s.Out), s.DurationS) }

func over(n, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return n / seconds
}
