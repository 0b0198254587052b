package schema

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// Shapes holds once what the metrics of many points have in common: everything but their numbers. Points of one tool
// differ in numbers alone, and a tree has tens of thousands of them: a result takes 1.5 kB with it and 4.2 without. It
// is safe for concurrent use.
type Shapes struct {
	mu    sync.Mutex
	known map[string][]namedMetric
}

// namedMetric is a metric whose numbers are elsewhere.
type namedMetric struct {
	name string
	Metric
	at int // where its numbers begin
}

// packed is the metrics of a point, by name, and their numbers.
type packed struct {
	shape  []namedMetric
	values []float64
}

// numbers calls do for each number of a metric, statistics first.
func (m *Metric) numbers(do func(*float64)) {
	for i := range m.Stats {
		do(&m.Stats[i].Value)
	}
	for _, stat := range sortedKeys(m.CI) {
		interval := m.CI[stat]
		do(&interval[0])
		do(&interval[1])
		m.CI[stat] = interval
	}
	for i := range m.Quantiles {
		do(&m.Quantiles[i])
	}
	n := float64(m.N)
	do(&n)
	do(&m.SE.v)
	m.N = int(n)
}

// clone returns a metric with lists of its own, and other numbers: those that next returns.
func (m Metric) clone(next func() float64) Metric {
	m.Stats, m.CI, m.Quantiles = slices.Clone(m.Stats), maps.Clone(m.CI), slices.Clone(m.Quantiles)
	m.numbers(func(v *float64) { *v = next() })
	return m
}

// Pack holds the metrics of a point in little memory, until [Point.Unpack]. In between, [Point.Value],
// [Point.Definition] and [Point.EachMetric] read them, and Metrics is nil. Points with members of a newer version stay
// as they are.
func (s *Shapes) Pack(p *Point) {
	var key []byte
	names, values := sortedKeys(p.Metrics), []float64(nil)
	for _, name := range names {
		m := p.Metrics[name]
		if m.Unknown != nil {
			return
		}
		for _, text := range []string{name, m.Unit, m.Def, string(m.From), m.Why, m.SE.why} {
			key = append(append(key, text...), 0)
		}
		for _, st := range m.Stats {
			key = append(append(key, st.Name...), 1)
		}
		for _, stat := range sortedKeys(m.CI) {
			key = append(append(key, stat...), 2)
		}
		if n := len(m.Quantiles); m.SE.ok {
			key = append(key, 3, byte(n), byte(n>>8))
		} else {
			key = append(key, 4, byte(n), byte(n>>8))
		}
		m.numbers(func(v *float64) { values = append(values, *v) })
	}
	if len(names) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	shape := s.known[string(key)]
	if shape == nil {
		at := 0
		for _, name := range names {
			begin := at
			m := p.Metrics[name].clone(func() float64 { at++; return 0 })
			shape = append(shape, namedMetric{name, m, begin})
		}
		if s.known == nil {
			s.known = map[string][]namedMetric{}
		}
		s.known[string(key)] = shape
	}
	p.packed, p.Metrics = &packed{shape, slices.Clip(values)}, nil
}

// Unpack makes Metrics what they were before [Shapes.Pack].
func (p *Point) Unpack() {
	if p.packed != nil {
		p.Metrics, p.packed = maps.Collect(p.EachMetric()), nil
	}
}

// Definition returns the definition of a metric, packed or not, and whether the point has the metric.
func (p *Point) Definition(metric string) (def string, ok bool) {
	if p.packed == nil {
		m, ok := p.Metrics[metric]
		return m.Def, ok
	}
	for i := range p.packed.shape {
		if m := &p.packed.shape[i]; m.name == metric {
			return m.Def, true
		}
	}
	return "", false
}

// Value returns one statistic of a metric, packed or not.
func (p *Point) Value(metric, stat string) (float64, bool) {
	if p.packed == nil {
		return p.Metrics[metric].Stats.Get(stat)
	}
	for i := range p.packed.shape {
		m := &p.packed.shape[i]
		if at := slices.IndexFunc(m.Stats, func(s Stat) bool { return s.Name == stat }); at >= 0 && m.name == metric {
			return p.packed.values[m.at+at], true
		}
	}
	return 0, false
}

// EachMetric yields the metrics by name, packed or not.
func (p *Point) EachMetric() iter.Seq2[string, Metric] {
	return func(yield func(string, Metric) bool) {
		for _, name := range sortedKeys(p.Metrics) {
			if !yield(name, p.Metrics[name]) {
				return
			}
		}
		if p.packed == nil {
			return
		}
		for i := range p.packed.shape {
			m := &p.packed.shape[i]
			at := m.at - 1
			if !yield(m.name, m.clone(func() float64 { at++; return p.packed.values[at] })) {
				return
			}
		}
	}
}

// Measured reports whether the point has metrics, packed or not.
func (p *Point) Measured() bool { return p.packed != nil || len(p.Metrics) > 0 }
