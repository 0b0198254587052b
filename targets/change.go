package targets

import (
	"math"
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Series is one number over releases: a system, a workload, a metric, a statistic, one definition.
type Series struct {
	Model, Device, Impl string
	Key                 schema.Key
	Metric, Stat, Unit  string
	Def                 string
	Values              []SeriesValue // in release order; releases without a number are left out
}

// SeriesValue is the mean over the runs and repeats of one release.
type SeriesValue struct {
	Release int // index into the releases
	Value   float64
	N       int   // measurements
	Runs    []int // indexes of the runs behind it
}

// PrimaryMetrics are the metrics whose series are shown and judged, in order.
func PrimaryMetrics() []string { return []string{"ttft", "tpot", "e2el", "output_tps"} }

type seriesID struct {
	model, device, impl string
	key                 int32
	metric, stat, def   string
}

// AllSeries collects the primary series of all systems, ordered by model, device, workload and metric.
func AllSeries(c *columns.Columns, releases []Release) []Series {
	byID := map[seriesID]*Series{}
	for ri := range releases {
		for _, run := range releases[ri].Runs {
			h := &c.Runs[run]
			for pi := h.FirstPoint; pi < h.PointsEnd; pi++ {
				p := &c.Points[pi]
				if p.StatusWord() == schema.StatusFailed || p.StatusWord() == schema.StatusInvalid {
					continue
				}
				for _, metric := range PrimaryMetrics() {
					add(byID, c, h, p, metric, ri, run)
				}
			}
		}
	}
	out := make([]Series, 0, len(byID))
	for _, s := range byID {
		for i := range s.Values {
			s.Values[i].Value /= float64(s.Values[i].N)
		}
		out = append(out, *s)
	}
	order := map[string]int{}
	for i, m := range PrimaryMetrics() {
		order[m] = i
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		switch {
		case a.Model != b.Model:
			return a.Model < b.Model
		case a.Device != b.Device:
			return a.Device < b.Device
		case a.Key.String() != b.Key.String():
			return a.Key.Less(b.Key)
		case a.Metric != b.Metric:
			return order[a.Metric] < order[b.Metric]
		case a.Impl != b.Impl:
			return a.Impl < b.Impl
		}
		return a.Stat+a.Def < b.Stat+b.Def
	})
	return out
}

func add(byID map[seriesID]*Series, c *columns.Columns, h *columns.RunHead, p *columns.PointRow, metric string, release, run int) {
	for _, stat := range []string{"mean", "median", "value"} {
		n, def := c.Value(p, metric, stat)
		v, ok := n.Get()
		if !ok {
			continue
		}
		id := seriesID{h.Model.Name, h.Device, h.Impl, p.Key, metric, stat, def}
		s := byID[id]
		if s == nil {
			info, _ := schema.MetricByName(metric)
			s = &Series{Model: h.Model.Name, Device: h.Device, Impl: h.Impl, Key: c.Keys[p.Key], Metric: metric, Stat: stat, Unit: info.Unit, Def: def}
			byID[id] = s
		}
		last := len(s.Values) - 1
		if last < 0 || s.Values[last].Release != release {
			s.Values = append(s.Values, SeriesValue{Release: release})
			last++
		}
		x := &s.Values[last]
		x.Value += v
		x.N++
		if len(x.Runs) == 0 || x.Runs[len(x.Runs)-1] != run {
			x.Runs = append(x.Runs, run)
		}
		return
	}
}

// Changes returns, for one release, what every series of it did since the release before it that has the same series.
// Without a judgement of noise no verdict can be given: each is "insufficient", with the change as information.
func Changes(series []Series, releases []Release, release int) []schema.Verdict {
	var out []schema.Verdict
	for i := range series {
		s := &series[i]
		at := sort.Search(len(s.Values), func(j int) bool { return s.Values[j].Release >= release })
		if at == len(s.Values) || s.Values[at].Release != release {
			continue
		}
		now := s.Values[at]
		v := schema.Verdict{Run: "", Release: releases[release].Name, Model: s.Model, Device: s.Device, Key: s.Key, Metric: s.Metric, Stat: s.Stat,
			Against: schema.AgainstHistory, Value: schema.Num(now.Value), N: now.N, Word: schema.Insufficient}
		baseline := ""
		switch prev := previous(s, releases, at); {
		case !s.Key.Comparable():
			v.Word, v.Reason = schema.NotComparable, schema.Reason{Code: "no-lengths"}
		case s.Device == "" || s.Model == "":
			v.Word, v.Reason = schema.NotComparable, schema.Reason{Code: "no-system"}
		case prev < 0:
			v.Ref = schema.Missing("no earlier release has it")
			v.Reason = schema.Reason{Code: "no-baseline"}
		default:
			old := s.Values[prev]
			baseline = releases[old.Release].Name
			v.Ref = schema.Num(old.Value)
			v.Reason = schema.Reason{Code: "not-judged", Args: map[string]string{"baseline": baseline}}
			if old.Value > 0 {
				effect := now.Value/old.Value - 1
				if info, _ := schema.MetricByName(s.Metric); info.Better == schema.Higher {
					effect = -effect
				}
				v.Effect = schema.Num(effect)
			}
		}
		v.ID = schema.VerdictID(v.Release, baseline, s.Model, s.Device, s.Key, s.Metric+"/"+s.Def, s.Stat+s.Impl, schema.AgainstHistory)
		out = append(out, v)
	}
	sort.SliceStable(out, func(i, j int) bool {
		return magnitude(out[i].Effect) > magnitude(out[j].Effect)
	})
	return out
}

// previous is the last value before at in the same line among labelled releases, or among builds for a build; -1 if none.
func previous(s *Series, releases []Release, at int) int {
	now := releases[s.Values[at].Release]
	for j := at - 1; j >= 0; j-- {
		if r := releases[s.Values[j].Release]; r.Line == now.Line && (r.Label || !now.Label) {
			return j
		}
	}
	return -1
}

// magnitude sorts by how much worse; no change known sorts last.
func magnitude(n schema.Number) float64 {
	v, ok := n.Get()
	if !ok {
		return math.Inf(-1)
	}
	return v
}

// At returns the value in a release.
func (s *Series) At(release int) (float64, bool) {
	i := sort.Search(len(s.Values), func(i int) bool { return s.Values[i].Release >= release })
	if i < len(s.Values) && s.Values[i].Release == release {
		return s.Values[i].Value, true
	}
	return 0, false
}
