package plan_test

import (
	"slices"
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Each combination of values is a start of the server, and the configuration of what is measured on it.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	list, err := plan.Configurations([]plan.Entry{{Model: "m", Device: "n150", ServerParams: []string{"tp=1,2"}}},
		[]string{"--enable-prefix-caching=true,false"})
	if err != nil || len(list) != 4 || list[3].Why != "tp=2, enable-prefix-caching=false" {
		t.Fatalf("%+v, %v", list, err)
	}
	var o plan.Options
	o.Server.EngineArgs = []string{"--seed", "3"}
	o.Measure.Repeat = 1
	if err := o.Measure.Workloads.Set("isl=8,osl=2,c=1"); err != nil {
		t.Fatal(err)
	}
	none := func(schema.Model, string) (plan.TargetPlan, error) { return plan.TargetPlan{}, nil }
	digests := map[string]bool{}
	for i, want := range [][]string{
		{"--seed", "3", "--tp", "1", "--enable-prefix-caching"}, {"--seed", "3", "--tp", "1", "--no-enable-prefix-caching"},
		{"--seed", "3", "--tp", "2", "--enable-prefix-caching"}, {"--seed", "3", "--tp", "2", "--no-enable-prefix-caching"},
	} {
		of := o.With(list[i])
		p, _, err := plan.Make(of, spec.Model{}, none)
		if err != nil || !slices.Equal(of.Server.EngineArgs, want) {
			t.Fatalf("%q, %v", of.Server.EngineArgs, err)
		}
		_, configuration := p.Workloads[0].Manifest().Key("builtin").Parts()
		if len(configuration) != 2 || configuration["tp"] != want[3] || p.EvalItems > 0 {
			t.Errorf("%v: %v, %d questions", want, configuration, p.EvalItems)
		}
		digests[p.Digest()] = true
	}
	if len(digests) != 4 {
		t.Errorf("four configurations are %d plans: one would go on with what another left", len(digests))
	}
	for _, bad := range []string{"", "=1", "tp", "tp=", "tp=1,"} {
		if _, err := plan.Configurations(list[:1], []string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if same, err := plan.Configurations([]plan.Entry{{Model: "m", Why: "because"}}, nil); err != nil || len(same) != 1 ||
		same[0].Why != "because" {
		t.Errorf("%+v, %v", same, err)
	}
}
