package collect

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Side is one of two servers that are measured in turns, and its plan ([plan.Plan.InTurns]).
type Side struct {
	Plan   plan.Plan
	Server server.Server
}

// turns are two runs in progress that take turns.
type turns struct {
	baseline, candidate *session
	servers             map[*session]server.Server
	kept                bool
	clock               time.Time // of simulators with clocks of their own: the latest
}

// Against measures the same plan on two servers in turns, and writes a run folder for each, which name each other.
// Servers start again for every turn, unless the plan keeps them running. An interrupted pair is resumed where it was.
// The folders exist, with what was measured, also when an error is returned.
func Against(
	ctx context.Context, baseline, candidate Side, results string, report func(Event),
) (outs [2]Outcome, err error) {
	t := &turns{servers: map[*session]server.Server{}, kept: candidate.Plan.Turns.Kept}
	for i, x := range []struct {
		side Side
		at   **session
	}{{baseline, &t.baseline}, {candidate, &t.candidate}} {
		if sim, ok := x.side.Server.(*server.Simulated); ok { // two machines never have the same noise
			sim.Config.Seed += uint64(i+1) << 40
		}
		s, release, err := lockedSession(ctx, x.side.Plan, x.side.Server, results, report)
		*x.at = s
		if err != nil {
			return t.outcomes(), err
		}
		defer release()
		if s.journal, err = manifest.OpenJournal(filepath.Join(s.dir, manifest.JournalName)); err != nil {
			return t.outcomes(), err
		}
		defer s.journal.Close()
		defer x.side.Server.Stop()
		t.servers[s] = x.side.Server
	}
	t.baseline.other, t.candidate.other = t.candidate.id, t.baseline.id
	err = full(t.run(ctx))
	if err != nil {
		return t.outcomes(), t.discard(results, err)
	}
	return t.outcomes(), nil
}

// outcomes are those of both runs, the baseline's first.
func (t *turns) outcomes() (outs [2]Outcome) {
	for i, s := range []*session{t.baseline, t.candidate} {
		if s != nil {
			outs[i] = s.out
		}
	}
	return outs
}

// discard removes run folders of this attempt if neither has a measurement.
func (t *turns) discard(results string, why error) error {
	for _, s := range []*session{t.baseline, t.candidate} {
		if s.resumed || len(s.out.Points) > 0 {
			return why
		}
	}
	return errors.Join(t.candidate.discard(results, t.baseline.discard(results, why)))
}

// run measures all turns, and ends both runs.
func (t *turns) run(ctx context.Context) error {
	for _, s := range []*session{t.baseline, t.candidate} {
		if err := s.announce(); err != nil {
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
		if err := s.log(manifest.EventRunDone, "", "", ""); err != nil {
			return err
		}
		if err := s.writeManifest(s.now().UTC()); err != nil {
			return err
		}
	}
	return nil
}

// turn measures the items of one block on one server that have no result yet.
func (t *turns) turn(ctx context.Context, s *session, block int) error {
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
func (t *turns) start(ctx context.Context, s *session, block int) error {
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
