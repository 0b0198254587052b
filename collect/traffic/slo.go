package traffic

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// SLO is a service level objective: limits that hold together. The zero value is none.
type SLO struct{ limits []limit }

// limit is an upper limit of one statistic of a latency, ms.
type limit struct {
	metric, stat string
	ms           float64
}

// sloMetrics are the latencies of an objective.
func sloMetrics(set latency.Set) map[string]latency.Sample {
	return map[string]latency.Sample{"ttft": set.TTFT, "tpot": set.TPOT, "itl": set.ITL, "e2el": set.E2EL}
}

// quantiles are the statistics beside the mean, with the requests that they need to be one: a P99 of fewer is its
// largest value.
var quantiles = map[string]struct {
	p     float64
	needs int
}{"median": {.5, 10}, "p50": {.5, 10}, "p90": {.9, 20}, "p95": {.95, 40}, "p99": {.99, 200}}

// ParseSLO reads limits that are separated by spaces.
func ParseSLO(text string) (SLO, error) {
	const example = "as in 'ttft_p99<500ms tpot_mean<50ms'"
	var s SLO
	for _, field := range strings.Fields(text) {
		name, value, ok := strings.Cut(field, "<")
		metric, stat, _ := strings.Cut(name, "_")
		if _, known := sloMetrics(latency.Set{})[metric]; !ok || !known {
			return SLO{}, fmt.Errorf("%q is not a limit of ttft, tpot, itl, e2el, %s", field, example)
		}
		if _, known := quantiles[stat]; !known && stat != "mean" {
			return SLO{}, fmt.Errorf("%q: its statistic must be one of mean, median, p90, p95, p99, %s", field, example)
		}
		value = strings.TrimPrefix(value, "=")
		d, err := time.ParseDuration(value)
		if ms, err2 := strconv.ParseFloat(value, 64); err != nil && err2 == nil {
			d, err = time.Duration(ms*float64(time.Millisecond)), nil
		}
		if err != nil || d <= 0 {
			return SLO{}, fmt.Errorf("%q: its limit must be a duration above zero, %s", field, example)
		}
		s.limits = append(s.limits, limit{metric, stat, float64(d) / float64(time.Millisecond)})
	}
	if len(s.limits) == 0 {
		return SLO{}, fmt.Errorf("an objective without a limit, %s", example)
	}
	slices.SortFunc(s.limits, func(a, b limit) int { return strings.Compare(a.text(), b.text()) })
	return s, nil
}

func (l limit) text() string {
	return l.metric + "_" + l.stat + "<" + strconv.FormatFloat(l.ms, 'f', -1, 64) + "ms"
}

// Set reports whether there is an objective.
func (s SLO) Set() bool { return len(s.limits) > 0 }

// String is the objective as ParseSLO reads it, in an order of its own, so that the same limits are the same text.
func (s SLO) String() string {
	var parts []string
	for _, l := range s.limits {
		parts = append(parts, l.text())
	}
	return strings.Join(parts, " ")
}

// Needs returns the requests that the statistics of the objective need.
func (s SLO) Needs() int {
	most := 10
	for _, l := range s.limits {
		most = max(most, quantiles[l.stat].needs)
	}
	return most
}

// Worst returns the largest share of its limit that a statistic of a measurement has: at most 1 holds. A request that
// failed, or that was answered without a token, is later than every other one in a percentile. The share is infinite
// where more failed than one in a hundred, or one of at least 20: a request that fails once in a thousand for reasons
// of its own would decide each measurement otherwise.
func (s SLO) Worst(set latency.Set) float64 {
	const oneIn, leastForOne = 100, 20
	failed := set.Failed + set.Hollow
	all := set.OK + failed
	if borne := failed*oneIn <= all || failed == 1 && all >= leastForOne; set.OK == 0 || !borne {
		return math.Inf(1)
	}
	worst := 0.
	for _, l := range s.limits {
		sample := sloMetrics(set)[l.metric]
		if sample.N() == 0 {
			return math.Inf(1)
		}
		p, v := quantiles[l.stat].p, sample.Mean
		if failed > 0 && sample.N() >= 2 { // which are later than all of the sample
			p *= float64(sample.N()+failed-1) / float64(sample.N()-1)
		}
		switch {
		case l.stat != "mean" && p > 1:
			v = math.Inf(1)
		case l.stat != "mean":
			v = sample.Quantile(p)
		}
		worst = max(worst, v/l.ms)
	}
	return worst
}

// Of reports whether a limit is of a metric.
func (s SLO) Of(metric string) bool {
	return slices.ContainsFunc(s.limits, func(l limit) bool { return l.metric == metric })
}

// Meets reports whether a single request is within every limit, whatever statistic the limit is of: vLLM's goodput
// counts those requests.
func (s SLO) Meets(r latency.Request) bool {
	if !r.OK {
		return false
	}
	for _, l := range s.limits {
		v := r.TTFT
		switch {
		case l.metric == "e2el":
			v = r.E2EL
		case l.metric == "tpot" && r.Out > 1:
			v = (r.E2EL - r.TTFT) / float64(r.Out-1)
		case l.metric == "itl" && len(r.ITL) > 0:
			v = slices.Max(r.ITL)
		case l.metric != "ttft":
			continue
		}
		if v > l.ms {
			return false
		}
	}
	return true
}
