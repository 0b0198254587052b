package engine_test

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// Jobs share an array, and plans are the same, only where each argument is the same.
func TestArgumentsAreNotJoined(t *testing.T) {
	one := engine.Job{Entry: 1, Server: engine.Server{Image: "i", Args: []string{"--a", "b c"}}}
	two := engine.Job{Entry: 2, Server: engine.Server{Image: "i", Args: []string{"--a", "b", "c"}}}
	three := engine.Job{Entry: 3, Resources: plan.Resources{RunArgs: []string{"--label=x y"}}}
	four := engine.Job{Entry: 4, Resources: plan.Resources{RunArgs: []string{"--label=x", "y"}}}
	again := one
	again.Entry = 5
	groups := engine.GroupsOf([]engine.Job{one, two, three, four, again})
	if len(groups) != 4 || len(groups[0].Entries) != 2 {
		t.Errorf("%d arrays of four commands: %+v", len(groups), groups)
	}
	digest := func(j engine.Job) string {
		return engine.Prepare(engine.Submission{Jobs: []engine.Job{j}}, "s", "r", time.Unix(0, 0)).Digest
	}
	if digest(one) == digest(two) || digest(three) == digest(four) || digest(one) != digest(again) {
		t.Error("plans whose arguments differ have one digest, or the same plan has two")
	}
}
