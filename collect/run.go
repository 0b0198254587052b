package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Event is progress, for a terminal or a log.
type Event struct {
	Run   string
	Step  string // "server", "point", "eval", "done"
	Text  string // what, in words
	Done  int    // requests so far, of Total
	Total int
	Index int           // of the point, from 1
	Count int           // points in all
	Took  time.Duration // when finished
	Err   string
	Note  string  // what bears on the numbers
	TTFT  float64 // ms, mean; 0 when unknown
	TPOT  float64
	Final bool // the step has ended
}

// Outcome is what a run left behind.
type Outcome struct {
	ID     string
	Dir    string
	Points []PointOutcome
	Evals  int // that were measured
	Failed int
}

// PointOutcome is the short result of one measurement.
type PointOutcome struct {
	Workload   sweep.Workload
	TTFT, TPOT float64 // ms, mean; 0 when nothing completed
}

// session is one run under way.
type session struct {
	plan     Plan
	end      Endpoint
	dir      string
	id       string
	start    time.Time
	journal  *manifest.Journal
	report   func(Event)
	out      Outcome
	version  string
	embedded bool            // the server is the simulator in this program
	machine  host.Facts      // that we run on
	done     map[string]bool // items that an earlier attempt measured
	before   manifest.Stack  // that it measured them on
}

// Run measures a plan on a server and writes a run folder below results. A run of the same plan that was interrupted goes on where it
// stopped, unless the server is another one by now. report is called with progress, from one goroutine at a time. The run folder is
// there, with what was measured, also when an error is returned.
func Run(ctx context.Context, p Plan, srv Server, results, version string, report func(Event)) (Outcome, error) {
	start := time.Now().UTC().Truncate(time.Second)
	s := &session{plan: p, start: start, id: runID(p, start, strconv.FormatInt(time.Now().UnixNano(), 36)), report: serial(report), version: version}
	s.dir = filepath.Join(results, s.id)
	_, s.embedded = srv.(*Simulated)
	s.resume(results)
	s.out = Outcome{ID: s.id, Dir: s.dir}
	if err := os.MkdirAll(filepath.Join(s.dir, "raw"), 0o777); err != nil {
		return s.out, fmt.Errorf("run folder: %w", err)
	}
	var err error
	if s.journal, err = manifest.OpenJournal(filepath.Join(s.dir, manifest.JournalName)); err != nil {
		return s.out, err
	}
	defer s.journal.Close()
	defer srv.Stop()
	if err := full(s.begin(ctx, srv)); err != nil {
		if len(s.done) == 0 {
			err = s.discard(results, err)
		}
		return s.out, err
	}
	if err := s.measure(ctx, srv); err != nil {
		if ctx.Err() != nil && len(s.out.Points)+s.out.Evals+len(s.done) == 0 {
			return s.out, s.discard(results, err)
		}
		return s.out, full(err)
	}
	if err := s.log("run-done", "", "", ""); err != nil {
		return s.out, err
	}
	return s.out, s.writeManifest(time.Now().UTC())
}

// discard removes a run folder in which nothing was measured, which would only puzzle, and keeps the log of a server of ours for whoever
// must find out why.
func (s *session) discard(results string, why error) error {
	kept := filepath.Join(filepath.Dir(results), ".ttreport", "server-"+s.id+".log")
	if info, err := os.Stat(filepath.Join(s.dir, ServerLog)); err == nil && info.Size() > 0 && os.MkdirAll(filepath.Dir(kept), 0o777) == nil && os.Rename(filepath.Join(s.dir, ServerLog), kept) == nil {
		why = fmt.Errorf("%w\n  its log: %s", why, kept)
	}
	_ = os.RemoveAll(s.dir) // why is the error
	return why
}

func (s *session) log(event, item, result, note string) error {
	return s.journal.Log(manifest.Entry{Time: time.Now().UTC(), Event: event, Item: item, Result: result, Note: redact.Text(note)})
}

