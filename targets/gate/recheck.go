package gate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Recheck lists the workloads to measure again to settle the suspected regressions of a system.
type Recheck struct {
	schema.System
	Release   string // "" for a build without one
	Workloads []schema.Key
	// Control is a workload of this device that did not change: if it changes as much in the recheck, the machine
	// changed. Nil when the device has a control already, or there is none.
	Control *schema.Key
	// Against is the baseline's release where it can be started again, so that both can be measured in turns; else "".
	Against string
	Kind    StartKind // of the server that the release was measured on; "" where no run states it
}

// StartKind is a kind of server that a run states how to start.
type StartKind string

// Kinds of servers that can be started again.
const (
	StartsCommand   StartKind = "command"
	StartsImage     StartKind = "image"
	StartsSimulator StartKind = "simulator"
)

// Start is a release whose server can be started again for a system.
type Start struct {
	schema.System
	Release string
	Kind    StartKind // "" where it ran already
	Address string    // of one that ran already
}

// Starts lists the releases whose server is known: of each, the newest run of a system states it, one by itself before
// one that was measured in turns. The result is read only.
func (g *Gate) Starts() []Start {
	g.cache.once.Do(func() { g.cache.starts = startsOf(g.Columns.Runs) })
	return g.cache.starts
}

func startsOf(runs []columns.RunHead) []Start {
	var out []Start
	// more reports whether a run says more of the server of its release than another. Those of a pair in turns were
	// started for the pair.
	more := func(h, than *columns.RunHead) bool {
		if alone, was := h.Interleaved.IsZero(), than.Interleaved.IsZero(); alone != was {
			return alone
		}
		return h.Start.After(than.Start)
	}
	newest := map[Start]*columns.RunHead{}
	for i := range runs {
		h := &runs[i]
		of := Start{System: h.System(), Release: h.Release}
		if h.Release != "" && (newest[of] == nil || more(h, newest[of])) {
			newest[of] = h
		}
	}
	for of, h := range newest {
		switch {
		case h.IsSimulated() && h.Server == columns.EmbeddedSimulator:
			of.Kind = StartsSimulator
		case h.Image != "":
			of.Kind = StartsImage
		case h.Setting["server"] != "":
			of.Kind = StartsCommand
		case strings.Contains(h.Server, "://") && !strings.Contains(h.Server, redact.Mark):
			of.Address = h.Server
		default:
			continue
		}
		out = append(out, of)
	}
	return out
}

// startOf returns what a release of a system was measured on; the zero value where that is not known.
func (r *Review) startOf(of schema.System, release string) Start {
	if i := slices.IndexFunc(r.Starts, func(s Start) bool { return s.System == of && s.Release == release }); i >= 0 {
		return r.Starts[i]
	}
	return Start{}
}

// ServerOf returns what the release under judgement was measured on, for a system.
func (r *Review) ServerOf(of schema.System) Start { return r.startOf(of, r.Label) }

// enoughTogether is the number of workloads whose re-run settles what changed together.
const enoughTogether = 8

// suspect is a workload of a system with a suspected regression.
type suspect struct {
	system  schema.System
	load    schema.Key
	alone   bool     // something of it changed by itself
	changes []string // changes of many numbers
	// baseline is the newest release of the first verdict's baseline.
	baseline string
}

// Rechecks lists, by system, the workloads with a suspected regression. What changed together is settled by eight
// workloads: each is measured under all metrics, so those that are part of most changes come first.
func (r *Review) Rechecks() []Recheck {
	suspects := r.suspects()
	chosen := choose(suspects)
	suspects = slices.DeleteFunc(suspects, func(s *suspect) bool { return !chosen[s] })
	var out []Recheck
	for _, list := range schema.Alike(suspects, func(s *suspect) schema.System { return s.system }) {
		first := list[0]
		on := r.ServerOf(first.system)
		x := Recheck{System: first.system, Release: r.Label, Kind: on.Kind}
		if r.startOf(first.system, first.baseline).Kind != "" && x.Kind != "" {
			x.Against = first.baseline
		}
		for _, s := range list {
			x.Workloads = append(x.Workloads, s.load)
		}
		out = append(out, x)
	}
	controlled := map[string]bool{}
	for i := range out {
		if x := &out[i]; !controlled[x.Device] {
			x.Control = r.control(x)
			controlled[x.Device] = x.Control != nil
		}
	}
	return out
}

