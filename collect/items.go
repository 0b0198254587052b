package collect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// Tool is a tool that is ready to run: builtin, or a foreign one with its program.
type Tool struct {
	tool.Adapter
	Program string     // path
	Release string     // version, as it says itself
	Flags   tool.Flags // that this version knows
}

// Builtin is the load client and eval of this program.
func Builtin() Tool {
	return Tool{Adapter: tool.Adapter{Name: builtin.Name}, Release: builtin.Version}
}

// EvalTask is a task of a foreign eval tool.
type EvalTask struct {
	Tool   Tool
	Task   string
	Limit  int               // questions; 0: all
	Params map[string]string // as the tool's adapter knows them: fewshot, gen_kwargs …
}

// item is one measurement to make.
type item struct {
	name   string // in the journal, and of the files
	tool   Tool
	load   sweep.Workload
	once   bool   // all workloads of the plan, or none that it asks for
	task   string // of an eval; "" for load
	most   int    // questions of an eval; 0: all
	params map[string]string
}

// items are the measurements in order: repeats interleave, and within a repeat the tools, so that a drift of the machine passes neither
// for a difference between workloads nor for one between tools. Evals come last.
func (p Plan) items() []item {
	tools := p.Tools
	if len(tools) == 0 {
		tools = []Tool{Builtin()}
	}
	var out []item
	for range max(1, p.Repeat) {
		for _, w := range p.Workloads {
			for _, t := range tools {
				if !t.Once {
					out = append(out, item{tool: t, load: w, name: fmt.Sprintf("%02d-%s%s", len(out)+1, prefix(t), fileName(w))})
				}
			}
		}
		for _, t := range tools {
			if t.Once && len(p.Workloads) > 0 {
				out = append(out, item{tool: t, once: true, name: fmt.Sprintf("%02d-%s", len(out)+1, t.Name)})
			}
		}
	}
	if p.EvalItems > 0 {
		out = append(out, item{name: builtin.EvalTask, tool: Builtin(), task: builtin.EvalTask, most: p.EvalItems})
	}
	for _, e := range p.Evals {
		out = append(out, item{name: prefix(e.Tool) + fileSafe(e.Task), tool: e.Tool, task: e.Task, most: e.Limit, params: e.Params})
	}
	return out
}

// fileName is a workload as part of a file's name.
func fileName(w sweep.Workload) string {
	s := fmt.Sprintf("isl%d-osl%d", w.ISL, w.OSL)
	if w.Dataset != "" {
		s = fileSafe(w.Dataset)
		if w.OSL > 0 {
			s += fmt.Sprintf("-osl%d", w.OSL)
		}
	}
	switch {
	case w.Rate > 0:
		s += "-rate" + strconv.FormatFloat(w.Rate, 'g', -1, 64)
	case w.Concurrency > 0:
		s += fmt.Sprintf("-c%d", w.Concurrency)
	default:
		s += fmt.Sprintf("-n%d", w.Requests)
	}
	return s
}

// fileSafe is a name without what would make a folder of it.
func fileSafe(name string) string {
	return strings.NewReplacer("/", "_", "\\", "_", ":", "_").Replace(name)
}

func prefix(t Tool) string {
	if t.Name == builtin.Name {
		return ""
	}
	return t.Name + "-"
}

// text says in words what an item is.
func (it item) text() string {
	what := it.task
	switch {
	case it.once:
		return it.tool.Name
	case what == "":
		what = it.load.String()
	}
	if it.tool.Name == builtin.Name {
		return what
	}
	return it.tool.Name + ": " + what
}

// Agenda is what a plan measures, in order: the events of a run count along it.
type Agenda struct {
	Name     string // as events state it
	Workload int    // index into the plan's workloads; -1 for none
}

// Agenda lists the measurements of a plan.
func (p Plan) Agenda() []Agenda {
	var out []Agenda
	for _, it := range p.items() {
		a := Agenda{Name: it.text(), Workload: -1}
		if it.task == "" && !it.once {
			for i, w := range p.Workloads {
				if w.Same(it.load) {
					a.Workload = i
				}
			}
		}
		out = append(out, a)
	}
	return out
}
