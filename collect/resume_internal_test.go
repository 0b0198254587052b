package collect

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Partial answers of a dying server are not a measurement, whatever earlier entries of the journal state.
func TestWhatADyingServerAnsweredIsMeasuredAgain(t *testing.T) {
	id, _, done := unfinished([]manifest.Entry{
		{Event: "run-start", Item: "r1", Result: "digest"},
		{Event: "point-done", Item: "a", Result: "raw/a.json"},
		{Event: "point-done", Item: "b", Result: "raw/b.json"},
		{Event: "server-died", Item: "b"},
		{Event: "point-missing", Item: "b"},
	}, "digest")
	if id != "r1" || done["a"] == "" || done["b"] != "" {
		t.Errorf("%s %v", id, done)
	}
	if id, _, _ := unfinished([]manifest.Entry{{Event: "run-start", Item: "r1", Result: "another"}}, "digest"); id != "" {
		t.Error("another plan's run is resumed")
	}
}
