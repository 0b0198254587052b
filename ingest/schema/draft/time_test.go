package draft_test

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// A moment is read as it stands in names of files, cells and logs: 20260406_232918 is no count of milliseconds.
func TestTime(t *testing.T) {
	want := time.Date(2026, 4, 6, 23, 29, 18, 0, time.UTC)
	for _, text := range []string{
		"2026-04-06T23:29:18Z", "2026-04-07T01:29:18+02:00", "2026-04-06 23:29:18", "2026-04-06T23:29:18.25",
		"2026-04-06 23:29:18Z", "2026-04-06T23-29-18", "2026-04-06_23-29-18", "20260406-232918", "20260406_232918",
		"20260406T232918", "20260406T232918Z", "20260406232918",
	} {
		if got := draft.Time(text); !got.Equal(want) {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{"", "0", "12345678", "1775518158", "2026-13-06", "4/6/2026", "today"} {
		if got := draft.Time(text); !got.IsZero() {
			t.Errorf("%s: %v", text, got)
		}
	}
}
