// Package server provides the server to measure: it starts a program, a container or the simulator, or attaches to a
// server that runs already.
//
// In: the server that --server and its options name ([New]). Out: a [Server], and from its Start an [Endpoint] that
// answers: it lists its model and has completed a request. What is started is ended on every path, with its children;
// a server left over by a killed collection is ended first. It must not know what is measured, nor write results: of
// a run folder it knows only where the server's log goes.
package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Endpoint is a server that answers.
type Endpoint struct {
	URL     string // "" for a server without a network address
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

// Supervised is a server that was started by us and reports its end.
type Supervised interface {
	// Died is closed when it has ended.
	Died() <-chan struct{}
	// LastLogLines returns the last lines that it printed.
	LastLogLines() []string
}

// Starter is a server that has a command line of its own.
type Starter interface {
	CommandLine() []string
}

// LogName is the file in a run folder with the output of a server that was started.
const LogName = "server.log"

// Unresponsive is how long an attached server may be silent before it counts as dead. A busy server may be slow to
// accept a connection; a dead one refuses it at once.
const Unresponsive = 5 * time.Second

var (
	// ErrDenied is returned for a server that refuses our key.
	ErrDenied = errors.New("the server denies access")
	// ErrOtherModel is returned for a server that serves another model than the one to measure.
	ErrOtherModel = errors.New("another model is served")
	// ErrNotReady is returned for a server that does not become ready in time.
	ErrNotReady = errors.New("the server is not ready")
	// ErrNotStarted is returned for a started server that ended before it was ready.
	ErrNotStarted = errors.New("it ended before it was ready")
	// ErrPortTaken is returned for a port where something listens already: another server would be measured.
	ErrPortTaken = errors.New("the port is taken")
	// ErrDied is returned when the server ended, or stopped responding, while it was measured.
	ErrDied = errors.New("the server died")
	// errNoModel is returned for a server that lists no model.
	errNoModel = errors.New("the server lists no model at /v1/models")
)

// Request describes the server to start or attach to.
type Request struct {
	System  plan.System
	Options plan.ServerOptions
	Plan    plan.Plan
	APIKey  string
	Dir     string                     // of the workspace, where .env is
	Waiting func(time.Duration, error) // called every few seconds: how long it has waited, and why; may be nil
}

// New returns the server that a request names, or [NoServer] for tools that have their own engine.
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
		return &Command{Attached: attached, Argv: withFlags(o.Name.Argv, o.EngineArgs)}, nil
	case plan.ServerURL:
		return &attached, nil
	case plan.ServerSim:
	default:
		return nil, plan.UsageError{
			Err: fmt.Errorf("no server is of kind %q", o.Name.Kind),
			Fix: "--server URL, --server 'command …', --server docker or --server sim",
		}
	}
	if !schema.SameDevice(r.System.Device, schema.Simulated) {
		return nil, plan.UsageError{
			Err: errSimulatedDevice(r.System.Device),
			Fix: "--device simulated, or --server URL for a real one",
		}
	}
	return &Simulated{Config: r.simulator(), Virtual: r.Plan.BuiltinOnly() && r.Plan.Clients <= 1}, nil
}

// withFlags returns a command line with flags, which replace those of the same name in it. The flags are words such as
// "--max-model-len 4096" or "--enforce-eager".
func withFlags(argv, flags []string) []string {
	names := map[string]bool{}
	for _, f := range flags {
		if strings.HasPrefix(f, "--") {
			names[strings.ReplaceAll(f, "_", "-")] = true
		}
	}
	var out []string
	skip := false // the value of a flag that is replaced
	for _, a := range argv {
		name, _, joined := strings.Cut(a, "=")
		switch is := names[strings.ReplaceAll(name, "_", "-")]; {
		case strings.HasPrefix(a, "--") && is:
			skip = !joined
		case skip && !strings.HasPrefix(a, "-"):
			skip = false
		default:
			skip = false
			out = append(out, a)
		}
	}
	return append(out, flags...)
}

// simulator returns the configuration of the simulator: that of a demo release where the request names one, so that a
// recheck of the demo measures the same system.
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

// orHour returns how long a started server may take to be ready.
func orHour(d time.Duration) time.Duration {
	if d == 0 {
		return time.Hour
	}
	return d
}

func lastLines(log string) []string { return process.LastLines(log, 5) }
