package builtin

import "testing"

// The progress of several clients is of the requests that completed.
func TestProgressOfClients(t *testing.T) {
	got := total([]SoFar{{Done: 10, OK: 2, TTFT: 100, TPOT: 10}, {Done: 10, Failed: 2, OK: 8, TTFT: 200, TPOT: 20}, {}})
	if want := (SoFar{Done: 20, Failed: 2, OK: 10, TTFT: 180, TPOT: 18}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
