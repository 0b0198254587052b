package format_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

// The fixtures have the form of tests/data of evaleval/every_eval_ever (MIT licence), embeddings-benchmark/results and
// the documentation of the Hub and of Bencher, with other numbers.
func TestPublishedScores(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		reader      Reader
		model, task string
		value       float64
		scores      int
	}{
		{"eee.json", `{"schema_version":"0.2.2","evaluation_id":"x","model_info":{"name":"m","id":"acme/m"},` +
			`"evaluation_results":[{"evaluation_name":"MMLU-Pro (overall)","evaluation_timestamp":"2026-05-01T10:00:00Z",` +
			`"metric_config":{"metric_kind":"accuracy","lower_is_better":false,"min_score":0,"max_score":1},"score_details":` +
			`{"score":0.5225,"uncertainty":{"standard_error":{"value":0.01},"num_samples":12000}}},{"evaluation_name":"law",` +
			`"metric_config":{"metric_kind":"accuracy"},"score_details":{"score":0.4}}]}`,
			Reader{Detect: format.EveryEval.Detect, Read: format.EveryEval.Read}, "acme/m", "MMLU-Pro (overall)", .5225, 2},
		{"r/acme__m/0123456789abcdef/STS17.json", `{"dataset_revision":"faeb","task_name":"STS17","mteb_version":"1.36.26",` +
			`"scores":{"test":[{"pearson":0.86,"main_score":0.8725,"hf_subset":"en-en"},{"main_score":0.75,` +
			`"hf_subset":"es-en"}]},"evaluation_time":0.07}`,
			Reader{Detect: format.MTEB.Detect, Read: format.MTEB.Read}, "acme/m", "STS17/en-en", .8725, 2},
		{".eval_results/hle.yaml", "- dataset:\n    id: cais/hle\n    task_id: default\n  value: 20.5\n" +
			"  date: '2026-01-15'\n- dataset: {id: acme/gpqa, task_id: diamond}\n  value: 71.5\n  notes: with tools\n",
			Reader{Detect: format.HFEval.Detect, Read: format.HFEval.Read}, "", "cais/hle", 20.5, 2},
	} {
		r := c.reader.Must(t, c.name, c.text)
		if len(r.Scores) != c.scores || r.Facts.Model.ID != c.model || len(r.Problems) != 0 {
			t.Errorf("%s: %d scores of %q, %v", c.name, len(r.Scores), r.Facts.Model.ID, r.Problems)
			continue
		}
		s := r.Scores[0]
		if x, _ := s.Value.Get(); s.Task != c.task || x != c.value {
			t.Errorf("%s: %s %g", c.name, s.Task, x)
		}
	}
}

func TestBencher(t *testing.T) {
	r := Reader{Detect: format.Bencher.Detect, Read: format.Bencher.Read}.Must(t, "bmf.json",
		`{"serve/8":{"latency":{"value":88.5,"lower_value":87,"upper_value":90},"tokens":{"value":5}},"load":{"throughput":`+
			`{"value":2.5}}}`)
	if len(r.Points) != 2 || len(r.Problems) != 0 {
		t.Fatalf("%d points, %v", len(r.Points), r.Problems)
	}
	Expect(t, r.Points[0], map[string]float64{
		"latency{ns,lower}.value": 88.5, "latency{ns,lower}.max": 90, "tokens{,neither}.value": 5,
	})
}

// asvFile is a result in the form of asv's "Data formats", version 2, with a benchmark of two parameters, one that
// failed, and one of version 1.
const asvFile = `{"commit_hash":"abcdef1234567890","env_name":"virtualenv-py3.12","date":1700000000000,
 "params":{"machine":"ci","python":"3.12"},"python":"3.12","version":2,
 "result_columns":["result","params","version","started_at","duration","stats_q_25","stats_q_75"],
 "results":{"bench.Suite.time_parse":[[0.125,0.25,NaN,null],[["10","20"],["'fast'","'safe'"]],"v",1700000001000,1.5,
   [0.0625,0.125,NaN,null],[0.5,0.75,NaN,null]],
  "bench.mem_all":[[2048.5],[],"v"],"bench.track_rows":17.5,"bench.peakmem_x":[null,[],"v"]}}`

func TestASV(t *testing.T) {
	r := Reader{Detect: format.ASV.Detect, Read: format.ASV.Read}.Must(t, "results/ci/abcdef12-virtualenv-py3.12.json",
		asvFile)
	Check(t, r)
	if f := r.Facts; f.Release != "abcdef12" || f.Device.Name != "ci" || f.Impl != "virtualenv-py3.12" ||
		f.Start.Year() != 2023 || len(r.Points) != 6 {
		t.Fatalf("%+v, %d points", f, len(r.Points))
	}
	Expect(t, r.Points[1], map[string]float64{
		"time{s,lower}.value": .25, "time{s,lower}.p25": .125, "time{s,lower}.p75": .75,
	})
	keys := ""
	for _, p := range r.Points {
		keys += p.Key.Workload() + " " + string(p.Status) + "; "
	}
	if want := "bench.Suite.time_parse, param1 10, param2 fast ok; " +
		"bench.Suite.time_parse, param1 10, param2 safe ok; " +
		"bench.Suite.time_parse, param1 20, param2 safe failed; bench.mem_all ok; " +
		"bench.track_rows ok; bench.peakmem_x failed; "; keys != want {
		t.Error(keys)
	}
}

func FuzzASV(f *testing.F) {
	Reader{Detect: format.ASV.Detect, Read: format.ASV.Read}.Fuzz(f, "results/ci/abcdef12-env.json", asvFile)
}
