package collect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// point measures one workload with the builtin client. A failed point is a result too: it is written and journalled,
// and the next one is measured.
func (s *session) point(ctx context.Context, st step) error {
	if err := s.log("point-start", st.Name, "", ""); err != nil {
		return err
	}
	load, err := s.pointLoad(st, 0)
	if err != nil {
		return s.failed(st, err)
	}
	if s.budget != nil {
		return s.budget.first(ctx, st, load)
	}
	if s.plan.Until.Set() {
		return s.untilKnown(ctx, st, load)
	}
	gauges := s.sample(ctx)
	defer gauges.stop()
	limited, done := context.WithTimeout(ctx, s.limit(st))
	defer done()
	out, err := s.load(limited, load)
	if err != nil {
		return s.loadFailed(ctx, limited, st, err)
	}
	return s.keepPoint(st, load, out, gauges.of(out), nil)
}

// pointLoad returns the load of a point; each visit to it has prompts of its own.
func (s *session) pointLoad(st step, visit uint64) (builtin.Load, error) {
	w := st.Load
	e := s.event(st)
	if e.Total = w.Requests; s.plan.Until.Set() {
		w.Requests, e.Total = mostUntil(w), 0 // unknown
	}
	load, err := s.loadOf(w, s.plan.Seed+uint64(st.index)+visit<<40)
	load.Warmups = min(2, w.Requests)
	load.Progress = s.progress(e)
	return load, err
}

// keepPoint stores a point that was measured; known is what is known of it where its precision was asked for.
func (s *session) keepPoint(st step, load builtin.Load, out builtin.Outcome, gauges beside, known *knownPoint) error {
	load.Requests = len(out.Requests) // fewer, where it ended because enough was known
	raw, err := out.Result(load)
	if err != nil {
		return err
	}
	set := out.Set()
	side := s.sidecar(st, load, out, set)
	gauges.into(&side)
	known.into(&side)
	if err := s.store(side.Result, raw, side); err != nil {
		return err
	}
	return s.pointDone(st, out, set, known.note())
}

// loadOf returns a workload as a load for the builtin client.
func (s *session) loadOf(w plan.Workload, seed uint64) (builtin.Load, error) {
	if w.Context == 0 { // nothing stated it before the server was started
		if w.Context = s.end.Context; w.Context > 0 && w.ISL+w.OSL > w.Context {
			return builtin.Load{}, fmt.Errorf("the server takes requests of %d tokens, and these have %d",
				w.Context, w.ISL+w.OSL)
		}
	}
	each, err := w.Draw(seed)
	text := uint64(0)
	if s.plan.Text > 0 {
		text = s.plan.Text + seed
	}
	return builtin.Load{
		URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey,
		ISL: w.ISL, OSL: w.OSL, Concurrency: w.Concurrency, Rate: w.Rate, Requests: w.Requests,
		Endpoint: w.Shape.Endpoint, Image: w.Shape.Image, Tools: w.Shape.Tools, Turns: w.Shape.Turns, Think: w.Shape.Think,
		Each: each, Burstiness: w.Shape.Burstiness, Changing: w.Changing(), Fit: true, Fits: &s.fits, Seed: seed,
		Text: text, Timeout: cmp.Or(w.Shape.Timeout, 2*time.Hour),
	}, err
}

// loadFailed journals a point whose load ended with an error. Where only the point's own limit was reached, which
// limited says, the run continues.
func (s *session) loadFailed(ctx, limited context.Context, st step, err error) error {
	if ctx.Err() == nil && limited.Err() != nil {
		return s.failed(st, fmt.Errorf("%w (%s)", process.ErrLimit, s.limit(st)))
	}
	_ = s.log("point-failed", st.Name, "", err.Error()) // the error itself is returned
	return err
}

// load runs a load, over the network or on the simulator's own clock.
func (s *session) load(ctx context.Context, l builtin.Load) (builtin.Outcome, error) {
	if s.virtual != nil {
		return builtin.RunVirtual(l, s.virtual)
	}
	n := clientsOf(s.plan.Clients, l)
	if n <= 1 {
		return builtin.Run(ctx, l)
	}
	switch others, ok, err := awayOf(os.Getenv); {
	case err != nil:
		return builtin.Outcome{}, err
	case ok:
		return others.run(ctx, l, n)
	}
	return runClients(ctx, l, n)
}

// sidecar returns the sidecar of a point's result.
func (s *session) sidecar(st step, load builtin.Load, out builtin.Outcome, set latency.Set) manifest.Sidecar {
	side := manifest.Sidecar{
		Result: st.Name + ".json", Tool: builtin.Name, ToolVersion: builtin.Version, Workload: st.Load.Manifest(),
		Block: st.Block, Argv: s.argv(st.Load, load.Seed),
		Start: st.began.UTC(), End: s.now().UTC(), Client: out.Client(load),
		Conditions: map[string]string{
			"num_prompts": strconv.Itoa(load.Requests),
			"ignore_eos":  strconv.FormatBool(!slices.Contains(out.Refused, "ignore_eos")),
			"warmups":     strconv.Itoa(load.Warmups), "seed": strconv.FormatUint(load.Seed, 10),
		},
	}
	if load.Text > 0 {
		side.Conditions[schema.ConditionText] = strconv.FormatUint(load.Text, 10)
	}
	if out.Overload {
		side.Client[schema.ClientOverload] = strconv.Itoa(len(out.Requests))
	}
	if out.Gone > 0 {
		side.Client["cancelled"] = strconv.Itoa(out.Gone)
	}
	if out.Counted {
		side.Conditions[schema.ConditionISL] = schema.ISLCounted
	}
	if set.OK == 0 {
		side.ExitCode = 1
	}
	if s.end.Stack.Engine == server.SimEngine {
		delete(side.Client, "cpu_s") // the simulator may run in this process
	}
	return side
}

