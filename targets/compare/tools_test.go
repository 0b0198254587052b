package compare

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// measured is a point of a tool.
func measured(tool, dataset, def string, ttft float64) schema.Point {
	isl, osl, c := 128., 64., 1.
	m := schema.NewMetric(schema.Kind{Name: "ttft", Unit: "ms", Def: def}, schema.NewStat("mean", ttft))
	return schema.Point{
		Key:     schema.Key{Task: "text", Tool: tool, Dataset: dataset, ISL: &isl, OSL: &osl, Concurrency: &c},
		Metrics: schema.MetricList{m, schema.Of("requests_failed", "value", 0)}, Status: schema.StatusOK,
	}
}

// Two tools that made prompts up measured the same workload, under definitions that the row names. Another dataset is
// another workload; a failed point is left out.
func TestTools(t *testing.T) {
	bad := measured("aiperf", "synthetic", "first-content", 1)
	bad.Status = schema.StatusFailed
	runs := []schema.Run{{Points: []schema.Point{
		measured("vllm", "random", "first-chunk", 100), measured("aiperf", "synthetic", "first-content", 120),
		measured("vllm", "sharegpt", "first-chunk", 900), measured("guidellm", "synthetic_text", "", 110), bad,
	}}}
	r := Tools(runs, "vllm", "aiperf")
	if len(r.Rows) != 1 || !r.OfTools || r.OnlyA != 1 || r.OnlyB != 0 || r.BadA != 0 || r.BadB != 1 {
		t.Fatalf("%+v", r)
	}
	if x := r.Rows[0]; math.Abs(x.Change-.2) > 1e-9 || x.DefA != "first-chunk" || x.DefB != "first-content" ||
		x.Key.Tool != "" {
		t.Errorf("%+v", x)
	}
	if r := Tools(runs, "vllm", "guidellm"); len(r.Rows) != 1 || r.Rows[0].DefB != schema.DefNotStated {
		t.Errorf("%+v", r)
	}
	if r := Tools(runs, "vllm", "none"); len(r.Rows) != 0 || r.OnlyA != 2 {
		t.Errorf("%+v", r)
	}
}
