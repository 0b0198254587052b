package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var mlPerfReader = Reader{Detect: format.MLPerf.Detect, Read: format.MLPerf.Read}

const mlPerfServer = `================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Server
Mode     : PerformanceOnly
Completed samples per second    : 74.96
Completed tokens per second: 22020.92
Result is : VALID
  Performance constraints satisfied : Yes

================================================
Additional Stats
================================================
Scheduled samples per second : 76.17
Min latency (ns)                : 756127764
Mean latency (ns)               : 37756807070
50.00 percentile latency (ns)   : 32917446649
99.90 percentile latency (ns)   : 145708791529

Completed tokens per second                 : 22020.92
Mean First Token latency (ns)               : 963332124
50.00 percentile first token latency (ns)   : 950532291
99.00 percentile first token latency (ns)   : 1760966679
Mean Time to Output Token (ns)               : 126269215
90.00 percentile time to output token (ns)   : 146707048

================================================
Test Parameters Used
================================================
samples_per_query : 1
target_qps : 104
`

const mlPerfOffline = `================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Offline
Mode     : PerformanceOnly
Samples per second: 4.49829
Tokens per second: 1337.46
Result is : INVALID
Mean latency (ns)               : 5463316299885
target_qps : 10
`

// A result that the load generator calls invalid says why.
func TestMLPerfWhyInvalid(t *testing.T) {
	text := strings.Replace(mlPerfServer, "Result is : VALID\n  Performance constraints satisfied : Yes\n",
		"Result is : INVALID\n  Performance constraints satisfied : NO\n  Min duration satisfied : Yes\n"+
			"  Min queries satisfied : NO\nRecommendations:\n * Reduce target QPS to improve latency.\n", 1)
	r := mlPerfReader.Must(t, "mlperf_log_summary.txt", text)
	const want = "the load generator calls the result INVALID: Performance constraints satisfied: no; " +
		"Min queries satisfied: no; Reduce target QPS to improve latency."
	if r.Points[0].Status != schema.StatusInvalid || r.Problems[0].Found != want {
		t.Errorf("%s, %q", r.Points[0].Status, r.Problems[0].Found)
	}
}

func TestMLPerfServer(t *testing.T) {
	const name = "closed/acme/results/h100x8/llama2-70b-99/Server/performance/run_1/mlperf_log_summary.txt"
	r := mlPerfReader.Must(t, name, mlPerfServer)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"rps.value": 74.96, "output_tps.value": 22020.92, "e2el.min": 756.127764, "e2el.mean": 37756.80707,
		"e2el.median": 32917.446649, "e2el.p99.9": 145708.791529, "ttft.mean": 963.332124, "ttft.median": 950.532291,
		"ttft.p99": 1760.966679, "tpot.mean": 126.269215, "tpot.p90": 146.707048,
	})
	if *p.Key.Rate != 104 || p.Key.Dims["label"] != "Server" || r.Facts.Device.Name != "h100x8" ||
		r.Facts.Model.Name != "llama2-70b-99" || p.Status != schema.StatusOK || Codes(r) != "" {
		t.Errorf("%s %+v %v", p.Key, r.Facts, r.Problems)
	}
}

func TestMLPerfOffline(t *testing.T) {
	p := mlPerfReader.Must(t, "x.txt", mlPerfOffline).Points[0]
	Expect(t, p, map[string]float64{"rps.value": 4.49829, "output_tps.value": 1337.46})
	if len(Metric(p, "e2el").Stats) > 0 || p.Status != schema.StatusInvalid || p.Key.Rate != nil {
		t.Errorf("%s %+v", p.Status, p.Metrics)
	}
}

func TestMLPerfAccuracyIsNoSpeed(t *testing.T) {
	r := mlPerfReader.Must(t, "x.txt", strings.Replace(mlPerfServer, "PerformanceOnly", "AccuracyOnly", 1))
	if len(r.Points) != 0 || r.Format != "mlperf-accuracy" {
		t.Error(r)
	}
}

