package ingest_test

import (
	"fmt"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

// Results of one workload with different settings are not repeats; the number of the repeat, its place and its time
// are not settings.
func TestMetadataTellApart(t *testing.T) {
	file := func(n int, metadata string) string {
		return serve(fmt.Sprintf(`"random_input_len":128,"random_output_len":32,"max_concurrency":4,`+
			`"request_throughput":%d.25,%s`, n, metadata))
	}
	for name, c := range map[string]struct {
		files     map[string]string
		workloads int
		repeats   int
		codes     string
	}{
		"a setting": {map[string]string{
			"a.json": file(1, `"kv_cache":"fp8",`), "b.json": file(2, `"kv_cache":"auto",`),
			"c.json": file(3, `"kv_cache":"auto",`),
		}, 2, 2, "told-apart"},
		"a setting that one states": {
			map[string]string{"a.json": file(1, `"kv_cache":"fp8",`), "b.json": file(2, ``)}, 2, 1, "told-apart",
		},
		"parallelism": {map[string]string{
			"a.json": file(1, `"tensor_parallel_size":"8",`), "b.json": file(2, `"tensor_parallel_size":"1",`),
		}, 2, 1, ""},
		"repeats": {map[string]string{
			"a.json": file(1, `"run_id":"x1","seed":"1","host":"a","kv_cache":"fp8",`),
			"b.json": file(2, `"run_id":"x2","seed":"2","host":"b","kv_cache":"fp8",`),
		}, 1, 2, ""},
		"numbers of the tool": {map[string]string{
			"a.json": file(1, `"max_concurrent_requests":5,`), "b.json": file(2, `"max_concurrent_requests":6,`),
		}, 1, 2, ""},
	} {
		set := load(t, ingest.Options{}, c.files)
		keys, repeats := map[string]bool{}, 0
		for _, p := range points(set) {
			keys[p.Key.String()] = true
			repeats = max(repeats, p.Repeat)
		}
		if len(keys) != c.workloads || repeats != c.repeats || codes(set.Problems) != c.codes || len(set.Runs) != 1 {
			t.Errorf("%s: %d workloads, %d repeats, %q: %v", name, len(keys), repeats, codes(set.Problems), keys)
		}
	}
}
