package ingest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// addGauges joins what was read beside a measurement, the server's gauges and power, with the timeline of its requests:
// the point gets slices of all of them, and its power and energy a token. The samples begin with the first request.
func addGauges(p *schema.Point, side *manifest.Sidecar) {
	for _, samples := range []*manifest.Samples{side.Samples, side.Power} {
		if samples != nil && len(samples.Rows) >= schema.LeastSlices {
			addSlices(&p.Slices, samples)
		}
	}
	schema.SortSlices(p.Slices.Series)
	if side.Samples != nil && p.Status != schema.StatusFailed {
		addGrowths(p, side.Samples)
	}
	if side.Power != nil && p.Status != schema.StatusFailed {
		addPower(p, side)
	}
	// what answers say of hits counts where no counter does: some servers have those of an external cache among them
	share, err := strconv.ParseFloat(side.Client[schema.ClientCached], 64)
	if err == nil && p.Status != schema.StatusFailed {
		derive(p, "prefix_hits", 100*share)
	}
}

// derive adds a metric that the file of a point with numbers does not state; NaN is none.
func derive(p *schema.Point, metric string, v float64) {
	if _, has := p.Metric(metric); has || v-v != 0 || len(p.Metrics) == 0 {
		return
	}
	putDerived(p, metric, "", v)
}

func putDerived(p *schema.Point, metric, def string, v float64) {
	k := schema.Kind{Name: metric, Unit: schema.Unit(metric), Def: def, From: schema.FromDerived}
	p.Metrics.Put(schema.NewMetric(k, schema.NewStat("value", latency.Round(v, 7))))
}

// addSlices adds samples to slices; where there are none, they are made for the samples.
func addSlices(s *schema.Slices, from *manifest.Samples) {
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
	for _, name := range from.Names[min(1, len(from.Names)):] {
		known := !strings.HasSuffix(name, "_total") && name != schema.GaugePreemptions
		if _, ok := schema.SliceInfo(name); known && ok {
			factor := 1.
			if name == schema.GaugeKV || name == schema.GaugePrefixHits {
				factor = 100 // shares become percents
			}
			s.Add(name, gaugeMeans(column(from, name), s.Step, parts, factor))
		}
	}
	for _, name := range []string{schema.CounterPreemptions, schema.GaugePreemptions} { // the name before
		if c := column(from, name); c != nil {
			s.Add(schema.GaugePreemptions, counterGrowth(c, s.Step, parts))
		}
	}
	addPrefixHits(s, from, parts)
}

// addPrefixHits adds the share of the prompts' tokens that were in the prefix cache.
func addPrefixHits(s *schema.Slices, from *manifest.Samples, parts int) {
	hits, queries := column(from, schema.CounterPrefixHits), column(from, schema.CounterPrefixQueries)
	if hits == nil || queries == nil {
		return
	}
	shares, all := counterGrowth(hits, s.Step, parts), counterGrowth(queries, s.Step, parts)
	for k := range shares { // percents of all, where there are any
		if shares[k] = latency.Round(100*shares[k]/all[k], schema.SliceDigits); !(all[k] > 0) || shares[k] > 100 {
			shares[k] = math.NaN()
		}
	}
	s.Add(schema.GaugePrefixHits, shares)
}

// growths are metrics that a server's counters give: by how much one grew over by how much another did, times a factor.
var growths = []struct {
	metric, of, over string
	factor, more     float64
}{
	{"prefix_hits", schema.CounterPrefixHits, schema.CounterPrefixQueries, 100, 0},
	{"prefix_hits_external", schema.CounterExternalHits, schema.CounterExternalQueries, 100, 0},
	{"queue_ms", schema.CounterQueueSeconds, schema.CounterQueued, 1000, 0},
	{"kv_transfer_ms", schema.CounterTransferSeconds, schema.CounterTransfers, 1000, 0},
	{"acceptance_rate", schema.CounterAccepted, schema.CounterDraftTokens, 100, 0},
	{"acceptance_length", schema.CounterAccepted, schema.CounterDrafts, 1, 1}, // and the model's own token
}