// pointDone reports and journals a point that was measured.
func (s *session) pointDone(st step, out builtin.Outcome, set latency.Set, note string) error {
	event, failure := "point-done", ""
	if set.OK == 0 {
		event, failure = "point-failed", firstError(out)
		s.out.Failed++
		s.out.Empty++
	}
	done := PointOutcome{Workload: st.Load, TTFT: set.TTFT.Mean, TPOT: set.TPOT.Mean, E2EL: set.E2EL.Mean}
	if set.DurationS > 0 {
		done.OutputTPS = float64(set.Out) / set.DurationS
	}
	s.out.Points = append(s.out.Points, done)
	e := s.event(st)
	e.Done, e.Total, e.Took, e.Final = len(out.Requests), st.Load.Requests, s.now().Sub(st.began), true
	e.TTFT, e.TPOT, e.Err = set.TTFT.Mean, set.TPOT.Mean, failure
	e.Note = notes(lost(set), cmp.Or(overloaded(out), note, saturation(st.Load, out.Reached())), knewPrompts(st.Load, out))
	s.report(e)
	return s.log(event, st.Name, "raw/"+st.Name+".json", failure)
}

// notes joins those that there are.
func notes(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "; ")
}

// lost is a note on requests that are in no statistic; "" where there are none, or no others.
func lost(set latency.Set) string {
	n := set.Failed + set.Hollow
	if n == 0 || set.OK == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d requests failed", n, n+set.OK)
}

// knewPrompts is a note on prompts of random words that the server knew before, as it does those of an earlier
// measurement with the same seed: TTFT is then that of its cache.
func knewPrompts(w plan.Workload, out builtin.Outcome) string {
	share, _, ok := out.Cached()
	fresh := w.Dataset == "" && w.Shape.Prefix == 0 && w.Shape.Hit == 0 && w.Shape.Turns <= 1
	if !ok || !fresh || share < schema.MostlyCached {
		return ""
	}
	return fmt.Sprintf("%.0f%% of the prompts' tokens were in the server's cache: restart it, or leave out --seed",
		100*share)
}

// overloaded is a note on an open loop that was stopped; "" for any other.
func overloaded(out builtin.Outcome) string {
	if !out.Overload {
		return ""
	}
	return fmt.Sprintf("requests arrive faster than they leave: stopped after %d", len(out.Requests))
}

// saturation returns a note on a client that did not reach the requested concurrency; "" if it did.
func saturation(w plan.Workload, reached float64) string {
	asked := min(w.Concurrency, w.Requests)
	if reached > 0 && asked > 1 && w.Rate == 0 && w.Shape.Think == 0 && schema.Saturated(float64(asked), reached) {
		return fmt.Sprintf("%.1f of %d requests in flight on average", reached, asked)
	}
	return ""
}

// named is the model as it was named, with its organisation.
func (s *session) named() string { return cmp.Or(s.plan.Model.ID, s.plan.Model.Name) }

// argv returns the command that would measure this point again.
func (s *session) argv(w plan.Workload, seed uint64) []string {
	argv := []string{
		"ttreport", "collect", "--server", s.serverFlag(), "--model", s.named(), "--device", s.plan.Device,
		"--seed", strconv.FormatUint(seed, 10), "--workload", w.Text(), "--only", string(plan.OnlyBenchmarks),
	}
	if s.plan.Release != "" {
		argv = append(argv, "--release", s.plan.Release)
	}
	if s.plan.Until.Set() && !w.SLO.Set() {
		argv = append(argv, "--until", s.plan.Until.String())
	}
	if s.plan.Clients > 1 {
		argv = append(argv, "--clients", strconv.Itoa(s.plan.Clients))
	}
	return redact.Argv(argv)
}

// progress returns a callback that is safe for concurrent use and reports at most ten times a second.
func (s *session) progress(e Event) func(builtin.SoFar) {
	var limit throttle
	var answers atomic.Int64
	began := time.Now()
	return func(so builtin.SoFar) {
		if before := answers.Swap(int64(so.OK)); int64(so.OK) > before {
			s.answered.Store(time.Now().UnixNano())
		}
		if !limit.pass() {
			return
		}
		e := e
		e.Done, e.TTFT, e.TPOT, e.Took = so.Done, so.TTFT, so.TPOT, time.Since(began)
		if so.Failed > 0 {
			e.Err = fmt.Sprintf("%d failed", so.Failed)
		}
		s.report(e)
		limit.release()
	}
}

func firstError(o builtin.Outcome) string {
	for _, t := range o.Requests {
		switch {
		case t.Error != "":
			return t.Error
		case t.Hollow():
			return "an answer without a token"
		}
	}
	return "no request completed"
}

// serverFlag returns the value of --server: "sim" for the simulator, whose port is random.
func (s *session) serverFlag() string {
	if s.embedded {
		return string(plan.ServerSim)
	}
	return redact.URL(s.end.URL)
}
