package columns

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/naming"
)

// Builder adds rows to columns and interns keys, statistics and conditions. Its columns may be read at any time.
type Builder struct {
	C       *Columns
	keys    map[string]int32
	stats   map[StatID]uint16
	reasons map[string]int32
	conds   map[string]int32
	seen    []seenMetric // the last one at each place in a point
	stat    schema.Stats // of a metric
}

// NewBuilder starts empty columns.
func NewBuilder() *Builder {
	return &Builder{
		C: &Columns{Reasons: []string{""}, Conds: []Conditions{nil}}, keys: map[string]int32{}, stats: map[StatID]uint16{},
		reasons: map[string]int32{"": 0}, conds: map[string]int32{"": 0},
	}
}

// intern returns the place of a value in a list by its key; one that is not there is appended.
func intern[K comparable, V any, I int32 | uint16](at map[K]I, list *[]V, key K, v V) I {
	i, known := at[key]
	if !known {
		i = I(len(*list))
		at[key], *list = i, append(*list, v)
	}
	return i
}

// Key interns a workload key by its canonical name.
func (b *Builder) Key(k schema.Key, name string) int32 {
	i := intern(b.keys, &b.C.Keys, name, k)
	if int(i) == len(b.C.keyNames) {
		b.C.keyNames = append(b.C.keyNames, name)
	}
	return i
}

// TooManyStats replaces every statistic beyond those that 16 bits can number. Real histories have some hundreds.
func TooManyStats() StatID { return StatID{Stat: "too many"} }

// StatID interns a statistic.
func (b *Builder) StatID(s StatID) uint16 {
	if _, known := b.stats[s]; !known && len(b.C.Stats) >= math.MaxUint16 {
		s = TooManyStats()
	}
	return intern(b.stats, &b.C.Stats, s, s)
}

// Reason interns the reason of an absent number.
func (b *Builder) Reason(s string) int32 { return intern(b.reasons, &b.C.Reasons, s, s) }

// Cond interns conditions, without what draws alone depend on.
func (b *Builder) Cond(c Conditions) int32 {
	kept := maps.Clone(c)
	delete(kept, schema.ConditionSeed)
	delete(kept, schema.ConditionText)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		fmt.Fprintf(&text, "%q=%q,", name, kept[name])
	}
	return intern(b.conds, &b.C.Conds, text.String(), kept)
}

// Add appends the numbers of a run. name is where its document is, sum the hash of the document's bytes.
func (b *Builder) Add(r *schema.Run, name, sum string) {
	run := int32(len(b.C.Runs))
	h := RunHead{
		ID: r.ID, Path: name, SHA256: sum, Start: r.Start, End: r.End, Release: r.Release, Channel: r.Channel, Line: r.Line,
		Model: r.Model, Impl: r.Impl, Device: r.Device.Name, Mesh: r.Device.Mesh, Firmware: r.Device.Firmware,
		Chips: r.Device.Chips, Engine: r.Stack.Engine, Version: r.Stack.Version, Image: r.Stack.Image,
		Digest: r.Stack.Digest, Commits: r.Stack.Commits, Dirty: r.Stack.Dirty, FirstPoint: len(b.C.Points),
		Scores: len(r.Scores), Targets: len(r.Targets), Planned: len(r.Plan),
		Errors:     schema.CountSeverity(r.Problems, schema.SevError),
		Warnings:   schema.CountSeverity(r.Problems, schema.SevWarning),
		Acceptance: r.Acceptance, Interleaved: r.Interleaved, Setting: setting(r.Extra),
	}
	h.place(r)
	for i := range r.Points {
		p := &r.Points[i]
		b.point(run, p)
		// A tool's own command line has the address of the embedded simulator too, which is another one every time.
		argv := p.Command
		if h.Server == "" && slices.Equal(argv[:min(2, len(argv))], []string{"ttreport", "collect"}) {
			if at := slices.Index(argv, "--server"); at >= 0 && at+1 < len(argv) {
				h.Server = argv[at+1]
			}
		}
	}
	h.PointsEnd = len(b.C.Points)
	b.C.Runs = append(b.C.Runs, h)
	for i := range r.Scores {
		b.C.Scores = append(b.C.Scores, ScoreRow{run, h.Model.Precision, r.Scores[i]})
	}
	for i := range r.Targets {
		b.C.Targets = append(b.C.Targets, TargetRow{run, r.Targets[i]})
	}
	for i := range r.Plan {
		b.C.Plans = append(b.C.Plans, PlanRow{run, b.Key(r.Plan[i], r.Plan[i].String())})
	}
	for i := range r.Problems {
		if p := &r.Problems[i]; p.Severity == schema.SevError || p.Severity == schema.SevWarning {
			b.C.Problems = append(b.C.Problems, ProblemRow{run, *p})
		}
	}
}

// place says where the files of a run lie, and in what precision its model is, where only the name of that says it.
func (h *RunHead) place(r *schema.Run) {
	first, isOurs := "", func(p schema.Point) bool { return len(p.Command) > 0 && len(p.Client) > 0 }
	for src := range r.Sources() {
		if first == "" {
			first, h.Folder = src.Path, naming.Stem(src.Path)
		}
		for src.Path != first && h.Folder != "." && h.Folder != "/" && !strings.HasPrefix(src.Path, h.Folder+"/") {
			h.Folder = path.Dir(h.Folder)
		}
	}
	if h.Start.IsZero() {
		h.First = first
	}
	if len(r.Plan) > 0 || slices.ContainsFunc(r.Points, isOurs) {
		h.Folder = ""
	}
	p := naming.Precision(h.Folder)
	if !strings.Contains(strings.ToLower(h.Model.ID+" "+h.Model.Name), p) {
		h.Model.Precision = cmp.Or(h.Model.Precision, p)
	}
}

