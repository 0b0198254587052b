package plan

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// past is what a history says of how long measurements of a model on a device take.
type past struct {
	*columns.Columns
	points []*columns.PointRow // newest first
}

// pastRepeats is how many measurements of one workload, and starts of a server, count: their median does.
const pastRepeats = 5

// value is a number of a measurement; 0 where it is not known.
func (p past) value(x *columns.PointRow, metric, stat string) float64 {
	n, _ := p.Value(x, metric, stat)
	if v, ok := n.Get(); ok && v > 0 && !math.IsInf(v, 0) {
		return v
	}
	return 0
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
	for _, x := range p.points {
		d := p.value(x, "duration_s", "value")
		if d == 0 || len(out) == pastRepeats || keyOf(p.Keys[x.Key]) != key {
			continue
		}
		requests := p.value(x, "requests_ok", "value") + p.value(x, "requests_failed", "value")
		if w.Requests > 0 && requests > 0 {
			d *= float64(w.Requests) / requests
		}
		out = append(out, d)
	}
	return out
}

// request returns what one request of a workload takes, s: as in the measurement that is most like it, with its own
// lengths. Latencies of a prompt grow with it, those of an answer with its tokens.
func (p past) request(w Workload) (s float64, ok bool) {
	best, zero := math.Inf(1), 0.
	for _, x := range p.points {
		k, ms := p.Keys[x.Key], p.value(x, "e2el", "mean")
		isl := *cmp.Or(k.ISL, &zero)
		d := far(*cmp.Or(k.Concurrency, &zero), float64(w.Concurrency)) + .3*far(isl, float64(w.ISL)) +
			.1*far(*cmp.Or(k.OSL, &zero), float64(w.OSL))
		if isl == 0 || ms == 0 || d >= best {
			continue
		}
		if ttft, tpot := p.value(x, "ttft", "mean"), p.value(x, "tpot", "mean"); tpot > 0 && ttft > 0 {
			ms = ttft*float64(w.ISL)/isl + tpot*float64(max(0, w.OSL-1))
		}
		best, s, ok = d, ms/1000, true
	}
	return s, ok
}

// far is the distance of two counts, as a logarithm of their ratio.
func far(a, b float64) float64 { return math.Abs(math.Log(max(1, a) / max(1, b))) }

// recorded fills in what the file of a trace states: mean lengths, the number of requests and their rate, and a label,
// because the lengths alone do not name the workload. ShareGPT is taken from the current folder where no path is
// stated.
func recorded(w Workload) (Workload, error) {
	if _, err := os.Stat(traffic.ShareGPTFile); w.Dataset == traffic.ShareGPT && w.Path == "" && err == nil {
		w.Path = traffic.ShareGPTFile
	}
	if w.Dataset != traffic.DatasetTrace {
		return w, nil
	}
	t, err := w.Trace()
	if err != nil {
		const example = "--workload dataset=trace,path=trace.jsonl,n=500; ttreport help plans has the formats"
		return w, Usage(example, "collect: %w", err)
	}
	w.Unanswered = t.Failed
	w.Requests = len(t.Take(w.Requests, 1))
	t.Requests = t.Requests[:w.Requests]
	w.ISL, w.OSL = t.Mean()
	label := filepath.Base(w.Path) + "@" + t.ID
	if w.Block > 0 { // it is named where prompts share something else than by the file's own, if that has one
		own := w
		own.Block = 0
		as, err := own.Trace()
		if err != nil || !slices.EqualFunc(t.Requests, as.Requests[:w.Requests], func(a, b traffic.Request) bool {
			return len(a.Blocks) == 0 || a.BlockTokens == b.BlockTokens
		}) {
			label += fmt.Sprintf(" block %d", w.Block)
		}
	}
	if w.Concurrency == 0 {
		if w.Rate = t.Rate(); w.Rate == 0 {
			return w, Usage("add c=8: requests follow each other in 8 streams", "collect: %s has no timestamps", w.Path)
		}
		if w.Speed > 0 && w.Speed != 1 {
			w.Rate *= w.Speed
			label += " ×" + strconv.FormatFloat(w.Speed, 'g', -1, 64)
		}
	}
	w.Dims = map[string]string{schema.DimLabel: label}
	return w, nil
}

// searches turns workloads into searches for their capacity, one for each that differs in more than its load.
func searches(list []Workload, slo string) ([]Workload, error) {
	if slo == "" {
		if i := slices.IndexFunc(list, func(w Workload) bool { return w.Unloaded }); i >= 0 {
			return nil, Usage("or search for the largest load, which needs lengths alone: --slo 'ttft_p99<500ms'",
				"collect: workload isl=%d,osl=%d: %w", list[i].ISL, list[i].OSL, traffic.ErrNoLoad)
		}
		return list, nil
	}
	objective, err := traffic.ParseSLO(slo)
	if err != nil {
		return nil, Usage("", "collect: --slo: %w", err)
	}
	var out []Workload
	for _, w := range list {
		if w.ISL == 0 || w.OSL == 0 || w.Dataset != "" {
			const why = "collect: --slo needs prompts of known lengths, which %s does not have"
			return nil, Usage("--workload isl=2000,osl=128 --slo 'ttft_p99<500ms'", why, w)
		}
		w.SLO, w.FindRate = objective, w.Rate > 0
		w.Concurrency, w.Rate, w.Requests, w.Unloaded = 0, 0, 0, false
		if !w.FindRate || w.Arrivals.Changes() {
			w.Arrivals, w.Burstiness = traffic.Arrivals{}, 0
		}
		out = join(out, w)
	}
	return out, nil
}

