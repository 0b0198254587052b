package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/kballard/go-shellquote"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Finder finds the tools of a plan, or makes their environments.
type Finder struct {
	Environments tool.Environments
	Exec         map[string]string // command lines of the user's own tools, by name
	FindOnly     bool              // make no environment and do not ask tools for their version
	Say          func(string)      // called with each tool that is ready
}

// Fill adds to a plan the tools that the options name, and the programs of its eval tools. It refuses tools that
// cannot make the plan's load.
func (f Finder) Fill(ctx context.Context, p *Plan, o ToolOptions) (err error) {
	p.ToolArgs = map[string][]string{}
	for _, text := range o.Args { // such as vllm=--burstiness=0.5
		name, arg, ok := strings.Cut(text, "=")
		if _, known := tool.Named(name); !ok || !known && f.Exec[name] == "" {
			return Usage("--tool-arg vllm=--burstiness=0.5", "collect: --tool-arg %q names no tool", text)
		}
		p.ToolArgs[name] = append(p.ToolArgs[name], arg)
	}
	other := slices.IndexFunc(o.Names, func(name string) bool { return name != schema.ToolBuiltin })
	for _, w := range p.Workloads { // before a tool is installed
		if other >= 0 && w.OnlyBuiltin() {
			return Usage("--tools builtin, or --tool-arg with a flag of the tool's own",
				"collect: only the builtin client can make %s; %s cannot", w, o.Names[other])
		}
	}
	if len(p.Workloads) > 0 {
		p.Tools = make([]tool.Tool, len(o.Names))
		for i, name := range o.Names {
			if p.Tools[i], err = f.find(ctx, name, false); err != nil {
				return err
			}
		}
	}
	for i := range p.Evals {
		if p.Evals[i].Tool, err = f.find(ctx, p.Evals[i].Tool.Name, true); err != nil {
			return err
		}
	}
	return p.compatible()
}

// Adapter finds a tool by name: one that ttreport knows, or an exec tool of the user.
func (f Finder) Adapter(name string, eval bool) (tool.Adapter, error) {
	if a, ok := tool.Named(name); ok && a.Eval == eval {
		return a, nil
	}
	if line, ok := f.Exec[name]; ok && !eval {
		a, err := tool.Script(name, line)
		if err != nil {
			return a, Usage("ttreport help plans shows one", "ttreport.yaml: exec: %s: %w", name, err)
		}
		return a, nil
	}
	if name == specTests {
		const fix = `ttreport.yaml: exec: {` + specTests + `: "COMMAND --url {url} --out {out}"}; ttreport help plans`
		return tool.Adapter{}, Usage(fix,
			"collect: the workflow of tests runs a script of yours, and ttreport.yaml declares none")
	}
	names := strings.Join(tool.Names(eval), ", ")
	return tool.Adapter{}, Usage("tools are "+names+"; others can be declared in ttreport.yaml under exec",
		"collect: unknown tool %q", name)
}

// find returns a tool that can be run, with its version and flags.
func (f Finder) find(ctx context.Context, name string, eval bool) (tool.Tool, error) {
	if b := tool.Builtin(); name == b.Name && !eval {
		return b, nil
	}
	a, err := f.Adapter(name, eval)
	if err != nil {
		return tool.Tool{}, err
	}
	if f.FindOnly {
		found, err := f.Environments.Find(ctx, a)
		if errors.Is(err, tool.ErrNone) {
			found.Program = a.Program
		} else if err != nil {
			return tool.Tool{}, UsageError{err, ""}
		}
		return tool.Tool{Adapter: a, Path: found.Program}, nil
	}
	found, err := f.Environments.Ensure(ctx, a)
	if err != nil {
		return tool.Tool{}, fmt.Errorf("collect: %w", err)
	}
	t := tool.Installed(ctx, a, found.Program)
	if f.Say != nil {
		f.Say(fmt.Sprintf("%s %s from the %s", a.Name, cmp.Or(t.Release, "(version unknown)"), found.From))
	}
	return t, nil
}

