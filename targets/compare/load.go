package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Load is what a workload's requests did on one side: numbers of other loads do not compare systems.
type Load struct {
	OSL        schema.Number // measured length of an answer, the mean over repeats
	Failed, Of float64       // requests of all repeats; 0 of 0: not counted
}

// Failing reports whether so many requests failed that the numbers are not those of the load.
func (l Load) Failing() bool { return l.Of > 0 && l.Failed/l.Of > schema.MostFailures }

// Loads are those of a workload that both sides measured.
type Loads struct {
	System string // "" where both sides have one
	Key    schema.Key
	A, B   Load
}

// Answers is the length of the shorter side's answers, of that of the other's; false where a side does not say.
func (l *Loads) Answers() (share float64, ok bool) {
	a, hasA := l.A.OSL.Get()
	b, hasB := l.B.OSL.Get()
	if !hasA || !hasB || a <= 0 || b <= 0 {
		return 0, false
	}
	return min(a, b) / max(a, b), true
}

// Lengths reports whether the answers of one side are clearly shorter.
func (l *Loads) Lengths() bool {
	share, ok := l.Answers()
	return ok && share < schema.LeastAnswer
}

// Differ reports whether the sides did not do the same work, or failed at it.
func (l *Loads) Differ() bool { return l.Lengths() || l.A.Failing() || l.B.Failing() }

// load is a workload of a side while its repeats are added.
type load struct {
	osl, n, failed, of float64
}

// at names a workload of a side.
type at struct{ system, key string }

func (l *load) add(p *schema.Point) {
	if osl, ok := primary(p, "osl"); ok {
		l.osl, l.n = l.osl+osl, l.n+1
	}
	bad, hasBad := primary(p, "requests_failed")
	good, hasGood := primary(p, "requests_ok")
	if hasBad && hasGood {
		l.failed, l.of = l.failed+bad, l.of+bad+good
	}
}

func primary(p *schema.Point, metric string) (float64, bool) {
	m, ok := p.Metrics[metric]
	_, n := m.Primary()
	v, has := n.Get()
	return v, ok && has
}

func (l load) load() Load {
	out := Load{Failed: l.failed, Of: l.of}
	if l.n > 0 {
		out.OSL = schema.Num(l.osl / l.n)
	}
	return out
}

// loads gives each row the loads of its workload, and the result those that both sides measured, in the order of keys.
func (r *Result) loads(a, b *side) {
	of := map[at]*Loads{}
	for i := range r.Rows {
		row := &r.Rows[i]
		k := at{row.System, row.of.key}
		if of[k] == nil {
			of[k] = &Loads{row.System, row.Key, a.loads[k].load(), b.loads[k].load()}
		}
		row.Loads = of[k]
	}
	r.Loads = slices.SortedFunc(maps.Values(of), func(x, y *Loads) int {
		return cmp.Or(cmp.Compare(x.System, y.System), compareKeys(x.Key, y.Key))
	})
}
