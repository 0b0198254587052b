package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/environment"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Finder finds the tools of a plan, or makes their environments.
type Finder struct {
	Environments environment.Tools
	Exec         map[string]string // command lines of the user's own tools, by name
	FindOnly     bool              // make no environment and do not ask tools for their version
	Say          func(string)      // called with each tool that is ready
}

// Fill adds to a plan the tools that the options name, and the programs of its eval tools. It refuses tools that
// cannot make the plan's load.
func (f Finder) Fill(ctx context.Context, p *Plan, o ToolOptions) error {
	var err error
	if p.ToolArgs, err = f.toolArgs(o.Args); err != nil {
		return err
	}
	if err := onlyBuiltin(p.Workloads, o.Names); err != nil {
		return err
	}
	if len(p.Workloads) > 0 {
		for _, name := range o.Names {
			t, err := f.find(ctx, name, false)
			if err != nil {
				return err
			}
			p.Tools = append(p.Tools, t)
		}
	}
	for i := range p.Evals {
		if p.Evals[i].Tool, err = f.find(ctx, p.Evals[i].Tool.Name, true); err != nil {
			return err
		}
	}
	return p.compatible()
}

// onlyBuiltin refuses workloads that the named tools cannot make, before one of them is installed.
func onlyBuiltin(list []Workload, names []string) error {
	other := slices.IndexFunc(names, func(name string) bool { return name != schema.ToolBuiltin })
	for _, w := range list {
		if other >= 0 && (w.Shape.Varies() || w.SLO.Set() || w.Dataset == DatasetTrace) {
			return usage("--tools builtin, or --tool-arg with a flag of the tool's own",
				"collect: only the builtin client makes %s; %s does not", w, names[other])
		}
	}
	return nil
}

// toolArgs parses texts such as vllm=--burstiness=0.5 into arguments by tool.
func (f Finder) toolArgs(list []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, text := range list {
		name, arg, ok := strings.Cut(text, "=")
		if _, known := tool.Named(name); !ok || !known && f.Exec[name] == "" {
			return nil, usage("--tool-arg vllm=--burstiness=0.5", "collect: --tool-arg %q names no tool", text)
		}
		out[name] = append(out[name], arg)
	}
	return out, nil
}

// Adapter finds a tool by name: one that ttreport knows, or an exec tool of the user.
func (f Finder) Adapter(name string, eval bool) (tool.Adapter, error) {
	if a, ok := tool.Named(name); ok && a.Eval == eval {
		return a, nil
	}
	if line, ok := f.Exec[name]; ok && !eval {
		a, err := tool.Script(name, line)
		if err != nil {
			return a, usage("ttreport help plans shows one", "ttreport.yaml: exec: %s: %w", name, err)
		}
		return a, nil
	}
	if name == specTests {
		const fix = `ttreport.yaml: exec: {` + specTests + `: "COMMAND --url {url} --out {out}"}; ttreport help plans`
		return tool.Adapter{}, usage(fix,
			"collect: the workflow of tests runs a script of yours, and ttreport.yaml declares none")
	}
	names := strings.Join(tool.Names(eval), ", ")
	return tool.Adapter{}, usage("tools are "+names+"; others are declared in ttreport.yaml under exec",
		"collect: no tool is called %q", name)
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
		found, err := f.Environments.Find(ctx, a.Name, a.Program, a.Module)
		if errors.Is(err, environment.ErrNone) {
			found.Program = a.Program
		} else if err != nil {
			return tool.Tool{}, UsageError{err, ""}
		}
		return tool.Tool{Adapter: a, Path: found.Program}, nil
	}
	found, err := f.Environments.Ensure(ctx, a.Name, a.Program, a.Module)
	if err != nil {
		return tool.Tool{}, fmt.Errorf("collect: %w", err)
	}
	t := tool.Installed(ctx, a, found.Program)
	if f.Say != nil {
		f.Say(fmt.Sprintf("%s %s from the %s", a.Name, cmp.Or(t.Release, "(version unknown)"), found.From))
	}
	return t, nil
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
		return usage("measure them one after the other: --tools "+p.Tools[0].Name,
			"collect: some of these tools bring their own engine and some measure a server: two models on one device")
	}
	if offline > 0 {
		p.EvalItems = 0 // there is no server to ask
	}
	usesBuiltin := len(p.Tools) == 0 || slices.ContainsFunc(p.Tools, tool.Tool.IsBuiltin)
	for _, w := range p.Workloads {
		if usesBuiltin && (w.Dataset != "" && !w.replayable() || w.Concurrency == 0 && w.Rate == 0 && !w.SLO.Set()) {
			return usage("--tools vllm; builtin replays dataset=trace,path=FILE and dataset=sharegpt,path=FILE,osl=128",
				"collect: builtin makes random prompts at a concurrency or a rate; it cannot make %s", w)
		}
	}
	return nil
}
