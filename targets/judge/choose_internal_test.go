package judge

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// The standard error of a number is that of its own metric: one that could stand for it says nothing of it, in whatever
// order a file has them.
func TestStandardErrorIsOfTheSameMetric(t *testing.T) {
	tpot, itl := columns.StatID{Metric: "tpot", Stat: "mean"}, columns.StatID{Metric: "itl", Stat: "mean"}
	ofTPOT, ofITL := columns.StatID{Metric: "tpot", Stat: "se"}, columns.StatID{Metric: "itl", Stat: "se"}
	values := map[columns.StatID]float64{tpot: 10, itl: 11, ofTPOT: .1, ofITL: 3}
	for _, c := range []struct {
		stats []columns.StatID
		want  float64
	}{
		{[]columns.StatID{tpot, itl, ofITL}, 0},
		{[]columns.StatID{ofITL, itl, ofTPOT, tpot}, .1},
		{[]columns.StatID{tpot, ofTPOT}, .1},
		{[]columns.StatID{ofITL, itl}, 3},
		{[]columns.StatID{itl, ofTPOT}, 0},
	} {
		b := columns.NewBuilder()
		var stats []uint16
		var list []float64
		for _, s := range c.stats {
			stats, list = append(stats, b.StatID(s)), append(list, values[s])
		}
		all := b.Seal()
		g := gathering{roles: roles(all), chosen: make([]choice, len(JudgedMetrics(all))+len(Tails()))}
		g.choose(stats, list)
		for _, x := range g.chosen {
			if x.at > 0 && x.se != c.want {
				t.Errorf("%v: a standard error of %g, want %g", c.stats, x.se, c.want)
			}
		}
	}
}
