package collect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/power"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

var (
	// ErrSimulated is returned when the device and the simulator contradict each other.
	ErrSimulated = errors.New("simulated is not measured")
	// ErrOtherServer is returned when an interrupted run would be resumed on another server.
	ErrOtherServer = errors.New("the run that was interrupted measured another server")
	// ErrFull is returned when there is no room for results.
	ErrFull = errors.New("the disk is full")
)

// full wraps an error that means that the disk is full.
func full(err error) error {
	for _, e := range diskIsFull() {
		if errors.Is(err, e) {
			return errors.Join(ErrFull, err)
		}
	}
	return err
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
}

// session is a run in progress.
type session struct {
	plan     plan.Plan
	end      server.Endpoint
	dir      string
	id       string
	start    time.Time
	journal  *manifest.Journal
	report   func(Event)
	out      Outcome
	embedded bool            // the server is the simulator in this program
	virtual  builtin.Virtual // the simulator on its own clock; nil for a server on the machine's
	machine  host.Facts      // that we run on
	meter    *power.Meter    // of its power; nil where nothing states it
	metered  bool            // it was looked for
	fits     builtin.Fits    // how the server counts tokens
	resumed  bool            // the folder is one of an earlier attempt
	done     map[string]bool // items that an earlier attempt measured
	before   manifest.Stack  // that it measured them on
	unstated bool            // before is not known
	took     time.Duration   // to start the server
	budget   *budget         // of the time; nil for none
	apart    bool            // both servers were to keep running, and do not fit
	other    string          // id of the run that this one takes turns with
	answered atomic.Int64    // when a request was last answered, in nanoseconds since 1970
}

// now returns the time of the clock that the server runs on.
func (s *session) now() time.Time {
	if s.virtual != nil {
		return s.virtual.Time()
	}
	return time.Now()
}

// Run measures a plan on a server and writes a run folder below results. An interrupted run of the same plan is
// resumed, unless the server has changed. report is called with progress, from one goroutine at a time. The run
// folder exists, with what was measured, also when an error is returned.
func Run(ctx context.Context, p plan.Plan, srv server.Server, results string, report func(Event)) (Outcome, error) {
	f, err := Open(ctx, p, srv, results, report)
	if err != nil {
		return f.session.out, err
	}
	return f.Measure(ctx)
}

// Folder is a run folder that no other process writes to.
type Folder struct {
	session *session
	srv     server.Server
	results string
	release func()
}

// Open makes the run folder of a plan below results, or finds the one that an interrupted run of it left, and locks it:
// what [Run] does before it measures. [Folder.Measure] must follow, which ends the lock.
func Open(ctx context.Context, p plan.Plan, srv server.Server, results string, report func(Event)) (*Folder, error) {
	s, release, err := lockedSession(ctx, p, srv, results, report)
	return &Folder{s, srv, results, release}, err
}

// Path is the folder's.
func (f *Folder) Path() string { return f.session.dir }

// Measure measures what the folder does not have yet; see [Run].
func (f *Folder) Measure(ctx context.Context) (Outcome, error) {
	defer f.release()
	s, srv, results, err := f.session, f.srv, f.results, error(nil)
	if s.journal, err = manifest.OpenJournal(filepath.Join(s.dir, manifest.JournalName)); err != nil {
		return s.out, err
	}
	defer s.journal.Close()
	defer srv.Stop()
	if err := full(s.begin(ctx, srv)); err != nil {
		if !s.resumed {
			err = s.discard(results, err)
		}
		return s.out, err
	}
	if err := s.measure(ctx, srv, s.plan.Items()); err != nil {
		if ctx.Err() != nil && !s.resumed && len(s.out.Points)+s.out.Evals == 0 {
			return s.out, s.discard(results, err)
		}
		return s.out, full(err)
	}
	if err := s.writeManifest(s.now().UTC()); err != nil { // first: who reads that the run is done finds it whole
		return s.out, full(err)
	}
	return s.out, full(s.log("run-done", "", "", ""))
}

