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
}

// Endpoint is a server that answers.
type Endpoint struct {
	URL    string
	Model  string // served name
	APIKey string
	Stack  manifest.Stack // as the server states it
}

// Server starts a system under test, or attaches to one.
type Server interface {
	// Start returns when the server is ready: it is healthy, lists its model and has completed a request.
	Start(ctx context.Context) (Endpoint, error)
	// Stop ends what Start started; it is called on every path, also after a failed Start.
	Stop()
}

// runID names a run after its start and system: "20261121T045012Z-sim-8b-simulated-1a2b3c".
func runID(p Plan, start time.Time, salt string) string {
	h := sha256.Sum256([]byte(p.Release + "\x00" + salt + "\x00" + start.Format(time.RFC3339Nano)))
	return fmt.Sprintf("%s-%s-%s-%s", start.UTC().Format("20060102T150405Z"), schema.Slug(p.Model.Name), schema.Slug(p.Device), hex.EncodeToString(h[:3]))
}

// items are the measurements in order: repeats interleave, so that a drift of the machine does not pass for a difference
// between workloads.
func (p Plan) items() []sweep.Workload {
	var out []sweep.Workload
	for range max(1, p.Repeat) {
		out = append(out, p.Workloads...)
	}
	return out
}

// workload is a sweep's workload as sidecars and manifests state it.
func workload(w sweep.Workload) manifest.Workload {
	isl, osl := float64(w.ISL), float64(w.OSL)
	out := manifest.Workload{Task: "text", ISL: &isl, OSL: &osl, Dataset: "random"}
	if w.Concurrency > 0 {
		c := float64(w.Concurrency)
		out.Concurrency = &c
	}
	if w.Rate > 0 {
		out.Rate = &w.Rate
	}
	return out
}
