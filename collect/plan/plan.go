package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Workload is one measurement to make.
type Workload = traffic.Workload

// Plan states what to measure on which system.
type Plan struct {
	Release   string // "" for a build
	Channel   string
	Model     schema.Model
	Device    string
	Impl      string
	Workloads []Workload
	EvalItems int            // questions of the builtin eval; 0: none
	Repeat    int            // times each workload is measured, interleaved; 0: once
	Clients   int            // of builtin, that make the load together; 0: one
	Until     precision.Rule // ends a workload's measurement; none: its number of requests does
	Budget    time.Duration  // of all measurements that end by the rule; 0: each has its own limit
	Seed      uint64
	Text      uint64          // fixes the words of prompts beside Seed; 0: Seed does alone
	Targets   []schema.Target // in force for this run, when the plan states them

	Tools     []tool.Tool         // make load, each for every workload; none: builtin
	Evals     []EvalTask          // of eval tools
	Tokenizer string              // for tools that make prompts of their own: a folder, or a name on the hub
	Chat      bool                // chat completions in place of completions, for tools
	ChatLoad  bool                // the same for load alone
	TaskDir   string              // folder with eval tasks of the user
	MPIRanks  int                 // processes of tools that bring their own engine
	ToolArgs  map[string][]string // more arguments, by tool
	RunOptions
	Turns Turns // with the same plan on another server
}

// EvalTask is a task of an eval tool.
type EvalTask struct {
	Tool   tool.Tool
	Task   string
	Limit  int               // questions; 0: all
	Params map[string]string // as the tool's adapter knows them: fewshot, gen_kwargs …
}

