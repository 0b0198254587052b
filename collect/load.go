package collect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
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
)

// once measures one workload with the builtin client. A load without a completed request is a result too.
func (s *session) once(ctx context.Context, st *step) (*result, error) {
	gauges := s.sample(ctx)
	defer gauges.stop()
	var first []float64
	load, out, _, err := s.inTime(ctx, func(try uint64) (builtin.Load, error) {
		load, err := s.pointLoad(st, try)
		load.Ready = func() { first = s.edge(ctx) }
		return load, err
	})
	if err != nil {
		return nil, err
	}
	var last []float64
	if first != nil {
		last = s.edge(ctx)
	}
	length := out.Duration.Seconds()
	read := gauges.during(out.Began, length)
	if first != nil && last != nil { // so that what counters grew by is of all requests
		last[0] = math.Round(length*100) / 100
		read.gauges = slices.Concat([][]float64{first}, read.gauges, [][]float64{last})
	}
	return s.loaded(st, load, out, read, "")
}

// inTime measures a load, and does so twice more where this machine was too busy to say how long requests took; busy is
// the reason where it was each time. Each try has prompts of its own, which no cache knows. What takes minutes is not
// measured again: whether that is worth it is for whoever waits for it.
func (s *session) inTime(
	ctx context.Context, loadOf func(try uint64) (builtin.Load, error),
) (load builtin.Load, out builtin.Outcome, busy string, err error) {
	const most, brief = 3, time.Minute
	began := s.now()
	for try := range uint64(most) {
		if load, err = loadOf(try); err != nil {
			return load, out, "", err
		}
		if out, err = s.load(ctx, load); err != nil || out.Overload {
			return load, out, "", err
		}
		busy = builtin.Busy(out.Set(), load)
		if busy == "" || try == most-1 || s.now().Sub(began) > brief {
			break
		}
		s.report(Event{Run: s.id, Step: "again", Text: "with other prompts", Note: busy, Final: true})
	}
	return load, out, busy, nil
}

// pointLoad returns the load of a point; each try has prompts of its own.
func (s *session) pointLoad(st *step, try uint64) (builtin.Load, error) {
	w := st.Load
	e := s.event(st)
	if e.Total = w.Requests; s.plan.Until.Set() {
		// The most requests: the result file has each gap between tokens.
		w.Requests, e.Total = min(50_000, max(1000, 2_000_000/max(1, w.OSL))), 0
	}
	load, err := s.loadOf(w, s.plan.Seed+uint64(st.index)+try<<40)
	load.Warmups = min(2, w.Requests)
	load.Progress = s.progress(e)
	return load, err
}

// loadOf returns a workload as a load for the builtin client.
func (s *session) loadOf(w plan.Workload, seed uint64) (builtin.Load, error) {
	if w.Context == 0 { // nothing stated it before the server was started
		if w.Context = s.end.Context; w.Context > 0 && w.ISL+w.OSL > w.Context {
			return builtin.Load{}, unmeasured{fmt.Errorf("the server takes requests of %d tokens, and these have %d",
				w.Context, w.ISL+w.OSL)}
		}
	}
	each, err := w.Draw(seed)
	if err != nil {
		return builtin.Load{}, unmeasured{err}
	}
	text := uint64(0)
	if s.plan.Text > 0 {
		text = s.plan.Text + seed
	}
	w.Timeout = cmp.Or(w.Timeout, 2*time.Hour)
	return builtin.Load{
		Workload: w, URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey,
		Each: each, Fit: true, Fits: s.fits, Seed: seed, Text: text, Simulated: s.end.Stack.Engine == server.SimEngine,
	}, nil
}

// load runs a load, over the network or on the simulator's own clock.
func (s *session) load(ctx context.Context, l builtin.Load) (builtin.Outcome, error) {
	if s.virtual != nil {
		if err := ctx.Err(); err != nil { // its clock does not look at it
			return builtin.Outcome{}, err
		}
		return builtin.RunVirtual(l, s.virtual)
	}
	over := s.sayWaiting(fmt.Sprintf("for the server to count the tokens of a prompt, at most %s", l.Timeout))
	defer over()
	begins := l.Ready
	l.Ready = func() {
		if over(); begins != nil {
			begins()
		}
	}
	n := min(s.plan.Clients, l.Requests) // none is without a stream or a request
	if l.Concurrency > 0 {
		n = min(n, l.Concurrency)
	}
	if n <= 1 || l.Ordered() { // what waits for an answer does so in one process
		return builtin.Run(ctx, l)
	}
	return runClients(ctx, l, n)
}

