package plan_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/ingest/schema"
)

// none is no target at all.
func none(schema.Model, string) (plan.TargetPlan, error) { return plan.TargetPlan{}, nil }

// A search needs lengths alone; what measures a load needs one.
func TestSearchesNeedNoLoad(t *testing.T) {
	var o plan.Options
	o.System.Model, o.System.Device = "m", "truth"
	list := plan.WorkloadList{}
	if err := list.Set("isl=256,osl=32"); err != nil {
		t.Fatal(err)
	}
	o.Measure.Workloads = list
	_, _, err := plan.Make(o, spec.Model{}, none)
	if err == nil || !strings.Contains(err.Error(), "isl=256,osl=32: expected isl, osl and c or rate") {
		t.Errorf("without a load: %v", err)
	}
	o.Measure.SLO = "ttft_p99<500ms"
	p, _, err := plan.Make(o, spec.Model{}, none)
	if err != nil || len(p.Workloads) != 1 || !p.Workloads[0].SLO.Set() || p.Workloads[0].FindRate {
		t.Errorf("a search: %v, %v", err, p.Workloads)
	}
	for _, text := range []string{"isl=256", "osl=32", "dataset=sharegpt,osl=32"} {
		if err := list.Set(text); err == nil {
			t.Errorf("%s is a workload", text)
		}
	}
}