// Estimate is how long a plan may take, not counting the start of the server and evals.
type Estimate struct {
	Each     []time.Duration // of one measurement, by workload
	Measured int             // workloads that are in the history
	Starts   time.Duration   // of tools that are programs of their own, part of the total
	Servers  time.Duration   // starts of servers, part of the total; 0: unknown, or none is started
	Total    time.Duration
}

// AssumedDecode is the speed that one user sees of a server that was never measured, tokens a second.
const AssumedDecode = 20.

// What a search for a capacity is assumed to need: measurements, of which the first only look, and requests one after
// the other in each.
const (
	probesAssumed = 16
	looksAssumed  = 5
	againAssumed  = 4 // of a rate that was measured before, which take twice as long
	wavesAssumed  = 6
)

// SecondsOfRate is for how long a search sends requests at one rate: ten seconds, or a dozen times what one request
// takes by itself, s. It is shorter where the rate makes fifteen hundred requests sooner: so many tell it from a rate
// that is 3 % larger, whose excess is then beyond the noise of as many arrivals. A rate of 0 is unknown.
func SecondsOfRate(alone, rate float64) float64 {
	const usual, least, enough = 10, 3, 1500
	s := float64(usual)
	if rate > 0 {
		s = max(least, min(s, enough/rate))
	}
	return max(s, 12*alone)
}

// SecondsOfLook is SecondsOfRate while the rate doubles each time: an overload shows within two seconds.
func SecondsOfLook(alone float64) float64 { return max(3, 12*alone) }

// EstimateOf estimates from the history of the same workloads on the same model and device, else from those that are
// most like them, else from an assumed speed. history may be nil.
func EstimateOf(p Plan, history *columns.Columns) Estimate {
	var e Estimate
	var once, searches time.Duration // of all workloads, one after the other
	const newest = 20                // runs
	known, runs := past{Columns: history}, history.RunsOn(p.Model.Name, p.Device)
	for _, h := range runs[:min(len(runs), newest)] {
		for at := h.FirstPoint; at < h.PointsEnd; at++ {
			known.points = append(known.points, &history.Points[at])
		}
	}
	for _, w := range p.Workloads {
		took, measured := known.takes(p, w)
		if measured {
			e.Measured++
		}
		d := time.Duration(took * float64(time.Second))
		if p.Until.Set() && !w.SLO.Set() {
			d = min(d, p.Until.Limit())
		}
		if e.Each = append(e.Each, d); w.SLO.Set() {
			searches += d
		} else {
			once += d
		}
	}
	const toolStart = 30 * time.Second                                // Python's imports and a tokenizer
	repeats := time.Duration(max(1, p.Repeat) * len(p.Turns.Order())) // both servers measure every block
	for _, t := range p.Tools {
		if t.Path != "" {
			e.Starts += repeats * toolStart * time.Duration(len(p.Workloads))
		}
	}
	times := repeats * time.Duration(max(1, len(p.Tools)))
	e.Total = times * once
	if p.Budget > 0 { // it is of what ends by the rule: searches and starts come to it
		e.Total = min(e.Total, p.Budget)
	}
	e.Total += times*searches + e.Starts
	return e
}

// WithServers adds the starts of so many servers, each as often as the plan starts it: as long as those of the newest
// runs of the same model and device took, their median. Where none says how long, the estimate stays as it is.
func (e Estimate) WithServers(servers int, p Plan, history *columns.Columns) Estimate {
	var took []float64 // s
	for _, h := range history.RunsOn(p.Model.Name, p.Device) {
		s, err := strconv.ParseFloat(h.Setting[schema.SettingStartup], 64)
		if err == nil && s >= 0 && s < 1e5 && len(took) < pastRepeats {
			took = append(took, s)
		}
	}
	if len(took) == 0 {
		return e
	}
	if !p.Turns.Kept {
		servers *= max(1, p.Turns.Blocks)
	}
	e.Servers = time.Duration(float64(servers) * latency.NewSample(took).Quantile(.5) * float64(time.Second))
	e.Total += e.Servers
	return e
}

// takes returns the seconds of one measurement, and whether the history has the workload.
func (h past) takes(p Plan, w Workload) (s float64, measured bool) {
	least := p.Until.Set() && !w.SLO.Set()
	if least { // as many as it took
		w.Requests = 0
	}
	if list := h.same(w); len(list) > 0 {
		return latency.NewSample(list).Quantile(.5), true
	}
	one, known := h.request(w)
	if !known {
		one = float64(w.ISL)/2000 + float64(w.OSL)/AssumedDecode
	}
	if least { // twice the least, by experience with quiet and noisy workloads
		w.Requests = 2 * p.Until.Least(w.Concurrency)
	}
	switch {
	case w.FindRate:
		const long = probesAssumed - looksAssumed + againAssumed
		return (SecondsOfLook(one)*looksAssumed + SecondsOfRate(one, 0)*long) * 4 / 3, false // a quarter is warm-up
	case w.SLO.Set():
		return one * probesAssumed * wavesAssumed, false
	case w.Rate > 0:
		return float64(w.Requests)/w.Rate + one, false
	}
	return one * max(1, float64(w.Requests)/float64(max(1, w.Concurrency))), false
}
