package inspect_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/inspect"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

func read(t *testing.T, data string) (*decode.File, bool) {
	t.Helper()
	f := decode.NewFile("logs/x.json", []byte(data), time.Time{}, decode.DefaultLimits())
	return &f, inspect.Detect(&f).OK()
}

// A log that inspect 0.3.285 wrote, without its transcripts.
func TestRecordedLog(t *testing.T) {
	data, err := os.ReadFile("testdata/log.json")
	if err != nil {
		t.Fatal(err)
	}
	f, ok := read(t, string(data))
	if !ok {
		t.Fatal("not recognised")
	}
	r := inspect.Read(f)
	if len(r.Problems) != 0 || len(r.Scores) != 1 || r.Facts.Model.ID != "acme/tiny-1" || r.Facts.Start.IsZero() {
		t.Fatalf("%+v", r)
	}
	s := r.Scores[0]
	v, _ := s.Value.Get()
	right := 0
	for _, x := range s.Outcomes.Right {
		if x {
			right++
		}
	}
	if s.Task != "demo_arith" || s.Metric != "accuracy" || s.N != 20 || s.Total != 60 || *s.Limit != 20 ||
		float64(right)/20 != v {
		t.Errorf("%+v: %d right of 20", s, right)
	}
}

// When the server is down, inspect exits 0; its log has status error and gives no score.
func TestFailedLog(t *testing.T) {
	f, ok := read(t, `{"version":2,"status":"error","eval":{"task":"t","task_id":"x","model":"openai/m"},"plan":{},`+
		`"results":null,"error":{"message":"Connection error."}}`)
	if r := inspect.Read(f); !ok || len(r.Scores) != 0 || len(r.Problems) != 1 ||
		!strings.Contains(r.Problems[0].Found, "Connection error") {
		t.Errorf("%v %+v", ok, r)
	}
}
