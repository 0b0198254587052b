package collect_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// untilKnown measures workloads on the simulator by a rule, and returns the sidecar of each and the time that it took.
func untilKnown(
	t *testing.T, rule string, budget time.Duration, workloads ...string,
) ([]manifest.Sidecar, time.Duration) {
	t.Helper()
	list, _, took := measuredUntil(t, rule, budget, workloads...)
	return list, took
}

// measuredUntil is the same, with the points.
func measuredUntil(
	t *testing.T, rule string, budget time.Duration, workloads ...string,
) ([]manifest.Sidecar, []collect.PointOutcome, time.Duration) {
	t.Helper()
	r, err := precision.ParseRule(rule)
	if err != nil && rule != "" {
		t.Fatal(err)
	}
	p := plan.Plan{Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: 1, Until: r, Budget: budget}
	for _, text := range workloads {
		var w plan.Workload
		if err := w.Parse(text); err != nil {
			t.Fatal(err)
		}
		p.Workloads = append(p.Workloads, w)
	}
	srv := &server.Simulated{Config: sim.Config{Seed: 5, Noise: .01}, Virtual: true, Begin: time.Unix(1e9, 0)}
	out, err := collect.Run(context.Background(), p, srv, t.TempDir(), func(collect.Event) {})
	if err != nil || out.Failed > 0 || len(out.Points) != len(workloads) {
		t.Errorf("%v %+v", err, out)
	}
	took := srv.Clock.Elapsed()
	names, _ := filepath.Glob(filepath.Join(out.Dir, "raw", "*"+manifest.SidecarSuffix))
	var list []manifest.Sidecar
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		side, problem := manifest.ReadSidecar(name, data)
		if problem != nil {
			t.Fatal(problem)
		}
		result, err := os.ReadFile(strings.TrimSuffix(name, manifest.SidecarSuffix))
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Completed int
			Prompts   int       `json:"num_prompts"`
			Lens      []int     `json:"input_lens"`
			Starts    []float64 `json:"start_times"`
			Duration  float64
		}
		if err := json.Unmarshal(result, &r); err != nil || r.Completed != r.Prompts || len(r.Lens) != r.Prompts ||
			strconv.Itoa(r.Prompts) != side.Conditions["num_prompts"] || r.Starts[0] != 0 ||
			r.Starts[len(r.Starts)-1] > r.Duration {
			t.Errorf("%s: %v, %d of %d, %s in the sidecar", name, err, r.Completed, r.Prompts, side.Conditions["num_prompts"])
		}
		list = append(list, side)
	}
	return list, out.Points, took
}

func percent(t *testing.T, side manifest.Sidecar, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(side.Client[name], 64)
	if err != nil {
		t.Fatalf("%s: %v has no %s", side.Result, side.Client, name)
	}
	return v
}

// A measurement ends when its means are known, and a noisy one takes longer than a quiet one.
func TestUntilKnown(t *testing.T) {
	list, _ := untilKnown(t, "ci=2%", 0, "isl=128,osl=32,c=1", "isl=lognormal(128,0.5),osl=uniform(8,64),c=4",
		"isl=128,osl=32,rate=20")
	n := make([]int, len(list))
	for i, side := range list {
		for _, metric := range []string{"ttft", "tpot", "e2el"} {
			if got := percent(t, side, "ci_"+metric); !(got > 0 && got <= 2) {
				t.Errorf("%s: %s is known to %g %%", side.Result, metric, got)
			}
		}
		if side.Conditions["window"] != "steady" || side.Client["steady"] != "1" || percent(t, side, "warmup_requests") < 0 {
			t.Errorf("%s: %v %v", side.Result, side.Conditions, side.Client)
		}
		n[i], _ = strconv.Atoi(side.Conditions["num_prompts"])
	}
	if n[0] > 200 || n[1] < 2*n[0] || n[2] < 2*n[0] {
		t.Errorf("requests: %v; a quiet workload needs the fewest", n)
	}
}

// What the time did not suffice for is said, and nothing takes longer than it may.
func TestNotReachedIsSaid(t *testing.T) {
	list, took := untilKnown(t, "ci=0.1%,most=10s", 0, "isl=lognormal(128,0.5),osl=32,c=4")
	if got := percent(t, list[0], "ci_e2el"); got <= .1 || took > 12*time.Second || list[0].Client["ci_asked"] != "0.1" {
		t.Errorf("known to %g %% in %s: %v", got, took, list[0].Client)
	}
}

// A budget goes where something is unknown: the quiet workload ends early, the noisy ones get what it leaves, and all
// of it is spent and no more.
func TestBudgetGoesWhereItMatters(t *testing.T) {
	t.Parallel()
	workloads := []string{"isl=128,osl=32,c=1", "isl=lognormal(128,0.5),osl=uniform(8,64),c=1", "isl=128,osl=32,rate=30"}
	list, took := untilKnown(t, "ci=0.5%", 4*time.Minute, workloads...)
	if took > 4*time.Minute+10*time.Second || took < 3*time.Minute {
		t.Errorf("4 minutes are %s", took)
	}
	var worst []float64
	for _, side := range list {
		worst = append(worst, max(percent(t, side, "ci_ttft"), percent(t, side, "ci_e2el")))
	}
	if worst[0] > .5 || worst[1] > 4*worst[2] || worst[2] > 4*worst[1] {
		t.Errorf("known to %v %%; want .5 for the first, and alike for the others", worst)
	}
	equal := map[int]float64{} // what a third of the time each would give
	for i, w := range workloads[1:] {
		side, _ := untilKnown(t, "ci=0.5%,most=80s", 0, w)
		equal[i+1] = max(percent(t, side[0], "ci_ttft"), percent(t, side[0], "ci_e2el"))
	}
	if max(worst[1], worst[2]) > max(equal[1], equal[2]) {
		t.Errorf("with a budget %v, with equal shares %v", worst, equal)
	}
}
