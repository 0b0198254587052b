package latency

import (
	"math"
	"runtime/debug"
)

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

// Summarise computes all statistics from the requests; those that failed or are hollow are counted and left out of
// them. durationS is the length of the measurement in seconds.
func Summarise(requests []Request, durationS float64) Set {
	var c Collector
	for i := range requests {
		c.Add(&requests[i])
	}
	return c.Set(durationS)
}

// Collector gathers requests one by one and keeps their numbers only.
type Collector struct {
	ttft, tpot, itl, e2el numbers
	set                   Set
}

// numbers is a list that grows without being copied: there may be millions of gaps.
type numbers struct {
	full [][]float64
	last []float64
	n    int
}

// blockSize is how many numbers are kept together.
const blockSize = 1 << 16

func (l *numbers) add(list ...float64) {
	l.n += len(list)
	for len(list) > 0 {
		if len(l.last) == blockSize {
			l.full, l.last = append(l.full, l.last), make([]float64, 0, blockSize)
		}
		k := min(blockSize-len(l.last), len(list))
		l.last = append(l.last, list[:k]...)
		list = list[k:]
	}
}

// returnEvery is after how many blocks the memory of those that were copied is given back: 16 MB.
const returnEvery = 32

// take returns the list and empties it.
func (l *numbers) take() []float64 {
	if len(l.full) == 0 {
		out := l.last
		*l = numbers{}
		return out
	}
	out := make([]float64, 0, l.n)
	for i, block := range l.full {
		out = append(out, block...)
		l.full[i] = nil
		if i%returnEvery == returnEvery-1 {
			debug.FreeOSMemory() // else the list would be in memory twice
		}
	}
	out = append(out, l.last...)
	*l = numbers{}
	return out
}

// Add takes the numbers of a request, which may be used again.
func (c *Collector) Add(r *Request) {
	switch {
	case !r.OK:
		c.set.Failed++
		return
	case r.Hollow():
		c.set.Hollow++
		return
	}
	c.set.OK++
	c.set.In += r.In
	c.set.Out += r.Out
	c.ttft.add(r.TTFT)
	c.e2el.add(r.E2EL)
	c.itl.add(r.ITL...)
	if r.Out > 1 && !math.IsNaN(r.TTFT) {
		c.tpot.add((r.E2EL - r.TTFT) / float64(r.Out-1))
	}
}

// Set computes the statistics; the collector is empty afterwards. durationS is the length of the measurement in
// seconds.
func (c *Collector) Set(durationS float64) Set {
	set := c.set
	set.DurationS = durationS
	set.TTFT, set.TPOT = NewSample(c.ttft.take()), NewSample(c.tpot.take())
	set.ITL, set.E2EL = NewSample(c.itl.take()), NewSample(c.e2el.take())
	*c = Collector{}
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
