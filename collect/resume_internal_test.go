package collect

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// What a dying server answered partly is no measurement, whatever the journal says of it before.
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
		t.Error("another plan's run is gone on with")
	}
}
