package ingest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
)

// The table that AIPerf prints is of the run whose file lies beside it, also where the file's rates are over a window
// of its own, which its reader corrects; alone it counts. Of another run it is another measurement.
func TestPrintedBesideAIPerf(t *testing.T) {
	raw, err := os.ReadFile("../testdata/recorded/aiperf-0.13.0/isl128-osl128-c8-n32/out/profile_export_aiperf.json")
	if err != nil {
		t.Fatal(err)
	}
	type block struct {
		Unit string
		Avg  float64
		P50  float64
		P99  float64
	}
	var all map[string]any
	d := map[string]block{}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for name, v := range all {
		if m, isBlock := v.(map[string]any); isBlock && m["unit"] != nil && m["avg"] != nil {
			for _, window := range []string{"request_throughput", "output_token_throughput"} {
				if name == window {
					m["avg"] = m["avg"].(float64) * .96
				}
			}
			text, _ := json.Marshal(m)
			var b block
			if err := json.Unmarshal(text, &b); err != nil {
				t.Fatal(err)
			}
			d[name] = b
		}
	}
	file, _ := json.Marshal(all)
	print := func(factor float64) string {
		var out strings.Builder
		out.WriteString("NVIDIA AIPerf | LLM Metrics\n┃ Metric ┃ avg ┃ p99 ┃ p50 ┃\n")
		for _, name := range []string{"time_to_first_token", "inter_token_latency", "request_latency",
			"request_throughput", "output_token_throughput", "request_count"} {
			b := d[name]
			rest := "N/A │ N/A"
			if b.P50 > 0 {
				rest = fmt.Sprintf("%.2f │ %.2f", factor*b.P99, factor*b.P50)
			}
			fmt.Fprintf(&out, "│ %s (%s) │ %.2f │ %s │\n", strings.ReplaceAll(name, "_", " "), b.Unit, factor*b.Avg, rest)
		}
		out.WriteString("└──┘\nCLI Command: aiperf profile --model m --concurrency 8\n")
		return out.String()
	}
	for _, c := range []struct {
		name   string
		files  map[string]string
		points int
		format string
	}{
		{"beside", map[string]string{"a/profile_export_aiperf.json": string(file), "a/run.log": print(1)}, 1, "aiperf"},
		{"alone", map[string]string{"a/run.log": print(1)}, 1, "aiperf-console"},
		{"printed twice", map[string]string{
			"a/run.log": print(1) + "Benchmark Duration: 5.46 sec\n", "a/console.txt": strings.SplitN(print(1), "CLI", 2)[0],
		}, 1, "aiperf-console"},
		{"of another run", map[string]string{"a/profile_export_aiperf.json": string(file), "b/run.log": print(1.1)}, 2, ""},
	} {
		set := load(t, ingest.Options{}, c.files)
		var points []schema.Point
		for _, run := range set.Runs {
			points = append(points, run.Points...)
		}
		if len(points) != c.points || c.format != "" && points[0].Source.Format != c.format {
			t.Errorf("%s: %d points, the first of %+v", c.name, len(points), points[0].Source)
		}
	}
}
