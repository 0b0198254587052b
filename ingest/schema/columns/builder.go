package columns

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Builder adds rows to columns and interns keys, statistics and conditions. Its columns may be read at any time.
type Builder struct {
	C       *Columns
	keys    map[string]int32
	stats   map[StatID]uint16
	reasons map[string]int32
	conds   map[string]int32
}

// NewBuilder starts empty columns.
func NewBuilder() *Builder {
	return &Builder{
		C: &Columns{Reasons: []string{""}, Conds: []Conditions{nil}}, keys: map[string]int32{}, stats: map[StatID]uint16{},
		reasons: map[string]int32{"": 0}, conds: map[string]int32{"": 0},
	}
}

// Key interns a workload key by its canonical name.
func (b *Builder) Key(k schema.Key, name string) int32 {
	if i, ok := b.keys[name]; ok {
		return i
	}
	i := int32(len(b.C.Keys))
	b.keys[name] = i
	b.C.Keys, b.C.keyNames = append(b.C.Keys, k), append(b.C.keyNames, name)
	return i
}

// TooManyStats replaces every statistic beyond those that 16 bits can number. Real histories have some hundreds.
func TooManyStats() StatID { return StatID{Stat: "too many"} }

// StatID interns a statistic.
func (b *Builder) StatID(s StatID) uint16 {
	if i, ok := b.stats[s]; ok {
		return i
	}
	if len(b.C.Stats) >= math.MaxUint16 {
		s = TooManyStats()
		if i, ok := b.stats[s]; ok {
			return i
		}
	}
	i := uint16(len(b.C.Stats))
	b.stats[s] = i
	b.C.Stats = append(b.C.Stats, s)
	return i
}

// Reason interns the reason of an absent number.
func (b *Builder) Reason(s string) int32 {
	if i, ok := b.reasons[s]; ok {
		return i
	}
	i := int32(len(b.C.Reasons))
	b.reasons[s] = i
	b.C.Reasons = append(b.C.Reasons, s)
	return i
}

