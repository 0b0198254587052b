// Package columns holds the numbers of many runs side by side, without their documents. Verdicts and pages are made
// from them. Package history fills it from documents on disk; targets, render and site read it. It is immutable once
// built, and must not know files, verdicts or pages.
//
// A million statistics take ten bytes each here, and about sixty as documents in memory.
package columns

import (
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Columns holds the numbers of many runs: every point, statistic, score and target, without documents, commands or
// distributions. It is built once and immutable afterwards.
type Columns struct {
	Runs    []RunHead
	Keys    []schema.Key // distinct workload keys
	Stats   []StatID     // distinct statistics
	Reasons []string     // distinct reasons for absent numbers; 0 is ""
	Conds   []Conditions // distinct conditions of points; 0 is none

	Points  []PointRow
	stat    []uint16 // parallel to value
	value   []float64
	Scores  []ScoreRow
	Targets []TargetRow
	Plans   []PlanRow
	// Problems holds errors and warnings of runs; notes are in the documents only.
	Problems []ProblemRow

	keyNames []string // canonical form of each key
}

// RunHead holds the facts about a run, without its document.
type RunHead struct {
	ID, Path, SHA256 string
	// the id in the document, if another run has the same and this one got a new id; else ""
	Stated     string
	Start, End time.Time
	First      string // of a run without a date: the first of its files, which gives it a place
	// Folder is what has all its files: of one file its path, without the extension; "" where a collector of ours says
	// what it measured
	Folder                 string
	Release, Channel, Line string
	Model                  schema.Model
	Impl                   string
	// Setup is what tells the run from others of its system, which a release has in several setups; package judge says it
	Setup string
	// Place is what its folder is called that others of its release and system are not; package judge says it
	Place           string
	Device          string
	Engine, Version string
	// Server is what ttreport collect measured, as its --server takes it: an address, or [EmbeddedSimulator]; "" where
	// no command line of it is known
	Server                   string
	Image, Digest            string
	Mesh, Firmware           string
	Chips                    int // accelerators; 0 when unknown
	Commits                  map[string]string
	Dirty                    bool
	Errors, Warnings         int // problems by severity; notes are not counted
	FirstPoint, PointsEnd    int // its rows in Points
	Scores, Targets, Planned int
	Acceptance               schema.Acceptance
	Interleaved              schema.Interleaved
	Setting                  map[string]string // facts about the machine and the server: host, kernel, driver …
}

// System is what a run measured.
func (h *RunHead) System() schema.System {
	impl := h.Impl
	if h.Setup != "" {
		impl = strings.TrimPrefix(impl+", "+h.Setup, ", ")
	}
	return schema.System{Model: h.Model.Name, Device: h.Device, Impl: impl}
}

// Pair is the same, whatever the implementation.
func (h *RunHead) Pair() schema.Pair { return schema.Pair{Model: h.Model.Name, Device: h.Device} }

// Settings with how a run was started: the command, and whether the server was a container, a program or an address.
const (
	RunCommand = "run_command"
	ServerMode = "server_mode"
)

// EmbeddedSimulator is the server of a run on the simulator that collect started itself.
const EmbeddedSimulator = "sim"

// TurnSide is what a run of a pair in turns states about itself.
func (h *RunHead) TurnSide() schema.TurnSide {
	s := schema.TurnSideOf(
		schema.Device{Mesh: h.Mesh, Firmware: h.Firmware, Chips: h.Chips},
		schema.Stack{Engine: h.Engine, Version: h.Version, Image: h.Image, Digest: h.Digest, Commits: h.Commits}, h.Setting)
	if s.Start, s.End = h.Start, h.End; s.Build.Started == "" && strings.Contains(h.Server, "://") {
		s.Build.Started = h.Server
	}
	return s
}

// IsSimulated reports whether the run was made on the embedded simulator.
func (h *RunHead) IsSimulated() bool { return schema.SameDevice(h.Device, schema.Simulated) }

// Conditions are what else affects a point's numbers, by name: ignore_eos, num_prompts, tokenizer … Values that
// differ between points by design, such as a seed, are left out.
type Conditions map[string]string

// ToolVersion is the condition with the version of the tool that measured a point.
const ToolVersion = "tool_version"

// ClientMetric is the metric of the facts about the load client, such as the statistic concurrency_reached.
const ClientMetric = "client"

// StatID names a statistic of a metric under a definition. In addition to the statistics of [schema.Metric] it may be
// "n" or "se".
type StatID struct{ Metric, Stat, Unit, Def string }

// PointRow is one measured point.
type PointRow struct {
	Run, Key int32
	Repeat   int16
	Block    int16 // of an interleaved run, from 1; 0 for none
	Status   uint8 // index into Statuses
	Reason   int32 // index into Reasons: why a failed point has no numbers
	Cond     int32 // index into Conds
	from, to int32 // its values
}

// ScoreRow is one eval result of a run.
type ScoreRow struct {
	Run       int32
	Precision string // of the model, as the run states it
	schema.Score
}

// TargetRow is one target in force for a run.
type TargetRow struct {
	Run int32
	schema.Target
}

// PlanRow is one planned workload of a run.
type PlanRow struct{ Run, Key int32 }

// ProblemRow is one error or warning from reading a run.
type ProblemRow struct {
	Run int32
	schema.Problem
}

// TargetsOf returns the targets in force for a run.
func (c *Columns) TargetsOf(run int) []TargetRow {
	return span(c.Targets, run, func(t *TargetRow) int32 { return t.Run })
}

// ScoresOf returns the eval results of a run.
func (c *Columns) ScoresOf(run int) []ScoreRow {
	return span(c.Scores, run, func(s *ScoreRow) int32 { return s.Run })
}

// PlanOf returns the planned workloads of a run.
func (c *Columns) PlanOf(run int) []PlanRow {
	return span(c.Plans, run, func(p *PlanRow) int32 { return p.Run })
}

// RunsOn are the runs of a model, by its name, on a device, newest first; none of nil columns.
func (c *Columns) RunsOn(model, device string) (list []*RunHead) {
	for i := 0; c != nil && i < len(c.Runs); i++ {
		if h := &c.Runs[i]; h.Model.Name == model && schema.SameDevice(h.Device, device) {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b *RunHead) int { return b.Start.Compare(a.Start) })
	return list
}

// ByPath returns the runs in the order of their documents' paths, which does not depend on the order of reading.
func (c *Columns) ByPath() []int {
	order := make([]int, len(c.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(c.Runs[a].Path, c.Runs[b].Path) })
	return order
}

// span finds the rows of a run in a table ordered by run.
func span[T any](rows []T, run int, of func(*T) int32) []T {
	lo := sort.Search(len(rows), func(i int) bool { return int(of(&rows[i])) >= run })
	hi := lo + sort.Search(len(rows)-lo, func(i int) bool { return int(of(&rows[lo+i])) > run })
	return rows[lo:hi]
}

// Statuses lists the statuses that PointRow.Status indexes.
func Statuses() []schema.Status {
	return []schema.Status{"", schema.StatusOK, schema.StatusPartial, schema.StatusFailed, schema.StatusInvalid}
}

// KeyName returns the canonical form of a key by index.
func (c *Columns) KeyName(i int32) string { return c.keyNames[i] }

// Values calls each for every statistic of a point.
func (c *Columns) Values(p *PointRow, each func(StatID, float64)) {
	for i := p.from; i < p.to; i++ {
		each(c.Stats[c.stat[i]], c.value[i])
	}
}

// Span returns a point's statistics, as indexes into Stats, and their values. It is for loops over every point of a
// history; others use [Columns.Value].
func (c *Columns) Span(p *PointRow) (stats []uint16, values []float64) {
	return c.stat[p.from:p.to], c.value[p.from:p.to]
}

// Value returns one statistic of a point and its definition, or the reason why there is none.
func (c *Columns) Value(p *PointRow, metric, stat string) (schema.Number, string) {
	for i := p.from; i < p.to; i++ {
		if s := &c.Stats[c.stat[i]]; s.Stat == stat && s.Metric == metric {
			return schema.Num(c.value[i]), s.Def
		}
	}
	if p.Reason != 0 {
		return schema.Missing(c.Reasons[p.Reason]), ""
	}
	return schema.Missing("not in the file"), ""
}

// Center returns the statistic that stands for a metric of a point, the first of [schema.CenterStats] that it has.
func (c *Columns) Center(p *PointRow, metric string) (v float64, stat, def string, ok bool) {
	for _, stat := range schema.CenterStats() {
		n, def := c.Value(p, metric, stat)
		if v, ok := n.Get(); ok {
			return v, stat, def, true
		}
	}
	return 0, "", "", false
}

// Derive returns columns whose points have further statistics; of returns the values of one, NaN for none.
func (c *Columns) Derive(ids []StatID, of func(p *PointRow) []float64) *Columns {
	out, first := *c, len(c.Stats)
	if first+len(ids) > math.MaxUint16 {
		return c
	}
	out.Stats, out.Points = append(slices.Clip(c.Stats), ids...), slices.Clone(c.Points)
	out.stat, out.value = nil, nil
	for i := range out.Points {
		p := &out.Points[i]
		more, from := of(p), int32(len(out.value))
		out.stat, out.value = append(out.stat, c.stat[p.from:p.to]...), append(out.value, c.value[p.from:p.to]...)
		for k, v := range more {
			if !math.IsNaN(v) {
				out.stat, out.value = append(out.stat, uint16(first+k)), append(out.value, v)
			}
		}
		p.from, p.to = from, int32(len(out.value))
	}
	return &out
}

// Invalidate says of points that their numbers count for nothing, and why.
func (c *Columns) Invalidate(points []int, why string) {
	c.Reasons = append(c.Reasons, why)
	for _, i := range points {
		c.Points[i].Status = uint8(slices.Index(Statuses(), schema.StatusInvalid))
		c.Points[i].Reason = int32(len(c.Reasons) - 1)
	}
}

// StatusWord returns the status of the row's index, "" if the document states none.
func (p *PointRow) StatusWord() schema.Status { return Statuses()[p.Status] }