// A harness prints the summaries of several runs into one log: each is a result, those of runs for accuracy are none,
// and none takes a number of another.
func TestMLPerfLogOfSeveralRuns(t *testing.T) {
	accuracy := strings.Replace(mlPerfServer, "PerformanceOnly", "AccuracyOnly", 1)
	stream := "MLPerf Results Summary\nScenario : SingleStream\nMode     : PerformanceOnly\n" +
		"90.0th percentile latency (ns) : 5494555\nResult is : VALID\n"
	r := mlPerfReader.Must(t, "run.log", strings.Repeat("building engine\n", 1000)+accuracy+stream+mlPerfOffline)
	if len(r.Points) != 2 || Codes(r) != "invalid-by-tool" {
		t.Fatalf("%d points, %v", len(r.Points), r.Problems)
	}
	Expect(t, r.Points[0], map[string]float64{"e2el.p90": 5.494555})
	Expect(t, r.Points[1], map[string]float64{"rps.value": 4.49829, "output_tps.value": 1337.46})
	if len(r.Points[0].Metrics) != 1 || r.Points[0].Status != schema.StatusOK {
		t.Errorf("%+v", r.Points[0])
	}
}

func FuzzMLPerf(f *testing.F) {
	mlPerfReader.Fuzz(f, "mlperf_log_summary.txt", mlPerfServer, mlPerfOffline)
}

// The accuracy of a run is the last line of scores before the hash, in whatever form its benchmark prints it.
func TestMLPerfAccuracy(t *testing.T) {
	const folder = "closed/acme/results/h100x8/bench-99/Server/accuracy/"
	hash := "\nhash=" + strings.Repeat("0a", 32) + "\nVerifying accuracy.\nnum_acc_log_entries = 2513\n"
	for text, want := range map[string]string{
		"accuracy=75.5%, good=37750, total=50000":                            "accuracy .755 of 50000",
		"Done (t=0.5s)\n Recall @[ IoU=0.50 | maxDets=10 ] = 0.6\nmAP=37.5%": "mAP .375 of 0",
		"Word Error Rate: 7.25%, accuracy=92.75%":                            "wer .0725 of 0, accuracy .9275 of 0",
		"Accuracy: mean = 0.8625, kidney = 0.935\nDone!":                     "mean .8625 of 0, kidney .935 of 0",
		"{\"exact_match\": 83.5, \"f1\": 90.25}\nReading examples...":        "exact_match 83.5 of 0, f1 90.25 of 0",
		"Processed 9 in 1.5s\n\nResults\n\n{'rouge1': 44.5, 'gsm8k': 73.25, 'gen_len': 415, 'gen_num': 150, " +
			"'tokens_per_sample': 3.5}\n": "rouge1 44.5 of 150, gsm8k 73.25 of 150",
	} {
		r := mlPerfReader.Must(t, folder+"accuracy.txt", text+hash)
		var got []string
		for _, s := range r.Scores {
			x, _ := s.Value.Get()
			got = append(got, fmt.Sprintf("%s %s of %d", s.Metric, strings.TrimPrefix(fmt.Sprint(x), "0"), s.N))
			if s.Task != "bench-99" || s.Filter != "server" || r.Facts.Device.Name != "h100x8" {
				t.Errorf("%+v of %+v", s, r.Facts)
			}
		}
		if strings.Join(got, ", ") != want || len(r.Problems) > 0 {
			t.Errorf("%q: %s, %v; expected %s", text, got, r.Problems, want)
		}
	}
	for _, text := range []string{"accuracy=75.5%\n", "accuracy of all\n" + hash} {
		if m := mlPerfReader.Detect(File(folder+"accuracy.txt", text)); m.OK() {
			t.Errorf("%q: %+v", text, m)
		}
	}
}

// What the load generator says of a run stands with the result, whether it is valid or not; it is no setting.
func TestMLPerfVerdictIsKept(t *testing.T) {
	for _, said := range []string{"VALID", "INVALID"} {
		text := strings.Replace(mlPerfServer, "Result is : VALID", "Result is : "+said, 1)
		r := mlPerfReader.Must(t, "mlperf_log_summary.txt", text)
		if !strings.HasSuffix(r.Detail, ", "+said) || string(r.Points[0].Extra["run_result"]) != `"`+said+`"` {
			t.Errorf("%s: %q %v", said, r.Detail, r.Points[0].Extra)
		}
	}
}
