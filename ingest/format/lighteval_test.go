package format_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/lmeval"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var lightEvalReader = Reader{Detect: format.LightEval.Detect, Read: format.LightEval.Read}

const lightEvalResults = `{"config_general":{"lighteval_sha":"x","model_name":"acme/m"},"results":` +
	`{"leaderboard|arc:challenge|25":{"acc":0.53125,"acc_stderr":0.0125,` +
	`"note":"x"},"all":{"acc":0.5}},"versions":{"leaderboard|arc:challenge|25":0}}`

func TestLightEvalResults(t *testing.T) {
	r := lightEvalReader.Must(t, "results_2026-01-02T03-04-05.678.json", lightEvalResults)
	if len(r.Scores) != 1 || r.Facts.Model.ID != "acme/m" || r.Facts.Start.Hour() != 3 {
		t.Fatalf("%+v", r)
	}
	s := r.Scores[0]
	if se, _ := s.Stderr.Get(); s.Task != "leaderboard|arc:challenge" || *s.Fewshot != 25 || se != .0125 {
		t.Errorf("%+v", s)
	}
	if m := lmeval.Reader.Detect(File("x.json", lightEvalResults)); m.OK() {
		t.Error("also lm-evaluation-harness's")
	}
}

func FuzzLightEval(f *testing.F) { lightEvalReader.Fuzz(f, "x.json", lightEvalResults) }

// How many questions were asked is in config_tasks, under names with and without the shots; -1 is no number.
func TestLightEvalQuestions(t *testing.T) {
	for config, want := range map[string][2]int{
		`"leaderboard|arc:challenge":{"effective_num_docs":100,"original_num_docs":1172}`: {100, 1172},
		`"leaderboard|arc:challenge|25":{"effective_num_docs":7,"original_num_docs":-1}`:  {7, 0},
		`"leaderboard|arc:challenge":{"effective_num_docs":-1,"original_num_docs":-1}`:    {0, 0},
		`"leaderboard|hellaswag":{"effective_num_docs":5}`:                                {0, 0},
	} {
		text := strings.Replace(lightEvalResults, `"versions"`, `"config_tasks":{`+config+`},"versions"`, 1)
		s := lightEvalReader.Must(t, "results_2026-01-02T03-04-05.678.json", text).Scores[0]
		if s.N != want[0] || s.Total != want[1] {
			t.Errorf("%s: %d of %d, want %v", config, s.N, s.Total, want)
		}
	}
}
