package history_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/history"
)

// A document tells when its run was and of which files it is before it is decoded, or nothing of that.
func TestDocumentsThatAreSkipped(t *testing.T) {
	run := sample("r")
	run.End = run.Start.Add(90 * time.Minute)
	data := history.Encode(&run)
	if start, end := history.SpanOf(data); !start.Equal(run.Start) || !end.Equal(run.End) || start.IsZero() {
		t.Errorf("from %s to %s, and the run from %s to %s", start, end, run.Start, run.End)
	}
	run.Start = time.Time{}
	if start, _ := history.SpanOf(history.Encode(&run)); !start.IsZero() {
		t.Errorf("an undated run began at %s", start)
	}
	var members map[string]any
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	indented, _ := json.MarshalIndent(members, "", "")
	short, _ := json.Marshal(members)
	for name, other := range map[string][]byte{
		"one line": short, "several lines of the name": append(data, data...), "cut short": data[:len(data)/2],
		"a text": []byte("\n\"start\":\"soon\""),
	} {
		if start, _ := history.SpanOf(other); !start.IsZero() {
			t.Errorf("%s: it began at %s", name, start)
		}
	}
	if start, _ := history.SpanOf(indented); !start.IsZero() { // with a space after each name
		t.Errorf("a document in another form began at %s", start)
	}
	sum := run.Points[0].Source.SHA256
	if !history.HasFile(data, map[string]bool{sum: true}) || history.HasFile(data, map[string]bool{sum[1:] + "0": true}) ||
		history.HasFile(data[:100], map[string]bool{sum: true}) {
		t.Error("its files are not told from others")
	}
}
