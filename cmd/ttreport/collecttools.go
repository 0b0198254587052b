package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/aiperf"
	"github.com/ttreport/ttreport/collect/tool/environment"
	"github.com/ttreport/ttreport/collect/tool/genaiperf"
	"github.com/ttreport/ttreport/collect/tool/guidellm"
	"github.com/ttreport/ttreport/collect/tool/inspect"
	"github.com/ttreport/ttreport/collect/tool/lmeval"
	"github.com/ttreport/ttreport/collect/tool/lmmseval"
	"github.com/ttreport/ttreport/collect/tool/script"
	"github.com/ttreport/ttreport/collect/tool/sglang"
	"github.com/ttreport/ttreport/collect/tool/trtllm"
	"github.com/ttreport/ttreport/collect/tool/vllm"
	"github.com/ttreport/ttreport/collect/tool/vllmoffline"
)

// adapters are the foreign tools.
func adapters() []tool.Adapter {
	return []tool.Adapter{vllm.Adapter(), aiperf.Adapter(), guidellm.Adapter(), genaiperf.Adapter(), sglang.Adapter(), vllmoffline.Throughput(), vllmoffline.Latency(), trtllm.Script(), trtllm.Bench(),
		lmeval.Adapter(), lmmseval.Adapter(), inspect.Adapter()}
}

// toolNames are the names of tools that ask questions, or of those that make load.
func toolNames(eval bool) []string {
	var names []string
	if !eval {
		names = append(names, collect.Builtin().Name)
	}
	for _, a := range adapters() {
		if a.Eval == eval {
			names = append(names, a.Name)
		}
	}
	return names
}

// allToolNames are those of every foreign tool.
func allToolNames() string {
	var names []string
	for _, a := range adapters() {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// adapter finds a tool by name: one of ours, or an exec tool of ttreport.yaml.
func adapter(ws *workspace.Workspace, name string, eval bool) (tool.Adapter, error) {
	all := adapters()
	if at := slices.IndexFunc(all, func(a tool.Adapter) bool { return a.Name == name && a.Eval == eval }); at >= 0 {
		return all[at], nil
	}
	if line, ok := ws.Config.Exec[name]; ok && !eval {
		a, err := script.Adapter(name, line)
		if err != nil {
			return a, fail(exitUsage, "ttreport help plans shows one", "%s: exec: %s: %w", workspace.ConfigName, name, err)
		}
		return a, nil
	}
	return tool.Adapter{}, fail(exitUsage, "tools are "+strings.Join(toolNames(eval), ", ")+"; others are declared in ttreport.yaml under exec", "collect: no tool is called %q", name)
}

// tooling finds or makes the tools of a plan. A dry run makes none.
func (o collectOptions) tooling(ctx context.Context, sh *shell, ws *workspace.Workspace, p *collect.Plan) error {
	p.Tokenizer, p.Chat, p.Include, p.PointLimit, p.Fresh, p.Ranks, p.NoWarmup = o.tokenizer, o.chat, o.include, o.pointLimit, o.fresh, o.ranks, o.noWarmup
	p.ToolArgs = map[string][]string{}
	for _, text := range o.toolArgs {
		name, arg, ok := strings.Cut(text, "=")
		if _, known := named(name); !ok || !known && ws.Config.Exec[name] == "" {
			return fail(exitUsage, "--tool-arg vllm=--burstiness=0.5", "collect: --tool-arg %q names no tool", text)
		}
		p.ToolArgs[name] = append(p.ToolArgs[name], arg)
	}
	boxes := environment.Tools{Configured: ws.Config.Tools, Say: func(s string) { sh.say("tools     %s", s) }}
	if len(p.Workloads) > 0 {
		for _, name := range o.tools {
			t, err := o.ready(ctx, sh, ws, boxes, name, false)
			if err != nil {
				return err
			}
			p.Tools = append(p.Tools, t)
		}
	}
	for i := range p.Evals {
		t, err := o.ready(ctx, sh, ws, boxes, p.Evals[i].Tool.Name, true)
		if err != nil {
			return err
		}
		p.Evals[i].Tool = t
	}
	return o.compatible(p)
}

// compatible refuses tools that cannot make what is asked for, before anything is started.
func (o collectOptions) compatible(p *collect.Plan) error {
	offline := 0
	for _, t := range p.Tools {
		if t.Offline {
			offline++
		}
	}
	if offline > 0 && (offline < len(p.Tools) || len(p.Evals) > 0) {
		return fail(exitUsage, "measure them one after the other: --tools "+p.Tools[0].Name, "collect: some of these tools bring their own engine and some measure a server: two models on one device")
	}
	if offline > 0 {
		p.EvalItems = 0 // there is nobody to ask
	}
	asks := len(p.Tools) == 0 || slices.ContainsFunc(p.Tools, func(t collect.Tool) bool { return t.Name == collect.Builtin().Name })
	for _, w := range p.Workloads {
		if asks && (w.Dataset != "" || w.Concurrency == 0 && w.Rate == 0) {
			return fail(exitUsage, "--tools vllm", "collect: builtin makes random prompts at a concurrency or a rate; it cannot make %s", w)
		}
	}
	return nil
}

// ready finds a tool and asks it who it is.
func (o collectOptions) ready(ctx context.Context, sh *shell, ws *workspace.Workspace, boxes environment.Tools, name string, eval bool) (collect.Tool, error) {
	if name == collect.Builtin().Name && !eval {
		return collect.Builtin(), nil
	}
	a, err := adapter(ws, name, eval)
	if err != nil {
		return collect.Tool{}, err
	}
	if o.dryRun {
		found, err := boxes.Look(ctx, a.Name, a.Program, a.Module)
		if errors.Is(err, environment.ErrNone) {
			found.Program = a.Program
		} else if err != nil {
			return collect.Tool{}, failure{code: exitUsage, err: err}
		}
		return collect.Tool{Adapter: a, Program: found.Program}, nil
	}
	found, err := boxes.Ensure(ctx, a.Name, a.Program, a.Module)
	if err != nil {
		return collect.Tool{}, fail(exitCollect, "ttreport doctor says what is missing", "collect: %w", err)
	}
	t := collect.Prepare(ctx, a, found.Program)
	sh.say("tools     %s %s from the %s", a.Name, dashText(t.Release), found.From)
	return t, nil
}

func dashText(s string) string {
	if s == "" {
		return "(version unknown)"
	}
	return s
}
