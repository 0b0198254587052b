package schema

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// Shapes holds what the metrics of many points have in common, once: the names, units, definitions and statistics.
// Points of one tool differ in numbers alone, and a tree has tens of thousands of them. It is safe for concurrent use.
type Shapes struct {
	mu    sync.Mutex
	known map[string]*shape
	// of the point that is being packed: its metrics, what they have in common with others, its numbers
	names  []string
	key    []byte
	values []float64
}

// shape describes the metrics of a point, by name.
type shape struct {
	metrics []shapeMetric
	stats   int // of all metrics
}

// shapeMetric describes one metric, and its place among the numbers of a point: the statistics, both ends of each
// interval, the quantiles, then the standard error and the sample size where there is one.
type shapeMetric struct {
	name      string
	rest      Metric // without numbers
	stats, ci []string
	at        int // of its first number
	quantiles int
	se, n     bool
}

// packed is the metrics of a point in little memory.
type packed struct {
	shape  *shape
	values []float64
}

// Pack holds the metrics of a point in a tenth of the memory, until [Point.Unpack]. In between, [Point.Value],
// [Point.Definition] and [Point.EachMetric] read them, and Metrics is nil. Points with members of a newer version stay
// as they are.
func (s *Shapes) Pack(p *Point) {
	if len(p.Metrics) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names, s.key, s.values = s.names[:0], s.key[:0], s.values[:0]
	for name, m := range p.Metrics {
		if m.Unknown != nil {
			return
		}
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	for _, name := range s.names {
		m := p.Metrics[name]
		s.key = m.appendShape(append(append(s.key, name...), 0))
		s.values = m.appendNumbers(s.values)
	}
	p.packed = &packed{shape: s.of(p.Metrics), values: slices.Clone(s.values)}
	p.Metrics = nil
}

// of returns the shape of the key.
func (s *Shapes) of(metrics map[string]Metric) *shape {
	if known, ok := s.known[string(s.key)]; ok {
		return known
	}
	made, at := &shape{}, 0
	for _, name := range s.names {
		m := metrics[name]
		one := shapeMetric{
			name: name, at: at, quantiles: len(m.Quantiles), se: m.SE.ok, n: m.N != 0, ci: m.intervals(),
		}
		for _, st := range m.Stats {
			one.stats = append(one.stats, st.Name)
		}
		made.stats += len(one.stats)
		at += len(m.appendNumbers(nil))
		m.Stats, m.CI, m.Quantiles, m.N = nil, nil, nil, 0
		if m.SE.ok {
			m.SE = Number{}
		}
		one.rest = m
		made.metrics = append(made.metrics, one)
	}
	if s.known == nil {
		s.known = map[string]*shape{}
	}
	s.known[string(s.key)] = made
	return made
}

// appendShape appends everything of a metric but its numbers.
func (m *Metric) appendShape(b []byte) []byte {
	for _, text := range []string{m.Unit, m.Def, string(m.From), m.Why, m.SE.why} {
		b = append(append(b, text...), 0)
	}
	for _, st := range m.Stats {
		b = append(append(b, st.Name...), 1)
	}
	for _, name := range m.intervals() {
		b = append(append(b, name...), 2)
	}
	flags := byte(0)
	if m.SE.ok {
		flags |= 1
	}
	if m.N != 0 {
		flags |= 2
	}
	n := len(m.Quantiles)
	return append(b, flags, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

// intervals returns the statistics that have an interval, in order.
func (m *Metric) intervals() []string {
	if len(m.CI) == 0 { // nearly all
		return nil
	}
	return slices.Sorted(maps.Keys(m.CI))
}

// appendNumbers appends the numbers of a metric in their order.
func (m *Metric) appendNumbers(to []float64) []float64 {
	for _, st := range m.Stats {
		to = append(to, st.Value)
	}
	for _, name := range m.intervals() {
		to = append(to, m.CI[name][0], m.CI[name][1])
	}
	to = append(to, m.Quantiles...)
	if m.SE.ok {
		to = append(to, m.SE.v)
	}
	if m.N != 0 {
		to = append(to, float64(m.N))
	}
	return to
}

// metric makes a metric of its numbers; stats is where its statistics are put.
func (one *shapeMetric) metric(values []float64, stats Stats) Metric {
	m, rest := one.rest, values[one.at:]
	for i, name := range one.stats {
		stats = append(stats, Stat{name, rest[i]})
	}
	if len(one.stats) > 0 {
		m.Stats = stats
	}
	rest = rest[len(one.stats):]
	if len(one.ci) > 0 {
		m.CI = make(map[string][2]float64, len(one.ci))
	}
	for i, name := range one.ci {
		m.CI[name] = [2]float64{rest[2*i], rest[2*i+1]}
	}
	rest = rest[2*len(one.ci):]
	if one.quantiles > 0 {
		m.Quantiles = slices.Clone(rest[:one.quantiles])
	}
	rest = rest[one.quantiles:]
	if one.se {
		m.SE, rest = Number{v: rest[0], ok: true}, rest[1:]
	}
	if one.n {
		m.N = int(rest[0])
	}
	return m
}

// Unpack makes Metrics what they were before [Shapes.Pack].
func (p *Point) Unpack() {
	if p.packed == nil {
		return
	}
	s := p.packed.shape
	p.Metrics = make(map[string]Metric, len(s.metrics))
	for name, m := range p.EachMetric() {
		p.Metrics[name] = m
	}
	p.packed = nil
}

// Definition returns the definition of a metric, packed or not, and whether the point has the metric.
func (p *Point) Definition(metric string) (def string, ok bool) {
	if p.packed == nil {
		m, ok := p.Metrics[metric]
		return m.Def, ok
	}
	for i := range p.packed.shape.metrics {
		if one := &p.packed.shape.metrics[i]; one.name == metric {
			return one.rest.Def, true
		}
	}
	return "", false
}

// Value returns one statistic of a metric, packed or not.
func (p *Point) Value(metric, stat string) (float64, bool) {
	if p.packed == nil {
		return p.Metrics[metric].Stats.Get(stat)
	}
	for i := range p.packed.shape.metrics {
		if one := &p.packed.shape.metrics[i]; one.name == metric {
			if at := slices.Index(one.stats, stat); at >= 0 {
				return p.packed.values[one.at+at], true
			}
		}
	}
	return 0, false
}

// EachMetric yields the metrics by name, packed or not.
func (p *Point) EachMetric() iter.Seq2[string, Metric] {
	return func(yield func(string, Metric) bool) {
		if p.packed == nil {
			for _, name := range slices.Sorted(maps.Keys(p.Metrics)) {
				if !yield(name, p.Metrics[name]) {
					return
				}
			}
			return
		}
		s := p.packed.shape
		all := make(Stats, 0, s.stats) // of all metrics, one after the other
		for i := range s.metrics {
			one, from := &s.metrics[i], len(all)
			all = all[:from+len(one.stats)]
			if !yield(one.name, one.metric(p.packed.values, all[from:from:len(all)])) {
				return
			}
		}
	}
}

// Measured reports whether the point has metrics, packed or not.
func (p *Point) Measured() bool { return p.packed != nil || len(p.Metrics) > 0 }
