package builtin

import (
	"context"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
)

// A pause begins with the answer, not with when the next request could otherwise be sent.
func TestPauseBeginsWithTheAnswer(t *testing.T) {
	each := []traffic.Request{{}, {After: []int{0}}}
	a := newAnswers(Load{Each: each})
	a.ended(0)
	a[0].at = time.Now().Add(-time.Hour)
	ctx, done := context.WithTimeout(context.Background(), 20*time.Second)
	defer done()
	due := time.Now()
	if ready, ok := a.wait(ctx, each[1], due, 59*time.Minute); !ok || !ready.Equal(due) {
		t.Errorf("ready %s behind its time, %t", ready.Sub(due), ok)
	}
}
