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

const example = "as in 'ttft_p99<500ms tpot_mean<50ms'"

var metrics = []string{"ttft", "tpot", "itl", "e2el"}

// quantiles are the statistics beside the mean, with the requests that they need to be one: a P99 of fewer is its
// largest value.
var quantiles = map[string]struct {
	p     float64
	needs int
}{"median": {.5, 10}, "p50": {.5, 10}, "p90": {.9, 20}, "p95": {.95, 40}, "p99": {.99, 200}}

// ParseSLO reads limits that are separated by spaces.
func ParseSLO(text string) (SLO, error) {
	var s SLO
	for _, field := range strings.Fields(text) {
		name, value, ok := strings.Cut(field, "<")
		metric, stat, ok2 := strings.Cut(name, "_")
		if !ok || !ok2 || !slices.Contains(metrics, metric) {
			return SLO{}, fmt.Errorf("%q is no limit of %s, %s", field, strings.Join(metrics, ", "), example)
		}
		if _, known := quantiles[stat]; !known && stat != "mean" {
			return SLO{}, fmt.Errorf("%q: its statistic is none of mean, median, p90, p95, p99, %s", field, example)
		}
		value = strings.TrimPrefix(value, "=")
		d, err := time.ParseDuration(value)
		if ms, err2 := strconv.ParseFloat(value, 64); err != nil && err2 == nil {
			d, err = time.Duration(ms*float64(time.Millisecond)), nil
		}
		if err != nil || d <= 0 {
			return SLO{}, fmt.Errorf("%q: its limit is no duration above zero, %s", field, example)
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

// Failures that an objective bears: one in a hundred, and one where there are at least leastForOne requests. A request
// that fails once in a thousand for reasons of its own would decide each measurement otherwise.
const (
	oneIn       = 100
	leastForOne = 20
)

// Bears reports whether so few requests failed that the others decide.
func Bears(failed, requests int) bool {
	return failed*oneIn <= requests || failed == 1 && requests >= leastForOne
}

// Worst returns the largest share of its limit that a statistic of a measurement has: at most 1 holds. A request that
// failed, or that was answered without a token, is later than every other one in a percentile; it is infinite where
// more failed than [Bears] allows.
func (s SLO) Worst(set latency.Set) float64 {
	failed := set.Failed + set.Hollow
	if set.OK == 0 || !Bears(failed, set.OK+failed) {
		return math.Inf(1)
	}
	worst := 0.
	for _, l := range s.limits {
		sample := map[string]latency.Sample{"ttft": set.TTFT, "tpot": set.TPOT, "itl": set.ITL, "e2el": set.E2EL}[l.metric]
		v := sample.Mean
		if l.stat != "mean" {
			v = quantileOf(sample, quantiles[l.stat].p, failed)
		}
		worst = max(worst, v/l.ms)
	}
	return worst
}

// quantileOf is a quantile of a sample beside which so many requests failed, which are later than all of it.
func quantileOf(s latency.Sample, p float64, failed int) float64 {
	if failed == 0 || s.N() < 2 {
		return s.Quantile(p)
	}
	p *= float64(s.N()+failed-1) / float64(s.N()-1)
	if p > 1 {
		return math.Inf(1)
	}
	return s.Quantile(p)
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