// discard removes a run folder without measurements, which would only confuse. It keeps the log of a server that we
// started, to find out why.
func (s *session) discard(results string, why error) error {
	log := filepath.Join(s.dir, server.LogName)
	kept := filepath.Join(filepath.Dir(results), ".ttreport", "server-"+s.id+".log")
	if info, err := os.Stat(log); err == nil && info.Size() > 0 && os.MkdirAll(filepath.Dir(kept), 0o777) == nil {
		if os.Rename(log, kept) == nil {
			why = fmt.Errorf("%w\n  its log: %s", why, kept)
		}
	}
	_ = os.RemoveAll(s.dir) // why is the error
	return why
}

// begin starts the server and writes the manifest.
func (s *session) begin(ctx context.Context, srv server.Server) error {
	if err := s.announce(); err != nil {
		return err
	}
	if err := s.startServer(ctx, srv); err != nil {
		return err
	}
	if err := s.sameServer(); err != nil {
		return err
	}
	return s.ready(ctx)
}

// announce journals the beginning.
func (s *session) announce() error {
	event := "run-start"
	if len(s.done) > 0 {
		event = "run-resume"
	}
	return s.log(event, s.id, s.plan.Digest(), s.plan.Release)
}

// startServer starts the server and reads what it is.
func (s *session) startServer(ctx context.Context, srv server.Server) error {
	began := time.Now()
	end, err := srv.Start(ctx, s.dir)
	if err != nil {
		_ = s.log("server-failed", "", "", err.Error()) // the error itself is returned
		return fmt.Errorf("server: %w", err)
	}
	s.end = end
	redact.Know(end.APIKey)
	if sim, ok := srv.(*server.Simulated); ok && sim.Virtual {
		s.virtual = sim.Clock()
	}
	took := time.Since(began)
	s.readHost(ctx, srv, took)
	s.took = took
	return s.checkSimulated()
}

// ready reports and journals that the server is ready, and warms it up.
func (s *session) ready(ctx context.Context) error {
	took := s.took
	s.report(Event{Run: s.id, Step: "server", Text: "ready", Took: took, Final: true})
	if err := s.log("server-ready", "", "", fmt.Sprintf("%.1f s", took.Seconds())); err != nil {
		return err
	}
	if err := s.writeManifest(time.Time{}); err != nil {
		return err
	}
	return s.warm(ctx)
}

// checkSimulated refuses a real device on the simulator, and the simulated device on anything else.
func (s *session) checkSimulated() error {
	engine, device := s.end.Stack.Engine, s.plan.Device
	switch {
	case engine == server.SimEngine && device != schema.Simulated:
		const why = "%w: the simulator serves at %s, and its numbers would be those of %q"
		return fmt.Errorf(why, ErrSimulated, s.end.URL, device)
	case device == schema.Simulated && engine == "" && s.end.URL == "": // offline tools bring their own
		return fmt.Errorf("%w: the tools take no address of a server, so they do not measure the simulator", ErrSimulated)
	case engine != server.SimEngine && device == schema.Simulated:
		return fmt.Errorf("%w: %q serves at %s, which is not the simulator", ErrSimulated, engine, s.end.URL)
	}
	return nil
}

