package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

var (
	// ErrSimulated is returned when the device and the simulator contradict each other.
	ErrSimulated = errors.New("simulated is not measured")
	// ErrOtherServer is returned when an interrupted run would be resumed on another server.
	ErrOtherServer = errors.New("the interrupted run measured another server")
	// ErrFull is returned when there is no room for results.
	ErrFull = errors.New("the disk is full")
)

// full wraps an error that means that the disk is full.
func full(err error) error {
	if slices.ContainsFunc(diskIsFull(), func(e error) bool { return errors.Is(err, e) }) {
		return errors.Join(ErrFull, err)
	}
	return err
}

// Advice is what to do about an error of [Run], [Demo] or a server. results is the folder where what was measured is
// kept; "" when nothing was.
func Advice(err error, results string) string {
	const nothing = "nothing was measured"
	kept := nothing
	if results != "" {
		kept = "what has been measured so far is kept in " + results
	}
	for _, a := range []struct {
		of   error
		text string
	}{
		{server.ErrDenied, "set OPENAI_API_KEY, or JWT_SECRET for tt-inference-server's images, in the environment " +
			"or in .env; " + nothing},
		{server.ErrNotStarted, "ttreport doctor lists what is missing to start a server; " + nothing},
		{server.ErrOtherModel, "--model is the name that the server lists; " + nothing},
		{server.ErrNotReady, "is the server running, and is the port right? " + nothing},
		{ErrFull, "make room and run the same command again: it resumes. " + kept},
		{server.ErrDied, "its log is server.log in the run folder; the same command resumes. " + kept},
		{ErrOtherServer, "use the server as it was, or start over with --no-resume"},
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

// Event is progress, for a terminal or a log.
type Event struct {
	Run   string
	Step  string // "server", "point", "probe" of a search, "eval", "done"
	Text  string // what, in words
	Done  int    // requests so far, of Total
	Total int
	Index int           // of the measurement, from 1
	Count int           // measurements in all
	Took  time.Duration // when finished
	Err   string
	Note  string  // what affects the numbers
	TTFT  float64 // ms, mean; 0 when unknown
	TPOT  float64
	Final bool // the step has ended
}

// Outcome summarises a run.
type Outcome struct {
	ID            string
	Dir           string
	Points        []PointOutcome
	Evals         int // that were measured
	Failed, Empty int // measurements that failed; of Points, those in which no request completed
}

// PointOutcome is the short result of one measurement.
type PointOutcome struct {
	Workload   plan.Workload
	TTFT, TPOT float64 // ms, mean; 0 when nothing completed
	E2EL       float64 // ms, mean; 0 when unknown
	OutputTPS  float64 // output tokens a second; 0 when unknown
	Failed     int     // requests
}

// session is a run in progress.
type session struct {
	plan      plan.Plan
	srv       server.Server
	end       server.Endpoint
	dir       string
	id        string
	start     time.Time
	journal   *manifest.Journal
	report    func(Event)
	out       Outcome
	virtual   *sim.Virtual      // the simulator on its own clock; nil for a server on the machine's
	machine   host.Facts        // that we run on
	meter     *host.Meter       // of its power; nil where nothing states it
	metered   bool              // it was looked for
	fits      builtin.Fits      // how the server counts tokens
	resumed   bool              // the folder is one of an earlier attempt
	done      map[string]bool   // items that an earlier attempt measured
	probes    searched          // what searches have measured, also in an earlier attempt
	before    schema.Stack      // that it measured them on
	unstated  bool              // before is not known
	took      time.Duration     // to start the server
	measuring bool              // the server was ready
	budget    budget            // of the time
	apart     bool              // both servers were to keep running, and do not fit
	other     string            // id of the run that this one takes turns with
	tools     map[string]string // what is known of tools: why one gave no result, [toolWorks] or [toolFails]
	answered  atomic.Int64      // when a request was last answered, in nanoseconds since 1970
}

// now returns the time of the clock that the server runs on.
func (s *session) now() time.Time {
	if s.virtual != nil {
		return s.virtual.Time()
	}
	return time.Now()
}

// Side is a plan and the server that it is measured on. Two sides take turns ([plan.Plan.InTurns]).
type Side struct {
	Plan    plan.Plan
	Server  server.Server
	Address string // of the server, for [CommandLines]
}

// Folder is a run folder, or those of two runs that take turns, that no other process writes to.
type Folder struct {
	sides   []*session // the baseline first
	kept    bool       // both servers keep running
	clock   time.Time  // of simulators with clocks of their own: the latest
	results string
	release []func()
}

// Run measures a plan on a server and writes a run folder below results: [Open] and [Folder.Measure].
func Run(ctx context.Context, p plan.Plan, srv server.Server, results string, report func(Event)) (Outcome, error) {
	f, err := Open(ctx, results, report, Side{Plan: p, Server: srv})
	if err != nil {
		return f.sides[0].out, err
	}
	outs, err := f.Measure(ctx)
	return outs[0], err
}

// Open makes the run folder of each side below results, or finds the one that an interrupted run of its plan left, and
// locks it; [folderlock.ErrHeld] where another process writes to it. Those of two sides name each other. report is
// called with progress, from one goroutine at a time. [Folder.Measure] must follow, which ends the locks.
func Open(ctx context.Context, results string, report func(Event), sides ...Side) (*Folder, error) {
	f := &Folder{kept: sides[0].Plan.Turns.Kept, results: results}
	for i, side := range sides {
		if sim, ok := side.Server.(*server.Simulated); ok && len(sides) > 1 { // two machines never have the same noise
			sim.Config.Seed = sim.Config.Seed&(1<<40-1) + uint64(i+1)<<40
		}
		s := newSession(side, results, report)
		f.sides = append(f.sides, s)
		if err := os.MkdirAll(filepath.Join(s.dir, "raw"), 0o777); err != nil {
			f.unlock()
			return f, fmt.Errorf("run folder: %w", err)
		}
		release, err := folderlock.Take(ctx, s.dir, folderlock.Exclusive, folderlock.Wait{})
		if err != nil {
			f.unlock()
			return f, err
		}
		if f.release = append(f.release, release); !s.resumed {
			continue
		}
		// What an interrupted run has is read again under the lock: the other process may have ended it meanwhile.
		if f.sides[i] = newSession(side, results, report); f.sides[i].dir != s.dir {
			f.sides[i] = s
			f.unlock()
			return f, fmt.Errorf("%s: %w", s.dir, folderlock.ErrHeld)
		}
	}
	if len(f.sides) > 1 {
		f.sides[0].other, f.sides[1].other = f.sides[1].id, f.sides[0].id
	}
	return f, nil
}

// Path is the folder that was opened last.
func (f *Folder) Path() string { return f.sides[len(f.sides)-1].dir }

func (f *Folder) unlock() {
	for _, release := range f.release {
		release()
	}
}

// Measure measures what the folders do not have yet, and returns the outcome of each side. The server of a run by
// itself must be what it was when the run was interrupted; those of two sides start again for every turn, unless the
// plan keeps them running. The folders have what was measured also when an error is returned.
func (f *Folder) Measure(ctx context.Context) (outs []Outcome, err error) {
	defer f.unlock()
	defer func() {
		for _, s := range f.sides {
			outs = append(outs, s.out)
		}
	}()
	for _, s := range f.sides {
		if s.journal, err = manifest.OpenJournal(filepath.Join(s.dir, manifest.JournalName)); err != nil {
			return nil, err
		}
		defer s.journal.Close()
		defer s.srv.Stop()
	}
	if err = full(f.measure(ctx)); err != nil {
		err = f.discard(ctx, err)
	}
	return nil, err
}

// discard removes run folders without measurements, which would only confuse. It keeps the logs of servers that we
// started, to find out why.
func (f *Folder) discard(ctx context.Context, why error) error {
	for _, s := range f.sides {
		if s.resumed || s.measuring && ctx.Err() == nil || len(s.out.Points)+s.out.Evals+len(s.probes) > 0 {
			return why
		}
	}
	for _, s := range f.sides {
		log := filepath.Join(s.dir, server.LogName)
		kept := filepath.Join(filepath.Dir(f.results), ".ttreport", "server-"+s.id+".log")
		if info, err := os.Stat(log); err == nil && info.Size() > 0 && os.MkdirAll(filepath.Dir(kept), 0o777) == nil {
			if os.Rename(log, kept) == nil {
				why = fmt.Errorf("%w\n  its log: %s", why, kept)
			}
		}
		_ = os.RemoveAll(s.dir) // why is the error
	}
	return why
}

// measure measures all turns, and ends the runs.
func (f *Folder) measure(ctx context.Context) error {
	for _, s := range f.sides {
		event := "run-start"
		if len(s.done) > 0 {
			event = "run-resume"
		}
		if err := s.log(event, s.id, s.plan.Digest(), s.plan.Release); err != nil {
			return err
		}
	}
	missing := func(s *session) bool {
		return slices.ContainsFunc(s.plan.Items(), func(it plan.Item) bool { return !s.done[it.Name] })
	}
	if f.kept && slices.ContainsFunc(f.sides, missing) {
		if err := f.startBoth(ctx); err != nil {
			return err
		}
	}
	for _, turn := range f.sides[0].plan.Turns.Order() {
		s := f.sides[len(f.sides)-1]
		if turn.Baseline {
			s = f.sides[0]
		}
		if err := f.turn(ctx, s, turn.Block); err != nil {
			return err
		}
	}
	for _, s := range f.sides {
		if err := s.writeManifest(s.now().UTC()); err != nil { // first: who reads that the run is done finds it whole
			return err
		}
		if err := s.log(manifest.EventRunDone, "", "", ""); err != nil {
			return err
		}
	}
	return nil
}

// turn measures the items of one block on one server that have no result yet; block 0 is a run by itself.
func (f *Folder) turn(ctx context.Context, s *session, block int) (err error) {
	defer func() {
		if err != nil && block > 0 {
			err = fmt.Errorf("%s, block %d: %w", s.plan.Turns.Side, block, err)
		}
	}()
	items := slices.DeleteFunc(s.plan.Items(), func(it plan.Item) bool { return it.Block != block })
	if block > 0 && !slices.ContainsFunc(items, func(it plan.Item) bool { return !s.done[it.Name] }) {
		return nil
	}
	if err := f.start(ctx, s, block); err != nil {
		return err
	}
	err = s.measure(ctx, items)
	if s.virtual != nil {
		f.clock = s.virtual.Time()
	}
	if !f.kept {
		s.srv.Stop()
	}
	return err
}

// start starts the server of a side for a block; one that is kept only once. It must be what it was in the blocks
// before.
func (f *Folder) start(ctx context.Context, s *session, block int) error {
	if block > 0 {
		text := fmt.Sprintf("block %d of %d: %s", block, s.plan.Turns.Blocks, s.plan.Turns.Side)
		s.report(Event{Run: s.id, Step: "turn", Text: text, Final: true})
		if err := s.log("block-start", "", "", text); err != nil {
			return err
		}
	}
	before := s.end
	if f.kept && before.Model != "" {
		return nil
	}
	if sim, ok := s.srv.(*server.Simulated); ok && sim.Virtual && !f.clock.IsZero() {
		sim.Begin = f.clock
	}
	err := s.startServer(ctx)
	switch {
	case err != nil:
	case before.Model != "":
		err = otherStack(before.Stack, s.end.Stack)
	default:
		err = s.sameServer()
	}
	if err != nil {
		return err
	}
	return s.ready(ctx)
}

// startBoth starts both servers before anything is measured. Where the second one does not start next to the first,
// both end, and start again for each turn from then on.
func (f *Folder) startBoth(ctx context.Context) error {
	for _, s := range f.sides {
		switch srv := s.srv.(type) {
		case *server.Attached: // it runs, and cannot be ended
			return nil
		case *server.Simulated:
			if srv.Virtual { // it takes no memory of a device
				return nil
			}
		}
	}
	if err := f.sides[0].startServer(ctx); err != nil {
		return err
	}
	why := f.sides[1].startServer(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if why == nil {
		for _, s := range f.sides {
			if err := errors.Join(s.sameServer(), s.ready(ctx)); err != nil {
				return err
			}
		}
		return nil
	}
	f.kept = false
	text := fmt.Sprintf("the candidate does not run beside the baseline, so they take turns: %s", why)
	f.sides[1].report(Event{Run: f.sides[1].id, Step: "turn", Text: text, Final: true})
	for _, s := range f.sides {
		s.srv.Stop()
		s.end, s.apart = server.Endpoint{}, true
		if err := s.log("turns", "", "", text); err != nil {
			return err
		}
	}
	return nil
}

// startServer starts the server and reads what it is. It refuses a real device on the simulator, and the simulated
// device on anything else.
func (s *session) startServer(ctx context.Context) error {
	began := time.Now()
	end, err := s.srv.Start(ctx, s.dir)
	if err != nil {
		_ = s.log("server-failed", "", "", err.Error()) // the error itself is returned
		return fmt.Errorf("server: %w", err)
	}
	s.end, s.took = end, time.Since(began)
	redact.Know(end.APIKey)
	if srv, ok := s.srv.(*server.Simulated); ok {
		s.virtual = srv.Clock
	}
	s.readHost(ctx)
	switch engine, device := end.Stack.Engine, s.plan.Device; {
	case engine == server.SimEngine && device != schema.Simulated:
		const why = "%w: the simulator serves at %s, and its numbers would be those of %q"
		return fmt.Errorf(why, ErrSimulated, end.URL, device)
	case device == schema.Simulated && engine == "" && end.URL == "": // offline tools bring their own
		return fmt.Errorf("%w: the tools take no address of a server, so they do not measure the simulator", ErrSimulated)
	case engine != server.SimEngine && device == schema.Simulated:
		return fmt.Errorf("%w: %q serves at %s, which is not the simulator", ErrSimulated, engine, end.URL)
	}
	return nil
}

// ready reports and journals that the server is ready, and warms it up.
func (s *session) ready(ctx context.Context) error {
	s.report(Event{Run: s.id, Step: "server", Text: "ready", Took: s.took, Final: true})
	if err := s.log("server-ready", "", "", fmt.Sprintf("%.1f s", s.took.Seconds())); err != nil {
		return err
	}
	if err := errors.Join(s.writeManifest(time.Time{}), s.keepStart()); err != nil {
		return err
	}
	return s.warm(ctx)
}

// keepStart writes how long our own server took until it answered, as a result: a point of the run.
func (s *session) keepStart() error {
	_, ours := s.srv.(*server.Command) // the start of a container is mostly that of its image's download
	if !ours || s.machine.Setting[schema.SettingStartup] == "" || s.end.URL == "" {
		return nil
	}
	name, now := filepath.Join(s.dir, "raw", "server", "startup.json"), s.now().UTC()
	side := manifest.Sidecar{Result: filepath.Base(name), Tool: builtin.Name, ToolVersion: builtin.Version,
		Start: now.Add(-s.took), End: now}
	data, err := side.Marshal()
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o777)); err != nil {
		return err
	}
	var all struct {
		Mean  float64   `json:"avg_server_startup_time"`
		Times []float64 `json:"server_startup_times"` // of each start, also before an interruption
	}
	if earlier, err := os.ReadFile(name); err != nil || json.Unmarshal(earlier, &all) != nil {
		all.Times = nil // what is broken is written anew
	}
	all.Times = append(all.Times, math.Round(s.took.Seconds()*1e3)/1e3)
	all.Mean = 0
	for _, x := range all.Times {
		all.Mean += x / float64(len(all.Times))
	}
	text, err := json.Marshal(all)
	return errors.Join(err, durable.WriteFile(name+manifest.SidecarSuffix, data),
		durable.WriteFile(name, append(text, '\n')))
}

func (s *session) writeManifest(end time.Time) error {
	m := manifest.Manifest{
		Facts: schema.Facts{
			RunID: s.id, Start: s.start, Release: s.plan.Release, Channel: s.plan.Channel, Model: s.plan.Model,
			Impl: s.plan.Impl, Stack: s.end.Stack,
			Device: schema.Device{Name: s.plan.Device, Chips: s.machine.Chips, Firmware: s.machine.Firmware},
		},
		Targets: s.plan.Targets, Setting: s.machine.Setting,
	}
	if t := s.plan.Turns; t.Blocks > 0 {
		m.Interleaved = schema.Interleaved{With: s.other, Side: t.Side, Starts: schema.StartsFresh, Blocks: t.Blocks}
		if t.Kept && !s.apart {
			m.Interleaved.Starts = schema.StartsKept
		}
	}
	if !end.IsZero() {
		m.End = end.Truncate(time.Second)
	}
	seen := map[string]bool{}
	for _, it := range s.plan.Items() {
		planned := manifest.PlanItem{Tool: it.Tool.Name, Eval: it.Task}
		switch {
		case it.Once:
			continue // its workloads are its own
		case it.Task == "":
			planned.Workload = it.Workload()
		}
		if id := it.String() + it.Tool.Name; !seen[id] { // repeats are one
			seen[id] = true
			m.Plan = append(m.Plan, planned)
		}
	}
	data, err := m.Marshal()
	if err != nil {
		return err
	}
	name := filepath.Join(s.dir, manifest.FileName)
	if err := durable.WriteFile(name, data); err != nil {
		return err
	}
	return durable.Sync(name)
}
