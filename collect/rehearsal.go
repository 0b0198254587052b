package collect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// rehearsed is one simulated release: how it differs from the defaults of the simulator.
type rehearsed struct {
	name   string
	chunk  int     // prompt tokens that one step prefills
	decode float64 // factor on the time of a step
	right  float64 // share of eval questions answered right
}

// rehearsedReleases are six small releases of one model: v0.4.0 decodes faster than what came before, and the newest,
// v0.6.0, prefills in smaller chunks, so that long prompts wait longer. The others differ by noise alone.
func rehearsedReleases() []rehearsed {
	return []rehearsed{{"v0.1.0", 512, 1, .88}, {"v0.2.0", 512, 1, .88}, {"v0.3.0", 512, 1, .88}, {"v0.4.0", 512, .86, .9}, {"v0.5.0", 512, .86, .9}, {"v0.6.0", 320, .86, .9}}
}

// RehearsedConfig is the simulator of a rehearsed release; ok is false for any other name.
func RehearsedConfig(release string, seed uint64) (c sim.Config, ok bool) {
	for _, r := range rehearsedReleases() {
		if r.name == release {
			return rehearsalConfig(r, seed), true
		}
	}
	return sim.Config{}, false
}

// recheckFrom is how much slower than the release before a point must be for a recheck.
const recheckFrom = .08

// Rehearse measures six releases of a simulated model, one after the other, each on a server of its own, and rechecks the
// points of the newest one that became slower, twice, together with one that did not: where the release before changed too, two releases
// are all that is known of the noise, and then it takes two to confirm. It needs nothing but this machine and
// leaves ordinary run folders.
func Rehearse(ctx context.Context, results, version string, report func(Event)) ([]Outcome, error) {
	workloads, err := sweep.Preset("rehearsal")
	if err != nil {
		return nil, err
	}
	var outs []Outcome
	done := finished(results)
	releases := rehearsedReleases()
	if done[releases[len(releases)-1].name] > 1 {
		return nil, nil
	}
	for i, rel := range releases {
		if done[rel.name] > 0 && i < len(releases)-2 {
			continue // the last two are measured together: one is the other's baseline for the recheck
		}
		out, err := Run(ctx, rehearsalPlan(rel, workloads, uint64(i+1)), &Simulated{Config: rehearsalConfig(rel, uint64(i+1))}, results, version, report)
		outs = append(outs, out)
		if err != nil {
			return outs, err
		}
	}
	again := slower(outs[len(outs)-2], outs[len(outs)-1], workloads)
	if len(again) == 0 {
		return outs, nil
	}
	last := releases[len(releases)-1]
	for seed := uint64(100); seed <= 101; seed++ {
		report(Event{Run: outs[len(outs)-1].ID, Step: "recheck", Text: fmt.Sprintf("%d points of %s, measured again on a new server", len(again), last.name), Final: true})
		plan := rehearsalPlan(last, again, seed)
		plan.EvalItems = 0
		out, err := Run(ctx, plan, &Simulated{Config: rehearsalConfig(last, seed)}, results, version, report)
		outs = append(outs, out)
		if err != nil {
			return outs, err
		}
	}
	return outs, nil
}

// finished counts the runs of each rehearsed release that came to their end, by their journals.
func finished(results string) map[string]int {
	n := map[string]int{}
	names, err := filepath.Glob(filepath.Join(results, "*", manifest.JournalName))
	if err != nil {
		return n
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		release, ended := manifest.JournalEnd(data)
		if ended {
			n[release]++
		}
	}
	return n
}

// RehearsalPlan is what each release of the rehearsal measures.
func RehearsalPlan() (Plan, error) {
	workloads, err := sweep.Preset("rehearsal")
	if err != nil {
		return Plan{}, err
	}
	return rehearsalPlan(rehearsedReleases()[0], workloads, 1), nil
}

// slower lists the workloads whose TTFT or TPOT grew, and the first that did not, as a control.
func slower(before, now Outcome, workloads []sweep.Workload) []sweep.Workload {
	var out []sweep.Workload
	var control *sweep.Workload
	for i := range now.Points {
		if i >= len(before.Points) {
			break
		}
		a, b := before.Points[i], now.Points[i]
		if b.TTFT > a.TTFT*(1+recheckFrom) || b.TPOT > a.TPOT*(1+recheckFrom) {
			out = append(out, b.Workload)
		} else if control == nil {
			control = &workloads[i]
		}
	}
	if len(out) > 0 && control != nil {
		out = append(out, *control)
	}
	return out
}

func rehearsalConfig(r rehearsed, seed uint64) sim.Config {
	c := sim.Defaults()
	c.Seed, c.Version, c.EvalAccuracy = seed, r.name, r.right
	c.ChunkTokens = r.chunk
	c.StepBase = time.Duration(float64(c.StepBase) * r.decode)
	return c
}

func rehearsalPlan(r rehearsed, workloads []sweep.Workload, seed uint64) Plan {
	return Plan{Release: r.name, Channel: schema.ChannelRelease, Model: manifest.Model{ID: "sim-8b", Name: "sim-8b", Key: "sim-8b", Status: "COMPLETE"}, Device: schema.Simulated, Impl: "sim",
		Workloads: workloads, EvalItems: 60, Seed: 1000 * seed, Targets: rehearsalTargets(),
		Fresh: true} // what is compared for the recheck is measured in one piece
}

// rehearsalTargets promise what the simulated device could do in theory: a third of the measured latency. As everywhere,
// functional is a tenth of that and complete is half.
func rehearsalTargets() []manifest.TargetRow {
	one, isl, osl := 1., 128., 32.
	w := manifest.Workload{Task: "text", ISL: &isl, OSL: &osl, Concurrency: &one}
	var out []manifest.TargetRow
	for i, level := range schema.Levels() {
		share := []float64{.1, .5, 1}[i]
		out = append(out, manifest.TargetRow{Workload: w, Metric: "ttft", Stat: "mean", Value: 6 / share, Level: level, Source: "rehearsal"},
			manifest.TargetRow{Workload: w, Metric: "tps_user", Stat: "value", Value: 320 * share, Level: level, Source: "rehearsal"})
	}
	return out
}
