package render

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
)

// lastPoint is the newest point of a workload, up to a release, that says how many requests completed; nil where none
// does. The tool that measured it does not matter.
func (r *Report) lastPoint(at int, of schema.System, load schema.Key) *columns.PointRow {
	releases := r.measuredIn(of.Model, of.Device)
	for i := len(releases) - 1; i >= 0; i-- {
		if releases[i] > at {
			continue
		}
		for _, run := range r.runs[schema.Pair{Model: of.Model, Device: of.Device}][releases[i]] {
			h := &r.Columns.Runs[run]
			for n := h.FirstPoint; n < h.PointsEnd && h.Impl == of.Impl; n++ {
				p := &r.Columns.Points[n]
				k := r.Columns.Keys[p.Key]
				if k.Workload() == load.Workload() && r.requests(p) > 0 {
					return p
				}
			}
		}
	}
	return nil
}

// requests is how many requests of a point completed; 0 where it is not stated.
func (r *Report) requests(p *columns.PointRow) float64 {
	n, _ := r.Shown(p, "requests_ok", "value").Get()
	return n
}

// Requests is how many requests the newest measurement of a workload completed, up to a release, so that another one
// can be like it; 0 where that is not known.
func (r *Report) Requests(release string, of schema.System, load schema.Key) int {
	if p := r.lastPoint(judge.Named(r.Releases, release), of, load); p != nil {
		return int(r.requests(p))
	}
	return 0
}

// lasted is how long the requests of a workload took in the newest measurement up to a release: each lane of the load
// made its share of them one after the other. 0 where that is not known.
func (r *Report) lasted(at int, of schema.System, load schema.Key) time.Duration {
	p := r.lastPoint(at, of, load)
	if p == nil {
		return 0
	}
	lanes := r.Columns.Keys[p.Key].Concurrency
	each, ok := r.Shown(p, "e2el", "mean").Get()
	if !ok || lanes == nil || *lanes <= 0 {
		return 0
	}
	return time.Duration(each * r.requests(p) / *lanes * float64(time.Millisecond))
}
