package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
)

// Each of many trees has a runtime spec of its own, beside its results or a folder above: a result takes the facts of
// its own tree.
func TestEachTreeHasItsSpec(t *testing.T) {
	const text = `{"runtime_model_spec":{"model_id":"id_tt_m_n150","impl":{"impl_name":"tt"},"hf_model_repo":"acme/m",` +
		`"model_name":"m","inference_engine":"vLLM","version":"0.%d.0","device_model_spec":{"device":"N150",` +
		`"max_concurrency":32,"max_context":4096}},"runtime_config":{"device":"n150"}}`
	const trees = 40
	files := fstest.MapFS{}
	for i := range trees {
		at := fmt.Sprintf("releases/%d/workflow_logs/", i)
		files[at+"runtime_model_specs/runtime_model_spec_2026-01-01_00-00-00_id_tt_m_n150_x.json"] =
			&fstest.MapFile{Data: fmt.Appendf(nil, text, i)}
		files[at+"benchmarks_output/benchmark_id_tt_m_n150_2026-01-01_00-10-00_isl-128_osl-128_maxcon-1_n-8.json"] =
			&fstest.MapFile{Data: []byte(serve(fmt.Sprintf(`"num_prompts":%d,`, 8+i)))}
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
	if err != nil || len(set.Runs) != trees {
		t.Fatalf("%d runs, %v", len(set.Runs), err)
	}
	seen := map[string]bool{}
	for _, r := range set.Runs {
		seen[r.Release] = true
		var tree int
		if _, err := fmt.Sscanf(r.Points[0].Source.Path, "releases/%d/", &tree); err != nil {
			t.Fatal(r.Points[0].Source.Path, err)
		}
		if r.Device.Name != "n150" || r.Release != fmt.Sprintf("0.%d.0", tree) {
			t.Errorf("tree %d: %s on %s", tree, r.Release, r.Device.Name)
		}
	}
	if len(seen) != trees {
		t.Errorf("%d releases", len(seen))
	}
}
