package builtin

import (
	"context"
	"slices"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
)

// Ordered reports whether requests of a load wait for the answers to others.
func (l Load) Ordered() bool {
	return slices.ContainsFunc(l.Each, func(q traffic.Request) bool { return len(q.After) > 0 })
}

// answer is the end of a request that others wait for.
type answer struct {
	there chan struct{} // closed when it has ended
	at    time.Time
}

// answers are those of requests that others wait for, nil for the others; nil where none is waited for.
type answers []*answer

func newAnswers(l Load) answers {
	if !l.Ordered() {
		return nil
	}
	out := make(answers, len(l.Each))
	for _, q := range l.Each {
		for _, j := range q.After {
			if out[j] == nil {
				out[j] = &answer{there: make(chan struct{})}
			}
		}
	}
	return out
}

// ended says that a request has ended, with an answer or without.
func (a answers) ended(i int) {
	if a != nil && a[i] != nil {
		a[i].at = time.Now()
		close(a[i].there)
	}
}

// wait waits until the requests that one waits for have ended, and for a pause behind the last of them. It returns when
// the request is due, which is not before a time; ok is false where the context ends first.
func (a answers) wait(
	ctx context.Context, q traffic.Request, due time.Time, pause time.Duration,
) (_ time.Time, ok bool) {
	if a == nil || len(q.After) == 0 {
		return due, true
	}
	for _, j := range q.After {
		select {
		case <-ctx.Done():
			return due, false
		case <-a[j].there:
		}
		if ready := a[j].at.Add(pause); ready.After(due) {
			due = ready
		}
	}
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return due, false
	case <-timer.C:
		return due, true
	}
}

// waiting are the requests of a load on a virtual clock that others wait for.
type waiting struct {
	open  []int   // by request: what it waits for
	after [][]int // by request: those that wait for it
	ready []time.Duration
	held  []bool // it is due, and waits
}

func newWaiting(l Load) *waiting {
	if !l.Ordered() {
		return nil
	}
	n := len(l.Each)
	w := &waiting{make([]int, n), make([][]int, n), make([]time.Duration, n), make([]bool, n)}
	for i, q := range l.Each {
		w.open[i] = len(q.After)
		for _, j := range q.After {
			w.after[j] = append(w.after[j], i)
		}
	}
	return w
}

// hold keeps a request that is due at a time back; false where nothing is to be waited for.
func (w *waiting) hold(i int, due time.Duration) bool {
	if w == nil {
		return false
	}
	w.ready[i] = max(w.ready[i], due)
	w.held[i] = w.open[i] > 0
	return w.held[i]
}

// at is when a request can be sent that is due at a time.
func (w *waiting) at(i int, due time.Duration) time.Duration {
	if w == nil {
		return due
	}
	return max(w.ready[i], due)
}

// ended returns the requests that waited for one that ended at a time, and for nothing else any more.
func (w *waiting) ended(i int, at time.Duration, each []traffic.Request, pauses bool) (free []int) {
	if w == nil {
		return nil
	}
	for _, j := range w.after[i] {
		ready := at
		if pauses {
			ready += each[j].Pause
		}
		w.ready[j] = max(w.ready[j], ready)
		if w.open[j]--; w.open[j] == 0 && w.held[j] {
			free = append(free, j)
		}
	}
	return free
}
