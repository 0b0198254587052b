//go:build unix && !race

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Inputs whose cost once grew with the square of their size, or that stand on every page.
func costlyInputs() map[string]map[string]string {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const large = 2_000_000
	document := func(id, release, device, commits string) string {
		return `{"schema":"ttreport/v1","id":"` + id + `","start":"2026-01-01T00:00:00Z","release":"` + release +
			`","channel":"release","model":{"id":"m","name":"m","key":"m"},"device":{"name":"` + device +
			`"},"stack":{"engine":"vllm","commits":{` + commits + `}},"points":[{"key":{"task":"text","tool":"vllm",` +
			`"isl":128,"osl":128,"concurrency":1},"source":{"path":"a.json","format":"vllm-serve"},"status":"ok",` +
			`"metrics":{"ttft":{"unit":"ms","mean":10,"median":10,"n":9}}}],"scores":[],"targets":[],` +
			`"provenance":{},"problems":[]}`
	}
	commits := func(n int) string { return strings.TrimSuffix(many(n, `"c%d":"1",`), ",") }
	ten := document("r", "v1", "d", "")
	tables := map[string]string{} // of no model, beside files of evals, of which none has their scores
	for i := range 600 {
		tables[fmt.Sprintf("results/%d.json", i)] = fmt.Sprintf(`{"results":{"t":{"acc,none":0.51%04d},"u":{"acc,none":`+
			`0.61%04[1]d},"v":{"acc,none":0.71%04[1]d}},"config":{"model":"m"},"model_name":"m"}`, i)
		tables[fmt.Sprintf("results/%d.md", i)] = fmt.Sprintf("|Task|Version|Metric|Value|\n|---|---|---|---|\n"+
			"|t|1|acc|0.2%04d|\n|u|1|acc|0.3%04[1]d|\n|v|1|acc|0.4%04[1]d|\n", i)
	}
	list := func(n int, format string) string { return "[" + strings.TrimSuffix(many(n, format+","), ",") + "]" }
	return map[string]map[string]string{
		"tasks": {"history/m/d/r.json": strings.Replace(ten, `"scores":[]`,
			`"scores":`+list(16_000, `{"task":"t%d","metric":"acc","value":0.5}`), 1)},
		"plan": {"history/m/d/r.json": strings.Replace(ten, `"scores":[]`,
			`"scores":[],"plan":`+list(32_000, `{"task":"text","isl":1%d,"osl":128,"concurrency":1}`), 1)},
		"targets": {"history/m/d/r.json": strings.Replace(ten, `"targets":[]`, `"targets":`+list(1_600,
			`{"key":{"task":"text","isl":1%d,"osl":128},"metric":"ttft","priority":"must","value":1,"level":"complete"}`), 1)},
		"metrics of a point": {"history/m/d/r.json": strings.Replace(ten, `"metrics":{`,
			`"metrics":{`+many(40_000, `"m%d{ms,lower}":{"unit":"ms","mean":1},`), 1)},
		"lines": {"results/a.log": many(4_800, "[BENCHMARK] model_name m batch_size 1 input_length 60 "+
			"output_length 20 tokens_per_sec 5.5 latency(ms) 1%d.5\n")},
		"commits":      {"history/m/d/r.json": document("r", "v1", "d", commits(800))},
		"more commits": {"history/m/d/r.json": document("r", "v1", "d", commits(80_000))},
		"release":      {"history/m/d/r.json": document("r", strings.Repeat("v", large), "d", "")},
		"device":       {"history/m/d/r.json": document("r", "v1", strings.Repeat("d", large), "")},
		"brackets":     {"results/a.json": strings.Repeat("[", large)},
		"names":        {"results/a.json": `{"date":"20260101-000000",` + many(100_000, `"mean_ttft_%d":1,`) + `"a":1}`},
		"values":       {"results/a.jsonl": many(160_000, "{\"a\":%d}\n")},
		"rows":         {"results/a.csv": "model,ttft_ms\n" + many(160_000, "m,%d\n")},
		"table": {"results/a.md": "| model | size | params | test | t/s |\n" +
			many(80_000, "| m | 1 | 1 | pp%d | 5.0 ± 0.1 |\n")},
		"results": {"results/a.jsonl": many(2_000, `{"date":"20260101-000000","backend":"vllm","model_id":"m",`+
			`"max_concurrency":1%[1]d,"num_prompts":8,"request_rate":"inf","duration":9.5,"completed":8,`+
			`"total_input_tokens":1024,"total_output_tokens":1024,"mean_ttft_ms":10.5%[1]d,"mean_tpot_ms":5.0625}`+"\n")},
		"scores": {
			"results/a.jsonl": many(3_600, `{"results":{"t":{"acc,none":0.5%d}},"config":{"model":"m"},"model_name":"m"}`+"\n"),
			"results/b.jsonl": many(3_600, `{"results":{"t":{"acc,none":0.6%d}},"config":{"model":"m"},"model_name":"m"}`+"\n"),
		},
		"tables beside evals": tables,
		"components": {"results/a.json": `{"version":"0.2.1","scenario":{},"results":{"observability":{"a":{"components":[` +
			many(40_000, `{"statistics":{"units":"s","mean":%d}},`) + `{}]}}}}`},
		"measures": {"results/a.json": `{"b":{` + many(40_000, `"m%d":{"value":1},`) + `"m":{"value":1}}}`},
		"metrics": {"results/a.json": `{"metrics":{` + many(40_000, `"m%d":{"value":1,"unit":"s","better":"lower"},`) +
			`"m":{"value":1,"unit":"s"}}}`},
		"secrets": {"results/a.log": many(80_000, "Serving Benchmark key=%d bearer token ")},
	}
}

