package lmeval_test

import (
	"os"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

func file(text string) *decode.File {
	f := decode.NewFile("results.json", []byte(text), time.Time{}, decode.DefaultLimits())
	return &f
}

func find(r schema.Reading, task, metric, filter string) *schema.Score {
	for i := range r.Scores {
		if s := &r.Scores[i]; s.Task == task && s.Metric == metric && s.Filter == filter {
			return s
		}
	}
	return nil
}

// A genuine result of lm-eval 0.4.9.1 under --limit 10.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/results.json")
	if err != nil {
		t.Fatal(err)
	}
	f := file(string(data))
	if m := lmeval.Detect(f); !m.OK() || m.Detail != "0.4.9.1" {
		t.Fatalf("%+v", m)
	}
	r := lmeval.Read(f)
	s := find(r, "demo_arith", "exact_match", "strict-match")
	if s == nil {
		t.Fatalf("scores %+v", r.Scores)
	}
	v, _ := s.Value.Get()
	se, _ := s.Stderr.Get()
	if v != .6 || se < .16 || s.N != 10 || s.Total != 60 || *s.Fewshot != 2 || *s.Limit != 10 || s.Direction != "higher" || r.Facts.Model.ID != "acme/tiny-1" || r.Facts.Start.IsZero() {
		t.Errorf("%+v, model %q", s, r.Facts.Model.ID)
	}
}

func TestTraps(t *testing.T) {
	r := lmeval.Read(file(`{"results":{
		"a":{"alias":" - a","acc,none":0,"acc_stderr,none":"N/A","odd, name,flexible-extract":0.5,"sample_len":5},
		"group":{" ":" ","alias":"group"},
		"b":{"word_perplexity,none":NaN,"pass@1,create_test":"0.25"}},
		"n-samples":{"a":{"original":541,"effective":28}},"higher_is_better":{"a":{"acc":true}},"config":{"model_args":{"pretrained":"acme/tiny"}}}`))
	zero := find(r, "a", "acc", "none")
	if v, ok := zero.Value.Get(); !ok || v != 0 {
		t.Error("a score of zero is a score")
	}
	if _, ok := zero.Stderr.Get(); ok || zero.N != 28 || zero.Total != 541 {
		t.Errorf("%+v", zero)
	}
	if find(r, "a", "odd, name", "flexible-extract") == nil {
		t.Errorf("the filter begins after the last comma: %+v", r.Scores)
	}
	if s := find(r, "b", "word_perplexity", "none"); s == nil || s.Value.Why() == "" {
		t.Errorf("NaN must be missing with its reason: %+v", s)
	}
	if v, _ := find(r, "b", "pass@1", "create_test").Value.Get(); v != .25 {
		t.Error("a number written as text was lost")
	}
	if len(r.Scores) != 4 || r.Facts.Model.ID != "acme/tiny" {
		t.Errorf("%d scores, model %q", len(r.Scores), r.Facts.Model.ID)
	}
}

func TestOldFormat(t *testing.T) {
	f := file(`{"results":{"arc":{"acc":0.3,"acc_stderr":0.01}},"versions":{"arc":0},"config":{"model_args":"pretrained=EleutherAI/pythia-70m,revision=x","num_fewshot":5}}`)
	if m := lmeval.Detect(f); !m.OK() || m.Format != lmeval.Old {
		t.Fatalf("%+v", m)
	}
	r := lmeval.Read(f)
	s := find(r, "arc", "acc", "")
	if s == nil || *s.Fewshot != 5 || r.Facts.Model.ID != "EleutherAI/pythia-70m" {
		t.Errorf("%+v", r)
	}
	if se, _ := s.Stderr.Get(); se != .01 {
		t.Error("standard error was lost")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"results":{"a":{"acc,none":0.5}}}`)
	f.Add(`{"results":{"a":{"acc":0.5}},"versions":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		in := file(text)
		if lmeval.Detect(in).OK() {
			lmeval.Read(in)
		}
	})
}