// replayable reports whether the builtin client can make a workload of a dataset.
func replayable(w Workload) bool {
	return w.Dataset == traffic.DatasetTrace || w.Dataset == traffic.ShareGPT && w.Path != "" && w.OSL > 0
}

// compatible refuses tools that cannot make the requested load, before anything is started.
func (p *Plan) compatible() error {
	offline := 0
	for _, t := range p.Tools {
		if t.Offline {
			offline++
		}
	}
	if offline > 0 && (offline < len(p.Tools) || len(p.Evals) > 0) {
		return Usage("measure them one after the other: --tools "+p.Tools[0].Name,
			"collect: some of these tools bring their own engine and some measure a server: two models on one device")
	}
	if offline > 0 {
		p.EvalItems = 0 // there is no server to ask
	}
	usesBuiltin := len(p.Tools) == 0 || slices.ContainsFunc(p.Tools, tool.Tool.IsBuiltin)
	for _, w := range p.Workloads {
		if usesBuiltin && (w.Dataset != "" && !replayable(w) || w.Concurrency == 0 && w.Rate == 0 && !w.SLO.Set()) {
			return Usage("--tools vllm; builtin replays dataset=trace,path=FILE and dataset=sharegpt,path=FILE,osl=128",
				"collect: builtin makes random prompts at a concurrency or a rate; it cannot make %s", w)
		}
	}
	return nil
}

// ServerKind is a way to get a server.
type ServerKind string

// Kinds of servers.
const (
	ServerSim     ServerKind = "sim"     // the simulator in this program
	ServerURL     ServerKind = "url"     // one that runs already
	ServerCommand ServerKind = "command" // a program that is started
	ServerDocker  ServerKind = "docker"  // an image that is started with docker or podman
)

// ServerName is the value of --server and of a plan's server: field. The zero value names no server.
type ServerName struct {
	Kind ServerKind
	URL  string   // of a server that runs, without a slash or /v1 at its end
	Argv []string // of a program
}

// UnmarshalText implements encoding.TextUnmarshaler: sim, docker, "command …", or the address of a server.
func (s *ServerName) UnmarshalText(text []byte) error {
	// OpenAI clients take addresses with /v1.
	name := strings.TrimSuffix(strings.TrimSuffix(string(text), "/"), "/v1")
	switch name {
	case "":
		*s = ServerName{}
		return nil
	case string(ServerSim), string(ServerDocker):
		*s = ServerName{Kind: ServerKind(name)}
		return nil
	}
	if words, err := shellquote.Split(name); err == nil && len(words) > 1 && words[0] == string(ServerCommand) {
		*s = ServerName{Kind: ServerCommand, Argv: words[1:]}
		return nil
	}
	u, err := url.Parse(name)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q: expected sim, docker, the address of a server, or 'command …'", redact.Text(name))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%s had a user, a password or a query: tools have the address on their command lines, which "+
			"everybody on this host can read; state a key in OPENAI_API_KEY", redact.URL(u.Scheme+"://"+u.Host))
	}
	*s = ServerName{Kind: ServerURL, URL: strings.TrimSuffix(name, "/")}
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (s ServerName) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns the name as --server takes it.
func (s ServerName) String() string {
	switch s.Kind {
	case ServerURL:
		return s.URL
	case ServerCommand:
		return string(ServerCommand) + " " + shellescape.QuoteCommand(s.Argv)
	}
	return string(s.Kind)
}

// IsZero reports whether no server is named.
func (s ServerName) IsZero() bool { return s.Kind == "" }

// usualPort is the port of servers unless one is given.
const usualPort = 8000

// Address returns where the server answers or will answer: port is that of --port, 0 for none. A command's own --port
// takes precedence over the usual one.
func (s ServerName) Address(port int) string {
	switch s.Kind {
	case ServerURL:
		return s.URL
	case ServerCommand:
		port = cmp.Or(port, spec.Number(s.Argv, "--port", "-p")) // one that is no number is refused by the server
	case ServerSim:
		return string(ServerSim)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", cmp.Or(port, usualPort))
}
