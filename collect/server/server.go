// Package server provides the server to measure: it starts a program, a container or the simulator, or attaches to a
// server that runs already.
//
// In: the server that --server and its options name ([New]). Out: a [Server], and from its Start an [Endpoint] that
// answers: it lists its model and has completed a request. What is started is ended on every path, with its children;
// what a killed collection has started is ended by a guard. It must not know what is measured, nor write results: of
// a run folder it knows only where the server's log goes.
package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Endpoint is a server that answers.
type Endpoint struct {
	URL     string // "" for a server without a network address
	Model   string // served name
	APIKey  string
	Stack   schema.Stack // as the server states it
	Context int          // tokens of a request; 0: not stated
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
}

// Detacher is a server that is started here and can be left running.
type Detacher interface {
	// Detach starts it and leaves it running once it is ready; its log is below a folder.
	Detach(ctx context.Context, dir string) (Detached, error)
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
		return NoServer{Model: r.System.Model, Stack: schema.Stack{Engine: t.Engine, Version: t.Release}}, nil
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
		return nil, plan.Usage("--server URL, --server 'command …', --server docker or --server sim",
			"unknown kind of server: %q", o.Name.Kind)
	}
	if !schema.SameDevice(r.System.Device, schema.Simulated) {
		return nil, plan.Usage("--device simulated, or --server URL for a real one",
			"collect: the simulator cannot measure the device %q", r.System.Device)
	}
	cfg := sim.Defaults()
	for _, demo := range DemoReleases() { // so that a recheck of the demo measures the same system
		if demo.Name == r.System.Release && r.Plan.Model.Name == cfg.Model {
			cfg = demo.Simulator(r.Plan.Seed)
		}
	}
	cfg.Model, cfg.Seed, cfg.Version = r.Plan.Model.Name, r.Plan.Seed, cmp.Or(r.System.Release, cfg.Version)
	return &Simulated{Config: cfg, Virtual: r.Plan.BuiltinOnly() && r.Plan.Clients <= 1}, nil
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

// NoServer takes the place of a server if the tools of the plan have their own engine.
type NoServer struct {
	Model string
	Stack schema.Stack // of the tool, which is the engine
}

// Start returns an endpoint without an address.
func (n NoServer) Start(context.Context, string) (Endpoint, error) {
	return Endpoint{Model: n.Model, Stack: n.Stack}, nil
}

// Stop does nothing.
func (NoServer) Stop() {}

// Died is never closed.
func (NoServer) Died() <-chan struct{} { return nil }

// Command is a server that is started as a program on this machine.
type Command struct {
	Attached // its address
	Argv     []string
	Env      []string

	detached bool     // it goes on without us
	killed   []string // see [process.Spec]

	hurry context.Context
	child *process.Child
	log   string
}

// Start starts the program and waits until it is ready. If the program ends before that, the error has the last lines
// of its log.
func (c *Command) Start(ctx context.Context, dir string) (Endpoint, error) {
	if err := freePort(ctx, c.URL); err != nil {
		return Endpoint{}, err
	}
	c.log, c.hurry = filepath.Join(dir, LogName), process.Hurry(ctx)
	child, err := process.Start(process.Spec{
		Argv: c.Argv, Env: c.Env, Log: c.log, Killed: c.killed, Outlives: c.detached,
	})
	if err != nil {
		return Endpoint{}, err
	}
	c.child = child
	return c.whenReady(ctx, dir, c)
}

// freePort makes sure that nothing listens at an address, which would be measured in place of what is started. A server
// whose collection was killed is being ended by its guard, and has a moment for it.
func freePort(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("server address: %w", err)
	}
	for range 30 {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return nil
		}
		_ = conn.Close() // only the connection was needed
		if err := process.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: another program listens on %s; stop it, choose another --port, or measure it with --server %s",
		ErrPortTaken, u.Host, address)
}

// whenReady waits for a server that was started; it is an error if the server ends before it is ready.
func (a Attached) whenReady(ctx context.Context, dir string, m Supervised) (Endpoint, error) {
	a.Wait = cmp.Or(a.Wait, time.Hour)
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
		why := LastLog(filepath.Join(dir, LogName), "\n  ")
		return Endpoint{}, fmt.Errorf("%w; %s", ErrNotStarted, why)
	}
	return end, err
}

// CommandLine returns the command that Start runs.
func (c *Command) CommandLine() []string { return c.Argv }

// Died is closed when the program has ended.
func (c *Command) Died() <-chan struct{} { return c.child.Done() }

// Stop ends the program and its children.
func (c *Command) Stop() {
	if c.child == nil {
		return
	}
	c.child.Stop(c.hurry)
	c.child = nil
}