// begin starts the server and writes down who is measured.
func (s *session) begin(ctx context.Context, srv Server) error {
	event := "run-start"
	if len(s.done) > 0 {
		event = "run-resume"
	}
	if err := s.log(event, s.id, s.plan.digest(), s.plan.Release); err != nil {
		return err
	}
	began := time.Now()
	end, err := srv.Start(ctx, s.dir)
	if err != nil {
		_ = s.log("server-failed", "", "", err.Error()) // the error itself is returned
		return fmt.Errorf("server: %w", err)
	}
	s.end = end
	s.know(ctx, srv, time.Since(began))
	if s.end.Stack.Engine == simEngine && s.plan.Device != schema.Simulated {
		return fmt.Errorf("%w: the simulator answers at %s, and %q would stand beside its numbers", ErrSimulated, end.URL, s.plan.Device)
	}
	if s.plan.Device == schema.Simulated && s.end.Stack.Engine != simEngine {
		return fmt.Errorf("%w: %q answers at %s, which is not the simulator", ErrSimulated, end.Stack.Engine, end.URL)
	}
	if err := s.sameServer(); err != nil {
		return err
	}
	s.report(Event{Run: s.id, Step: "server", Text: "ready", Took: time.Since(began), Final: true})
	if err := s.log("server-ready", "", "", fmt.Sprintf("%.1f s", time.Since(began).Seconds())); err != nil {
		return err
	}
	if err := s.writeManifest(time.Time{}); err != nil {
		return err
	}
	return s.warm(ctx)
}

// know reads what the server runs on where that is this machine, and how long it took to start where it is ours.
func (s *session) know(ctx context.Context, srv Server, took time.Duration) {
	_, ours := srv.(mortal)
	if s.plan.Device == schema.Simulated || !ours && !local(s.end.URL) {
		return
	}
	s.machine = host.Read(ctx)
	if ours {
		s.machine.Setting["server_startup_s"] = strconv.FormatFloat(took.Seconds(), 'f', 1, 64)
	}
}

// local reports whether an address is on this machine's loopback interface.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func (s *session) writeManifest(end time.Time) error {
	m := manifest.Manifest{ID: s.id, Start: s.start, Release: s.plan.Release, Channel: s.plan.Channel, Model: s.plan.Model, Impl: s.plan.Impl,
		Device: manifest.Device{Name: s.plan.Device, Chips: s.machine.Chips, Firmware: s.machine.Firmware}, Stack: s.end.Stack, Targets: s.plan.Targets, Setting: s.machine.Setting}
	if !end.IsZero() {
		m.End = end.Truncate(time.Second)
	}
	seen := map[string]bool{}
	for _, it := range s.plan.items() {
		planned := manifest.PlanItem{Tool: it.tool.Name, Eval: it.task}
		switch {
		case it.once:
			continue // its workloads are its own
		case it.task == "":
			planned.Workload = workload(it.load)
		}
		if id := it.text() + it.tool.Name; !seen[id] { // repeats are one
			seen[id] = true
			m.Plan = append(m.Plan, planned)
		}
	}
	data, err := m.Marshal()
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(s.dir, manifest.FileName), data)
}

// measure makes every item that is not there yet.
func (s *session) measure(ctx context.Context, srv Server) error {
	items := s.plan.items()
	restarted := false
	for i := 0; i < len(items); i++ {
		if s.done[items[i].name] {
			continue
		}
		alive, stop := s.watch(ctx, srv)
		failed, points := s.out.Failed, len(s.out.Points)
		err := s.item(alive, i, len(items), items[i])
		if s.out.Failed > failed { // of a server that is gone, everything fails at once
			s.outlive(alive)
		}
		died := context.Cause(alive)
		stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(died, ErrServerDied) {
			if err != nil {
				return err
			}
			continue
		}
		if err := s.revive(ctx, srv, died, restarted, items[i:]); err != nil {
			return err
		}
		restarted, s.out.Failed, s.out.Points = true, failed, s.out.Points[:points]
		i-- // the same item again: what a dying server answered is no measurement
	}
	return nil
}

func (s *session) item(ctx context.Context, i, n int, it item) error {
	switch {
	case it.tool.Name != builtin.Name:
		return s.foreign(ctx, i, n, it)
	case it.task != "":
		return s.eval(ctx, i, n)
	}
	return s.point(ctx, i, n, it)
}

