package schema

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Slices are the course of a measurement: means over slices of equal length, of what its requests took, of the server's
// gauges, of power. A few numbers each, for pictures: no verdict reads them.
type Slices struct {
	Step   float64   // s, length of a slice; the first one begins when the first request is sent
	Series []SliceOf // in reading order
}

// IsZero reports that no course is known.
func (s Slices) IsZero() bool { return !(s.Step > 0) }

// SliceOf is one quantity by slice.
type SliceOf struct {
	Name   string    // of a metric or of a gauge; see [SliceInfo]
	Values []float64 // in its unit, at most MostSlices; NaN where nothing is known
}

// Bounds of the course of a measurement: 16 values of three digits draw a line, and a point stays small.
const (
	MostSlices  = 16
	LeastSlices = 4
	SliceDigits = 3
)

// Names of what was read beside a measurement.
const (
	GaugeRunning     = "running"
	GaugeWaiting     = "waiting"
	GaugeKV          = "kv"
	GaugePreemptions = "preemptions"
	GaugePrefixHits  = "prefix_hits"
	GaugePower       = "power"       // of the accelerators of the host
	GaugeCPUPower    = "cpu_power"   // of its processors' packages
	GaugeTemperature = "temperature" // of the hottest accelerator
	GaugeMemory      = "memory"      // of the accelerator that uses most

	GaugeAcceptanceLength = "acceptance_length" // of speculative decoding, of late
	GaugeAcceptanceRate   = "acceptance_rate"
)

// Counters of a server, from which gauges by slice are differences.
const (
	CounterPreemptions     = "preemptions_total"
	CounterPrefixHits      = "prefix_hits_total"
	CounterPrefixQueries   = "prefix_queries_total"
	CounterExternalHits    = "external_prefix_hits_total" // of a cache outside of the server
	CounterExternalQueries = "external_prefix_queries_total"

	CounterQueueSeconds    = "queue_seconds_total" // that requests waited before they were computed
	CounterQueued          = "queued_total"        // those requests
	CounterTransferSeconds = "kv_transfer_seconds_total"
	CounterTransfers       = "kv_transfers_total"
	CounterDrafts          = "drafts_total" // steps of speculative decoding
	CounterDraftTokens     = "draft_tokens_total"
	CounterAccepted        = "accepted_total" // draft tokens
)

// CounterAcceptedAt counts the drafts of which the token at a place was accepted.
func CounterAcceptedAt(place int) string { return fmt.Sprintf("accepted_at_%d_total", place) }

// Add adds a quantity, unless nothing of it is known.
func (s *Slices) Add(name string, values []float64) {
	x := SliceOf{Name: name, Values: values}
	if _, _, ok := x.Range(); ok {
		s.Series = append(s.Series, x)
	}
}

// SliceInfo returns the facts of what a slice is of: a metric, or what was read beside the measurement.
func SliceInfo(name string) (MetricInfo, bool) {
	for _, m := range gauges {
		if m.Name == name {
			return m, true
		}
	}
	return MetricByName(name)
}

// SortSlices puts quantities in reading order: latencies, rates, then gauges.
func SortSlices(list []SliceOf) {
	slices.SortStableFunc(list, func(a, b SliceOf) int {
		return cmp.Or(cmp.Compare(slicePlace(a.Name), slicePlace(b.Name)), strings.Compare(a.Name, b.Name))
	})
}

// slicePlace is the place of a name in reading order.
func slicePlace(name string) int {
	if i := metricPlace(name); i < len(catalogue) {
		return i
	}
	i := slices.IndexFunc(gauges, func(m MetricInfo) bool { return m.Name == name })
	if i < 0 {
		i = len(gauges)
	}
	return len(catalogue) + i
}

// Range returns the least and the largest known value; ok is false where none is known.
func (s SliceOf) Range() (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range s.Values {
		if !math.IsNaN(v) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	return lo, hi, lo <= hi
}