func (b *Builder) point(run int32, p *schema.Point) {
	row := PointRow{
		Run: run, Key: b.Key(p.Key, p.Key.String()), Repeat: int16(p.Repeat), Block: int16(min(math.MaxInt16, p.Block)),
		Status: uint8(max(0, slices.Index(Statuses(), p.Status))),
	}
	conditions := Conditions(p.Conditions)
	if v := p.Source.ToolVersion; v != "" { // a newer client may measure another number
		conditions = Conditions{ToolVersion: v}
		maps.Copy(conditions, p.Conditions)
	}
	if len(conditions) > 0 {
		row.Cond = b.Cond(conditions)
	}
	b.Begin(&row)
	for _, name := range slices.Sorted(maps.Keys(p.Client)) {
		if v, err := strconv.ParseFloat(p.Client[name], 64); err == nil {
			b.Value(b.StatID(StatID{Metric: ClientMetric, Stat: name}), v)
		}
	}
	for i := range p.Metrics {
		why := b.metric(i, &p.Metrics[i])
		if row.Reason == 0 {
			row.Reason = why
		}
	}
	b.End(row)
}

// metric appends the statistics of a metric, at a place in its point, and returns the reason where it has none.
func (b *Builder) metric(place int, m *schema.Metric) (reason int32) {
	b.stat = append(b.stat[:0], m.Stats...)
	if m.N != 0 {
		b.stat.Set("n", float64(m.N))
	}
	if se := m.Detail().SE; !se.IsZero() && se != latency.DerivedSE(m) {
		v, _ := se.Get()
		b.stat.Set("se", v)
	}
	if place == len(b.seen) {
		b.seen = append(b.seen, seenMetric{})
	}
	s := &b.seen[place]
	if !s.of.IsOf(m) || !slices.EqualFunc(s.of.Stats, b.stat, schema.Stat.IsNamed) {
		k := m.Kind()
		s.of, s.ids, s.reason = *m, s.ids[:0], b.Reason(k.Why)
		s.of.Stats = slices.Clone(b.stat)
		for _, x := range b.stat {
			s.ids = append(s.ids, b.StatID(StatID{Metric: k.Name, Stat: x.Name(), Unit: k.Unit, Def: k.Def}))
		}
	}
	for i, x := range b.stat {
		b.Value(s.ids[i], x.Value)
	}
	return s.reason
}

// seenMetric is a metric, the indexes of its statistics, and that of its reason.
type seenMetric struct {
	of     schema.Metric
	ids    []uint16
	reason int32
}

// setting returns the facts about the machine and the server that a collection or a report wrote.
func setting(extra schema.Unknown) map[string]string {
	out := map[string]string{}
	_ = json.Unmarshal(extra["setting"], &out) // what is no text is left out
	for _, name := range []string{RunCommand, ServerMode} {
		if text := extra.Text(name); text != "" {
			out[name] = text
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// AppendRuns copies runs of other columns, in the order given, and renumbers what they refer to.
func (b *Builder) AppendRuns(from *Columns, runs []int) {
	keys, stats, conds := make([]int32, len(from.Keys)), make([]uint16, len(from.Stats)), make([]int32, len(from.Conds))
	for i, k := range from.Keys {
		keys[i] = b.Key(k, from.keyNames[i])
	}
	for i, s := range from.Stats {
		stats[i] = b.StatID(s)
	}
	for i, c := range from.Conds {
		conds[i] = b.Cond(c)
	}
	for _, r := range runs {
		head := from.Runs[r]
		run := int32(len(b.C.Runs))
		rows := from.Points[head.FirstPoint:head.PointsEnd]
		head.FirstPoint = len(b.C.Points)
		for _, p := range rows {
			lo := int32(len(b.C.value))
			b.C.value = append(b.C.value, from.value[p.from:p.to]...)
			for _, s := range from.stat[p.from:p.to] {
				b.C.stat = append(b.C.stat, stats[s])
			}
			p.Run, p.Key, p.Cond, p.Reason = run, keys[p.Key], conds[p.Cond], b.Reason(from.Reasons[p.Reason])
			p.from, p.to = lo, int32(len(b.C.value))
			b.C.Points = append(b.C.Points, p)
		}
		head.PointsEnd = len(b.C.Points)
		b.C.Runs = append(b.C.Runs, head)
		for _, s := range from.ScoresOf(r) {
			b.C.Scores = append(b.C.Scores, ScoreRow{run, s.Precision, s.Score})
		}
		for _, t := range from.TargetsOf(r) {
			b.C.Targets = append(b.C.Targets, TargetRow{run, t.Target})
		}
		for _, p := range from.PlanOf(r) {
			b.C.Plans = append(b.C.Plans, PlanRow{run, keys[p.Key]})
		}
		for _, p := range span(from.Problems, r, func(p *ProblemRow) int32 { return p.Run }) {
			b.C.Problems = append(b.C.Problems, ProblemRow{run, p.Problem})
		}
	}
}

// Seal returns the columns, whose rows are in the order of their runs; the builder must not be used afterwards.
func (b *Builder) Seal() *Columns { return b.C }

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
