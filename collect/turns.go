package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/power"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Side is one of two servers that are measured in turns, and its plan ([plan.Plan.InTurns]).
type Side struct {
	Plan   plan.Plan
	Server server.Server
}

// Pair is two run folders that no other process writes to, of runs that take turns.
type Pair struct {
	baseline, candidate *session
	servers             map[*session]server.Server
	kept                bool // both servers keep running
	memories            func(context.Context) []host.Memory
	clock               time.Time // of simulators with clocks of their own: the latest
	results             string
	release             []func()
}

// OpenPair makes both run folders below results, which name each other, or finds those that an interrupted pair left,
// and locks them. [Pair.Measure] must follow, which ends the locks.
func OpenPair(
	ctx context.Context, baseline, candidate Side, results string, report func(Event),
) (*Pair, error) {
	t := &Pair{servers: map[*session]server.Server{}, kept: candidate.Plan.Turns.Kept, results: results,
		memories: host.Memories}
	for i, x := range []struct {
		side Side
		at   **session
	}{{baseline, &t.baseline}, {candidate, &t.candidate}} {
		if sim, ok := x.side.Server.(*server.Simulated); ok { // two machines never have the same noise
			sim.Config.Seed = sim.Config.Seed&(1<<40-1) + uint64(i+1)<<40
		}
		s, release, err := lockedSession(ctx, x.side.Plan, x.side.Server, results, report)
		*x.at, t.servers[s] = s, x.side.Server
		if err != nil {
			t.unlock()
			return t, err
		}
		t.release = append(t.release, release)
	}
	t.baseline.other, t.candidate.other = t.candidate.id, t.baseline.id
	return t, nil
}

// Path is the folder of the run that was opened last.
func (t *Pair) Path() string {
	if t.candidate != nil {
		return t.candidate.dir
	}
	return t.baseline.dir
}

func (t *Pair) unlock() {
	for _, release := range t.release {
		release()
	}
}

// Measure measures on two servers in turns what the folders do not have yet. Servers start again for every turn, unless
// the plan keeps them running. The folders have what was measured also when an error is returned. The outcome of the
// baseline is first.
func (t *Pair) Measure(ctx context.Context) (outs [2]Outcome, err error) {
	defer t.unlock()
	for _, s := range []*session{t.baseline, t.candidate} {
		if s.journal, err = manifest.OpenJournal(filepath.Join(s.dir, manifest.JournalName)); err != nil {
			return t.outcomes(), err
		}
		defer s.journal.Close()
		defer t.servers[s].Stop()
	}
	if err = full(t.run(ctx)); err != nil {
		err = t.discard(t.results, err)
	}
	return t.outcomes(), err
}

// outcomes are those of both runs, the baseline's first.
func (t *Pair) outcomes() (outs [2]Outcome) {
	for i, s := range []*session{t.baseline, t.candidate} {
		if s != nil {
			outs[i] = s.out
		}
	}
	return outs
}

// discard removes run folders of this attempt if neither has a measurement.
func (t *Pair) discard(results string, why error) error {
	for _, s := range []*session{t.baseline, t.candidate} {
		if s.resumed || len(s.out.Points) > 0 {
			return why
		}
	}
	return errors.Join(t.candidate.discard(results, t.baseline.discard(results, why)))
}

// run measures all turns, and ends both runs.
func (t *Pair) run(ctx context.Context) error {
	for _, s := range []*session{t.baseline, t.candidate} {
		if err := s.announce(); err != nil {
			return err
		}
	}
	if t.kept && t.missing() {
		if err := t.sideBySide(ctx); err != nil {
			return err
		}
	}
	for _, turn := range t.candidate.plan.Turns.Order() {
		s := t.candidate
		if turn.Baseline {
			s = t.baseline
		}
		if err := t.turn(ctx, s, turn.Block); err != nil {
			return fmt.Errorf("%s, block %d: %w", s.plan.Turns.Side, turn.Block, err)
		}
	}
	for _, s := range []*session{t.baseline, t.candidate} {
		if err := s.writeManifest(s.now().UTC()); err != nil { // first, as in [Folder.Measure]
			return err
		}
		if err := s.log(manifest.EventRunDone, "", "", ""); err != nil {
			return err
		}
	}
	return nil
}

// turn measures the items of one block on one server that have no result yet.
func (t *Pair) turn(ctx context.Context, s *session, block int) error {
	var items []plan.Item
	missing := false
	for _, it := range s.plan.Items() {
		if it.Block == block {
			items, missing = append(items, it), missing || !s.done[it.Name]
		}
	}
	if !missing {
		return nil
	}
	if err := t.start(ctx, s, block); err != nil {
		return err
	}
	err := s.measure(ctx, t.servers[s], items)
	if s.virtual != nil {
		t.clock = s.virtual.Time()
	}
	if !t.kept {
		t.servers[s].Stop()
	}
	return err
}

