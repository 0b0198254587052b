package lint

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// untilMetrics are those whose means a measurement with --until makes exact.
var untilMetrics = [...]string{"ttft", "tpot", "e2el"}

// unsettled finds measurements with --until that did not become steady. What drifts most is named.
func unsettled(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if steady, ok := l.get(p, columns.ClientMetric, schema.ClientSteady); !ok || steady != 0 {
			return
		}
		var worst Unsettled
		for _, m := range untilMetrics {
			if d, ok := l.get(p, columns.ClientMetric, schema.ClientDrift+m); ok && math.Abs(d) > math.Abs(worst.Drift) {
				worst = Unsettled{m, d}
			}
		}
		l.add(run, k.Workload(), math.Abs(worst.Drift), worst)
	})
}

// imprecise finds means that --until did not make as exact as asked before its time was over.
func imprecise(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		asked, ok := l.get(p, columns.ClientMetric, schema.ClientCIAsked)
		if !ok {
			return
		}
		worst := Imprecise{Asked: asked}
		for _, m := range untilMetrics {
			if reached, ok := l.get(p, columns.ClientMetric, schema.ClientCI+m); ok && reached > worst.Reached {
				worst.Metric, worst.Reached = m, reached
			}
		}
		if worst.Reached > asked {
			l.add(run, k.Workload(), worst.Reached/asked, worst)
		}
	})
}

// openSearch finds searches for the largest load that ended while measurements of the answer contradicted each other.
func openSearch(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if settled, ok := l.get(p, columns.ClientMetric, schema.ClientSettled); !ok || settled != 0 {
			return
		}
		d := OpenSearch{Rate: k.Dims[schema.DimFind] != ""}
		d.Holds, _ = l.get(p, columns.ClientMetric, schema.ClientHolds)
		d.Fails, _ = l.get(p, columns.ClientMetric, schema.ClientFails)
		l.add(run, k.Workload(), d.Fails/d.Holds, d)
	})
}

// overload finds open loops that ended because requests arrived faster than they left.
func overload(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if n, ok := l.get(p, columns.ClientMetric, schema.ClientOverload); ok {
			l.add(run, k.Workload(), 1, Overload{n})
		}
	})
}
