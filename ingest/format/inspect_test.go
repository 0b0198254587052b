package format_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

func readInspect(t *testing.T, data string) (*decode.File, bool) {
	t.Helper()
	f := decode.NewFile("logs/x.json", []byte(data), time.Time{}, decode.DefaultLimits())
	return &f, format.Inspect.Detect(&f).OK()
}

// A log that inspect 0.3.285 wrote, without its transcripts.
func TestInspectRecordedLog(t *testing.T) {
	data, err := os.ReadFile("testdata/inspect/log.json")
	if err != nil {
		t.Fatal(err)
	}
	f, ok := readInspect(t, string(data))
	if !ok {
		t.Fatal("not recognised")
	}
	r := format.Inspect.Read(f)
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

// Several epochs are samples of each item; an item with fewer makes them items of their own, as nothing else is known.
func TestInspectEpochs(t *testing.T) {
	sample := func(id, epoch, value string) string {
		return `{"id":` + id + `,"epoch":` + epoch + `,"scores":{"match":{"value":"` + value + `"}}}`
	}
	log := func(samples ...string) *schema.Outcomes {
		f, _ := readInspect(t, `{"version":2,"status":"success","eval":{"task":"t","task_id":"x","model":"openai/m"},`+
			`"plan":{},"results":{"scores":[{"name":"match","metrics":{"accuracy":{"value":0.75}}}]},"samples":[`+
			strings.Join(samples, ",")+`]}`)
		return format.Inspect.Read(f).Scores[0].Outcomes
	}
	o := log(sample("1", "1", "C"), sample("10", "1", "I"), sample("1", "2", "C"), sample("10", "2", "C"))
	if shares, k := o.Shares(); k != 2 || len(shares) != 2 || shares[0] != 1 || shares[1] != .5 {
		t.Errorf("%v of %d", shares, k)
	}
	text, err := o.MarshalText()
	var back schema.Outcomes
	if err2 := back.UnmarshalText(text); err != nil || err2 != nil || !reflect.DeepEqual(back, *o) {
		t.Errorf("%s is read as %+v: %v, %v", text, back, err, err2)
	}
	if o := log(sample("1", "1", "C"), sample("10", "1", "I"), sample("1", "2", "C")); o.Samples != 0 {
		t.Errorf("%+v", o)
	}
}

// Items are grouped as the log's own standard error groups them, and keep their ids.
func TestInspectClusters(t *testing.T) {
	sample := func(id, epoch, exam string) string {
		return `{"id":"` + id + `","epoch":` + epoch + `,"metadata":{"exam":"` + exam + `"},"scores":{"match":{"value":"C"}}}`
	}
	f, _ := readInspect(t, `{"version":2,"status":"success","eval":{"task":"t","task_id":"x","model":"openai/m"},`+
		`"plan":{},"results":{"scores":[{"name":"match","metrics":{"accuracy":{"value":1},"stderr":{"value":0,`+
		`"params":{"cluster":"exam"}}}}]},"samples":[`+strings.Join([]string{sample("q1", "1", "a"), sample("q1", "2", "a"),
		sample("q2", "1", "b"), sample("q2", "2", "b"), sample("q3", "1", "a"), sample("q3", "2", "a")}, ",")+`]}`)
	s := format.Inspect.Read(f).Scores[0]
	if !slices.Equal(s.Outcomes.Clusters, []int{0, 1, 0}) || s.Outcomes.Samples != 2 ||
		!slices.Equal(s.Items, []string{"q1", "q2", "q3"}) {
		t.Errorf("%+v %v", s.Outcomes, s.Items)
	}
	text, _ := s.Outcomes.MarshalText()
	var back schema.Outcomes
	if err := back.UnmarshalText(text); err != nil || !reflect.DeepEqual(back, *s.Outcomes) {
		t.Errorf("%s is read as %+v: %v", text, back, err)
	}
	for _, bad := range []string{"x:2:wA:1:0*9", "x:2:wA:1:0*1", "x:2:wA:1:a", "x:2:wA:1:0*-1"} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// When the server is down, inspect exits 0; its log has status error and gives no score.
func TestInspectFailedLog(t *testing.T) {
	f, ok := readInspect(t, `{"version":2,"status":"error","eval":{"task":"t","task_id":"x","model":"openai/m"},`+
		`"plan":{},"results":null,"error":{"message":"Connection error."}}`)
	if r := format.Inspect.Read(f); !ok || len(r.Scores) != 0 || len(r.Problems) != 1 ||
		!strings.Contains(r.Problems[0].Found, "Connection error") {
		t.Errorf("%v %+v", ok, r)
	}
}

// What a log states of how the model was asked is kept as one text; where it differs, scores are not compared.
func TestInspectSettings(t *testing.T) {
	for _, c := range []struct{ name, eval, plan, want string }{
		{"nothing", `"model":"openai/acme/m"`, `{}`, "none"},
		{"generation, and how often it is tried", `"model":"hf/m","model_generate_config":{"max_retries":3,"seed":1}`,
			`{"config":{"reasoning_effort":"high","temperature":0.5}}`, "reasoning_effort=high, temperature=0.5"},
		{"arguments of the task and of the model", `"model":"hf/m","task_args":{"fewshot":5,"judge":null},` +
			`"model_args":{"load_in_4bit":true}`, `{}`, "fewshot=5, load_in_4bit=true"},
		{"who serves it", `"model":"openrouter/openai/m"`, `{}`, "provider=openrouter"},
		{"a long text", `"model":"hf/m","task_args":{"prompt":"` + strings.Repeat("x", 61) + `"}`, `{}`,
			"prompt=sha256:c508e75f24e2"},
	} {
		f, _ := readInspect(t, `{"version":2,"status":"success","eval":{"task":"t","task_id":"x",`+c.eval+`},"plan":`+c.plan+
			`,"results":{"total_samples":4,"completed_samples":4,"scores":[{"name":"s","metrics":{"accuracy":{"value":0.75},`+
			`"left":{"value":0.5}}}]}}`)
		r := format.Inspect.Read(f)
		if got := r.Scores[0].Unknown.Text(schema.Settings); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if len(r.Problems) != 0 || r.Scores[0].Direction != "higher" || r.Scores[1].Direction != "" {
			t.Errorf("%s: %v, directions %q, %q", c.name, r.Problems, r.Scores[0].Direction, r.Scores[1].Direction)
		}
	}
	f, _ := readInspect(t, `{"version":2,"status":"success","eval":{"task":"t","task_id":"x","model":"m"},"plan":{},`+
		`"results":{"total_samples":100,"completed_samples":40,"scores":[{"name":"s","metrics":{"accuracy":{"value":1}}}]}}`)
	if r := format.Inspect.Read(f); len(r.Problems) != 1 || r.Problems[0].Code != "samples-missing" {
		t.Errorf("40 of 100 samples: %v", r.Problems)
	}
}
