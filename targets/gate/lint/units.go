package lint

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Bounds of what another unit explains and nothing else does.
const (
	thousand  = 1000.
	nearUnit  = 1.25 // a factor that a unit's thousand and a change of the number make together is within this of it
	tooFewFor = 200. // times fewer requests in flight than the load keeps there
)

// otherUnit finds latencies in another unit than stated: a thousand times, or a thousandth of, what the release before
// has; and such that a closed loop would have had next to nothing in flight, by Little's law.
func otherUnit(l *inspection) {
	type latency struct {
		of     measured
		metric string
	}
	at := func(run int, p *columns.PointRow, metric string) latency {
		h := &l.c.Runs[run]
		return latency{measured{schema.System{Model: h.Model.Name, Device: h.Device, Impl: h.Impl}, p.Key}, metric}
	}
	metrics := []string{"ttft", "tpot", "itl", "e2el"}
	before, name := map[latency]float64{}, ""
	l.points(l.before(), func(run int, p *columns.PointRow, _ schema.Key) {
		name = l.c.Runs[run].Release
		for _, metric := range metrics {
			if v, ok := l.get(p, metric, "mean"); ok {
				before[at(run, p, metric)] = v
			}
		}
	})
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		for _, metric := range metrics {
			now, ok := l.get(p, metric, "mean")
			if was := before[at(run, p, metric)]; ok && thousandfold(now, was) {
				l.add(run, k.Workload(), 1, OtherUnit{Metric: metric, Now: now, Then: was, Before: name})
				return
			}
		}
		if asked, got, ok := l.inFlight(p, k); ok && got > 0 && asked > tooFewFor*got {
			l.add(run, k.Workload(), 0, OtherUnit{Asked: asked, Reached: got})
		}
	})
}

// thousandfold reports whether one number is about a thousand times the other.
func thousandfold(a, b float64) bool {
	return a > 0 && b > 0 && math.Abs(math.Abs(math.Log(a/b))-math.Log(thousand)) < math.Log(nearUnit)
}

// inFlight is how many requests a closed loop keeps in flight, and how many there were by Little's law; false where
// that cannot be told, or some of them failed.
func (l *inspection) inFlight(p *columns.PointRow, k schema.Key) (asked, got float64, ok bool) {
	rps, hasRate := l.get(p, "rps", "value")
	e2el, has := l.get(p, "e2el", "mean")
	n, counted := l.requests(p)
	if !hasRate || !has || !counted || k.Concurrency == nil || k.Rate != nil || k.Dims[schema.DimThink] != "" {
		return 0, 0, false
	}
	if f, known := l.failures(p); known && f.share() > .1 {
		return 0, 0, false
	}
	return *k.Concurrency, rps * e2el / 1000, n >= 4**k.Concurrency
}
