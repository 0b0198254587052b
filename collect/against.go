package collect

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
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
