package plan

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// past is what a history says of how long measurements of a model on a device take.
type past struct {
	list  []pastPoint // newest first
	extra float64     // s that a measurement takes beside its requests
}

// pastPoint is one measurement.
type pastPoint struct {
	key                string // without the tool
	isl, osl           float64
	inFlight           float64
	duration, requests float64 // s; 0: not known
	ttft, tpot, e2el   float64 // ms, mean; 0: not known
}

// Bounds of what is learned.
const (
	newestRuns  = 20 // that count
	pastRepeats = 5  // measurements of one workload, and starts of a server, whose median counts
	mostStart   = 1e5
)

// pastOf reads what the newest runs of a plan's model on its device have.
func pastOf(c *columns.Columns, p Plan) past {
	var out past
	if c == nil {
		return out
	}
	runs := runsOf(c, p)
	var extra []float64
	for _, h := range runs[:min(len(runs), newestRuns)] {
		first, busy := len(out.list), 0.
		for at := h.FirstPoint; at < h.PointsEnd; at++ {
			pt := pastPointOf(c, &c.Points[at])
			out.list, busy = append(out.list, pt), busy+pt.duration
		}
		n := float64(len(out.list) - first)
		if whole := h.End.Sub(h.Start).Seconds(); n > 0 && h.Scores == 0 && whole > busy && busy > 0 && !h.End.IsZero() {
			extra = append(extra, (whole-busy)/n)
		}
	}
	if len(extra) > 0 { // the least: a server's start is in the others
		out.extra = slices.Min(extra)
	}
	return out
}

// runsOf are the runs of a plan's model on its device, newest first.
func runsOf(c *columns.Columns, p Plan) []*columns.RunHead {
	var runs []*columns.RunHead
	for i := range c.Runs {
		if h := &c.Runs[i]; h.Model.Name == p.Model.Name && h.Device == p.Device {
			runs = append(runs, h)
		}
	}
	slices.SortStableFunc(runs, func(a, b *columns.RunHead) int { return b.Start.Compare(a.Start) })
	return runs
}

// startsOf is how long the newest servers of a plan's model on its device took to be ready, s.
func startsOf(c *columns.Columns, p Plan) []float64 {
	if c == nil {
		return nil
	}
	var took []float64
	for _, h := range runsOf(c, p) {
		if s, err := strconv.ParseFloat(h.Setting[schema.SettingStartup], 64); err == nil && s >= 0 && s < mostStart &&
			len(took) < pastRepeats {
			took = append(took, s)
		}
	}
	return took
}

func pastPointOf(c *columns.Columns, row *columns.PointRow) pastPoint {
	value := func(metric, stat string) float64 {
		n, _ := c.Value(row, metric, stat)
		v, ok := n.Get()
		if !ok || !(v > 0) || math.IsInf(v, 0) {
			return 0
		}
		return v
	}
	k := c.Keys[row.Key]
	p := pastPoint{key: keyOf(k), duration: value("duration_s", "value"),
		requests: value("requests_ok", "value") + value("requests_failed", "value"),
		ttft:     value("ttft", "mean"), tpot: value("tpot", "mean"), e2el: value("e2el", "mean")}
	for at, from := range map[*float64]*float64{&p.isl: k.ISL, &p.osl: k.OSL, &p.inFlight: k.Concurrency} {
		if from != nil {
			*at = *from
		}
	}
	return p
}

// keyOf is a key without what differs between tools.
func keyOf(k schema.Key) string {
	k.Tool, k.Unknown = "", nil
	return k.String()
}

// same returns the durations of one workload, each for as many requests as it has now; newest first.
func (p past) same(w Workload) []float64 {
	key := keyOf(w.Manifest().Key(""))
	var out []float64
	for _, x := range p.list {
		if x.key != key || x.duration == 0 || len(out) == pastRepeats {
			continue
		}
		d := x.duration
		if w.Requests > 0 && x.requests > 0 {
			d *= float64(w.Requests) / x.requests
		}
		out = append(out, d)
	}
	return out
}

// request returns what one request of a workload takes, s: as in the measurement that is most like it, with its own
// lengths. Latencies of a prompt grow with it, those of an answer with its tokens.
func (p past) request(w Workload) (s float64, ok bool) {
	best := math.Inf(1)
	for _, x := range p.list {
		if x.isl == 0 || x.e2el == 0 {
			continue
		}
		d := far(x.inFlight, float64(w.Concurrency)) + .3*far(x.isl, float64(w.ISL)) + .1*far(x.osl, float64(w.OSL))
		if d >= best {
			continue
		}
		ms := x.e2el
		if x.tpot > 0 && x.ttft > 0 {
			ms = x.ttft*float64(w.ISL)/x.isl + x.tpot*float64(max(0, w.OSL-1))
		}
		best, s, ok = d, ms/1000, true
	}
	return s, ok
}

// far is the distance of two counts, as a logarithm of their ratio.
func far(a, b float64) float64 { return math.Abs(math.Log(max(1, a) / max(1, b))) }

func median(list []float64) float64 {
	list = slices.SortedFunc(slices.Values(list), cmp.Compare[float64])
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
