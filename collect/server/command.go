package server

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

// Command is a server that is started as a program on this machine.
type Command struct {
	Attached // its address
	Argv     []string
	Env      []string

	detached bool // it goes on without us

	hurry context.Context
	child *process.Child
	log   string
}

// Start starts the program and waits until it is ready. If the program ends before that, the error has the last lines
// of its log.
func (c *Command) Start(ctx context.Context, dir string) (Endpoint, error) {
	if err := freePort(ctx, c.URL, "", c.Waiting); err != nil {
		return Endpoint{}, err
	}
	c.log, c.hurry = filepath.Join(dir, LogName), process.Hurry(ctx)
	child, err := process.Start(process.Spec{Argv: c.Argv, Env: c.Env, Log: c.log, Outlives: c.detached})
	if err != nil {
		return Endpoint{}, err
	}
	c.child = child
	noteProcess(c.URL, child)
	return c.whenReady(ctx, dir, c)
}

// whenReady waits for a server that was started; it is an error if the server ends before it is ready.
func (a Attached) whenReady(ctx context.Context, dir string, m Supervised) (Endpoint, error) {
	a.Wait = orHour(a.Wait)
	ready, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	died := m.Died()
	go func() {
		select {
		case <-died:
			cancel(ErrDied)
		case <-ready.Done():
		}
	}()
	end, err := a.Start(ready, dir)
	if err != nil && errors.Is(context.Cause(ready), ErrDied) {
		why := LastLog(m.LastLogLines(), filepath.Join(dir, LogName), "\n  ")
		return Endpoint{}, fmt.Errorf("%w; %s", ErrNotStarted, why)
	}
	return end, err
}

// checkPortFree returns an error when something listens at an address.
func checkPortFree(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("server address: %w", err)
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil // nothing listens there
	}
	_ = conn.Close() // only the connection was needed
	return fmt.Errorf("%w: something listens on %s already; end it, choose another --port, or measure it with --server %s",
		ErrPortTaken, u.Host, address)
}

// CommandLine returns the command that Start runs.
func (c *Command) CommandLine() []string { return c.Argv }

// Died is closed when the program has ended.
func (c *Command) Died() <-chan struct{} { return c.child.Done() }

// LastLogLines returns the last lines of its log.
func (c *Command) LastLogLines() []string { return lastLines(c.log) }

// Stop ends the program and its children.
func (c *Command) Stop() {
	if c.child == nil {
		return
	}
	c.child.Stop(c.hurry)
	c.child = nil
	forget(c.URL)
}
