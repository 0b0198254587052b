package collect

import (
	"time"

	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// fewestArrivals is how many requests of an open loop make a window: the rate of fewer is chance.
const fewestArrivals = 10

// leastWindow returns how many requests are complete before a measurement may end. In a closed loop it is two waves:
// the first one begins at once, so that its rate is that of the start of the streams and not of the server.
func leastWindow(l builtin.Load) int {
	if l.Rate > 0 {
		return fewestArrivals
	}
	return 2 * l.Concurrency
}

// firstWave returns how many completed requests of a closed loop are warm-up at least, because nothing had to end
// before they were sent. Where few completed, half of them are left.
func firstWave(l builtin.Load, done []builtin.Timeline) int {
	if l.Rate > 0 {
		return 0
	}
	n := 0
	for _, t := range done {
		if completed(t) {
			n++
		}
	}
	return min(l.Concurrency, n/2)
}

// window is the steady part of a visit: some of its requests, and the time in which the server serves as many.
type window struct {
	from, to int
	start    time.Duration // of the first one
	length   time.Duration
}

// windowOf returns the steady part behind a warm-up of some requests, up to the first request that was in flight when
// the visit ended. It lasts from the first send to the send that follows it: as many are sent meanwhile as are
// answered.
//
// In a closed loop it has whole waves: requests of equal length are sent in bursts, and a part of a burst takes no
// time. In an open loop that the server does not keep up with, more is sent than is answered, and requests take longer
// and longer; the time by which they do is part of the window, so that its rate is that of the answers.
func windowOf(l builtin.Load, visit builtin.Outcome, from int) window {
	w := window{from: from, to: visit.Whole}
	ended := visit.Whole < len(visit.Requests)
	if n := w.to - from; ended && l.Rate <= 0 && n > l.Concurrency {
		w.to -= n % l.Concurrency
	}
	kept := visit.Requests[from:w.to]
	if len(kept) == 0 {
		return w
	}
	w.start = kept[0].Sent
	end := time.Duration(0)
	for _, t := range kept {
		end = max(end, t.End())
	}
	slower := time.Duration(0)
	if l.Rate > 0 {
		slower = growth(kept)
	}
	for _, t := range visit.Requests[w.to:] {
		end = min(end, t.Sent+slower)
	}
	w.length = max(0, end-w.start)
	return w
}

// growth returns by how much longer requests take at the end than at the beginning, as a line through the means of both
// halves; negative where they take less.
func growth(kept []builtin.Timeline) time.Duration {
	mean := func(list []builtin.Timeline) float64 {
		sum, count := 0., 0
		for _, t := range list {
			if completed(t) {
				sum, count = sum+t.E2EL, count+1
			}
		}
		return sum / float64(max(1, count))
	}
	half := len(kept) / 2
	return milliseconds(2 * (mean(kept[half:]) - mean(kept[:half])))
}

func milliseconds(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