// sayWaiting says what is waited for, where it takes longer than usual, until over is called.
func (s *session) sayWaiting(what string) (over func()) {
	const usual = 2 * time.Second
	began := time.Now()
	return every(usual, time.Minute, func() {
		s.report(Event{Run: s.id, Step: "waiting", Text: what, Took: time.Since(began), Final: true})
	})
}

// every calls a function after some time, and then again and again, until over is called.
func every(first, then time.Duration, do func()) (over func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var calls sync.WaitGroup
	calls.Go(func() {
		for next := first; process.Sleep(ctx, next) == nil; next = then {
			do()
		}
	})
	return func() {
		cancel()
		calls.Wait()
	}
}

// loaded is the result of a load; known says how well it is known, where that was asked for.
func (s *session) loaded(
	st *step, load builtin.Load, out builtin.Outcome, read readings, known string,
) (*result, error) {
	load.Requests = len(out.Requests) // fewer, where it ended because enough was known
	raw, err := out.Result(load)
	if err != nil {
		return nil, err
	}
	set := out.Set()
	r := &result{file: st.Name + ".json", raw: raw, readings: read, requests: len(out.Requests), empty: set.OK == 0}
	r.point = PointOutcome{TTFT: set.TTFT.Mean, TPOT: set.TPOT.Mean, E2EL: set.E2EL.Mean, Failed: set.Failed}
	if set.DurationS > 0 {
		r.point.OutputTPS = float64(set.Out) / set.DurationS
	}
	r.side.Argv, r.side.Client = s.argv(st.Load, load.Seed), out.Client(load)
	r.side.Conditions = map[string]string{
		"num_prompts": strconv.Itoa(load.Requests),
		"ignore_eos":  strconv.FormatBool(!slices.Contains(out.Refused, "ignore_eos")),
		"warmups":     strconv.Itoa(load.Warmups), "seed": strconv.FormatUint(load.Seed, 10),
	}
	if load.Text > 0 {
		r.side.Conditions[schema.ConditionText] = strconv.FormatUint(load.Text, 10)
	}
	if out.Counted {
		r.side.Conditions[schema.ConditionISL] = schema.ISLCounted
	}
	steady := cmp.Or(known, saturation(st.Load, out.Reached()))
	if out.Overload {
		r.side.Client[schema.ClientOverload] = strconv.Itoa(len(out.Requests))
		steady = fmt.Sprintf("requests arrive faster than the server completes them: stopped after %d", len(out.Requests))
	}
	if out.Gone > 0 {
		r.side.Client["cancelled"] = strconv.Itoa(out.Gone)
	}
	if set.Undated > 0 {
		r.side.Client["read_late"] = strconv.Itoa(set.Undated)
	}
	if s.end.Stack.Engine == server.SimEngine {
		delete(r.side.Client, "cpu_s") // the simulator may run in this process
	}
	if r.empty {
		r.failure = firstError(out)
	} else if why := builtin.Busy(set, load); why != "" {
		r.empty, r.failure = true, why
	}
	if r.empty {
		r.side.ExitCode = 1
	}
	r.note = remarks(st.Load, out, set, r.failure, steady)
	return r, nil
}

