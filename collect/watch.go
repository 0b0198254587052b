package collect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
)

// watch returns a context that ends when the server does, with [server.ErrDied] as its cause.
func (s *session) watch(ctx context.Context, srv server.Server) (context.Context, func()) {
	alive, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	var died <-chan struct{}
	m, ours := srv.(server.Supervised)
	if s.virtual != nil {
		return alive, func() { cancel(nil) } // it runs in this program and has no address
	}
	if ours {
		died = m.Died()
	}
	wg.Go(func() {
		if ours {
			select {
			case <-died:
				why := server.LastLog(m.LastLogLines(), filepath.Join(s.dir, server.LogName), " / ")
				cancel(fmt.Errorf("%w; %s", server.ErrDied, why))
			case <-alive.Done():
			}
			return
		}
		s.poll(alive, cancel)
	})
	return alive, func() {
		cancel(nil)
		wg.Wait()
	}
}

// poll checks once a second whether a server responds. One that answers requests is alive, also when thousands of them
// leave it no time for a question.
func (s *session) poll(ctx context.Context, cancel context.CancelCauseFunc) {
	last := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.ping(ctx)
		if err == nil {
			last = time.Now()
			continue
		}
		if since := time.Since(s.heard(last)); since >= server.Unresponsive-time.Second && ctx.Err() == nil {
			cancel(fmt.Errorf("%w: %s has not responded for %.0f s: %w", server.ErrDied, s.end.URL, since.Seconds(), err))
			return
		}
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
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.end.URL+"/health", nil)
	if err != nil {
		return err
	}
	resp, err := origin.Client(0).Do(req)
	if errors.Is(err, origin.ErrElsewhere) {
		return nil // that is an answer
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// awaitServer waits until it is known whether the server is alive: it responds, or the watch ends the context. A
// server of ours that hangs is not awaited any longer: the next measurement will fail.
func (s *session) awaitServer(ctx context.Context) {
	const settles = 300 * time.Millisecond // the end of a process is noticed within this time
	ctx, done := context.WithTimeout(ctx, 2*server.Unresponsive)
	defer done()
	for ctx.Err() == nil && s.end.URL != "" {
		select {
		case <-ctx.Done():
			return
		case <-time.After(settles):
		}
		if s.ping(ctx) == nil {
			return
		}
	}
}

// restart restarts a server of ours, once. If that fails, the remaining items are journalled as missing, with the
// reason.
func (s *session) restart(ctx context.Context, srv server.Server, died error, again bool, left []plan.Item) error {
	if err := s.log("server-died", left[0].Name, "", died.Error()); err != nil {
		return err
	}
	_, ours := srv.(server.Supervised)
	s.report(Event{Run: s.id, Step: "server", Text: "died", Err: died.Error(), Final: true})
	why := died
	if ours && !again {
		srv.Stop()
		end, err := srv.Start(ctx, s.dir)
		if err == nil {
			s.end = end
			s.report(Event{Run: s.id, Step: "server", Text: "started again", Final: true})
			return errors.Join(s.log("server-ready", "", "", "started again"), s.warm(ctx))
		}
		why = fmt.Errorf("%w; it did not start again: %w", died, err)
	}
	for _, it := range left {
		if s.done[it.Name] {
			continue
		}
		s.out.Failed++
		if err := s.log(step{Item: it}.kind()+"-missing", it.Name, "", why.Error()); err != nil {
			return err
		}
	}
	return why
}

// serial makes report safe for concurrent use.
func serial(report func(Event)) func(Event) {
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		report(e)
	}
}
