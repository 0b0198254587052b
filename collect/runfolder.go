package collect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/schema"
)

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
