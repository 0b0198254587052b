package collect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Plan is what to measure on what.
type Plan struct {
	Release   string // "" when nothing is released
	Channel   string
	Model     manifest.Model
	Device    string
	Impl      string
	Workloads []sweep.Workload
	EvalItems int // questions of the builtin eval; 0: none
	Repeat    int // times each workload is measured, interleaved; 0: once
	Seed      uint64
	Targets   []manifest.TargetRow // in force for this run, when the plan states them

	Tools      []Tool              // that make load, each for every workload; none: builtin
	Evals      []EvalTask          // of foreign tools
	Tokenizer  string              // for tools that make prompts of their own: a folder, or a name on the hub
	Chat       bool                // chat completions in place of completions, for foreign tools
	Include    string              // folder with eval tasks of the user's own
	Ranks      int                 // processes of tools that bring their own engine
	ToolArgs   map[string][]string // more arguments, by tool
	NoWarmup   bool                // send nothing before the first measurement
	PointLimit time.Duration       // that no item may exceed; 0: two hours
	Fresh      bool                // begin anew even where the same plan was interrupted
}

// digest names what a plan measures on what: a run that was interrupted continues under the same one.
func (p Plan) digest() string {
	var names []string
	for _, it := range p.items() {
		names = append(names, fmt.Sprintf("%s n%d", it.name, it.load.Requests+it.most))
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %+v %q %q %d %q %v", p.Release, p.Channel, p.Model, p.Device, p.Impl, p.Seed, names, p.Chat))
	return hex.EncodeToString(sum[:6])
}

// Endpoint is a server that answers.
type Endpoint struct {
	URL     string
	Model   string // served name
	APIKey  string
	Stack   manifest.Stack // as the server states it
	Context int            // tokens of a request; 0: not stated
}

// Server starts a system under test, or attaches to one.
type Server interface {
	// Start returns when the server is ready: it is healthy, lists its model and has completed a request.
	// What it prints goes to files in dir.
	Start(ctx context.Context, dir string) (Endpoint, error)
	// Stop ends what Start started; it is called on every path, also after a failed Start.
	Stop()
}

// runID names a run after its start and system: "20261121T045012Z-sim-8b-simulated-1a2b3c".
func runID(p Plan, start time.Time, salt string) string {
	h := sha256.Sum256([]byte(p.Release + "\x00" + salt + "\x00" + start.Format(time.RFC3339Nano)))
	return fmt.Sprintf("%s-%s-%s-%s", start.UTC().Format("20060102T150405Z"), schema.Slug(p.Model.Name), schema.Slug(p.Device), hex.EncodeToString(h[:3]))
}

// workload is a sweep's workload as sidecars and manifests state it.
func workload(w sweep.Workload) manifest.Workload {
	isl, osl := float64(w.ISL), float64(w.OSL)
	out := manifest.Workload{Task: "text", Dataset: "random", Dims: w.Dims}
	if w.Dataset != "" {
		out.Dataset = w.Dataset
	}
	if w.ISL > 0 {
		out.ISL = &isl
	}
	if w.OSL > 0 {
		out.OSL = &osl
	}
	if w.Concurrency > 0 {
		c := float64(w.Concurrency)
		out.Concurrency = &c
	}
	if w.Rate > 0 {
		out.Rate = &w.Rate
	}
	return out
}