// remarks are what is to know of a load beside its numbers, if anything: requests that are in no statistic, where
// others are; those of which something is left out, unless that is the failure; prompts of random words that the server
// knew before, as it does those of an earlier measurement with the same seed, so that TTFT is that of its cache.
func remarks(w plan.Workload, out builtin.Outcome, set latency.Set, failure, steady string) string {
	var notes []string
	note := func(is bool, format string, args ...any) {
		if is {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	lost, late, resent := set.Failed+set.Hollow, "unknown times are left out", out.Resent()
	note(lost > 0 && set.OK > 0, "%d of %d requests failed", lost, lost+set.OK)
	if set.LostGaps > latency.MostLost {
		late = "ITL is not known"
	}
	note(set.Undated > 0 && failure == "", "%d of %d requests were read late: %s", set.Undated, set.OK, late)
	note(resent > 0, "sent again: %d, whose idle connections were closed by the server or a proxy", resent)
	note(steady != "", "%s", steady)
	share, _, known := out.Cached()
	fresh := w.Dataset == "" && w.Prefix == 0 && w.Hit == 0 && w.Turns <= 1
	note(known && fresh && share >= schema.MostlyCached,
		"%.0f%% of the prompts' tokens were in the server's cache: restart it, or leave out --seed", 100*share)
	return strings.Join(notes, "; ")
}

// saturation returns a note on a client that did not reach the requested concurrency; "" if it did.
func saturation(w plan.Workload, reached float64) string {
	asked := min(w.Concurrency, w.Requests)
	if reached > 0 && asked > 1 && w.Rate == 0 && w.Think == 0 && schema.Saturated(float64(asked), reached) {
		return fmt.Sprintf("%.1f of %d requests in flight on average", reached, asked)
	}
	return ""
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

// ownArgv begins the command lines of what this program measures itself. The simulator has no address to name: its port
// is random.
func (s *session) ownArgv() []string {
	at := redact.URL(s.end.URL)
	if _, sim := s.srv.(*server.Simulated); sim {
		at = string(plan.ServerSim)
	}
	return []string{"ttreport", "collect", "--server", at, "--model", cmp.Or(s.plan.Model.ID, s.plan.Model.Name),
		"--device", s.plan.Device}
}

// argv returns the command that would measure this point again.
func (s *session) argv(w plan.Workload, seed uint64) []string {
	argv := append(s.ownArgv(), "--seed", strconv.FormatUint(seed, 10), "--workload", w.Text(),
		"--only", string(plan.OnlyBenchmarks))
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
	var reporting sync.Mutex
	var next time.Time
	var answers atomic.Int64
	began := time.Now()
	return func(so builtin.SoFar) {
		if before := answers.Swap(int64(so.OK)); int64(so.OK) > before {
			s.answered.Store(time.Now().UnixNano())
		}
		if !reporting.TryLock() {
			return
		}
		defer reporting.Unlock()
		now := time.Now()
		if !now.After(next) {
			return
		}
		next = now.Add(100 * time.Millisecond)
		e := e
		e.Done, e.TTFT, e.TPOT, e.Took = so.Done, so.TTFT, so.TPOT, time.Since(began)
		if so.Failed > 0 {
			e.Err = fmt.Sprintf("%d failed", so.Failed)
		}
		s.report(e)
	}
}

// warm sends one request of every prompt length of the plan, so that work that a server does once for each shape,
// such as compiling kernels and capturing traces, is not measured in the first request of the first tool: most tools
// send few warm-up requests or none. A failure is only reported: the measurements will fail too.
func (s *session) warm(ctx context.Context) error {
	const osl = 4 // enough for a decode step
	if s.plan.NoWarmup || s.end.URL == "" || s.end.Stack.Engine == server.SimEngine {
		return nil
	}
	began, failed, lengths := time.Now(), "", map[int]bool{}
	for _, w := range s.plan.Workloads {
		if w.ISL == 0 || lengths[w.ISL] {
			continue
		}
		lengths[w.ISL] = true
		w = plan.Workload{ISL: w.ISL, OSL: osl, Concurrency: 1, Requests: 1, Timeout: cmp.Or(w.Timeout, s.longest())}
		over := s.sayWaiting(fmt.Sprintf("for the answer to a request of %d tokens, at most %s", w.ISL, w.Timeout))
		out, err := builtin.Run(ctx, builtin.Load{
			URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey, Workload: w,
			Fit: true, Fits: s.fits, Seed: s.plan.Seed,
		})
		over()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = err.Error()
		case out.Set().OK == 0:
			failed = fmt.Sprintf("ISL %d: %s", w.ISL, firstError(out))
		}
	}
	if len(lengths) == 0 {
		return nil
	}
	text := fmt.Sprintf("one request of each prompt length (%d)", len(lengths))
	s.report(Event{Run: s.id, Step: "warm-up", Text: text, Took: time.Since(began), Err: failed, Final: true})
	return s.log("warm-up", "", "", failed)
}

// ClientCommand is the command of this program that is one client of several: it reads its part of a load.
const ClientCommand = "load-client"

// runClients runs a load on several processes of this program, each of which ends when its input does.
func runClients(ctx context.Context, l builtin.Load, n int) (builtin.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var running []*exec.Cmd
	end := func() {
		cancel()
		for _, cmd := range running {
			_ = cmd.Wait() // what it did was read
		}
	}
	defer end()
	clients, printed := make([]builtin.Client, n), make([]bytes.Buffer, n)
	for i := range n {
		cmd := exec.CommandContext(ctx, self, ClientCommand)
		cmd.WaitDelay, cmd.Stderr = 2*time.Second, &printed[i]
		in, noInput := cmd.StdinPipe()
		out, err := cmd.StdoutPipe()
		if err = errors.Join(noInput, err); err == nil {
			cmd.Cancel = in.Close
			err = cmd.Start()
		}
		if err != nil {
			return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
		}
		running, clients[i] = append(running, cmd), builtin.Client{In: in, Out: out}
	}
	out, err := builtin.RunClients(ctx, l, clients)
	if err != nil && ctx.Err() == nil {
		end()                    // or it may still be printing
		for i := range printed { // the first that said anything
			if text := strings.TrimSpace(redact.Text(printed[i].String())); text != "" {
				return out, errors.Join(err, errors.New(text))
			}
		}
	}
	return out, err
}
