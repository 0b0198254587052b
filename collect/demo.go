package collect

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/schema"
)

// demoRechecks is how often the newest release is measured again: if the release before changed too, only two
// releases show the noise, and then confirmation takes two runs.
const demoRechecks = 2

// Demo measures six releases of a simulated model, one after the other, each on a server of its own, and measures
// again the points of the newest one that changed, together with one that did not. It needs nothing but this machine
// and writes ordinary run folders. The simulator runs on its own clock, so the numbers are the same on every machine,
// and the demo takes only as long as computing them takes. It is measured in a hidden folder, so that nothing is left
// of one that was cut short. The outcomes are of what is measured now.
func Demo(ctx context.Context, results string, report func(Event)) (outs []Outcome, err error) {
	workloads, releases := demoWorkloads(), server.DemoReleases()
	last := releases[len(releases)-1]
	aside := filepath.Join(results, ".demo")
	left, rechecked := []string{aside}, 0
	for _, r := range demoRuns(results) {
		left = append(left, r.dir)
		if r.release == last.Name {
			rechecked++
		}
	}
	if rechecked > demoRechecks { // perhaps of another version
		return nil, nil
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("results of the demo: %w", err)
		}
	}
	begin := time.Now().Add(-time.Duration(len(releases)+demoRechecks) * time.Minute) // it is over by now
	// measure measures a run. Each begins a minute after the one before.
	measure := func(p plan.Plan, rel server.DemoRelease, seed uint64) (Outcome, error) {
		srv := &server.Simulated{Config: rel.Simulator(seed), Virtual: true, Begin: begin}
		begin = begin.Add(time.Minute)
		out, err := Run(ctx, p, srv, aside, report)
		outs = append(outs, out)
		return out, err
	}
	var newest, before Outcome
	for i, rel := range releases {
		before = newest
		if newest, err = measure(demoPlan(rel.Name, workloads, uint64(i+1)), rel, uint64(i+1)); err != nil {
			return outs, err
		}
	}
	again := changed(before, newest)
	for seed := uint64(100); seed < 100+demoRechecks && len(again) > 0; seed++ {
		text := fmt.Sprintf("%d points of %s, measured again on a new server", len(again), last.Name)
		report(Event{Run: newest.ID, Step: "recheck", Text: text, Final: true})
		p := demoPlan(last.Name, again, seed)
		p.EvalItems = 0
		if _, err := measure(p, last, seed); err != nil {
			return outs, err
		}
	}
	for i := range outs { // the newest release last: with it the demo is complete
		out := &outs[i]
		to := filepath.Join(results, out.ID)
		if err := os.Rename(out.Dir, to); err != nil {
			return outs, fmt.Errorf("results of the demo: %w", err)
		}
		out.Dir = to
	}
	return outs, os.Remove(aside)
}

// demoSource is the source of the targets of the demo.
const demoSource = "demo"

// changed lists the workloads whose TTFT or TPOT changed, and the first that did not, as a control.
func changed(before, now Outcome) []plan.Workload {
	var out, same []plan.Workload
	const recheckFrom = .08 // relative to the release before
	moved := func(before, now float64) bool { return math.Abs(now-before) > recheckFrom*before }
	for i := range min(len(now.Points), len(before.Points)) {
		a, b := before.Points[i], now.Points[i]
		if moved(a.TTFT, b.TTFT) || moved(a.TPOT, b.TPOT) {
			out = append(out, b.Workload)
		} else {
			same = append(same, b.Workload)
		}
	}
	if len(out) > 0 && len(same) > 0 {
		out = append(out, same[0])
	}
	return out
}

// DemoPlan returns the plan of each release of the demo.
func DemoPlan() plan.Plan { return demoPlan(server.DemoReleases()[0].Name, demoWorkloads(), 1) }

func demoWorkloads() []plan.Workload {
	list, err := plan.Preset("demo")
	if err != nil {
		panic(err) // a constant of the program
	}
	return list
}

func demoPlan(release string, workloads []plan.Workload, seed uint64) plan.Plan {
	p := plan.Plan{
		Release: release, Channel: schema.ChannelRelease, Device: schema.Simulated, Impl: "sim",
		Model:     schema.Model{ID: "sim-8b", Name: "sim-8b", Key: "sim-8b", Status: "COMPLETE"},
		Workloads: workloads, EvalItems: 60, Seed: 1000 * seed,
		RunOptions: plan.RunOptions{NoResume: true}, // the recheck compares numbers of one uninterrupted run
	}
	// Targets are of the theoretical performance of the simulated device, a third of the measured latency. As
	// everywhere, functional asks for 10 % of it and complete for 50 %.
	one, isl, osl := 1., 128., 32.
	key := schema.Key{Task: "text", ISL: &isl, OSL: &osl, Concurrency: &one}
	for i, level := range schema.Levels() {
		share := []float64{.1, .5, 1}[i]
		p.Targets = append(p.Targets,
			schema.Target{Key: key, Metric: "ttft", Stat: "mean", Value: 6 / share, Level: level, Source: demoSource},
			schema.Target{Key: key, Metric: "tps_user", Stat: "value", Value: 320 * share, Level: level, Source: demoSource})
	}
	return p
}

// demoRuns lists the run folders of a demo. They are known by the source of their targets, which no other run has.
func demoRuns(results string) (out []runFolder) {
	ofDemo := func(t schema.Target) bool { return t.Source == demoSource }
	for _, f := range runFolders(results) {
		m, err := f.manifest()
		if err == nil && m.Device.Name == schema.Simulated && slices.ContainsFunc(m.Targets, ofDemo) {
			out = append(out, f)
		}
	}
	return out
}
