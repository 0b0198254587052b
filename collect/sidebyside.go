package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

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
