package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// step is an item that is being measured: which of how many, and since when.
type step struct {
	plan.Item
	index, count int
	began        time.Time
}

// kind returns the name of an item's kind in events and in the journal.
func (st *step) kind() string {
	if st.Task != "" {
		return "eval"
	}
	return "point"
}

// event returns a progress event of an item.
func (s *session) event(st *step) Event {
	return Event{Run: s.id, Step: st.kind(), Text: st.String(), Index: st.index + 1, Count: st.count}
}

// result is what was measured of an item.
type result struct {
	file     string // below raw/
	raw      []byte // the content of the file; nil: a tool wrote it
	side     manifest.Sidecar
	readings readings
	point    PointOutcome
	requests int
	empty    bool   // no request completed, or none of its latencies counts
	failure  string // why; or why requests failed; "" for none
	note     string
}

// unmeasured is an error of one item: the run goes on.
type unmeasured struct{ error }

// item measures an item. One without a result is journalled, and the run goes on with the next one.
func (s *session) item(ctx context.Context, st *step) error {
	if err := s.log(st.kind()+"-start", st.Name, "", ""); err != nil {
		return err
	}
	limited, limit, failed := ctx, s.limit(st), "-stopped"
	if st.Tool.IsBuiltin() && st.Task == "" { // tools are ended at the limit, which leaves nothing of them behind
		failed = "-failed"
		var done func()
		limited, done = context.WithTimeout(ctx, limit)
		defer done()
	}
	measure := s.once // with an error, the note of a result says what was known by then
	switch {
	case !st.Tool.IsBuiltin():
		measure = s.runTool
	case st.Task != "":
		measure = s.eval
	case st.Load.SLO.Set():
		measure = s.search
	case s.plan.Until.Set():
		measure = s.untilKnown
	}
	r, err := measure(limited, st)
	switch only := new(unmeasured); {
	case err == nil:
		s.tried(st.Tool.Name, nil)
		return s.keep(st, r)
	case errors.As(err, only):
		s.tried(st.Tool.Name, err)
		return s.noResult(st, err)
	case ctx.Err() == nil && limited.Err() != nil:
		known := ""
		if r != nil {
			known = r.note
		}
		return s.noResult(st, fmt.Errorf("%w (%s)%s", process.ErrLimit, limit, known))
	}
	return errors.Join(err, s.log(st.kind()+failed, st.Name, "", err.Error()))
}

// noResult journals an item without a result.
func (s *session) noResult(st *step, why error) error {
	s.out.Failed++
	e := s.event(st)
	e.Took, e.Err, e.Final = s.now().Sub(st.began), redact.Text(why.Error()), true
	defer s.report(e) // of what is in the journal
	return s.log(st.kind()+"-failed", st.Name, "", why.Error())
}

// keep writes the sidecar and the file of a result, reports and journals it. The sidecar is written first: a result
// without one would be ingested as a file of unknown origin.
func (s *session) keep(st *step, r *result) error {
	r.side.Result, r.side.Block, r.side.Start, r.side.End = filepath.Base(r.file), st.Block, st.began.UTC(), s.now().UTC()
	if st.Tool.IsBuiltin() {
		r.side.Tool, r.side.ToolVersion = builtin.Name, builtin.Version
	}
	if st.Task == "" && !st.Once {
		r.side.Workload = st.Workload()
	}
	r.readings.into(&r.side)
	name := filepath.Join(s.dir, "raw", filepath.FromSlash(r.file))
	data, err := r.side.Marshal()
	if err == nil {
		err = durable.WriteFile(name+manifest.SidecarSuffix, data)
	}
	if err == nil && r.raw != nil {
		err = durable.WriteFile(name, r.raw)
	}
	if err != nil {
		return err
	}
	event := "-done"
	if r.empty {
		event = "-failed"
		s.out.Failed++
	}
	switch {
	case st.Task == "":
		if r.empty {
			s.out.Empty++
		}
		r.point.Workload = st.Load
		s.out.Points = append(s.out.Points, r.point)
	case !r.empty:
		s.out.Evals++
	}
	e := s.event(st)
	e.Done, e.Total, e.Took, e.Final = r.requests, st.Load.Requests, s.now().Sub(st.began), true
	e.TTFT, e.TPOT, e.Err, e.Note = r.point.TTFT, r.point.TPOT, r.failure, r.note
	defer s.report(e) // of what is in the journal
	return s.log(st.kind()+event, st.Name, "raw/"+r.file, r.failure)
}

// limit returns how long an item may take: twenty times what it would take at ten tokens a second per user, at least
// a quarter of an hour for tools that are slow to start, and never more than the plan's limit.
func (s *session) limit(st *step) time.Duration {
	most := s.longest()
	if st.Task != "" || st.Once || st.Load.SLO.Set() || s.plan.Until.Set() {
		return most
	}
	waves := float64(st.Load.Requests) / float64(max(1, st.Load.Concurrency))
	estimate := time.Duration(20 * waves * float64(st.Load.OSL) / 10 * float64(time.Second))
	return min(most, max(15*time.Minute, estimate))
}

// longest is the plan's limit of an item.
func (s *session) longest() time.Duration { return cmp.Or(s.plan.PointTimeout, 2*time.Hour) }