// means are metrics that a server states as gauges, which are 0 where it has none, times a factor.
var means = []struct {
	metric, of string
	factor     float64
}{
	{"acceptance_length", schema.GaugeAcceptanceLength, 1}, {"acceptance_rate", schema.GaugeAcceptanceRate, 100},
}

// addGrowths adds the metrics of a server's counters, and of its gauges where it has no counters, that the client's
// file does not state.
func addGrowths(p *schema.Point, from *manifest.Samples) {
	whole := func(name string) float64 { // not known where a counter was set back
		list := column(from, name)
		for i := range list {
			if i > 0 && list[i].value < list[i-1].value {
				return math.NaN()
			}
		}
		if len(list) < 2 {
			return math.NaN()
		}
		return list[len(list)-1].value - list[0].value
	}
	for _, g := range growths {
		derive(p, g.metric, g.factor*whole(g.of)/whole(g.over)+g.more)
	}
	for place := 1; place <= schema.Places; place++ {
		derive(p, schema.MetricAccepted(place), 100*whole(schema.CounterAcceptedAt(place))/whole(schema.CounterDrafts))
	}
	for _, g := range means {
		sum, n := 0., 0.
		for _, r := range column(from, g.of) {
			if r.value > 0 {
				sum, n = sum+r.value, n+1
			}
		}
		derive(p, g.metric, g.factor*sum/n)
	}
}

// sample is one value and when it was read, in seconds.
type sample struct{ at, value float64 }

// column returns the known readings of a column; nil where there is none.
func column(from *manifest.Samples, name string) []sample {
	i := slices.Index(from.Names, name)
	var out []sample
	for _, row := range from.Rows {
		if i >= 0 && i < len(row) && row[i] >= 0 && !math.IsInf(row[i], 0) {
			out = append(out, sample{row[0], row[i]})
		}
	}
	return out
}

// gaugeMeans are the means of the readings of each slice.
func gaugeMeans(list []sample, step float64, parts int, factor float64) []float64 {
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

// counterGrowth is by how much a counter grew in each slice. What it is at the end of a slice is on the line between
// the readings around it. A counter that falls was set back: the growth is not known there.
func counterGrowth(list []sample, step float64, parts int) []float64 {
	out := make([]float64, parts)
	before := counterAt(list, 0)
	for k := range out {
		now := counterAt(list, step*float64(k+1))
		if out[k] = now - before; out[k] < 0 {
			out[k] = math.NaN()
		}
		out[k], before = latency.Round(out[k], schema.SliceDigits), now
	}
	return out
}

// counterAt is a counter at a time: NaN before the first reading and after the last, by more than the time between two.
func counterAt(list []sample, t float64) float64 {
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

// coveredTime is the time with readings, in seconds: without gaps of more than three times the median one.
func coveredTime(list []sample) (s float64) {
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

// addPower adds the mean power and the energy a token, and the most memory.
func addPower(p *schema.Point, side *manifest.Sidecar) {
	const leastPower = 3 // how many readings a mean power needs
	most := 0.
	for _, r := range column(side.Power, schema.GaugeMemory) {
		most = max(most, r.value)
	}
	if most > 0 {
		derive(p, schema.MetricMemory, most)
	}
	list := column(side.Power, schema.GaugePower)
	if side.PowerOf == schema.DefCPUs {
		list = column(side.Power, schema.GaugeCPUPower)
	}
	sum := 0.
	for _, r := range list {
		sum += r.value
	}
	if len(list) < leastPower || !(sum > 0) || side.PowerOf == "" {
		return
	}
	if whole, ok := p.Value("duration_s", "value"); len(p.Metrics) == 0 || ok && coveredTime(list) < whole/2 {
		return
	}
	mean := sum / float64(len(list))
	putDerived(p, schema.MetricPower, side.PowerOf, mean)
	if tps, ok := p.Value("output_tps", "value"); ok && tps > 0 {
		putDerived(p, schema.MetricEnergy, side.PowerOf, mean/tps)
	}
}