// Attached is a server that runs already.
type Attached struct {
	URL    string
	Model  string // served name; "" takes the only one that the server lists
	APIKey string
	Wait   time.Duration // how long to wait for it to be ready; 0: a minute
	// Waiting is called every five seconds with how long it has waited and why; may be nil.
	Waiting func(time.Duration, error)
}

// Start waits until the server is ready and reads what it states about itself. The rest stays unknown.
func (a *Attached) Start(ctx context.Context, _ string) (Endpoint, error) {
	wait := cmp.Or(a.Wait, time.Minute)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var last error
	began := time.Now()
	next := began
	for {
		end, err := a.identify(ctx)
		if err == nil { // a server can be healthy and still unable to answer
			small := map[string]any{"model": end.Model, "prompt": "the", "max_tokens": 1}
			_, err = a.do(ctx, http.MethodPost, "/v1/completions", small)
		}
		if err == nil {
			return end, nil
		}
		if errors.Is(err, ErrDenied) || errors.Is(err, ErrOtherModel) || errors.Is(err, origin.ErrElsewhere) {
			return Endpoint{}, err // waiting would not help
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if a.Waiting != nil && time.Now().After(next) {
			a.Waiting(time.Since(began), err)
			next = time.Now().Add(5 * time.Second)
		}
		if process.Sleep(ctx, 250*time.Millisecond) != nil {
			return Endpoint{}, fmt.Errorf("%w after %s at %s: %w", ErrNotReady, wait, redact.URL(a.URL), last)
		}
	}
}

// Stop does nothing: the server is not ours.
func (a *Attached) Stop() {}

func (a *Attached) identify(ctx context.Context) (Endpoint, error) {
	end := Endpoint{URL: strings.TrimSuffix(a.URL, "/"), Model: a.Model, APIKey: a.APIKey}
	listed, err := a.do(ctx, http.MethodGet, "/v1/models", nil)
	if err != nil {
		return end, err
	}
	models := slices.Collect(listed.Get("data").Items())
	if len(models) == 0 {
		return end, errors.New("the server lists no model at /v1/models")
	}
	idOf := func(v decode.Value) string { return v.Get("id").Str() }
	at := slices.IndexFunc(models, func(v decode.Value) bool {
		return a.Model == "" || idOf(v) == a.Model || strings.HasSuffix(idOf(v), "/"+a.Model)
	})
	if at < 0 {
		return end, fmt.Errorf("%w: the server does not serve %q; it lists %q", ErrOtherModel, a.Model, idOf(models[0]))
	}
	end.Model, end.Stack.Engine = idOf(models[at]), models[at].Get("owned_by").Str()
	if end.Context, _ = models[at].Get("max_model_len").Int(); end.Context == 0 { // llama.cpp divides its among slots
		props, _ := a.do(ctx, http.MethodGet, "/props", nil) // of others nothing is known
		context, _ := props.At("default_generation_settings", "n_ctx").Int()
		end.Context = max(0, context)
	}
	version, _ := a.do(ctx, http.MethodGet, "/version", nil) // likewise
	end.Stack.Version = version.Get("version").Str()
	return end, nil
}

// Probe reads a server's model and context length without a completion.
func (a *Attached) Probe(ctx context.Context) (Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, Unresponsive)
	defer cancel()
	return a.identify(ctx)
}

// do sends a request, with a body as JSON where there is one, and returns its answer, which is absent where it is not
// JSON.
func (a *Attached) do(ctx context.Context, method, path string, ask any) (answer decode.Value, err error) {
	status, text, err := origin.Ask(ctx, method, strings.TrimSuffix(a.URL, "/")+path, a.APIKey, ask)
	switch {
	case err != nil:
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		err = fmt.Errorf("%w: %s %s: HTTP %d", ErrDenied, method, path, status)
	case status != http.StatusOK:
		said := redact.Text(string(bytes.TrimSpace(text[:min(len(text), 200)])))
		err = fmt.Errorf("%s %s: HTTP %d: %s", method, path, status, said)
	default:
		answer = decode.Parse(text, 32)
	}
	return answer, err
}

// SimEngine is the simulator's name as an engine.
const SimEngine = "ttreport-sim"

// Simulated is the simulator in this program.
type Simulated struct {
	Config sim.Config
	// Virtual makes it compute its answers on a clock of its own instead of sleeping. It then has no address, and only
	// this program's client can load it. Numbers depend only on the configuration and the load, not on other load of the
	// machine.
	Virtual bool
	Begin   time.Time // of the virtual clock; zero: now

	Clock  *sim.Virtual // of one that was started so; else nil
	starts uint64       // before this one: each has noise of its own
	server *sim.Server
}

