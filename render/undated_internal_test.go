package render

import (
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// The page of a run that nothing dates says that it has no place in the order of time.
func TestUndatedRunSaysSo(t *testing.T) {
	if got := started(&schema.Run{}); !strings.Contains(got, "no place in the order of time") {
		t.Error(got)
	}
	run := &schema.Run{Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if got := started(run); !strings.HasPrefix(got, "Started 2 January 2026, 03:04:05") {
		t.Error(got)
	}
}
