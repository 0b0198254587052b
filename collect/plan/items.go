package plan

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

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
					name := fmt.Sprintf("%02d-%s%s", len(out)+1, filePrefix(t), w.fileName())
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
		name := filePrefix(e.Tool) + fileSafe(e.Task)
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

// BatchLists returns the plan's workloads as TensorRT-LLM's lists, "1;8;64" and "60,20;128,20", for tools that run
// once per plan.
func (p Plan) BatchLists() (sizes, lengths string) { return batchLists(p.Workloads) }

// Batches reports that every tool of the plan runs once for lists of batch sizes and lengths: it chooses itself how
// often it repeats a batch, and is told no number of requests.
func (p Plan) Batches() bool {
	for _, t := range p.Tools {
		if !t.Once || !t.Matrix {
			return false
		}
	}
	return len(p.Tools) > 0
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
