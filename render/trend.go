package render

import (
	"math"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

const seriesPage Address = "series/index.html"

// SeriesPage shows one series over its releases; which one is in its address, see [Report.SeriesPath].
func (r *Report) SeriesPage() Page {
	p := r.page(seriesPage, "explore", "Series", "One metric of one workload over its releases.",
		Link{"Explore", "explore/index.html"})
	p.Lead, p.Scripts = Lead{Text: "One series over its releases."}, []string{"series.js", "trend.js"}
	p.add(section("series", "", "", Widget{Tool: "trend"}))
	return p
}

// SeriesPath is where a series is shown.
func (r *Report) SeriesPath(s *judge.Series) Address {
	return chosen(seriesPage, "of", pairSegment(s.Model, s.Device), "w", trendOf(s), "k", words.Metric(s.Metric, s.Stat))
}

// trendOf names the workload of a series among those of its model and device.
func trendOf(s *judge.Series) string {
	return strings.Join(strings.Fields(words.Workload(s.Key)+" "+s.Key.Tool+" "+s.Impl), " ")
}

// PairShardPath is the script with the series of a model and device.
func PairShardPath(p schema.Pair) Address {
	return Address("data/shards/pairs/" + pairSegment(p.Model, p.Device) + ".js")
}

// PairShardID names its data.
func PairShardID(p schema.Pair) string { return "pair " + pairSegment(p.Model, p.Device) }

// Trends are the series of a model and device over its releases.
type Trends struct {
	Model    string         `json:"model"`
	Device   string         `json:"device"`
	Page     Address        `json:"page"`
	Releases []TrendRelease `json:"releases"` // oldest first
	Series   []Trend        `json:"series"`
}

// TrendRelease is a release that measured the model on the device.
type TrendRelease struct {
	Name    string  `json:"name"`
	Day     string  `json:"day,omitempty"`
	Commits string  `json:"commits,omitempty"` // what it has that the one before has not: "vllm 1a2b3c4..5d6e7f8"
	Note    string  `json:"note,omitempty"`
	Page    Address `json:"page"`
}

// Trend is one series. Values has one a release, null where it was not measured.
type Trend struct {
	Workload string        `json:"w"`
	Metric   string        `json:"k"`
	Unit     string        `json:"unit"`
	Higher   bool          `json:"higher,omitempty"` // is better
	Verdict  string        `json:"verdict"`          // on the newest value
	Values   []*float64    `json:"v"`
	Expected []float64     `json:"expected,omitempty"` // where 95 of 100 new values should be
	From     int           `json:"from,omitempty"`     // the release from which on that was learnt
	Steps    []TrendStep   `json:"steps,omitempty"`
	Targets  []TrendTarget `json:"targets,omitempty"`
}

// TrendStep is where a level began.
type TrendStep struct {
	At    int     `json:"at"`
	Label string  `json:"label"`
	Page  Address `json:"page,omitempty"` // of the change
}

// TrendTarget is a target of the workload.
type TrendTarget struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
}

// Trends are those of a model and device.
func (r *Report) Trends(pair Pair) Trends {
	out := Trends{Model: words.OrUnknown(pair.Model), Device: words.Device(pair.Device),
		Page: PairPath(pair.Model, pair.Device), Series: []Trend{}}
	releases := r.with[pair.Pair]
	for i, name := range r.namesOf(releases) {
		rel := &r.Releases[releases[i]]
		x := TrendRelease{Name: name, Page: ReleasePath(rel.Name), Commits: r.commitRange(releases[i]).Text}
		if !rel.Date.IsZero() {
			x.Day = rel.Date.UTC().Format(time.DateOnly)
		}
		x.Note, _ = r.noteOn(rel.Name)
		out.Releases = append(out.Releases, x)
	}
	targets := map[covered][]TrendTarget{}
	for _, v := range r.Gate.PairTargets(pair.Newest, pair.Pair) {
		if ref, ok := v.Ref.Get(); ok && !v.Key.IsEval() && v.Outcome != schema.Unattainable {
			at := newCovered(v.Impl, v.Key, v.Metric, v.Stat)
			targets[at] = append(targets[at], TrendTarget{v.Level, latency.Round(ref, 5)})
		}
	}
	for _, s := range r.series[pair.Pair] {
		x := Trend{Workload: trendOf(s), Metric: words.Metric(s.Metric, s.Stat), Unit: s.Unit,
			Higher: judge.Higher(s.Metric), Targets: targets[newCovered(s.Impl, s.Key, s.Metric, s.Stat)]}
		for _, at := range releases {
			v, ok := s.At(at)
			if x.Values = append(x.Values, nil); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
				v = latency.Round(v, 5)
				x.Values[len(x.Values)-1] = &v
			}
		}
		if g, ok := r.Gate.Summary(s, pair.Newest); ok {
			x.Verdict = strings.TrimSpace(g.Outcome.String() + " " + g.Evidence.String())
		}
		var p Panel
		if r.framed(&p, s, pair.Newest); p.Expected != nil {
			x.Expected, x.From = []float64{latency.Round(p.Expected.Low, 5), latency.Round(p.Expected.High, 5)}, p.Expected.From
		}
		for _, step := range p.Steps {
			x.Steps = append(x.Steps, TrendStep{step.At, step.Label, step.Level})
		}
		out.Series = append(out.Series, x)
	}
	return out
}
