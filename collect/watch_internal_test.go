package collect

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// A server that answers requests is heard of; requests that fail say nothing of it.
func TestAnswersAreSignsOfLife(t *testing.T) {
	s := &session{report: func(Event) {}}
	responded := time.Now().Add(-time.Minute)
	progress := s.progress(Event{})
	progress(builtin.SoFar{Done: 3, Failed: 3})
	if got := s.heard(responded); !got.Equal(responded) {
		t.Errorf("failed requests: heard of %s ago", time.Since(got))
	}
	progress(builtin.SoFar{Done: 4, Failed: 3, OK: 1})
	if got := s.heard(responded); time.Since(got) > 30*time.Second {
		t.Errorf("an answer: heard of %s ago", time.Since(got))
	}
	if now := time.Now(); !s.heard(now).Equal(now) {
		t.Error("a later response does not count")
	}
}
