// Package session goes from a request to a plan and a server that can be measured: secrets, what is known of the model,
// workloads, tools, the server.
//
// In: options of package plan, and what the workspace has: its folder, its targets, its tools. Out: a [Session], for
// [collect.Run]. It must not measure, print, or know a terminal: what a person must learn goes to functions of the
// request.
package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Request says what to measure, and with what.
type Request struct {
	Options    plan.Options
	Spec       string // file of a specification; "" for models.yaml of the folder
	Dir        string // the workspace, where .env and models.yaml are
	Targets    func() (plan.Targets, error)
	Finder     plan.Finder
	ServerOnly bool // nothing is measured
	DryRun     bool // nothing is asked of a person or a server

	Ask     credentials.Ask
	Warn    func(string)               // what bears on secrets and locks
	Note    func(plan.Note)            // what was assumed or left out
	Waiting func(time.Duration, error) // how long a server has been waited for, and why
}

// Session is a plan and the server that it is measured on.
type Session struct {
	Options plan.Options // with what is known of the model
	Plan    plan.Plan
	Server  server.Server
	Address string

	warn func(string)
}

// New prepares a session. Mistakes in the request are [plan.UsageError] values; a server that wants another key is
// [server.ErrDenied]; other errors are of tools that are missing.
func New(ctx context.Context, r Request) (*Session, error) {
	if err := r.Options.Check(); err != nil {
		return nil, err
	}
	if r.Options.Server.Name.IsZero() {
		r.Options.Server.Name.Kind = plan.ServerSim
	}
	if err := r.Options.Server.OnlyFor(); err != nil {
		return nil, err
	}
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	known, err := r.known(ctx, &key)
	if err != nil {
		return nil, err
	}
	o := r.Options.Complete(known)
	targets, err := r.Targets()
	if err != nil {
		return nil, err
	}
	p, notes, err := plan.Make(o, known, targets)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		r.Note(n)
	}
	if err := r.writesText(known, p); err != nil {
		return nil, err
	}
	if err := haveDatasets(p); err != nil && !r.DryRun { // before a tool is installed for minutes
		return nil, err
	}
	if err := r.Finder.Fill(ctx, &p, o.Tools); err != nil {
		return nil, err
	}
	if err := r.usable(ctx, o, p, key); err != nil {
		return nil, err
	}
	address := o.Server.Name.Address(o.Server.Port)
	srv, err := server.New(server.Request{
		System: o.System, Options: o.Server, Plan: p, APIKey: key, Dir: r.Dir, Waiting: r.Waiting,
	})
	return &Session{Options: o, Plan: p, Server: srv, Address: address, warn: r.Warn}, err
}

// writesText refuses workloads of text for a model that writes none, unless a program of the user's own measures it.
func (r Request) writesText(known spec.Model, p plan.Plan) error {
	isOwn := func(name string) bool { return r.Finder.Exec[name] != "" }
	text := func(w plan.Workload) bool { return !w.Shape.Endpoint.Pools() }
	names := r.Options.Tools.Names
	if known.Type == "" || r.ServerOnly || !slices.ContainsFunc(p.Workloads, text) ||
		len(names) > 0 && isOwn(names[0]) {
		return nil
	}
	fix := "measure it with a program of yours (exec: in ttreport.yaml, ttreport help plans); results of " +
		"tt-inference-server's clients are read by ttreport build"
	if known.Type == "embedding" {
		fix = "--tools builtin --workload isl=512,c=8,n=100,endpoint=embeddings"
	}
	return plan.UsageError{
		Err: fmt.Errorf("collect: %s is a model of type %s: it writes no text, and these workloads are text",
			known.Model, known.Type),
		Fix: fix,
	}
}

// key is the API key of the server. Tools get the token of the hub from .env.
func (r Request) key() (string, error) {
	o := r.Options
	if o.Server.Name.Kind == plan.ServerSim {
		return "", nil
	}
	file, err := credentials.Open(r.Dir)
	if err != nil {
		return "", plan.UsageError{Err: fmt.Errorf("collect: %w", err)}
	}
	if file.Warning != "" {
		r.Warn(file.Warning)
	}
	if err := file.ExportToken(); err != nil {
		return "", fmt.Errorf("collect: %w", err)
	}
	docker := o.Server.Name.Kind == plan.ServerDocker && !o.Server.NoAuth && !r.DryRun
	return file.Key(docker && server.IsTenstorrent(o.System.Device), r.Ask)
}

// known is what is stated of the model: by a specification or models.yaml, and by the server where it runs already. The
// key is replaced by one that a person types where the server wants another.
func (r Request) known(ctx context.Context, key *string) (spec.Model, error) {
	s := r.Options.System
	stated, err := spec.Lookup(r.Dir, r.Spec, s.Model, s.Device, s.Impl)
	if err != nil {
		if r.Spec != "" {
			err = fmt.Errorf("collect: --spec: %w", err)
			return stated, plan.UsageError{Err: err, Fix: "as in --spec runtime_model_spec.json"}
		}
		return stated, plan.UsageError{Err: fmt.Errorf("collect: %w", err)}
	}
	limit := 0
	if r.Options.Server.Name.Kind == plan.ServerURL && !r.DryRun {
		end, err := r.probe(ctx, key)
		if errors.Is(err, server.ErrDenied) {
			return stated, err
		}
		limit = end.Context // one that is not ready yet is waited for later
	}
	return r.Options.Known(stated, limit), nil
}

// probe asks a running server what it serves; one that wants a key is asked again with one that a person types.
func (r Request) probe(ctx context.Context, key *string) (server.Endpoint, error) {
	at := server.Attached{URL: r.Options.Server.Name.URL, Model: r.Options.System.Model, APIKey: *key}
	end, err := at.Probe(ctx)
	if !errors.Is(err, server.ErrDenied) {
		return end, err
	}
	typed, ok := r.Ask(credentials.OpenAIKey, at.URL+" wants a key")
	if !ok {
		return end, err
	}
	*key, at.APIKey = typed, typed
	return at.Probe(ctx)
}

// Lock keeps other processes from measuring the same device or server, or servers at other addresses, until release is
// called. The simulator needs no
// lock: each process has its own.
func (s *Session) Lock(also ...string) (release func(), err error) {
	device := s.Options.System.Device
	if device == schema.Simulated {
		return func() {}, nil
	}
	return collect.Lock(s.warn, device, append(also, s.Address)...)
}

// ErrNotStarted is returned where a server is to be left running and is none that is started here.
var ErrNotStarted = errors.New("that is no server that could be started")

// Detach starts the server and leaves it running; its log is in a folder.
func (s *Session) Detach(ctx context.Context, dir string) (server.Detached, error) {
	d, ok := s.Server.(detacher)
	if !ok {
		return server.Detached{}, ErrNotStarted
	}
	return d.Detach(ctx, dir)
}

// detacher is a server that can be left running.
type detacher interface {
	Detach(ctx context.Context, dir string) (server.Detached, error)
}

// Detaches reports that the server is one that is started here, and so can be left running.
func (s *Session) Detaches() bool { _, ok := s.Server.(detacher); return ok }
