package collect

import (
	"fmt"
	"strconv"

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
	Tool  Tool
	Task  string
	Limit int // questions; 0: all
}

// item is one measurement to make.
type item struct {
	name string // in the journal, and of the files
	tool Tool
	load sweep.Workload
	task string // of an eval; "" for load
	most int    // questions of an eval; 0: all
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
				it := item{tool: t, load: w}
				it.name = fmt.Sprintf("%02d-%sisl%d-osl%d", len(out)+1, prefix(t), w.ISL, w.OSL)
				if w.Rate > 0 {
					it.name += "-rate" + strconv.FormatFloat(w.Rate, 'g', -1, 64)
				} else {
					it.name += fmt.Sprintf("-c%d", w.Concurrency)
				}
				out = append(out, it)
			}
		}
	}
	if p.EvalItems > 0 {
		out = append(out, item{name: builtin.EvalTask, tool: Builtin(), task: builtin.EvalTask, most: p.EvalItems})
	}
	for _, e := range p.Evals {
		out = append(out, item{name: prefix(e.Tool) + e.Task, tool: e.Tool, task: e.Task, most: e.Limit})
	}
	return out
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
	if what == "" {
		what = describe(it.load)
	}
	if it.tool.Name == builtin.Name {
		return what
	}
	return it.tool.Name + ": " + what
}
