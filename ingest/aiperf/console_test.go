package aiperf_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

// printed is what AIPerf prints at the end of a run into a window of 80 columns.
const printed = `
                       NVIDIA AIPerf | LLM Metrics
┏━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┓
┃               Metric ┃      avg ┃      min ┃      max ┃      p99 ┃      p50 ┃
┡━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━┩
│  Time to First Token │    19.99 │    12.53 │    49.62 │    48.89 │    13.93 │
│                 (ms) │          │          │          │          │          │
│ Request Latency (ms) │ 2,940.39 │ 1,536.67 │ 7,319.35 │ 7,034.86 │ 2,239.67 │
│  Inter Token Latency │     3.52 │     3.47 │     3.64 │     3.63 │     3.50 │
│                 (ms) │          │          │          │          │          │
│         Output Token │   284.54 │   274.60 │   288.35 │   288.33 │   285.38 │
│  Throughput Per User │          │          │          │          │          │
│    (tokens/sec/user) │          │          │          │          │          │
│      Output Sequence │   833.40 │   438.00 │ 2,106.00 │ 2,022.21 │   626.50 │
│      Length (tokens) │          │          │          │          │          │
│         Output Token │   527.06 │      N/A │      N/A │      N/A │      N/A │
│           Throughput │          │          │          │          │          │
│         (tokens/sec) │          │          │          │          │          │
│   Request Throughput │     0.63 │      N/A │      N/A │      N/A │      N/A │
│       (requests/sec) │          │          │          │          │          │
│        Request Count │    10.00 │      N/A │      N/A │      N/A │      N/A │
│           (requests) │          │          │          │          │          │
└──────────────────────┴──────────┴──────────┴──────────┴──────────┴──────────┘
                    NVIDIA AIPerf | LLM Metrics: Usage
┏━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┓
┃               Metric ┃      avg ┃
│ Request Latency (ms) │     1.00 │

CLI Command: aiperf profile --model 'Qwen/Qwen3-0.6B' --endpoint-type 'chat'
--streaming --url 'localhost:8000' --isl 128 --concurrency
2
Benchmark Duration: 15.81 sec
CSV Export: artifacts/profile_export_aiperf.csv
`

// The printed table is read with the names that go on in the next line, and with the command behind it.
func TestConsole(t *testing.T) {
	other := strings.NewReplacer("Qwen3-0.6B", "Qwen3-8B", "19.99", "29.99").Replace(printed)
	r := reader.Must(t, "run.md", "# Results\n```\n"+printed+"```\n"+other)
	p := r.Points[0]
	drafttest.Expect(t, p, map[string]float64{
		"ttft.mean": 19.99, "ttft.min": 12.53, "ttft.max": 49.62, "ttft.p99": 48.89, "ttft.median": 13.93,
		"e2el.mean": 2940.39, "e2el.p99": 7034.86, "tpot.mean": 3.52, "tps_user.mean": 284.54, "osl.mean": 833.4,
		"output_tps.value": 527.06, "rps.value": .63, "requests_ok.value": 10, "duration_s.value": 15.81,
	})
	if *p.Key.Concurrency != 2 || *p.Key.ISL != 128 || r.Facts.Model.ID != "Qwen/Qwen3-0.6B" || p.Key.Tool != "aiperf" ||
		p.Status != schema.StatusOK || len(r.Points) != 1 || drafttest.Codes(r) != "" {
		t.Errorf("%s %+v %v", p.Key, r.Facts, r.Problems)
	}
	if len(r.More) != 1 || r.More[0].Facts.Model.ID != "Qwen/Qwen3-8B" {
		t.Fatalf("%+v", r.More)
	}
	drafttest.Expect(t, r.More[0].Points[0], map[string]float64{"ttft.mean": 29.99})
}

// GenAI-Perf did not name itself at first, and printed its rates below the table; lengths had no unit.
func TestConsoleOfGenAIPerf(t *testing.T) {
	r := reader.Must(t, "out.md", "    LLM Metrics\n┃ Statistic ┃ avg ┃ p99 ┃\n│ Request latency (ms) │ 5.48 │ 10.27 │\n"+
		"│ Output sequence length │ 261.90 │ 296.60 │\n└──┘\nOutput token throughput (per sec): 1,460.42\n"+
		"Request throughput (per sec): 180.11\n")
	drafttest.Expect(t, r.Points[0], map[string]float64{
		"e2el.mean": 5.48, "e2el.p99": 10.27, "osl.mean": 261.9, "output_tps.value": 1460.42, "rps.value": 180.11,
	})
	if r.Points[0].Key.Tool != "genai-perf" || drafttest.Codes(r) != "" {
		t.Errorf("%s %v", r.Points[0].Key, r.Problems)
	}
}

// A number that is cut or goes on in the next line is none, nor is one whose unit nobody knows.
func TestConsoleOfNarrowWindow(t *testing.T) {
	for _, c := range []struct{ from, to, codes string }{
		{"│ Request Latency (ms) │ 2,940.39 │", "│ Request Latency (ms) │ 2,940.3 │\n│  │ 9 │", "narrow-table"},
		{"│ Request Latency (ms) │ 2,940.39 │", "│ Request Latency (ms) │ 2,94… │", "narrow-table"},
		{"│ Request Latency (ms) │ 2,940.39 │", "│ Request Latency │ 2,940.39 │", "unknown-unit"},
		{"(tokens/sec/user)", "(tokens/sec/u…", ""},
		{"CLI Command:", "NVIDIA AIPerf | Error Summary\n\nCLI Command:", "requests-failed"},
	} {
		text := strings.Replace(printed, c.from, c.to, 1)
		if text == printed {
			t.Fatalf("no %q", c.from)
		}
		r := reader.Must(t, "run.log", text)
		if codes := drafttest.Codes(r); codes != c.codes {
			t.Errorf("%s: %s", c.to, codes)
		}
		for _, p := range r.Points {
			if _, ok := p.Value("e2el", "mean"); ok && c.codes == "unknown-unit" || c.codes == "narrow-table" {
				t.Errorf("%s: %+v", c.to, p.Metrics)
			}
		}
	}
}
