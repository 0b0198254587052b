package collect

import (
	"maps"
	"math"
	"slices"
)

// tried is one measurement of a search for the largest load that holds an objective. A load is a concurrency, or a rate
// in steps.
type tried struct {
	worst float64 // largest share of a limit: at most 1 holds
	look  bool    // it was short: it says where to go on, and any other one of the same load replaces it
}

// bracket is the result of a search.
type bracket struct {
	holds   int  // largest load that holds; 0: not even one
	fails   int  // smallest load that does not; 0: every one up to the most held
	settled bool // two measurements of each end agree
}

// votes are the measurements of one load.
type votes struct {
	held, failed int
	worst        float64 // mean of the finite ones
	looks        bool    // they are looks
}

// holds reports what most say; of as many the mean decides.
func (v *votes) holds() bool {
	if v.held != v.failed {
		return v.held > v.failed
	}
	return v.worst <= 1
}

// decided reports whether two of them agree, as two of three do: most of five or of seven took a sixth longer and was
// no nearer. nil is the end below the first load, which is not measured.
func (v *votes) decided() bool { return v == nil || !v.looks && max(v.held, v.failed) >= 2 }

// findLargest doubles the load from the first, which most likely holds, until the objective fails, then closes in on
// the last one that holds, until both ends are within 2 % or one of each other. Both are then measured again, and the
// search goes on where they do not say the same twice: a single measurement near the limit is as good as a coin. most
// is the largest load to try. The answer with an error has the ends that were known by then.
func findLargest(first, most int, measure func(load int) (tried, error)) (b bracket, err error) {
	const mostTried = 40 // a doubling to 1024, a dozen steps between and the second looks are about 20
	of := map[int]*votes{}
	next := first
	for tries := 0; tries < mostTried && !b.settled; tries++ {
		x, err := measure(next)
		if err != nil {
			return b, err
		}
		v := of[next]
		if v == nil || v.looks {
			v = &votes{looks: x.look}
			of[next] = v
		}
		if x.worst <= 1 {
			v.held++
		} else {
			v.failed++
		}
		v.worst += (min(x.worst, 100) - v.worst) / float64(v.held+v.failed)
		b.holds, b.fails = 0, 0 // the largest that mostly holds below the smallest that mostly fails
		for _, load := range slices.Sorted(maps.Keys(of)) {
			if !of[load].holds() {
				b.fails = load
				break
			}
			b.holds = load
		}
		next, b.settled = b.next(of, most)
	}
	return b, nil
}

// next returns the load to measure next; done where both ends are settled.
func (b *bracket) next(of map[int]*votes, most int) (load int, done bool) {
	switch {
	case b.fails == 0 && b.holds < most:
		return min(2*max(b.holds, 1), most), false
	case b.fails > 0 && b.fails-b.holds > max(1, b.holds*2/100):
		// where the share of the limit becomes one, guessed from that of both ends, away from the ends themselves
		at := .5
		if low, high := of[b.holds], of[b.fails]; low != nil && high.worst > low.worst && high.worst < 100 {
			at = (1 - low.worst) / (high.worst - low.worst)
		}
		load := b.holds + int(math.Round(max(.1, min(.9, at))*float64(b.fails-b.holds)))
		return max(b.holds+1, min(load, b.fails-1)), false
	case !of[b.holds].decided():
		return b.holds, false
	}
	return b.fails, b.fails == 0 || of[b.fails].decided()
}
