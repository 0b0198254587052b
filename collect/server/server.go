// Package server gets a server that can be measured: it starts a program, a container or the simulator, or attaches to
// one that runs.
//
// In: what --server and its options name ([New]). Out: a [Server], and from its Start an [Endpoint] that answers: it
// lists its model and has completed a request. What is started is ended on every path, with its children; a server that
// an earlier collection was killed over is ended first. It must not know what is measured, nor write results: of a run
// folder it knows where the server's log goes.
package server

import (
	"context"
	"errors"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Endpoint is a server that answers.
type Endpoint struct {
	URL     string // "" where nothing can be asked over the network
	Model   string // served name
	APIKey  string
	Stack   manifest.Stack // as the server states it
	Context int            // tokens of a request; 0: not stated
}

// Server starts a system under test, or attaches to one.
type Server interface {
	// Start returns when the server is ready: it is healthy, lists its model and has completed a request.
	// What it prints goes to files in dir.
	Start(ctx context.Context, dir string) (Endpoint, error)
	// Stop ends what Start started; it is called on every path, also after a failed Start.
	Stop()
}

// Supervised is a server of ours that notices its own end.
type Supervised interface {
	// Died is closed when it has ended.
	Died() <-chan struct{}
	// LastLogLines are the last lines that it printed.
	LastLogLines() []string
}

// Starter is a server that has a command line of its own.
type Starter interface {
	CommandLine() []string
}

// LogName is the file of a run folder that a server of ours prints to.
const LogName = "server.log"

// Unresponsive is how long a server that is not ours may not respond before it is taken for dead. A server that
// computes may be slow to accept, and one that is gone refuses at once.
const Unresponsive = 5 * time.Second

var (
	// ErrDenied is returned for a server that refuses our key.
	ErrDenied = errors.New("the server denies access")
	// ErrOtherModel is returned for a server that serves, and not what is to be measured.
	ErrOtherModel = errors.New("another model is served")
	// ErrNotReady is returned for a server that does not become ready in time.
	ErrNotReady = errors.New("the server is not ready")
	// ErrNotStarted is returned for a server of ours that ended before it was ready.
	ErrNotStarted = errors.New("it ended before it was ready")
	// ErrPortTaken is returned for a port where something responds already: what is measured there would be another
	// server.
	ErrPortTaken = errors.New("the port is taken")
	// ErrDied is returned when the server ended, or did not respond any more, while it was measured.
	ErrDied = errors.New("the server died")
	// errNoModel is returned for a server that lists no model.
	errNoModel = errors.New("the server lists no model at /v1/models")
)

// Request is what is needed to get a server.
type Request struct {
	System  plan.System
	Options plan.ServerOptions
	Plan    plan.Plan
	APIKey  string
	Dir     string      // of the workspace, where .env is
	Waiting func(error) // called every few seconds with the reason for the wait; may be nil
}

// New is the server that a request names, or the place of one for tools that bring their own engine.
func New(r Request) (Server, error) {
	if r.Plan.Offline() {
		t := r.Plan.Tools[0]
		return NoServer{Model: r.System.Model, Stack: manifest.Stack{Engine: t.Engine, Version: t.Release}}, nil
	}
	o, address := r.Options, r.Options.Name.Address(r.Options.Port)
	attached := Attached{URL: address, Model: r.System.Model, APIKey: r.APIKey, Wait: o.StartupTimeout, Waiting: r.Waiting}
	switch o.Name.Kind {
	case plan.ServerDocker:
		return r.container(attached)
	case plan.ServerCommand:
		return &Command{Attached: attached, Argv: o.Name.Argv}, nil
	case plan.ServerURL:
		return &attached, nil
	}
	if r.System.Device != schema.Simulated {
		return nil, plan.UsageError{
			Err: errSimulatedDevice(r.System.Device),
			Fix: "--device simulated, or --server URL for a real one",
		}
	}
	return &Simulated{Config: r.simulator(), Virtual: r.Plan.BuiltinOnly()}, nil
}

// simulator is the configuration of the simulator: that of the demo's release where it is one of them, so that what
// belongs to that release is measured on its simulator.
func (r Request) simulator() sim.Config {
	name, seed := r.Plan.Model.Name, r.Plan.Seed
	cfg := sim.Defaults()
	if c, ok := demoSimulator(r.System.Release, seed); ok && name == cfg.Model {
		cfg = c
	}
	cfg.Model, cfg.Seed = name, seed
	if r.System.Release != "" {
		cfg.Version = r.System.Release
	}
	return cfg
}

// orHour is how long a server of ours may take to be ready.
func orHour(d time.Duration) time.Duration {
	if d == 0 {
		return time.Hour
	}
	return d
}

func lastLines(log string) []string { return process.LastLines(log, 5) }
