package collect

import (
	"sync"
	"time"
)

// throttle admits one caller at a time, at most ten times a second.
type throttle struct {
	mu   sync.Mutex
	next time.Time
}

// pass reports whether the caller may proceed; it must then call release.
func (t *throttle) pass() bool {
	if !t.mu.TryLock() {
		return false
	}
	if now := time.Now(); now.After(t.next) {
		t.next = now.Add(100 * time.Millisecond)
		return true
	}
	t.mu.Unlock()
	return false
}

func (t *throttle) release() { t.mu.Unlock() }