// start starts the server of a side for a block; one that is kept only once. It must be what it was in the blocks
// before.
func (t *Pair) start(ctx context.Context, s *session, block int) error {
	text := fmt.Sprintf("block %d of %d: %s", block, s.plan.Turns.Blocks, s.plan.Turns.Side)
	s.report(Event{Run: s.id, Step: "turn", Text: text, Final: true})
	if err := s.log("block-start", "", "", text); err != nil {
		return err
	}
	if t.kept && s.end.Model != "" {
		return nil
	}
	if sim, ok := t.servers[s].(*server.Simulated); ok && sim.Virtual && !t.clock.IsZero() {
		sim.Begin = t.clock
	}
	before := s.end
	if err := s.startServer(ctx, t.servers[s]); err != nil {
		return err
	}
	if before.Model != "" {
		if err := otherStack(before.Stack, s.end.Stack); err != nil {
			return err
		}
		return s.ready(ctx)
	}
	if err := s.sameServer(); err != nil {
		return err
	}
	return s.ready(ctx)
}

// sampler reads, beside a measurement, the gauges of its server and the power of the machine.
type sampler struct {
	stop    context.CancelFunc
	began   time.Time
	readers sync.WaitGroup
	gauges  [][]float64 // seconds since the start, then the values; negative: not known
	power   [][]float64
	meter   *power.Meter // nil where nothing states power
}

// Pace of the readings. Every other row is dropped beyond the most, and the interval doubles.
const (
	mostSamples  = 120
	gaugePace    = 500 * time.Millisecond
	powerPace    = time.Second
	powerCostsAt = 10 // a program that states power runs for at most one part of so many: tt-smi takes a second
)

// powerNames are the columns of power.
var powerNames = [...]string{schema.GaugePower, schema.GaugeCPUPower, schema.GaugeTemperature}

// sample starts reading. A server without gauges is asked once, and one without an address not at all.
func (s *session) sample(ctx context.Context) *sampler {
	ctx, stop := context.WithCancel(ctx)
	p := &sampler{stop: stop, began: time.Now(), meter: s.meter}
	p.readers.Go(func() {
		p.follow(ctx, &p.gauges, func() ([]float64, time.Duration, bool) {
			values, err := gauges(ctx, s.end.URL)
			return values, gaugePace, values != nil || err != nil && len(p.gauges) > 0 // it is slow under load
		})
	})
	if p.meter == nil {
		return p
	}
	meter := p.meter.Begin()
	p.readers.Go(func() {
		p.follow(ctx, &p.power, func() ([]float64, time.Duration, bool) {
			began := time.Now()
			r, _ := meter.Read(ctx) // a program that fails once is asked again
			return powerRow(r), max(powerPace, powerCostsAt*time.Since(began)), true
		})
	})
	return p
}

// powerRow is a reading as a row; nil where nothing is known.
func powerRow(r power.Reading) []float64 {
	row, known := []float64{r.Watts, r.CPU, r.Hottest}, false
	for i, v := range row {
		if math.IsNaN(v) {
			row[i] = -1
		} else {
			known = true
		}
	}
	if !known {
		return nil
	}
	return row
}

