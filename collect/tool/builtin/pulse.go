package builtin

import (
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/collect/arrival"
)

// Bounds of a client that is on time.
const (
	beats    = 5 * time.Millisecond
	overdue  = 10 * time.Millisecond // behind the time of a beat
	lateRead = time.Millisecond      // behind an arrival
)

// pulse tells when this program did not run: a goroutine notes the time every few milliseconds, and is late where all
// are, as on a machine that others keep busy or that was stopped. nil is none.
type pulse struct {
	began        time.Time
	beat, missed atomic.Int64 // when it was last noted, and noted too late, after began
	stopped      chan struct{}
}

func newPulse() *pulse {
	p := &pulse{began: time.Now(), stopped: make(chan struct{})}
	go func() {
		tick := time.NewTicker(beats)
		defer tick.Stop()
		for {
			select {
			case <-p.stopped:
				return
			case <-tick.C:
			}
			now := int64(time.Since(p.began))
			if now-p.beat.Load() > int64(beats+overdue) {
				p.missed.Store(now)
			}
			p.beat.Store(now)
		}
	}()
	return p
}

// missedSince reports whether this program did not run for some time that ended behind an instant.
func (p *pulse) missedSince(at time.Time) bool {
	if p == nil {
		return false
	}
	now := int64(time.Since(p.began))
	return now-p.beat.Load() > int64(beats+overdue) || p.missed.Load() > int64(at.Sub(p.began))
}

// late reports whether what a read took may have waited for it: all that came in other segments than the last one
// arrived at a time that is not known then.
func (p *pulse) late(t arrival.Taken) bool {
	return p != nil && (t.Lag > lateRead || p.missedSince(t.After))
}
