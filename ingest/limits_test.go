//go:build unix

package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// No file gives more results than the limit, whatever its format; what is left out is reported.
func TestResultsAreLimited(t *testing.T) {
	lim := decode.DefaultLimits()
	lim.Results = 10
	many := func(unit string) string {
		var list []string
		for i := range 25 {
			list = append(list, strings.ReplaceAll(unit, "#", fmt.Sprint(i+1)))
		}
		return strings.Join(list, ",")
	}
	for name, text := range map[string]string{
		"summary.json": "[" + many(`{"completed":8,"output_throughput":#.5,"mean_ttft_ms":#.25,"run_number":#}`) + "]",
		"appended.jsonl": strings.ReplaceAll(many(`{"completed":8,"output_throughput":#.5,"mean_ttft_ms":#.25}`), "},{",
			"}\n{"),
		"hud.json": "[" +
			many(`{"benchmark":{"extra_info":{"args":{"seed":#}}},"model":{"name":"m"},"metric":{"name":"mean_ttft_ms",`+
				`"benchmark_values":[#.5]}}`) + "]",
		"data.js": `window.BENCHMARK_DATA = {"lastUpdate":1,"entries":{"s":[{"commit":{"id":"c"},"date":1720492032018,` +
			`"benches":[` + many(`{"name":"{\"name\":\"mean_ttft_ms\",\"description\":\"#\"}","value":#.5,`+
			`"unit":"ms","extra":"{\"model\":\"m\"}"}`) + `]}]}}`,
		"guidellm.json": `{"benchmarks":[` + many(`{"metrics":{"request_latency":{"successful":{"mean":#.5,"count":3}}}}`) +
			`]}`,
		"agg.json": `[` + many(`{"hw":"h","conc":#,"tp":8,"mean_ttft":#.5}`) + `]`,
		"document.json": `{"schema":"ttreport/v1","id":"r","points":[` +
			many(`{"key":{"tool":"vllm","isl":#,"osl":1},"status":"ok","metrics":{"ttft":{"unit":"ms","mean":#.5}},`+
				`"source":{"path":"x","format":"y"}}`) + `]}`,
		"results.json": `{"results":{` + many(`"task#":{"acc,none":0.5}`) + `}}`,
		"b.log": strings.ReplaceAll(many(`[BENCHMARK] model_name m batch_size # input_length 60 output_length 20 `+
			`latency(ms) #.5`), ",[", "\n["),
	} {
		set := load(t, ingest.Options{Limits: lim}, map[string]string{name: text})
		n := 0
		for _, r := range set.Runs {
			n += len(r.Points) + len(r.Scores)
		}
		if n != 10 || !strings.Contains(codes(set.Problems), "too-many-results") {
			t.Errorf("%s: %d results, %v", name, n, set.Problems)
		}
	}
}

// A pipe without a writer, a device that never ends and links to it are not results and do not block.
func TestDevicesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(serve("")), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := ingest.OSRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan ingest.Set, 1)
	go func() {
		set, _ := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
		done <- set
	}()
	select {
	case set := <-done:
		if len(set.Files) != 1 || len(set.Runs) != 1 || codes(set.Problems) != "not-a-file leads-out" {
			t.Errorf("%d files, %d runs, %v", len(set.Files), len(set.Runs), set.Problems)
		}
	case <-time.After(time.Minute):
		t.Fatal("the load waits for a pipe or a device")
	}
	for _, name := range []string{"pipe.json", "zero.json"} {
		if _, err := ingest.OSRoot(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was taken for a file", name)
		}
	}
}