// measure measures those of some items of the plan, which follow each other, that have no result yet. A server that
// dies is started again once.
func (s *session) measure(ctx context.Context, items []plan.Item) error {
	all := s.plan.Items()
	first := slices.IndexFunc(all, func(it plan.Item) bool { return len(items) > 0 && it.Name == items[0].Name })
	restarted := false
	s.measuring, s.budget = true, budget{ends: s.now().Add(s.plan.Budget / time.Duration(len(s.plan.Turns.Order())))}
	for _, it := range items {
		if !s.done[it.Name] && it.Task == "" && !it.Load.SLO.Set() {
			s.budget.left++
		}
	}
	for i := 0; i < len(items); i++ {
		if s.done[items[i].Name] {
			continue
		}
		st := &step{items[i], first + i, len(all), s.now()}
		if name := items[i].Tool.Name; s.tools[name] == toolFails {
			const why = "not tried: %s failed twice in the same way and never measured anything"
			if err := s.noResult(st, fmt.Errorf(why, name)); err != nil {
				return err
			}
			continue
		}
		alive, stop := s.watch(ctx)
		before := s.out
		err := s.item(alive, st)
		s.awaitServer(alive, before)
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
		if err := s.restart(ctx, died, restarted, items[i:]); err != nil {
			return err
		}
		restarted, s.out, s.tools = true, before, nil
		i-- // the same item again: answers of a dying server are not a measurement
	}
	return nil
}

// What is known of a tool that gave a result, or twice the same reason for none: that is not the workload's then.
const toolWorks, toolFails = "works", "fails"

// tried notes whether a tool gave a result, and why not.
func (s *session) tried(name string, why error) {
	if s.tools == nil {
		s.tools = map[string]string{}
	}
	now := toolWorks
	if why != nil {
		now = digits.ReplaceAllString(why.Error(), "0")
	}
	switch before := s.tools[name]; {
	case before == toolWorks:
	case before == now:
		s.tools[name] = toolFails
	default:
		s.tools[name] = now
	}
}

// digits differ between two messages of one failure: times, ports, numbers of requests, names of files.
var digits = lazyregexp.New(`[0-9]+`)

// watch returns a context that ends when the server does, with [server.ErrDied] as its cause.
func (s *session) watch(ctx context.Context) (context.Context, func()) {
	alive, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	switch m, ours := s.srv.(server.Supervised); {
	case s.virtual != nil: // it runs in this program and has no address
	case ours:
		died := m.Died()
		wg.Go(func() {
			select {
			case <-died:
				why := server.LastLog(filepath.Join(s.dir, server.LogName), " / ")
				cancel(fmt.Errorf("%w; %s", server.ErrDied, why))
			case <-alive.Done():
			}
		})
	default:
		wg.Go(func() {
			// One that answers requests is alive, also when thousands of them leave it no time for a question.
			for last := time.Now(); process.Sleep(alive, time.Second) == nil; {
				err := s.ping(alive)
				if err == nil {
					last = time.Now()
					continue
				}
				if since := time.Since(s.heard(last)); since >= server.Unresponsive-time.Second && alive.Err() == nil {
					const text = "%w: %s has not responded for %.0f s: %w"
					cancel(fmt.Errorf(text, server.ErrDied, s.end.URL, since.Seconds(), err))
					return
				}
			}
		})
	}
	return alive, func() {
		cancel(nil)
		wg.Wait()
	}
}

// heard returns when a server that responded at a time was last heard of.
func (s *session) heard(responded time.Time) time.Time {
	if at := time.Unix(0, s.answered.Load()); at.After(responded) {
		return at
	}
	return responded
}

// ping accepts any answer, also 404.
func (s *session) ping(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, server.Unresponsive)
	defer done()
	_, _, err := origin.Ask(ctx, http.MethodGet, s.end.URL+"/health", "", nil)
	if errors.Is(err, origin.ErrElsewhere) {
		return nil // that is an answer
	}
	return err
}

// awaitServer waits until it is known whether the server is alive: it responds, or the watch ends the context. A
// server of ours that hangs is not awaited any longer: the next measurement will fail.
func (s *session) awaitServer(ctx context.Context, before Outcome) {
	n := len(s.out.Points)
	requests := n > len(before.Points) && s.out.Points[n-1].Failed > 0
	if s.out.Failed == before.Failed && !requests { // when a server has died, everything fails at once
		return
	}
	const settles = 300 * time.Millisecond // the end of a process is noticed within this time
	ctx, done := context.WithTimeout(ctx, 2*server.Unresponsive)
	defer done()
	for ctx.Err() == nil && s.end.URL != "" {
		if process.Sleep(ctx, settles) != nil || s.ping(ctx) == nil {
			return
		}
	}
}

// restart restarts a server of ours, once. If that fails, the remaining items are journalled as missing, with the
// reason.
func (s *session) restart(ctx context.Context, died error, again bool, left []plan.Item) error {
	delete(s.probes, left[0].Name)
	if err := s.log("server-died", left[0].Name, "", died.Error()); err != nil {
		return err
	}
	_, ours := s.srv.(server.Supervised)
	text := "died"
	if again {
		text, died = "died again", fmt.Errorf("%w; it was restarted once and died again", died)
	}
	s.report(Event{Run: s.id, Step: "server", Text: text, Err: died.Error(), Final: true})
	why := died
	if ours && !again {
		s.srv.Stop()
		end, err := s.srv.Start(ctx, s.dir)
		if err == nil {
			s.end = end
			s.report(Event{Run: s.id, Step: "server", Text: "started again", Final: true})
			return errors.Join(s.log("server-ready", "", "", "started again"), s.warm(ctx))
		}
		why = fmt.Errorf("%w; it could not be restarted: %w", died, err)
	}
	for _, it := range left {
		if s.done[it.Name] {
			continue
		}
		s.out.Failed++
		if err := s.log((&step{Item: it}).kind()+"-missing", it.Name, "", why.Error()); err != nil {
			return err
		}
	}
	return why
}