func (s *session) writeManifest(end time.Time) error {
	device := manifest.Device{Name: s.plan.Device, Chips: s.machine.Chips, Firmware: s.machine.Firmware}
	m := manifest.Manifest{
		ID: s.id, Start: s.start, Release: s.plan.Release, Channel: s.plan.Channel, Model: s.plan.Model, Impl: s.plan.Impl,
		Device: device, Stack: s.end.Stack, Targets: s.plan.Targets, Setting: s.machine.Setting,
		Interleaved: s.interleaved(),
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

// step is an item that is being measured: which of how many, and since when.
type step struct {
	plan.Item
	index, count int
	began        time.Time
}

// measure measures those of some items of the plan, which follow each other, that have no result yet.
func (s *session) measure(ctx context.Context, srv server.Server, items []plan.Item) error {
	all := s.plan.Items()
	first := slices.IndexFunc(all, func(it plan.Item) bool { return len(items) > 0 && it.Name == items[0].Name })
	restarted := false
	s.budget = s.newBudget(items)
	for i := 0; i < len(items); i++ {
		if s.done[items[i].Name] {
			continue
		}
		if items[i].Task != "" { // load comes first
			if err := s.budget.rest(ctx, srv); err != nil {
				return err
			}
		}
		alive, stop := s.watch(ctx, srv)
		before := s.out
		err := s.item(alive, step{items[i], first + i, len(all), s.now()})
		if s.out.Failed > before.Failed { // when the server has died, everything fails at once
			s.awaitServer(alive)
		}
		died := context.Cause(alive)
		stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(died, server.ErrDied) {
			if err != nil {
				return err
			}
			continue
		}
		if err := s.restart(ctx, srv, died, restarted, items[i:]); err != nil {
			return err
		}
		restarted, s.out = true, before
		i-- // the same item again: answers of a dying server are not a measurement
	}
	return s.budget.rest(ctx, srv)
}

func (s *session) item(ctx context.Context, st step) error {
	switch {
	case !st.Tool.IsBuiltin():
		return s.runTool(ctx, st)
	case st.Task != "":
		return s.eval(ctx, st)
	case st.Load.SLO.Set():
		return s.capacity(ctx, st)
	}
	return s.point(ctx, st)
}

// event returns a progress event of an item.
func (s *session) event(st step) Event {
	return Event{Run: s.id, Step: st.kind(), Text: st.String(), Index: st.index + 1, Count: st.count}
}

// kind returns the name of an item's kind in events and in the journal.
func (st step) kind() string {
	if st.Task != "" {
		return "eval"
	}
	return "point"
}

// failed journals an item without a result; the run continues.
func (s *session) failed(st step, why error) error {
	s.out.Failed++
	e := s.event(st)
	e.Took, e.Err, e.Final = s.now().Sub(st.began), redact.Text(why.Error()), true
	s.report(e)
	return s.log(st.kind()+"-failed", st.Name, "", why.Error())
}

// limit returns how long an item may take: twenty times what it would take at ten tokens a second per user, at least
// a quarter of an hour for tools that are slow to start, and never more than the plan's limit.
func (s *session) limit(st step) time.Duration {
	most := s.plan.PointLimit
	if most == 0 {
		most = 2 * time.Hour
	}
	if st.Task != "" || st.Once || st.Load.SLO.Set() || s.plan.Until.Set() {
		return most
	}
	waves := float64(st.Load.Requests) / float64(max(1, st.Load.Concurrency))
	estimate := time.Duration(20 * waves * float64(st.Load.OSL) / 10 * float64(time.Second))
	return min(most, max(15*time.Minute, estimate))
}

// store writes a result and its sidecar. The sidecar is written first: a result without one would be ingested as a
// file of unknown origin.
func (s *session) store(file string, raw []byte, side manifest.Sidecar) error {
	name := filepath.Join(s.dir, "raw", file)
	if err := writeSidecar(name, side); err != nil {
		return err
	}
	return durable.WriteFile(name, raw)
}

func writeSidecar(result string, side manifest.Sidecar) error {
	data, err := side.Marshal()
	if err != nil {
		return err
	}
	return durable.WriteFile(result+manifest.SidecarSuffix, data)
}

// lockedSession is a session whose folder no other process writes to; [folderlock.ErrHeld] where one does. What an
// interrupted run has is read again under the lock: the other process may have ended it meanwhile.
func lockedSession(
	ctx context.Context, p plan.Plan, srv server.Server, results string, report func(Event),
) (s *session, release func(), err error) {
	s = newSession(p, srv, results, report)
	if err := os.MkdirAll(filepath.Join(s.dir, "raw"), 0o777); err != nil {
		return s, nil, fmt.Errorf("run folder: %w", err)
	}
	if release, err = folderlock.Take(ctx, s.dir, folderlock.Exclusive, folderlock.Wait{}); err != nil || !s.resumed {
		return s, release, err
	}
	again := newSession(p, srv, results, report)
	if again.dir != s.dir {
		release()
		return s, nil, fmt.Errorf("%s: %w", s.dir, folderlock.ErrHeld)
	}
	return again, release, nil
}

// newSession starts a run, or resumes an interrupted one.
func newSession(p plan.Plan, srv server.Server, results string, report func(Event)) *session {
	start := time.Now()
	sim, embedded := srv.(*server.Simulated)
	if embedded && !sim.Begin.IsZero() {
		start = sim.Begin
	}
	start = start.UTC().Truncate(time.Second)
	salt := strconv.FormatInt(time.Now().UnixNano(), 36)
	s := &session{plan: p, start: start, id: runID(p, start, salt), report: serial(report), embedded: embedded}
	s.dir = filepath.Join(results, s.id)
	s.resume(results)
	s.out = Outcome{ID: s.id, Dir: s.dir}
	return s
}

// runID names a run after its start and system: "20261121T045012Z-sim-8b-simulated-1a2b3c".
func runID(p plan.Plan, start time.Time, salt string) string {
	h := sha256.Sum256([]byte(p.Release + "\x00" + salt + "\x00" + start.Format(time.RFC3339Nano)))
	return fmt.Sprintf("%s-%s-%s-%s", start.UTC().Format("20060102T150405Z"),
		schema.Slug(p.Model.Name), schema.Slug(p.Device), hex.EncodeToString(h[:3]))
}

// staged is the folder below results that holds what is on its way there; readers skip hidden folders.
const staged = ".staged"

// Stage makes a folder on a disk of this machine in which a run can be measured that belongs into results. What an
// interrupted run left in results is copied there first. put moves what was measured to results, where each run folder
// appears whole, and removes the folder; where that fails the folder stays, and the error names it.
func Stage(scratch, results string) (dir string, put func() error, err error) {
	if dir, err = os.MkdirTemp(scratch, "ttreport-"); err != nil {
		return "", nil, fmt.Errorf("scratch: %w", err)
	}
	if err := os.RemoveAll(filepath.Join(results, staged)); err != nil { // of an attempt that was killed
		return "", nil, fmt.Errorf("scratch: %w", err)
	}
	for _, name := range runFolders(results) {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(results, name))); err != nil {
			return "", nil, errors.Join(full(err), os.RemoveAll(dir))
		}
	}
	return dir, func() error { return unstage(dir, results) }, nil
}