// Digest identifies what a plan measures on which system: an interrupted run is resumed by a plan of the same digest.
func (p Plan) Digest() string {
	var names []string
	for _, it := range p.Items() {
		name := fmt.Sprintf("%s n%d", it.Name, it.Load.Requests+it.Limit)
		if len(it.Load.Dims) > 0 { // another start of the server measures another thing
			name += fmt.Sprint(" ", it.Load.Dims)
		}
		names = append(names, name)
	}
	if p.Clients > 1 {
		names = append(names, fmt.Sprintf("%d clients", p.Clients))
	}
	text := fmt.Appendf(nil, "%q %q %+v %q %q %d %q %v",
		p.Release, p.Channel, p.Model, p.Device, p.Impl, p.Seed, names, p.Chat || p.ChatLoad)
	if p.Until.Set() {
		text = fmt.Appendf(text, " %s", p.Until)
	}
	if p.Turns.Blocks > 0 {
		text = fmt.Appendf(text, " %+v", p.Turns)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// Offline reports whether the plan's tools bring their own engine, so that there is no server.
func (p Plan) Offline() bool { return len(p.Tools) > 0 && p.Tools[0].Offline }

// BuiltinOnly reports whether this program makes all the load and asks all the questions.
func (p Plan) BuiltinOnly() bool {
	return len(p.Evals) == 0 && !slices.ContainsFunc(p.Tools, func(t tool.Tool) bool { return !t.IsBuiltin() })
}

// Targets returns what target files state about a model on a device.
type Targets func(model schema.Model, device string) (TargetPlan, error)

// TargetPlan is what target files state about one model on one device.
type TargetPlan struct {
	Workloads []Workload // that have targets; Requests 0 takes the number of the standard sweep
	Evals     []EvalTask // their tools have names alone; "" is lm-eval
	// Replaced names the file that replaces the workspace's targets for this run; InForce has its rows.
	Replaced string
	InForce  []schema.Target
}

// Note is something that a reader of the plan must know: what was assumed, or left out.
type Note struct{ Kind, Text string }

// Make returns the plan that the options request. known is what [Options.Known] returns. The plan has only the names
// of tools; [Finder.Fill] finds the programs.
func Make(o Options, known spec.Model, targets Targets) (Plan, []Note, error) {
	p := Plan{
		Release: o.System.Release, Channel: o.System.Channel,
		Device: o.System.Device, Impl: cmp.Or(o.System.Impl, known.Impl),
		Model:  schema.Model{Name: path.Base(o.System.Model), ID: known.ID, Status: known.Status},
		Repeat: o.Measure.Repeat, Clients: o.Measure.Clients, Seed: o.Measure.Seed,
		Tokenizer: o.Tools.Tokenizer, Chat: o.Tools.Chat, ChatLoad: o.Tools.ChatLoad, Text: o.Measure.Text,
		MPIRanks: o.Tools.MPIRanks, TaskDir: o.Evals.TaskDir,
		RunOptions: o.Run,
	}
	if strings.Contains(o.System.Model, "/") {
		p.Model.ID = o.System.Model
	}
	stated, err := targets(p.Model, p.Device)
	if err != nil {
		return p, nil, err
	}
	p.Targets = stated.InForce
	list, notes, err := workloads(o, p.Model.Name, known, stated)
	if err == nil {
		list, err = searches(list, o.Measure.SLO)
	}
	if err != nil {
		return p, nil, err
	}
	if o.Measure.Only != OnlyEvals {
		p.Workloads = list
	}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		w.Context, w.Most = known.Context, known.Concurrency
		if len(o.Measure.Configuration) > 0 {
			dims := maps.Clone(o.Measure.Configuration)
			maps.Copy(dims, w.Dims)
			w.Dims = dims
		}
	}
	if o.Measure.Only != OnlyBenchmarks {
		more, err := p.evals(o, stated.Evals)
		if err != nil {
			return p, nil, err
		}
		notes = append(notes, more...)
	}
	return p, notes, errors.Join(p.until(o), p.possible())
}

// evals plans the requested tasks, else those that target files plan for the model, else the builtin questions. An
// unknown tool is reported by [Finder.Fill].
func (p *Plan) evals(o Options, planned []EvalTask) ([]Note, error) {
	const fromTargets, usualTool = "targets", "lm-eval"
	const fix = "ttreport models import CHECKOUT takes them from tt-inference-server; or --evals TASK, or targets/*.yaml"
	asked := o.Evals.Tasks
	if len(asked) == 0 && len(planned) > 0 {
		asked = []string{fromTargets}
	}
	for _, text := range asked {
		name, task, ok := strings.Cut(text, ":")
		switch {
		case text == fromTargets && len(planned) == 0:
			return nil, Usage("evals: in targets/*.yaml, with run: at each; ttreport help targets",
				"collect: no target file plans an eval of %s", o.System.Model)
		case text == fromTargets:
			p.Evals = append(p.Evals, planned...)
		case ok:
			p.Evals = append(p.Evals, EvalTask{Tool: tool.Tool{Adapter: tool.Adapter{Name: name}}, Task: task})
		default:
			p.Evals = append(p.Evals, EvalTask{Task: text})
		}
	}
	limit := cmp.Or(o.Evals.Limit, o.Evals.ModeLimit)
	for i := range p.Evals {
		e := &p.Evals[i]
		e.Tool.Name, e.Limit = cmp.Or(e.Tool.Name, usualTool), cmp.Or(limit, e.Limit)
	}
	switch {
	case len(p.Evals) > 0:
	case !o.Evals.NoQuestions:
		const questions = 60
		p.EvalItems = min(questions, cmp.Or(limit, questions))
	case o.Measure.Only == OnlyEvals: // a workflow of run.py asks for the evals of the model
		return nil, Usage(fix, "collect: no target file plans an eval of %s", o.System.Model)
	default:
		return []Note{{"left out", "evals: no target file plans one of " + p.Model.Name + "; " + fix}}, nil
	}
	return nil, nil
}

// workloads returns the workloads that are named, else those of batches, else those of targets and of a sweep.
func workloads(o Options, model string, known spec.Model, stated TargetPlan) ([]Workload, []Note, error) {
	list, err := named(o.Measure)
	if err != nil || len(list) > 0 {
		return list, nil, err
	}
	name := o.Measure.Sweep
	if name == "" && o.Measure.TargetsOnly {
		name = SweepTargets
	}
	ofTargets := name == SweepTargets || stated.Replaced != ""
	if ofTargets && len(stated.Workloads) == 0 {
		return nil, nil, Usage("put targets into targets/, or choose another --sweep",
			"collect: no target of %s states a workload of %s on %s", cmp.Or(stated.Replaced, "targets/"), model,
			o.System.Device)
	}
	var out []Workload
	if ofTargets || name == SweepStandard {
		out = withRequests(stated.Workloads)
	}
	switch {
	case name == SweepTargets, stated.Replaced != "" && name == "":
		return fitting(o, out, known.Context, nil)
	case name == SweepStandard:
		l, notes := assumed(known)
		l.Device = o.System.Device
		return fitting(o, join(out, standard(l)...), l.Context, notes)
	case name == SweepStress:
		l, notes := assumed(known)
		return stress(l), notes, nil
	}
	if list, err = Preset(cmp.Or(name, "quick")); err != nil {
		return nil, nil, err
	}
	return fitting(o, join(out, list...), known.Context, nil)
}

// named returns the workloads that are named, and those of batches.
func named(m Measure) ([]Workload, error) {
	list, err := batches(m.Batches, m.Lengths, m.Encoder)
	list = append(slices.Clone(m.Workloads), list...)
	for i := range list {
		if err == nil {
			list[i], err = recorded(list[i])
		}
	}
	return list, err
}

// withRequests states how many requests the workloads of targets make, as the standard sweep does.
func withRequests(list []Workload) []Workload {
	list = slices.Clone(list)
	for i := range list {
		if w := &list[i]; w.Requests == 0 {
			w.Requests, _ = w.RequestsToHit(max(8, standardRequests(w.ISL, w.OSL, w.Concurrency)), traffic.MostUnsaid)
		}
	}
	return list
}

// assumed returns the limits for the standard sweep, with notes on those that nothing states: every server in use has
// at least what is assumed then.
func assumed(known spec.Model) (spec.Model, []Note) {
	var notes []Note
	for _, x := range []struct {
		at         *int
		least      int
		text, flag string
	}{
		{&known.Context, 4096, "a context of %d tokens", "--max-context"},
		{&known.Concurrency, 32, "a max concurrency of %d", "--max-concurrency"},
	} {
		if *x.at == 0 {
			*x.at = x.least
			notes = append(notes, Note{"assumed", fmt.Sprintf(x.text+": nothing states it; set it with "+x.flag, x.least)})
		}
	}
	return known, notes
}

// fitting leaves out workloads that are longer than the context, with a note. If none is left, that is an error: a
// command that requests load must not succeed without any.
func fitting(o Options, list []Workload, context int, notes []Note) ([]Workload, []Note, error) {
	var out []Workload
	for _, w := range list {
		if context > 0 && w.ISL+w.OSL > context {
			notes = append(notes, Note{"left out", fmt.Sprintf("%s: the model takes %d tokens", w, context)})
			continue
		}
		out = append(out, w)
	}
	if len(out) == 0 && o.Measure.Only != OnlyEvals {
		return nil, nil, Usage("--workload names one that fits; --only evals makes no load",
			"collect: no workload fits a context of %d tokens", context)
	}
	return out, notes, nil
}

// Item is one measurement to make.
type Item struct {
	Name   string // in the journal and in file names
	Tool   tool.Tool
	Load   Workload
	Index  int               // of the load in the plan's workloads; -1 for none
	Once   bool              // the tool runs once for the plan, not for each workload
	Task   string            // of an eval; "" for load
	Limit  int               // questions of an eval; 0: all
	Params map[string]string // of an eval
	Block  int               // of a plan that takes turns, from 1; 0 for none
}

// Items returns the measurements in order: repeats are interleaved, and within a repeat the tools, so that a drift of
// the machine is mistaken neither for a difference between workloads nor for one between tools. Evals come last.
func (p Plan) Items() []Item {
	tools := p.Tools
	if len(tools) == 0 {
		tools = []tool.Tool{tool.Builtin()}
	}
	var out []Item
	repeats := max(1, p.Repeat)
	for round := range repeats * max(1, p.Turns.Blocks) {
		first := len(out)
		for i, w := range p.Workloads {
			for _, t := range tools {
				if !t.Once {
					name := fmt.Sprintf("%02d-%s%s", len(out)+1, filePrefix(t), w.FileName())
					out = append(out, Item{Tool: t, Load: w, Index: i, Name: name})
				}
			}
		}
		for _, t := range tools {
			if t.Once && len(p.Workloads) > 0 {
				out = append(out, Item{Tool: t, Once: true, Index: -1, Name: fmt.Sprintf("%02d-%s", len(out)+1, t.Name)})
			}
		}
		for i := first; p.Turns.Blocks > 0 && i < len(out); i++ {
			out[i].Block = 1 + round/repeats
		}
	}
	if p.EvalItems > 0 {
		const name = builtin.EvalTask
		out = append(out, Item{Name: name, Tool: tool.Builtin(), Index: -1, Task: name, Limit: p.EvalItems})
	}
	for _, e := range p.Evals {
		name := filePrefix(e.Tool) + traffic.FileSafe(e.Task)
		out = append(out, Item{Name: name, Tool: e.Tool, Index: -1, Task: e.Task, Limit: e.Limit, Params: e.Params})
	}
	return out
}

// Workload returns the item's workload as its result states it: tools have names of their own for prompts that they
// make up, and what is planned must be found under the name that is read.
func (it Item) Workload() manifest.Workload {
	w := it.Load.Manifest()
	if it.Load.Dataset == "" && it.Tool.Prompts != "" {
		w.Dataset = it.Tool.Prompts
	}
	return w
}

func filePrefix(t tool.Tool) string {
	if t.IsBuiltin() {
		return ""
	}
	return t.Name + "-"
}

// String describes an item.
func (it Item) String() string {
	what := it.Task
	switch {
	case it.Once:
		return it.Tool.Name
	case what == "":
		what = it.Load.String()
	}
	if it.Tool.IsBuiltin() {
		return what
	}
	return it.Tool.Name + ": " + what
}

// Batches reports that every tool of the plan runs once for lists of batch sizes and lengths: it chooses itself how
// often it repeats a batch, and is told no number of requests.
func (p Plan) Batches() bool {
	return len(p.Tools) > 0 && !slices.ContainsFunc(p.Tools, func(t tool.Tool) bool { return !t.Once || !t.Matrix })
}

// RunOnce returns the names of a plan's tools if all of them run once, whatever the workloads are; else "".
func (p Plan) RunOnce() string {
	var names []string
	for _, t := range p.Tools {
		if !t.Once || t.Matrix {
			return ""
		}
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}
