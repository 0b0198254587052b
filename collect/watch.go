package collect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"
)

// ErrServerDied is returned when the server ended, or answered nobody any more, while it was measured.
var ErrServerDied = errors.New("the server died")

// mortal is a server of ours that notices its own end.
type mortal interface {
	// Died is closed when it has ended.
	Died() <-chan struct{}
	// LastWords are the last lines that it printed.
	LastWords() []string
}

// deaf is how long a server that is not ours may answer nobody before it is taken for dead. A server that computes may be slow to
// accept, and one that is gone refuses at once.
const deaf = 5 * time.Second

// watch returns a context that ends when the server does, with [ErrServerDied] as its cause.
func (s *session) watch(ctx context.Context, srv Server) (context.Context, func()) {
	alive, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	var died <-chan struct{}
	m, ours := srv.(mortal)
	if ours {
		died = m.Died()
	}
	wg.Go(func() {
		if ours {
			select {
			case <-died:
				cancel(fmt.Errorf("%w; %s", ErrServerDied, lastWords(m.LastWords(), filepath.Join(s.dir, ServerLog), " / ")))
			case <-alive.Done():
			}
			return
		}
		s.listen(alive, cancel)
	})
	return alive, func() {
		cancel(nil)
		wg.Wait()
	}
}

// listen asks a server whether anybody is there, once a second.
func (s *session) listen(ctx context.Context, cancel context.CancelCauseFunc) {
	last := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.knock(ctx)
		if err == nil {
			last = time.Now()
			continue
		}
		if since := time.Since(last); since >= deaf-time.Second && ctx.Err() == nil {
			cancel(fmt.Errorf("%w: %s answers nobody for %.0f s: %w", ErrServerDied, s.end.URL, since.Seconds(), err))
			return
		}
	}
}

// knock asks for any answer, also 404.
func (s *session) knock(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, deaf)
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.end.URL+"/health", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// outlive waits until it is known whether the server is there: it answers, or the watch ends the context. One of ours that hangs without
// ending is given up waiting for: what it is asked next will say so.
func (s *session) outlive(ctx context.Context) {
	const settles = 300 * time.Millisecond // a process that has just ended is noticed by then
	ctx, done := context.WithTimeout(ctx, 2*deaf)
	defer done()
	for ctx.Err() == nil && s.end.URL != "" {
		select {
		case <-ctx.Done():
			return
		case <-time.After(settles):
		}
		if s.knock(ctx) == nil {
			return
		}
	}
}

// revive starts a server of ours again, once. Of what is left without one it says that it is missing, and why.
func (s *session) revive(ctx context.Context, srv Server, died error, again bool, left []item) error {
	if err := s.log("server-died", left[0].name, "", died.Error()); err != nil {
		return err
	}
	_, ours := srv.(mortal)
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
		if s.done[it.name] {
			continue
		}
		s.out.Failed++
		if err := s.log(s.step(it)+"-missing", it.name, "", why.Error()); err != nil {
			return err
		}
	}
	return why
}

// serial lets one goroutine report at a time.
func serial(report func(Event)) func(Event) {
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		report(e)
	}
}