// Start starts the simulator. One with an address is checked like any other server.
func (s *Simulated) Start(ctx context.Context, dir string) (Endpoint, error) {
	stack := schema.Stack{Engine: SimEngine}
	config := s.Config
	config.Seed += s.starts << 20
	s.starts++
	if s.Virtual {
		s.Clock = sim.NewVirtual(config, s.Begin)
		cfg := s.Clock.Config()
		stack.Version = cfg.Version
		return Endpoint{Model: cfg.Model, Stack: stack, Context: cfg.KVTokens}, nil
	}
	srv, err := sim.Start(config)
	if err != nil {
		return Endpoint{}, err
	}
	s.server = srv
	end, err := (&Attached{URL: srv.URL(), Wait: 30 * time.Second}).Start(ctx, dir)
	stack.Version = end.Stack.Version
	end.Stack = stack
	return end, err
}

// Stop ends the simulator.
func (s *Simulated) Stop() {
	if s.server != nil {
		s.server.Stop()
		s.server = nil
	}
}

// DemoRelease is one simulated release of the demo: how it differs from the defaults of the simulator.
type DemoRelease struct {
	Name   string
	chunk  int     // prompt tokens that one step prefills
	decode float64 // factor on the time of a step
	right  float64 // share of eval questions answered right
}

// DemoReleases returns six small releases of one model: v0.4.0 decodes faster than earlier ones, and the newest,
// v0.6.0, prefills in smaller chunks, so that long prompts wait longer. The others differ only by noise.
func DemoReleases() []DemoRelease {
	return []DemoRelease{
		{"v0.1.0", 512, 1, .88}, {"v0.2.0", 512, 1, .88}, {"v0.3.0", 512, 1, .88},
		{"v0.4.0", 512, .86, .9}, {"v0.5.0", 512, .86, .9}, {"v0.6.0", 320, .86, .9},
	}
}

// Simulator returns the simulator's configuration of a release.
func (r DemoRelease) Simulator(seed uint64) sim.Config {
	c := sim.Defaults()
	c.Seed, c.Version, c.EvalAccuracy = seed, r.Name, r.right
	c.ChunkTokens = r.chunk
	c.StepBase = time.Duration(float64(c.StepBase) * r.decode)
	return c
}

// known are failures in the logs of tools and servers, by what they print, and what to do about them, the most specific
// first.
var known = []struct {
	prints []string
	fix    string
}{
	{[]string{"gated repo", "gatedrepoerror", "access to model"},
		"the model is gated: accept its terms on its page, and set HF_TOKEN to a token of that account"},
	{[]string{"401 client error"}, "the hub needs a token: set HF_TOKEN, in the environment or in .env"},
	{[]string{"invalid user token"}, "the hub refuses HF_TOKEN: it may have expired"},
	{[]string{"no space left on device"}, "the disk is full: make room, and run the same line again"},
	{[]string{"address already in use"}, "the port is taken: choose another --port"},
	{[]string{"out of memory"}, "out of memory: use a lower concurrency or a shorter context"},
	{[]string{"status 401", "401 unauthorized"},
		"the server needs a key: set OPENAI_API_KEY, or JWT_SECRET, in the environment or in .env"},
}

// LastLog returns the last lines of a log as text, and what to do about it where that is known.
func LastLog(log, between string) string {
	lines := process.LastLines(log, 5)
	if len(lines) == 0 {
		return "it printed nothing"
	}
	last := "last log lines:" + between + strings.Join(lines, between)
	text := strings.ToLower(string(process.Tail(log, 64<<10)))
	for _, k := range known {
		if slices.ContainsFunc(k.prints, func(s string) bool { return strings.Contains(text, s) }) {
			return last + "\n  " + k.fix
		}
	}
	return last
}

// Detached is a server that was started and left running.
type Detached struct {
	Name string // of the container, or the process
	URL  string
	Log  string // command that follows its log
	Stop string // command that ends it
}

// Detach starts the program and leaves it running once it is ready; its log goes to a file below dir.
func (c *Command) Detach(ctx context.Context, dir string) (Detached, error) {
	c.detached = true
	if err := startDetached(ctx, c, dir); err != nil {
		return Detached{}, err
	}
	pid := c.child.Pid()
	c.child = nil // now Stop has nothing to end
	log := "tail -f " + shellescape.QuoteCommand([]string{c.log})
	return Detached{Name: fmt.Sprintf("process %d", pid), URL: c.URL, Log: log,
		Stop: fmt.Sprintf("kill -INT -%d", pid)}, nil
}

// startDetached starts a server whose log goes to a new folder below dir.
func startDetached(ctx context.Context, srv Server, dir string) error {
	dir, err := filepath.Abs(filepath.Join(dir, time.Now().UTC().Format("20060102T150405Z")))
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if _, err = srv.Start(ctx, dir); err != nil {
		srv.Stop()
	}
	return err
}
