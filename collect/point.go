package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	w.Timeout = cmp.Or(w.Timeout, 2*time.Hour)
	return builtin.Load{
		Workload: w, URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey,
		Each: each, Fit: true, Fits: &s.fits, Seed: seed, Text: text,
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
	fresh := w.Dataset == "" && w.Prefix == 0 && w.Hit == 0 && w.Turns <= 1
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
	if reached > 0 && asked > 1 && w.Rate == 0 && w.Think == 0 && schema.Saturated(float64(asked), reached) {
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

// fewestArrivals is how many requests of an open loop make a window: the rate of fewer is chance.
const fewestArrivals = 10

// leastWindow returns how many requests are complete before a measurement may end. In a closed loop it is two waves:
// the first one begins at once, so that its rate is that of the start of the streams and not of the server.
func leastWindow(l builtin.Load) int {
	if l.Rate > 0 {
		return fewestArrivals
	}
	return 2 * l.Concurrency
}

// firstWave returns how many completed requests of a closed loop are warm-up at least, because nothing had to end
// before they were sent. Where few completed, half of them are left.
func firstWave(l builtin.Load, done []builtin.Timeline) int {
	if l.Rate > 0 {
		return 0
	}
	n := 0
	for _, t := range done {
		if completed(t) {
			n++
		}
	}
	return min(l.Concurrency, n/2)
}

// window is the steady part of a visit: some of its requests, and the time in which the server serves as many.
type window struct {
	from, to int
	start    time.Duration // of the first one
	length   time.Duration
}

// windowOf returns the steady part behind a warm-up of some requests, up to the first request that was in flight when
// the visit ended. It lasts from the first send to the send that follows it: as many are sent meanwhile as are
// answered.
//
// In a closed loop it has whole waves: requests of equal length are sent in bursts, and a part of a burst takes no
// time. In an open loop that the server does not keep up with, more is sent than is answered, and requests take longer
// and longer; the time by which they do is part of the window, so that its rate is that of the answers.
func windowOf(l builtin.Load, visit builtin.Outcome, from int) window {
	w := window{from: from, to: visit.Whole}
	ended := visit.Whole < len(visit.Requests)
	if n := w.to - from; ended && l.Rate <= 0 && n > l.Concurrency {
		w.to -= n % l.Concurrency
	}
	kept := visit.Requests[from:w.to]
	if len(kept) == 0 {
		return w
	}
	w.start = kept[0].Sent
	end := time.Duration(0)
	for _, t := range kept {
		end = max(end, t.End())
	}
	slower := time.Duration(0)
	if l.Rate > 0 {
		slower = growth(kept)
	}
	for _, t := range visit.Requests[w.to:] {
		end = min(end, t.Sent+slower)
	}
	w.length = max(0, end-w.start)
	return w
}

// growth returns by how much longer requests take at the end than at the beginning, as a line through the means of both
// halves; negative where they take less.
func growth(kept []builtin.Timeline) time.Duration {
	mean := func(list []builtin.Timeline) float64 {
		sum, count := 0., 0
		for _, t := range list {
			if completed(t) {
				sum, count = sum+t.E2EL, count+1
			}
		}
		return sum / float64(max(1, count))
	}
	half := len(kept) / 2
	return milliseconds(2 * (mean(kept[half:]) - mean(kept[:half])))
}

func milliseconds(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// warmOSL is the number of output tokens of a warm-up request: enough for a decode step.
const warmOSL = 4

// warm sends one request of every prompt length of the plan, so that work that a server does once for each shape,
// such as compiling kernels and capturing traces, is not measured in the first request of the first tool: most tools
// send few warm-up requests or none. A failure is only reported: the measurements will fail too.
func (s *session) warm(ctx context.Context) error {
	if s.plan.NoWarmup || s.end.URL == "" || s.end.Stack.Engine == server.SimEngine {
		return nil
	}
	var lengths []int
	for _, w := range s.plan.Workloads {
		if w.ISL > 0 && !slices.Contains(lengths, w.ISL) {
			lengths = append(lengths, w.ISL)
		}
	}
	if len(lengths) == 0 {
		return nil
	}
	began := time.Now()
	failed := ""
	for _, isl := range lengths {
		out, err := builtin.Run(ctx, builtin.Load{
			URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey,
			Workload: plan.Workload{ISL: isl, OSL: warmOSL, Concurrency: 1, Requests: 1,
				Timeout: s.limit(step{Item: plan.Item{Once: true}})},
			Fit: true, Fits: &s.fits, Seed: s.plan.Seed,
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && out.Set().OK == 0 {
			err = fmt.Errorf("ISL %d: %s", isl, firstError(out))
		}
		if err != nil {
			failed = err.Error()
		}
	}
	text := fmt.Sprintf("one request of each prompt length (%d)", len(lengths))
	s.report(Event{Run: s.id, Step: "warm-up", Text: text, Took: time.Since(began), Err: failed, Final: true})
	return s.log("warm-up", "", "", failed)
}

// throttle admits one caller at a time, at most ten times a second.
type throttle struct {
	mu   sync.Mutex
	next time.Time
}

// pass reports whether the caller may proceed; it must then call release.
func (t *throttle) pass() bool {
	if !t.mu.TryLock() {
		return false
	}
	if now := time.Now(); now.After(t.next) {
		t.next = now.Add(100 * time.Millisecond)
		return true
	}
	t.mu.Unlock()
	return false
}

func (t *throttle) release() { t.mu.Unlock() }

// Advice is what to do about an error of [Run], [Demo] or a server. results is the folder where what was measured is
// kept; "" when nothing was.
func Advice(err error, results string) string {
	const nothing = "nothing was measured"
	kept := nothing
	if results != "" {
		kept = "what was measured until now is kept in " + results
	}
	for _, a := range []struct {
		of   error
		text string
	}{
		{server.ErrDenied, "set OPENAI_API_KEY, or JWT_SECRET for tt-inference-server's images, in the environment " +
			"or in .env; " + nothing},
		{server.ErrNotStarted, "ttreport doctor tells what is missing to start a server; " + nothing},
		{server.ErrOtherModel, "--model is the name that the server lists; " + nothing},
		{server.ErrNotReady, "is the server running, and is the port right? " + nothing},
		{ErrFull, "make room and run the same command again: it resumes. " + kept},
		{server.ErrDied, "its log is server.log in the run folder; the same command resumes. " + kept},
		{ErrOtherServer, "measure with the server as it was, or begin anew with --no-resume"},
		{ErrSimulated, "--device simulated is for the simulator, and the simulator for it"},
		{server.ErrPortTaken, nothing},
		{fs.ErrPermission, "the current folder cannot be written to"},
	} {
		if errors.Is(err, a.of) {
			return a.text
		}
	}
	return kept
}