// unstage moves run folders to results.
func unstage(dir, results string) error {
	for _, name := range runFolders(dir) {
		if err := moveRun(filepath.Join(dir, name), results, name); err != nil {
			return fmt.Errorf("what was measured is still in %s: %w", filepath.Join(dir, name), full(err))
		}
	}
	return os.RemoveAll(dir)
}

// moveRun copies a run folder beside its place, and renames it.
func moveRun(from, results, name string) error {
	aside := filepath.Join(results, staged)
	defer os.RemoveAll(aside)
	if err := os.CopyFS(filepath.Join(aside, name), os.DirFS(from)); err != nil {
		return err
	}
	to := filepath.Join(results, name)
	if err := os.Rename(to, filepath.Join(aside, "before")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(filepath.Join(aside, name), to)
}

// runFolders returns the names of the run folders below a folder.
func runFolders(dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, "*", manifest.JournalName))
	if err != nil {
		return nil
	}
	for i, n := range names {
		names[i] = filepath.Base(filepath.Dir(n))
	}
	return names
}

// Finished returns the run folder of a complete run of a plan below results; "" when there is none.
func Finished(p plan.Plan, results string) string {
	names, err := filepath.Glob(filepath.Join(results, "*", manifest.JournalName))
	if err != nil {
		return ""
	}
	digest := p.Digest()
	for _, name := range names {
		data, err := rootfs.ReadFile(name, mostJournal)
		if err != nil {
			continue
		}
		same := false
		for _, e := range manifest.ReadJournal(data) {
			switch e.Event {
			case "run-start":
				same = e.Result == digest
			case manifest.EventRunDone:
				if same {
					return filepath.Dir(name)
				}
			}
		}
	}
	return ""
}
