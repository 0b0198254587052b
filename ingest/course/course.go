package course

import (
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Add adds what a sidecar has beside the result to a point.
func Add(p *schema.Point, side *manifest.Sidecar) {
	for _, samples := range []*manifest.Samples{side.Samples, side.Power} {
		if samples != nil && len(samples.Rows) >= schema.LeastSlices {
			join(&p.Slices, samples)
		}
	}
	schema.SortSlices(p.Slices.Series)
	if side.Power != nil && p.Status != schema.StatusFailed {
		power(p, side)
	}
}

// scaled are the factors from a sample to the unit of a slice: shares become percents.
var scaled = map[string]float64{schema.GaugeKV: 100, schema.GaugePrefixHits: 100}

// join adds samples to slices; where there are none, they are made for the samples.
func join(s *schema.Slices, from *manifest.Samples) {
	parts := schema.MostSlices
	if len(s.Series) > 0 {
		parts = len(s.Series[0].Values)
	} else {
		last := from.Rows[len(from.Rows)-1]
		if len(last) == 0 || !(last[0] > 0) || math.IsInf(last[0], 0) {
			return
		}
		parts = min(parts, len(from.Rows))
		s.Step = latency.SliceStep(last[0], parts)
	}
	for i, name := range from.Names {
		known := i > 0 && !strings.HasSuffix(name, "_total") && name != schema.GaugePreemptions
		if _, ok := schema.SliceInfo(name); known && ok {
			s.Add(name, means(column(from, i), s.Step, parts, max(1, scaled[name])))
		}
	}
	for _, name := range []string{schema.CounterPreemptions, schema.GaugePreemptions} { // the name before
		if c := named(from, name); c != nil {
			s.Add(schema.GaugePreemptions, growth(c, s.Step, parts))
		}
	}
	hits, queries := named(from, schema.CounterPrefixHits), named(from, schema.CounterPrefixQueries)
	if hits != nil && queries != nil {
		s.Add(schema.GaugePrefixHits, shares(growth(hits, s.Step, parts), growth(queries, s.Step, parts)))
	}
}

// reading is one value and when it was read, in seconds.
type reading struct{ at, value float64 }

// column returns the known readings of a column.
func column(from *manifest.Samples, i int) []reading {
	var out []reading
	for _, row := range from.Rows {
		if i < len(row) && row[i] >= 0 && !math.IsInf(row[i], 0) {
			out = append(out, reading{row[0], row[i]})
		}
	}
	return out
}

func named(from *manifest.Samples, name string) []reading {
	for i, n := range from.Names {
		if n == name {
			return column(from, i)
		}
	}
	return nil
}

// means are the means of the readings of each slice.
func means(list []reading, step float64, parts int, factor float64) []float64 {
	sum, n := make([]float64, parts), make([]float64, parts)
	for _, r := range list {
		if r.at >= 0 && r.at < step*float64(parts+1) { // as floats: a damaged time may fit no integer
			k := min(int(r.at/step), parts-1) // the end of the last slice
			sum[k], n[k] = sum[k]+r.value, n[k]+1
		}
	}
	for k := range sum {
		sum[k] = latency.Round(factor*sum[k]/n[k], schema.SliceDigits) // 0/0: not known
	}
	return sum
}

// growth is by how much a counter grew in each slice. What it is at the end of a slice is on the line between the
// readings beside it. A counter that falls was set back: the growth is not known there.
func growth(list []reading, step float64, parts int) []float64 {
	out := make([]float64, parts)
	before := at(list, 0)
	for k := range out {
		now := at(list, step*float64(k+1))
		if out[k] = now - before; out[k] < 0 {
			out[k] = math.NaN()
		}
		out[k], before = latency.Round(out[k], schema.SliceDigits), now
	}
	return out
}

// at is a counter at a time: NaN before the first reading and after the last, by more than the time between two.
func at(list []reading, t float64) float64 {
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if t > b.at && i+1 < len(list) {
			continue
		}
		if gap := b.at - a.at; t < a.at-gap || t > b.at+gap {
			return math.NaN()
		}
		f := max(0, min(1, (t-a.at)/(b.at-a.at)))
		return a.value + f*(b.value-a.value)
	}
	return math.NaN()
}

// shares are percents of a whole, where there is one.
func shares(part, whole []float64) []float64 {
	out := make([]float64, len(part))
	for k := range out {
		out[k] = latency.Round(100*part[k]/whole[k], schema.SliceDigits)
		if !(whole[k] > 0) || out[k] > 100 {
			out[k] = math.NaN()
		}
	}
	return out
}

// leastPower is how many readings a mean power needs.
const leastPower = 3

// covered is the time with readings, in seconds: without gaps of more than three times the median one.
func covered(list []reading) (s float64) {
	var gaps []float64
	for i := 1; i < len(list); i++ {
		gaps = append(gaps, list[i].at-list[i-1].at)
	}
	slices.Sort(gaps)
	for _, gap := range gaps {
		if gap <= 3*gaps[len(gaps)/2] {
			s += gap
		}
	}
	return s
}

// power adds the mean power and the energy a token.
func power(p *schema.Point, side *manifest.Sidecar) {
	list := named(side.Power, schema.GaugePower)
	if side.PowerOf == schema.DefCPUs {
		list = named(side.Power, schema.GaugeCPUPower)
	}
	sum := 0.
	for _, r := range list {
		sum += r.value
	}
	if len(list) < leastPower || !(sum > 0) || side.PowerOf == "" {
		return
	}
	if p.Unpack(); p.Metrics == nil {
		return
	}
	if whole, ok := p.Metrics["duration_s"].Stats.Get("value"); ok && covered(list) < whole/2 {
		return
	}
	mean := sum / float64(len(list))
	set := func(name string, v float64) {
		m := schema.Metric{Unit: schema.Unit(name), Def: side.PowerOf, From: schema.FromDerived}
		m.Stats.Set("value", latency.Round(v, 7))
		p.Metrics[name] = m
	}
	set(schema.MetricPower, mean)
	if tps, ok := p.Metrics["output_tps"].Stats.Get("value"); ok && tps > 0 {
		set(schema.MetricEnergy, mean/tps)
	}
}
