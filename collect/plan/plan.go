package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Plan states what to measure on which system.
type Plan struct {
	Release   string // "" for a build
	Channel   string
	Model     manifest.Model
	Device    string
	Impl      string
	Workloads []Workload
	EvalItems int            // questions of the builtin eval; 0: none
	Repeat    int            // times each workload is measured, interleaved; 0: once
	Clients   int            // of builtin, that make the load together; 0: one
	Until     precision.Rule // ends a workload's measurement; none: its number of requests does
	Budget    time.Duration  // of all measurements that end by the rule; 0: each has its own limit
	Seed      uint64
	Text      uint64               // fixes the words of prompts beside Seed; 0: Seed does alone
	Targets   []manifest.TargetRow // in force for this run, when the plan states them

	Tools      []tool.Tool         // make load, each for every workload; none: builtin
	Evals      []EvalTask          // of eval tools
	Tokenizer  string              // for tools that make prompts of their own: a folder, or a name on the hub
	Chat       bool                // chat completions in place of completions, for tools
	ChatLoad   bool                // the same for load alone
	TaskDir    string              // folder with eval tasks of the user
	MPIRanks   int                 // processes of tools that bring their own engine
	ToolArgs   map[string][]string // more arguments, by tool
	NoWarmup   bool                // send no requests before the first measurement
	PointLimit time.Duration       // most time of one measurement; 0: two hours
	NoResume   bool                // begin anew even where the same plan was interrupted
	Turns      Turns               // with the same plan on another server
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
		names = append(names, fmt.Sprintf("%s n%d", it.Name, it.Load.Requests+it.Limit))
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
	for _, t := range p.Tools {
		if !t.IsBuiltin() {
			return false
		}
	}
	return len(p.Evals) == 0
}
