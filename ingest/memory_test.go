//go:build !race

package ingest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
)

// release is a release of tt-inference-server: a zip of a zip for each model and device, each with a spec and results.
func release(t *testing.T, number, pairs, results int) []byte {
	t.Helper()
	var out bytes.Buffer
	outer := zip.NewWriter(&out)
	for p := range pairs {
		var tree bytes.Buffer
		z := zip.NewWriter(&tree)
		id := fmt.Sprintf("id_tt-transformers_Example-%dB_n150", p+1)
		add := func(name, text string) {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for r := range results {
			x := float64(1+number*7+p*3+r) * 1.01937
			add(fmt.Sprintf("benchmarks_output/benchmark_%s_2026-%02d-03_10-%02d-00_isl-%d_osl-128_maxcon-1_n-8.json",
				id, number+1, r, 128*(r+1)),
				fmt.Sprintf(`{"date":"2026%02d03-10%02d00","endpoint_type":"openai","model_id":"example/Example-%dB",`+
					`"num_prompts":8,"max_concurrency":1,"duration":%f,"completed":8,"total_input_tokens":1024,`+
					`"total_output_tokens":1024,"request_throughput":%f,"output_throughput":%f,`+
					`"mean_ttft_ms":%f,"median_ttft_ms":%f,"p99_ttft_ms":%f,"mean_tpot_ms":%f,"median_tpot_ms":%f,`+
					`"mean_itl_ms":%f,"mean_e2el_ms":%f}`,
					number+1, r, p+1, x, 1/x, 3*x, 5*x, 5*x, 6*x, x, x, x, 40*x))
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		w, err := outer.Create(fmt.Sprintf("workflow_logs_%d.zip", p))
		if err == nil {
			_, err = w.Write(tree.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := outer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Releases have tens of thousands of results, and the collector's work follows from what each takes: 50 releases of 30
// models and devices took 35 s and 460 MB when a result took twice as much.
// With the race detector, which allocates too, it would count something else.
func TestMemoryOfAResult(t *testing.T) {
	const releases, pairs, results = 6, 6, 10
	tree := fstest.MapFS{}
	for n := range releases {
		tree[fmt.Sprintf("v0.%d.0.zip", n)] = &fstest.MapFile{Data: release(t, n, pairs, results)}
	}
	var before, waiting, after runtime.MemStats
	store := ingest.Store{Dir: t.TempDir(), Targets: func([]schema.Run) (ingest.Targets, []schema.Problem, error) {
		runtime.GC() // everything is read and nothing stored
		runtime.GC()
		runtime.ReadMemStats(&waiting)
		return inForce(50), nil, nil
	}}
	runtime.GC()
	runtime.GC() // pools keep what they have for one collection
	runtime.ReadMemStats(&before)
	got, err := store.Read(context.Background(), []ingest.Root{{Name: "in", FS: tree}}, ingest.Options{})
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(tree)
	if err != nil || got.Runs != releases*pairs || got.Written != got.Runs || len(got.Problems) > 0 {
		t.Fatalf("%d runs, %d written, %v, %v", got.Runs, got.Written, err, got.Problems)
	}
	each := float64(after.TotalAlloc-before.TotalAlloc) / (releases * pairs * results)
	t.Logf("%.0f bytes allocated for a result", each)
	if each > 55_000 {
		t.Errorf("%.0f bytes allocated for each result", each)
	}
	held := (float64(waiting.HeapAlloc) - float64(before.HeapAlloc)) / (releases * pairs * results)
	t.Logf("%.0f bytes held for a result until it is stored", held)
	if held > 2_000 { // 4,100 before metrics were packed
		t.Errorf("%.0f bytes held for each result", held)
	}
}