// follow reads until it is stopped or there is nothing more. read returns a row, or none, and when to read again.
func (p *sampler) follow(ctx context.Context, rows *[][]float64, read func() ([]float64, time.Duration, bool)) {
	slower := time.Duration(1)
	for wait := gaugePace; ; {
		select { // at the very start no request runs yet
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		at := math.Round(time.Since(p.began).Seconds()*100) / 100
		row, pace, more := read()
		if !more || ctx.Err() != nil {
			return
		}
		if row != nil {
			*rows = append(*rows, append([]float64{at}, row...))
		}
		if len(*rows) >= mostSamples {
			for i := range mostSamples / 2 {
				(*rows)[i] = (*rows)[2*i]
			}
			*rows, slower = (*rows)[:mostSamples/2], 2*slower
		}
		wait = slower * pace
	}
}

// beside is what was read beside a measurement, from its first request on.
type beside struct {
	gauges, power [][]float64
	powerOf       string
}

// during ends the reading and returns what was read from an instant on, for some seconds. at is the time of the instant
// in the measurement.
func (p *sampler) during(from time.Time, length, at float64) beside {
	p.stop()
	p.readers.Wait()
	cut := func(rows [][]float64) [][]float64 {
		var out [][]float64
		for _, row := range rows {
			if t := row[0] - from.Sub(p.began).Seconds(); t >= 0 && t <= length {
				row = slices.Clone(row)
				row[0] = math.Round((t+at)*100) / 100
				out = append(out, row)
			}
		}
		return out
	}
	b := beside{gauges: cut(p.gauges), power: cut(p.power)}
	if p.meter != nil {
		b.powerOf = p.meter.Of
	}
	return b
}

// of returns what was read during a load.
func (p *sampler) of(out builtin.Outcome) beside {
	return p.during(out.Began, out.Duration.Seconds(), 0)
}

// busy returns what was read while the server had requests, nothing where its gauges show none: when a tool sends the
// first one is not known otherwise, and the machine idles until then.
func (p *sampler) busy() beside {
	p.stop()
	p.readers.Wait()
	idle := func(row []float64) bool { return row[1] <= 0 && row[2] <= 0 }
	first := slices.IndexFunc(p.gauges, func(row []float64) bool { return !idle(row) })
	if first < 0 {
		return beside{}
	}
	last := len(p.gauges) - 1
	for last > first && idle(p.gauges[last]) {
		last--
	}
	from := p.gauges[first][0]
	return p.during(p.began.Add(time.Duration(from*float64(time.Second))), p.gauges[last][0]-from+1e-3, 0)
}

// and joins what was read in a later visit to the same point. Counters go on where the earlier visit left them: what
// they grew by meanwhile is of other points.
func (b beside) and(later beside) beside {
	for i, name := range gaugeNames {
		if !strings.HasSuffix(name, "_total") {
			continue
		}
		known := func(row []float64) bool { return row[i+1] >= 0 }
		first := slices.IndexFunc(later.gauges, known)
		last := len(b.gauges) - 1
		for last >= 0 && !known(b.gauges[last]) {
			last--
		}
		if first < 0 || last < 0 {
			continue
		}
		grown := later.gauges[first][i+1] - b.gauges[last][i+1]
		for _, row := range later.gauges[first:] {
			if known(row) {
				row[i+1] -= grown
			}
		}
	}
	b.gauges, b.power = slices.Concat(b.gauges, later.gauges), slices.Concat(b.power, later.power)
	b.powerOf = later.powerOf
	return b
}

// into writes what was read to a sidecar, and the facts that follow.
func (b beside) into(side *manifest.Sidecar) {
	if side.Client == nil {
		side.Client = map[string]string{}
	}
	if len(b.gauges) > 0 {
		side.Samples = &manifest.Samples{Names: append([]string{"s"}, gaugeNames[:]...), Rows: b.gauges}
		maps.Copy(side.Client, facts(b.gauges))
	}
	if len(b.power) > 0 {
		side.Power = &manifest.Samples{Names: append([]string{"s"}, powerNames[:]...), Rows: b.power}
		side.PowerOf = b.powerOf
	}
}

// findMeter looks once for what states the power of this machine.
func (s *session) findMeter(ctx context.Context) {
	if s.metered {
		return
	}
	s.metered = true
	if m, ok := power.Find(ctx); ok {
		s.meter = &m
	}
}

// errDoNotFit is the reason for turns where the memory of a device says it.
var errDoNotFit = errors.New("both do not fit")

// missing reports whether anything is left to measure.
func (t *Pair) missing() bool {
	return slices.ContainsFunc([]*session{t.baseline, t.candidate}, func(s *session) bool {
		return slices.ContainsFunc(s.plan.Items(), func(it plan.Item) bool { return !s.done[it.Name] })
	})
}

// sideBySide starts both servers before anything is measured. Where the second one does not start beside the first, or
// the memory of a device would not hold it, both end, and take turns.
func (t *Pair) sideBySide(ctx context.Context) error {
	pair := []*session{t.baseline, t.candidate}
	for _, s := range pair {
		switch srv := t.servers[s].(type) {
		case *server.Attached: // it runs, and cannot be ended
			return nil
		case *server.Simulated:
			if srv.Virtual { // it takes no memory of a device
				return nil
			}
		}
	}
	before := t.memories(ctx)
	if err := t.baseline.startServer(ctx, t.servers[t.baseline]); err != nil {
		return err
	}
	err := error(nil)
	if why := host.Another(before, t.memories(ctx)); why != "" {
		err = fmt.Errorf("%w: %s", errDoNotFit, why)
	} else {
		err = t.candidate.startServer(ctx, t.servers[t.candidate])
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return t.takeTurns(err)
	}
	for _, s := range pair {
		if err := errors.Join(s.sameServer(), s.ready(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// interleaved is what the manifest states of turns.
func (s *session) interleaved() manifest.Interleaved {
	turns := s.plan.Turns
	turns.Kept = turns.Kept && !s.apart
	return turns.Manifest(s.other)
}

// takeTurns ends both servers, which start again for each turn from now on.
func (t *Pair) takeTurns(why error) error {
	t.kept = false
	for _, s := range []*session{t.baseline, t.candidate} {
		t.servers[s].Stop()
		s.end, s.apart = server.Endpoint{}, true
	}
	text := fmt.Sprintf("the candidate does not run beside the baseline, so they take turns: %s", why)
	t.candidate.report(Event{Run: t.candidate.id, Step: "turn", Text: text, Final: true})
	return errors.Join(t.baseline.log("turns", "", "", text), t.candidate.log("turns", "", "", text))
}
