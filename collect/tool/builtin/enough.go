package builtin

import (
	"sync"
	"sync/atomic"
	"time"
)

// Enough ends a load before its last request: nothing more is sent once it is known well enough.
type Enough struct {
	// Known is called, one call at a time, with the requests up to the first one in flight, when there are a quarter
	// more of them than at the last call, at least Least: each look at the data is a chance to end by luck.
	Known func(completed []Timeline) bool
	Least int
	// Most ends it too, this long after the beginning, but not before Window requests are complete and none before them
	// is in flight: the rate of fewer would be chance. 0: no limit.
	Most   time.Duration
	Window int
}

// watcher counts the requests that have completed without a gap, and asks whether they are enough.
type watcher struct {
	enough *Enough
	ended  atomic.Bool

	mu     sync.Mutex
	done   []bool
	prefix int // requests before the first one in flight
	stayed int // of them, without those whose client went away
	next   int // of them, at which Known is asked
}

func newWatcher(l Load) *watcher {
	if l.Enough == nil {
		return nil
	}
	return &watcher{enough: l.Enough, done: make([]bool, l.Requests), next: max(1, l.Enough.Least)}
}

// over reports that nothing more is to be sent, some time after the beginning.
func (w *watcher) over(passed time.Duration) bool {
	if w == nil {
		return false
	}
	if w.enough.Most > 0 && passed >= w.enough.Most && w.window() {
		w.ended.Store(true)
	}
	return w.ended.Load()
}

// window reports whether enough requests are complete for a rate.
func (w *watcher) window() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stayed >= w.enough.Window
}

// end says that nothing more is sent for another reason: what is in flight has less and less beside it.
func (w *watcher) end() {
	if w != nil {
		w.ended.Store(true)
	}
}

// completed notes that a request is complete.
func (w *watcher) completed(i int, all []Timeline) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[i] = true
	if w.ended.Load() {
		return // the others in flight end with less and less beside them
	}
	for w.prefix < len(w.done) && w.done[w.prefix] {
		if !all[w.prefix].Gone {
			w.stayed++
		}
		w.prefix++
	}
	if w.prefix >= w.next {
		w.next = w.prefix + max(1, w.prefix/4)
		if w.enough.Known(all[:w.prefix]) {
			w.ended.Store(true)
		}
	}
}

// whole returns how many requests were complete, without a gap, when the load ended; all where nothing ended it.
func (w *watcher) whole(requests int) int {
	if w == nil {
		return requests
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prefix
}