// suspects lists the workloads with a suspected regression, worst first.
func (r *Review) suspects() []*suspect {
	var out []*suspect
	known := map[finding]*suspect{}
	for i := range r.History {
		v := &r.History[i]
		suspected := v.Outcome == schema.Regressed && v.Evidence == schema.Suspected && !v.Decision.Excuses()
		if !suspected {
			continue
		}
		load := loadOf(v.Key)
		if v.Key.IsOurStart() { // any workload is measured on a server that is started for it
			any := r.control(&Recheck{System: v.System()})
			if any == nil {
				continue
			}
			load = *any
		} else if !loadable(v.Key) {
			continue
		}
		s := known[finding{system: v.System(), key: load.String()}]
		if s == nil {
			s = &suspect{system: v.System(), load: load, baseline: v.Baseline}
			known[finding{system: v.System(), key: load.String()}] = s
			out = append(out, s)
		}
		switch c, _ := v.Reason.(schema.Change); {
		case c.Part == nil:
			s.alone = true
		case !slices.Contains(s.changes, v.Change):
			s.changes = append(s.changes, v.Change)
		}
	}
	return out
}

// choose takes what changed alone, then what settles the changes of several.
func choose(suspects []*suspect) map[*suspect]bool {
	ranked := slices.Clone(suspects)
	slices.SortStableFunc(ranked, func(a, b *suspect) int { return len(b.changes) - len(a.changes) })
	chosen, settled := map[*suspect]bool{}, map[string]int{}
	for _, alone := range []bool{true, false} {
		for _, s := range ranked {
			needed := s.alone
			for _, c := range s.changes {
				needed = needed || settled[c] < enoughTogether
			}
			if s.alone != alone || !needed {
				continue
			}
			chosen[s] = true
			for _, c := range s.changes {
				settled[c]++
			}
		}
	}
	return chosen
}

// control returns an unchanged workload of the system, else the one that changed least; nil when there is no other
// workload.
func (r *Review) control(x *Recheck) *schema.Key {
	worst := map[string]float64{}
	var order []schema.Key
	for i := range r.History {
		v := &r.History[i]
		load := loadOf(v.Key)
		again := func(k schema.Key) bool { return k.String() == load.String() }
		if !loadable(v.Key) || v.System() != x.System || slices.ContainsFunc(x.Workloads, again) {
			continue
		}
		if _, has := worst[load.String()]; !has {
			order = append(order, load)
		}
		moved := 0.
		if e, ok := v.Effect.Get(); ok && v.Outcome != schema.Unchanged {
			moved = math.Abs(e)
		}
		worst[load.String()] = max(worst[load.String()], moved)
	}
	if len(order) == 0 {
		return nil
	}
	least := slices.MinFunc(order, func(a, b schema.Key) int { return cmp.Compare(worst[a.String()], worst[b.String()]) })
	return &least
}

// loadable reports whether a load client can make a workload again: text of known lengths under a known load.
func loadable(k schema.Key) bool {
	stated := len(k.Dims) == 0 || k.Tool == schema.ToolBuiltin && k.Restatable()
	return stated && k.ISL != nil && k.OSL != nil && (k.Task == "text" || k.Task == "") &&
		(k.Concurrency == nil) != (k.Rate == nil)
}

// loadOf returns a workload without the tool that measured it.
func loadOf(k schema.Key) schema.Key {
	return schema.Key{ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency, Rate: k.Rate, Dims: k.Dims}
}
