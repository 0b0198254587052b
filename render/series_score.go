package render

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// scoreID names a score of a release: what its verdict is found by.
type scoreID struct{ run, key, metric string }

// scoreVerdicts are the verdicts on the scores of a release against history.
func (r *Report) scoreVerdicts(release int) map[scoreID]*schema.Verdict {
	out := map[scoreID]*schema.Verdict{}
	list := r.Gate.Findings(release).History
	for i := range list {
		if v := &list[i]; v.Key.IsEval() {
			out[scoreID{v.Run, v.Key.String(), v.Metric}] = v
		}
	}
	return out
}

// addScores adds the scores of some runs, and calls each with the verdict on every one, or nil. A score differs from a
// number in its change: that is a difference, since a score may be zero, and half of a small one says little.
func (t *seriesTable) addScores(
	numbers *numberTable, runs []int, found map[scoreID]*schema.Verdict, each func(v *schema.Verdict),
) {
	for _, run := range runs {
		h := &t.r.Columns.Runs[run]
		list := t.r.Columns.ScoresOf(run)
		for i := range list {
			s := &list[i]
			value, ok := s.Value.Get()
			if !ok || math.IsNaN(value) || math.IsInf(value, 0) {
				continue
			}
			v := found[scoreID{h.ID, schema.EvalKey(&s.Score).String(), s.Metric}]
			t.addScore(schema.System{Model: h.Model.Name, Device: h.Device, Impl: h.Impl}, s, value, v)
			id := RunInAddress(RunName(h.ID))
			numbers.Run = append(numbers.Run, place(numbers.runs, id, &numbers.Runs, func() RunInAddress { return id }))
			numbers.Point = append(numbers.Point, i+1)
			each(v)
		}
	}
}

func (t *seriesTable) addScore(of schema.System, s *columns.ScoreRow, value float64, v *schema.Verdict) {
	scale := judge.ShareScale(&s.Score)
	row := tableRow{
		system: of, workload: strings.Trim(words.Workload(schema.EvalKey(&s.Score))+" "+fewshotText(s), " "),
		tool: s.Source.Format, id: metricStat{s.Metric, s.Direction, fmt.Sprint("score", scale)}, value: value,
		metric: func() SeriesMetric {
			return SeriesMetric{Name: s.Metric, Label: s.Metric, Higher: s.Direction != "lower",
				Score: cmp.Or(s.Direction, "unstated"), Scale: scale}
		},
		word: SeriesWord{Verdict: schema.NoBaseline},
	}
	if v != nil {
		row.word = SeriesWord{v.Outcome, v.Evidence}
		if worse, ok := v.Effect.Get(); ok && v.Interval != nil { // in shares of 1 of a share
			c := latency.Round(-worse, 7)
			if s.Direction == "lower" {
				c = -c
			}
			row.change = &c
		}
	}
	t.addRow(row)
}

// withScores are the runs that have a score.
func (r *Report) withScores(runs []int) (out []int) {
	for _, run := range runs {
		if r.Columns.Runs[run].Scores > 0 {
			out = append(out, run)
		}
	}
	return out
}

// exploreScores adds the scores of each model and device in its newest release.
func (r *Report) exploreScores(t *seriesTable, numbers *numberTable) {
	found := map[int]map[scoreID]*schema.Verdict{}
	for _, p := range r.Pairs {
		at := p.Newest
		runs := r.withScores(r.runs[p.Pair][at])
		if len(runs) == 0 {
			continue
		}
		if found[at] == nil {
			found[at] = r.scoreVerdicts(at)
		}
		rel := &r.Releases[at]
		t.addScores(numbers, runs, found[at], func(*schema.Verdict) {
			t.Release = append(t.Release, place(t.releases, rel.Name, &t.Releases, func() string {
				t.Channels = append(t.Channels, rel.Channel)
				return rel.Name
			}))
			t.Spark = append(t.Spark, "")
		})
	}
}

// releaseScores adds the scores of a release with the sentences of their verdicts.
func (r *Report) releaseScores(t *seriesTable, numbers *numberTable, at int) {
	runs := r.withScores(r.Releases[at].Runs)
	if len(runs) == 0 {
		return
	}
	t.addScores(numbers, runs, r.scoreVerdicts(at), func(v *schema.Verdict) {
		if v != nil && v.Interval != nil && len(numbers.Why) < 2*sentences {
			numbers.Why[len(numbers.N)] = words.Why(*v)
		}
		numbers.N, numbers.Base, numbers.Half = append(numbers.N, 1), append(numbers.Base, 0), append(numbers.Half, nil)
		t.Cond = append(t.Cond, place(t.conds, "map[]", &t.Conds, func() map[string]string { return nil }))
	})
}

// scoreName is what two scores must share to stand beside each other.
type scoreName struct {
	pair                         SeriesPair
	impl, workload, tool, metric string
}

// scoresByName are the verdicts on the scores of a release, as the table that the browser joins has them.
func (r *Report) scoresByName(at int) map[scoreName][]SeriesWord {
	t, numbers, out := r.newSeriesTable(), newNumberTable(r), map[scoreName][]SeriesWord{}
	r.releaseScores(&t, &numbers, at)
	for i := range t.Value {
		name := scoreName{t.Pairs[t.Pair[i]], t.Impls[t.Impl[i]], t.Workloads[t.Workload[i]], t.Tools[t.Tool[i]],
			t.Metrics[t.Metric[i]].Name}
		out[name] = append(out[name], t.Words[t.Word[i]])
	}
	return out
}

// ScorePath is the address of a score: of a run, counted from 1.
func ScorePath(id string, score int, metric string) Address {
	return numberPath(id, 'e', score, metric)
}
