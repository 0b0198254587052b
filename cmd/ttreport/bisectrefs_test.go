package main

import (
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/render"
)

// What pages and bisect say of a workload is the whole of it: without a dimension another one would be measured.
func TestWorkloadOfAKey(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"isl=256,osl=48,c=2", "isl=256,osl=48,hit=60%,c=2", "isl=256,osl=48,rate=2.5",
		"isl=lognormal(600,0.9),osl=128,prefix=64,endpoint=chat,turns=5,think=2s,c=8",
		"isl=256,osl=48,arrivals=ramp(1,3)",
	} {
		var given, said plan.Workload
		if err := given.Parse(text); err != nil {
			t.Fatal(err)
		}
		key := given.Manifest().Key("builtin")
		of, err := traffic.OfKey(key)
		if err := said.Parse(render.WorkloadFlag(key)); err != nil || !said.Same(given) {
			t.Errorf("%s became %s, %v", text, render.WorkloadFlag(key), err)
		}
		if err != nil || !of.Same(given) {
			t.Errorf("%s is measured again as %s, %v", text, of.Text(), err)
		}
	}
}
