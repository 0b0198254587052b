package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"github.com/ttreport/ttreport/collect/process"
)

// ServerLog is the file of a run folder that a server of ours prints to.
const ServerLog = "server.log"

// Command is a server that we start as a program on this machine.
type Command struct {
	Argv    []string
	Env     []string
	URL     string // where it will answer
	Model   string // served name; "" takes the only one that it lists
	APIKey  string
	Wait    time.Duration // for it to be ready; 0: an hour
	Waiting func(error)   // called every few seconds with the reason for the wait; may be nil
	hurry   context.Context
	child   *process.Child
	log     string
}

// ErrNotStarted is returned for a server of ours that ended before it was ready.
var ErrNotStarted = errors.New("it ended before it was ready")

// ErrTaken is returned for a port that somebody answers on already: what is measured there would be somebody else's.
var ErrTaken = errors.New("the port is taken")

// Start starts the program and waits until it is ready. A program that ends before that is an error with its last lines.
func (c *Command) Start(ctx context.Context, dir string) (Endpoint, error) {
	if err := vacate(ctx, c.URL, c.Waiting); err != nil {
		return Endpoint{}, err
	}
	c.log, c.hurry = filepath.Join(dir, ServerLog), process.Hurry(ctx)
	child, err := process.Start(process.Spec{Argv: c.Argv, Env: c.Env, Log: c.log})
	if err != nil {
		return Endpoint{}, err
	}
	c.child = child
	noteProcess(c.URL, child)
	return untilReady(ctx, &Attached{URL: c.URL, Model: c.Model, APIKey: c.APIKey, Wait: orHour(c.Wait), Waiting: c.Waiting}, dir, c)
}

func orHour(d time.Duration) time.Duration {
	if d == 0 {
		return time.Hour
	}
	return d
}

// untilReady attaches to a server of ours, unless it ends before it is ready.
func untilReady(ctx context.Context, a *Attached, dir string, m mortal) (Endpoint, error) {
	ready, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	died := m.Died()
	go func() {
		select {
		case <-died:
			cancel(ErrServerDied)
		case <-ready.Done():
		}
	}()
	end, err := a.Start(ready, dir)
	if err != nil && errors.Is(context.Cause(ready), ErrServerDied) {
		return Endpoint{}, fmt.Errorf("%w; %s", ErrNotStarted, lastWords(m.LastWords(), filepath.Join(dir, ServerLog), "\n  "))
	}
	return end, err
}

// free reports whether nobody answers at an address yet.
func free(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("server address: %w", err)
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil // nobody is there
	}
	_ = conn.Close() // only the greeting was wanted
	return fmt.Errorf("%w: somebody answers on %s already; end it, choose another --port, or measure it with --server %s", ErrTaken, u.Host, address)
}

// Died is closed when the program has ended.
func (c *Command) Died() <-chan struct{} { return c.child.Done() }

// LastWords are the last lines of its log.
func (c *Command) LastWords() []string { return process.LastLines(c.log, 5) }

// Stop ends the program and its children.
func (c *Command) Stop() {
	if c.child == nil {
		return
	}
	c.child.Stop(c.hurry)
	c.child = nil
	forgetServer(c.URL)
}