// Cond interns conditions, without what draws alone depend on.
func (b *Builder) Cond(c Conditions) int32 {
	names := make([]string, 0, len(c))
	for name := range c {
		if name != schema.ConditionSeed && name != schema.ConditionText {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var text strings.Builder
	kept := make(Conditions, len(names))
	for _, name := range names {
		fmt.Fprintf(&text, "%q=%q,", name, c[name])
		kept[name] = c[name]
	}
	if i, ok := b.conds[text.String()]; ok {
		return i
	}
	i := int32(len(b.C.Conds))
	b.conds[text.String()] = i
	b.C.Conds = append(b.C.Conds, kept)
	return i
}

// Reserve makes room for points and values that will be appended: what grows by itself ends with a quarter of its
// memory empty.
func (b *Builder) Reserve(points, values int) {
	b.C.Points = slices.Grow(b.C.Points, points)
	b.C.value, b.C.stat = slices.Grow(b.C.value, values), slices.Grow(b.C.stat, values)
}

// Size counts the points and values of some runs.
func (c *Columns) Size(runs []int) (points, values int) {
	for _, r := range runs {
		h := &c.Runs[r]
		points += h.PointsEnd - h.FirstPoint
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			values += int(c.Points[i].to - c.Points[i].from)
		}
	}
	return points, values
}

// AppendRuns copies runs of other columns, in the order given, and renumbers what they refer to.
func (b *Builder) AppendRuns(from *Columns, runs []int) {
	m := b.adopt(from)
	newRun := make(map[int32]int32, len(runs))
	for _, r := range runs {
		head := from.Runs[r]
		run := int32(len(b.C.Runs))
		newRun[int32(r)] = run
		rows := from.Points[head.FirstPoint:head.PointsEnd]
		head.FirstPoint = len(b.C.Points)
		for _, p := range rows {
			lo := int32(len(b.C.value))
			b.C.value = append(b.C.value, from.value[p.from:p.to]...)
			for _, s := range from.stat[p.from:p.to] {
				b.C.stat = append(b.C.stat, m.stats[s])
			}
			p.Run, p.Key, p.Cond, p.Reason = run, m.keys[p.Key], m.conds[p.Cond], b.Reason(from.Reasons[p.Reason])
			p.from, p.to = lo, int32(len(b.C.value))
			b.C.Points = append(b.C.Points, p)
		}
		head.PointsEnd = len(b.C.Points)
		b.C.Runs = append(b.C.Runs, head)
	}
	b.C.Scores = appendRows(b.C.Scores, from.Scores, newRun, func(s *ScoreRow) *int32 { return &s.Run })
	b.C.Targets = appendRows(b.C.Targets, from.Targets, newRun, func(t *TargetRow) *int32 { return &t.Run })
	b.C.Problems = appendRows(b.C.Problems, from.Problems, newRun, func(p *ProblemRow) *int32 { return &p.Run })
	first := len(b.C.Plans)
	b.C.Plans = appendRows(b.C.Plans, from.Plans, newRun, func(p *PlanRow) *int32 { return &p.Run })
	for i := range b.C.Plans[first:] {
		p := &b.C.Plans[first+i]
		p.Key = m.keys[p.Key]
	}
}

// mapping maps indexes of other columns to indexes of these.
type mapping struct {
	keys  []int32
	stats []uint16
	conds []int32
}

// adopt interns the keys, statistics and conditions of other columns.
func (b *Builder) adopt(from *Columns) mapping {
	m := mapping{
		keys: make([]int32, len(from.Keys)), stats: make([]uint16, len(from.Stats)), conds: make([]int32, len(from.Conds)),
	}
	for i, k := range from.Keys {
		m.keys[i] = b.Key(k, from.keyNames[i])
	}
	for i, s := range from.Stats {
		m.stats[i] = b.StatID(s)
	}
	for i, c := range from.Conds {
		m.conds[i] = b.Cond(c)
	}
	return m
}

// appendRows copies the rows of runs that have a new number.
func appendRows[T any](to, from []T, newRun map[int32]int32, runOf func(*T) *int32) []T {
	for _, row := range from {
		if run, ok := newRun[*runOf(&row)]; ok {
			*runOf(&row) = run
			to = append(to, row)
		}
	}
	return to
}

// Seal orders the small tables by run and returns the columns; the builder must not be used afterwards.
func (b *Builder) Seal() *Columns {
	c := b.C
	sort.SliceStable(c.Scores, func(i, j int) bool { return c.Scores[i].Run < c.Scores[j].Run })
	sort.SliceStable(c.Targets, func(i, j int) bool { return c.Targets[i].Run < c.Targets[j].Run })
	sort.SliceStable(c.Plans, func(i, j int) bool { return c.Plans[i].Run < c.Plans[j].Run })
	sort.SliceStable(c.Problems, func(i, j int) bool { return c.Problems[i].Run < c.Problems[j].Run })
	return c
}

// Value appends one statistic to the current point.
func (b *Builder) Value(id uint16, v float64) {
	b.C.stat, b.C.value = append(b.C.stat, id), append(b.C.value, v)
}

// Begin starts a point's values; End closes them and appends the point.
func (b *Builder) Begin(p *PointRow) { p.from = int32(len(b.C.value)) }

// End appends a point whose values were added since Begin.
func (b *Builder) End(p PointRow) {
	p.to = int32(len(b.C.value))
	b.C.Points = append(b.C.Points, p)
}

// Mark returns the current state, so that Reset can remove the rows of a document that turns out to be damaged.
func (b *Builder) Mark() Columns { return *b.C }

// Reset removes the rows added since a mark. Interned values stay, which does no harm.
func (b *Builder) Reset(mark Columns) {
	keep := *b.C
	*b.C = mark
	b.C.Keys, b.C.keyNames, b.C.Stats = keep.Keys, keep.keyNames, keep.Stats
	b.C.Reasons, b.C.Conds = keep.Reasons, keep.Conds
}

const pointBytes = 4 + 4 + 4 + 4 + 4 + 4 + 2 + 2 + 1

// PackNumbers returns the points and values as bytes, for a cache; [UnpackNumbers] is its inverse.
func (c *Columns) PackNumbers() []byte {
	le := binary.LittleEndian
	out := make([]byte, 0, len(c.Points)*pointBytes+len(c.value)*10)
	for i := range c.Points {
		p := &c.Points[i]
		for _, v := range []int32{p.Run, p.Key, p.Reason, p.Cond, p.from, p.to} {
			out = le.AppendUint32(out, uint32(v))
		}
		out = le.AppendUint16(out, uint16(p.Repeat))
		out = le.AppendUint16(out, uint16(p.Block))
		out = append(out, p.Status)
	}
	for _, v := range c.value {
		out = le.AppendUint64(out, math.Float64bits(v))
	}
	for _, s := range c.stat {
		out = le.AppendUint16(out, s)
	}
	return out
}

// UnpackNumbers fills the points and values of columns whose small tables are complete. It returns false when the
// bytes do not fit them, as in a damaged cache.
func (c *Columns) UnpackNumbers(data []byte, points, values int) bool {
	if points < 0 || values < 0 || len(data) != points*pointBytes+values*10 {
		return false
	}
	c.Points, c.stat, c.value = make([]PointRow, points), make([]uint16, values), make([]float64, values)
	c.keyNames = nil
	for _, k := range c.Keys {
		c.keyNames = append(c.keyNames, k.String())
	}
	le := binary.LittleEndian
	for i := range c.Points {
		b := data[i*pointBytes:]
		c.Points[i] = PointRow{
			Run: int32(le.Uint32(b)), Key: int32(le.Uint32(b[4:])), Reason: int32(le.Uint32(b[8:])),
			Cond: int32(le.Uint32(b[12:])),
			from: int32(le.Uint32(b[16:])), to: int32(le.Uint32(b[20:])), Repeat: int16(le.Uint16(b[24:])),
			Block: int16(le.Uint16(b[26:])), Status: b[28],
		}
	}
	data = data[points*pointBytes:]
	for i := range c.value {
		c.value[i] = math.Float64frombits(le.Uint64(data[i*8:]))
	}
	data = data[values*8:]
	for i := range c.stat {
		c.stat[i] = le.Uint16(data[i*2:])
	}
	return c.consistent()
}

// consistent checks that every index is in range.
func (c *Columns) consistent() bool {
	for i := range c.Points {
		p := &c.Points[i]
		if int(p.Run) >= len(c.Runs) || int(p.Key) >= len(c.Keys) || int(p.Reason) >= len(c.Reasons) ||
			int(p.Cond) >= len(c.Conds) || p.Cond < 0 || p.from > p.to || int(p.to) > len(c.value) ||
			int(p.Status) >= len(Statuses()) || p.Run < 0 || p.Key < 0 || p.Reason < 0 || p.from < 0 {
			return false
		}
	}
	for _, s := range c.stat {
		if int(s) >= len(c.Stats) {
			return false
		}
	}
	for i := range c.Runs {
		if h := &c.Runs[i]; h.FirstPoint < 0 || h.FirstPoint > h.PointsEnd || h.PointsEnd > len(c.Points) {
			return false
		}
	}
	return true
}
