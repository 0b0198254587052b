package main

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"time"
)

// buffer is written and read by different goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Len()
}

// Jobs of a scheduler go on after Ctrl-C, so nothing asks to wait for their end.
func TestInterruptedFollowing(t *testing.T) {
	t.Parallel()
	for _, leaves := range []bool{false, true} {
		signals, said := make(chan os.Signal, 1), &buffer{}
		ctx, stop := interruptible(signals, said)
		if leaves {
			leavesRunning(ctx)
		}
		signals <- os.Interrupt
		<-ctx.Done()
		for began := time.Now(); !leaves && said.Len() == 0 && time.Since(began) < time.Minute; {
			time.Sleep(10 * time.Millisecond)
		}
		if leaves {
			time.Sleep(1300 * time.Millisecond)
		}
		if (said.Len() == 0) != leaves {
			t.Errorf("jobs go on: %t, %d bytes are said", leaves, said.Len())
		}
		stop()
	}
}
