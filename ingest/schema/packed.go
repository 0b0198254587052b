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

// Pack holds the metrics of a point in a tenth of the memory, until [Point.Unpack]. In between, [Point.Metric] and
// [Point.EachMetric] read them, and Metrics is nil. Points with members of a newer version stay as they are.
func (s *Shapes) Pack(p *Point) {
	if len(p.Metrics) == 0 {
		return
	}
	names := make([]string, 0, len(p.Metrics))
	for name, m := range p.Metrics {
		if m.Unknown != nil {
			return
		}
		names = append(names, name)
	}
	slices.Sort(names)
	var values []float64
	key := make([]byte, 0, 1024)
	for _, name := range names {
		m := p.Metrics[name]
		key = m.appendShape(append(append(key, name...), 0))
		values = m.appendNumbers(values)
	}
	p.packed = &packed{shape: s.of(key, names, p.Metrics), values: slices.Clip(values)}
	p.Metrics = nil
}

// of returns the shape of a key.
func (s *Shapes) of(key []byte, names []string, metrics map[string]Metric) *shape {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[string(key)]; ok {
		return known
	}
	made, at := &shape{}, 0
	for _, name := range names {
		m := metrics[name]
		one := shapeMetric{
			name: name, at: at, quantiles: len(m.Quantiles), se: m.SE.ok, n: m.N != 0, ci: slices.Sorted(maps.Keys(m.CI)),
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
	s.known[string(key)] = made
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
	for _, name := range slices.Sorted(maps.Keys(m.CI)) {
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

// appendNumbers appends the numbers of a metric in their order.
func (m *Metric) appendNumbers(to []float64) []float64 {
	for _, st := range m.Stats {
		to = append(to, st.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(m.CI)) {
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
	all := make(Stats, 0, s.stats) // of all metrics, one after the other
	for i := range s.metrics {
		one := &s.metrics[i]
		end := len(all) + len(one.stats)
		p.Metrics[one.name] = one.metric(p.packed.values, all[len(all):len(all):end])
		all = all[:end]
	}
	p.packed = nil
}

// Metric returns one metric, packed or not.
func (p *Point) Metric(name string) (Metric, bool) {
	if p.packed == nil {
		m, ok := p.Metrics[name]
		return m, ok
	}
	for i := range p.packed.shape.metrics {
		if one := &p.packed.shape.metrics[i]; one.name == name {
			return one.metric(p.packed.values, make(Stats, 0, len(one.stats))), true
		}
	}
	return Metric{}, false
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
		for i := range p.packed.shape.metrics {
			one := &p.packed.shape.metrics[i]
			if !yield(one.name, one.metric(p.packed.values, make(Stats, 0, len(one.stats)))) {
				return
			}
		}
	}
}

// Measured reports whether the point has metrics, packed or not.
func (p *Point) Measured() bool { return p.packed != nil || len(p.Metrics) > 0 }