// point measures one workload. A point that failed is a result too: it is written, journalled, and the next one is tried.
func (s *session) point(ctx context.Context, i, n int, it item) error {
	name, w := it.name, it.load
	if err := s.log("point-start", name, "", ""); err != nil {
		return err
	}
	load := builtin.Load{URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey, ISL: w.ISL, OSL: w.OSL, Concurrency: w.Concurrency, Rate: w.Rate, Requests: w.Requests,
		Warmups: min(2, w.Requests), Seed: s.plan.Seed + uint64(i), Timeout: 2 * time.Hour}
	text := w.String()
	load.Progress = s.progress(Event{Run: s.id, Step: "point", Text: text, Total: w.Requests, Index: i + 1, Count: n})
	began := time.Now()
	gauges := s.sample(ctx)
	defer gauges.stop()
	limited, done := context.WithTimeout(ctx, s.limit(it))
	defer done()
	out, err := builtin.Run(limited, load)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return s.failed(it, i, n, began, fmt.Errorf("%w (%s)", process.ErrLimit, s.limit(it)))
	}
	if err != nil {
		_ = s.log("point-failed", name, "", err.Error()) // the error itself is returned
		return err
	}
	file := name + ".json"
	raw, err := out.Result(load)
	if err != nil {
		return err
	}
	side := manifest.Sidecar{Result: file, Tool: builtin.Name, ToolVersion: builtin.Version, Workload: workload(w), Argv: s.argv(w, load.Seed), Start: began.UTC(), End: time.Now().UTC(), Client: out.Client(load),
		Conditions: map[string]string{"num_prompts": strconv.Itoa(w.Requests), "ignore_eos": "true", "warmups": strconv.Itoa(load.Warmups), "seed": strconv.FormatUint(load.Seed, 10)}}
	set := out.Set()
	if set.OK == 0 {
		side.ExitCode = 1
	}
	if s.end.Stack.Engine == simEngine {
		delete(side.Client, "cpu_s") // the simulator may run in this process
	}
	gauges.into(&side)
	// The sidecar first: a result without one would be read as somebody else's.
	if err := s.store(file, raw, side); err != nil {
		return err
	}
	event, failure := "point-done", ""
	if set.OK == 0 {
		event, failure = "point-failed", firstError(out)
		s.out.Failed++
	}
	s.out.Points = append(s.out.Points, PointOutcome{w, set.TTFT.Mean, set.TPOT.Mean})
	s.report(Event{Run: s.id, Step: "point", Text: text, Done: len(out.Requests), Total: w.Requests, Index: i + 1, Count: n, Took: time.Since(began), TTFT: set.TTFT.Mean, TPOT: set.TPOT.Mean, Err: failure, Note: held(w, out.Reached()), Final: true})
	return s.log(event, name, "raw/"+file, failure)
}

func (s *session) store(file string, raw []byte, side manifest.Sidecar) error {
	data, err := side.Marshal()
	if err != nil {
		return err
	}
	name := filepath.Join(s.dir, "raw", file)
	if err := durable.WriteFile(name+manifest.SidecarSuffix, data); err != nil {
		return err
	}
	return durable.WriteFile(name, raw)
}

// argv is the command that would make this point again.
func (s *session) argv(w sweep.Workload, seed uint64) []string {
	argv := []string{"ttreport", "collect", "--server", s.server(), "--model", s.plan.Model.Name, "--device", s.plan.Device, "--seed", strconv.FormatUint(seed, 10),
		"--workload", w.Spec(), "--only", "benchmarks"}
	if s.plan.Release != "" {
		argv = append(argv, "--release", s.plan.Release)
	}
	return redact.Argv(argv)
}

// server is what --server would name: the simulator's own port means nothing to anybody else.
func (s *session) server() string {
	if s.embedded {
		return "sim"
	}
	return s.end.URL
}

// progress makes a callback that is safe to call from many goroutines and reports at most ten times a second.
func (s *session) progress(e Event) func(builtin.SoFar) {
	var gate throttle
	began := time.Now()
	return func(so builtin.SoFar) {
		if !gate.pass() {
			return
		}
		e := e
		e.Done, e.TTFT, e.TPOT, e.Took = so.Done, so.TTFT, so.TPOT, time.Since(began)
		if so.Failed > 0 {
			e.Err = fmt.Sprintf("%d failed", so.Failed)
		}
		s.report(e)
		gate.release()
	}
}

func firstError(o builtin.Outcome) string {
	for _, t := range o.Requests {
		if t.Error != "" {
			return t.Error
		}
	}
	return "no request completed"
}

// ErrSimulated is returned when the device and the simulator contradict each other.
var ErrSimulated = errors.New("simulated is not measured")

// simEngine is what the simulator calls itself.
const simEngine = "ttreport-sim"

// ErrOtherServer is returned when an interrupted run would go on with another server.
var ErrOtherServer = errors.New("the run that was interrupted measured another server")

// errNoModel is returned for a server that lists no model.
var errNoModel = errors.New("the server lists no model at /v1/models")