// Every input of 5 MB is read twice and shown within 5 s of processor time, and a build that is told to end does so
// within a second. Inputs of two fifths of that have .4² of the time: a cost that grows with the square is over
// that, too.
// It measures time, which the race detector takes too. On a busy machine the same work takes several times as long, so
// what is over the limit is measured against the standard library.
func TestSmallInputsEndSoon(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time")
	}
	// Without the system's: on some virtual machines a page of new memory costs it as much as the work itself.
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano())
	}
	inputs := costlyInputs()
	within := func(took, limit time.Duration) bool {
		if took <= limit {
			return true
		}
		const usual = 200 * time.Millisecond // where the limits were set
		slower := 1.
		for range 3 { // machines have slower moments
			began := used()
			var list []map[string]any
			for i := range 60_000 {
				list = append(list, map[string]any{"name": fmt.Sprint("m", i), "value": i, "of": []string{"a", "b"}})
			}
			text, err := json.Marshal(list)
			if err != nil || json.Unmarshal(text, &list) != nil {
				t.Fatal(err)
			}
			slower = max(slower, float64(used()-began)/float64(usual))
		}
		t.Logf("%s of processor time; encoding/json takes %.1f times as long as usual", took, slower)
		return float64(took) <= float64(limit)*slower
	}
	for name, files := range inputs {
		part, linear := .4, 0. // linear is what 5 MB take that grows with the size
		switch name {
		case "table": // whose points are as many in the part
			part = 1
		case "tasks":
			linear = 3.6
		}
		seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
		limit := seconds(part*linear + part*part*(5-linear))
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			for f, text := range files {
				if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			told := make(chan time.Duration, 1)
			ctx, end := context.WithCancel(t.Context())
			time.AfterFunc(seconds(part*.2), func() { told <- used(); end() })
			run(ctx, []string{"build"}, strings.NewReader(""), io.Discard, io.Discard)
			select {
			case at := <-told:
				if late := used() - at; !within(late, seconds(part)) { // on a busy machine it waits for its turn
					t.Errorf("it ended after another %s of processor time", late)
				}
			default: // it had ended before
			}
			for range 2 { // the second time everything is there
				build := exec.Command("ttreport", "build") // which has no garbage of others
				out, _ := build.CombinedOutput()
				took := build.ProcessState.UserTime()
				t.Logf("%s of processor time", took)
				if !within(took, limit) {
					t.Errorf("%s of processor time: %.300s", took, out)
				}
			}
		})
	}
}
