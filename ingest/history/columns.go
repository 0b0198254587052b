package history

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Columns holds the numbers of many runs: every point, statistic, score and target, without documents, commands or
// distributions. It is built once and read by everybody; nothing in it changes afterwards.
type Columns struct {
	Runs    []RunHead
	Keys    []schema.Key // distinct workload keys
	Stats   []StatID     // distinct statistics
	Reasons []string     // distinct reasons for absent numbers; 0 is ""

	Points  []PointRow
	stat    []uint16 // parallel to value
	value   []float64
	Scores  []ScoreRow
	Targets []TargetRow
	Plans   []PlanRow

	keyNames []string // canonical form of each key
}

// RunHead is what is known of a run without its document.
type RunHead struct {
	ID, Path, SHA256         string
	Start, End               time.Time
	Release, Channel, Line   string
	Model                    schema.Model
	Impl                     string
	Device                   string
	Engine, Version          string
	Errors, Warnings         int // problems by severity; notes are not counted
	FirstPoint, PointsEnd    int // its rows in Points
	Scores, Targets, Planned int
}

// IsSimulated reports whether the run was made on the embedded simulator.
func (h *RunHead) IsSimulated() bool { return h.Device == schema.Simulated }

// StatID names a statistic of a metric under a definition. Beside the statistics of [schema.Metric] it may be "n" or
// "se".
type StatID struct{ Metric, Stat, Unit, Def string }

// PointRow is one measured point.
type PointRow struct {
	Run, Key int32
	Repeat   int16
	Status   uint8 // index into Statuses
	Reason   int32 // index into Reasons: why a failed point has no numbers
	from, to int32 // its values
}

// ScoreRow is one eval result of a run.
type ScoreRow struct {
	Run int32
	schema.Score
}

// TargetRow is one target in force for a run.
type TargetRow struct {
	Run int32
	schema.Target
}

// PlanRow is one planned workload of a run.
type PlanRow struct{ Run, Key int32 }

// Statuses lists the statuses that PointRow.Status indexes.
func Statuses() []string {
	return []string{"", schema.StatusOK, schema.StatusPartial, schema.StatusFailed, schema.StatusInvalid}
}

// KeyName is the canonical form of a key by index.
func (c *Columns) KeyName(i int32) string { return c.keyNames[i] }

// Values calls each for every statistic of a point.
func (c *Columns) Values(p *PointRow, each func(StatID, float64)) {
	for i := p.from; i < p.to; i++ {
		each(c.Stats[c.stat[i]], c.value[i])
	}
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

// Status is the point's status as a word.
func (p *PointRow) StatusWord() string { return Statuses()[p.Status] }

// NumValues counts the stored statistics.
func (c *Columns) NumValues() int { return len(c.value) }

// builder interns while columns grow.
type builder struct {
	c       *Columns
	keys    map[string]int32
	stats   map[StatID]uint16
	reasons map[string]int32
}

func newBuilder() *builder {
	return &builder{c: &Columns{Reasons: []string{""}}, keys: map[string]int32{}, stats: map[StatID]uint16{}, reasons: map[string]int32{"": 0}}
}

func (b *builder) key(k schema.Key, name string) int32 {
	if i, ok := b.keys[name]; ok {
		return i
	}
	i := int32(len(b.c.Keys))
	b.keys[name] = i
	b.c.Keys, b.c.keyNames = append(b.c.Keys, k), append(b.c.keyNames, name)
	return i
}

func (b *builder) statID(s StatID) uint16 {
	if i, ok := b.stats[s]; ok {
		return i
	}
	i := uint16(len(b.c.Stats))
	b.stats[s] = i
	b.c.Stats = append(b.c.Stats, s)
	return i
}

func (b *builder) reason(s string) int32 {
	if i, ok := b.reasons[s]; ok {
		return i
	}
	i := int32(len(b.c.Reasons))
	b.reasons[s] = i
	b.c.Reasons = append(b.c.Reasons, s)
	return i
}

// appendRuns copies runs of other columns, in the order given, and renumbers what they refer to.
func (b *builder) appendRuns(from *Columns, runs []int) {
	keyMap := make([]int32, len(from.Keys))
	for i, k := range from.Keys {
		keyMap[i] = b.key(k, from.keyNames[i])
	}
	statMap := make([]uint16, len(from.Stats))
	for i, s := range from.Stats {
		statMap[i] = b.statID(s)
	}
	newRun := map[int32]int32{}
	for _, r := range runs {
		head := from.Runs[r]
		run := int32(len(b.c.Runs))
		newRun[int32(r)] = run
		rows := from.Points[head.FirstPoint:head.PointsEnd]
		head.FirstPoint = len(b.c.Points)
		for _, p := range rows {
			lo := int32(len(b.c.value))
			b.c.value = append(b.c.value, from.value[p.from:p.to]...)
			for _, s := range from.stat[p.from:p.to] {
				b.c.stat = append(b.c.stat, statMap[s])
			}
			p.Run, p.Key, p.Reason, p.from, p.to = run, keyMap[p.Key], b.reason(from.Reasons[p.Reason]), lo, int32(len(b.c.value))
			b.c.Points = append(b.c.Points, p)
		}
		head.PointsEnd = len(b.c.Points)
		b.c.Runs = append(b.c.Runs, head)
	}
	for _, s := range from.Scores {
		if run, ok := newRun[s.Run]; ok {
			s.Run = run
			b.c.Scores = append(b.c.Scores, s)
		}
	}
	for _, t := range from.Targets {
		if run, ok := newRun[t.Run]; ok {
			t.Run = run
			b.c.Targets = append(b.c.Targets, t)
		}
	}
	for _, p := range from.Plans {
		if run, ok := newRun[p.Run]; ok {
			b.c.Plans = append(b.c.Plans, PlanRow{run, keyMap[p.Key]})
		}
	}
}
