package render

import (
	"fmt"
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// courses are the quantities whose values by time are known of some point of a run: latencies, gauges of the server,
// power. Each is a column of pictures beside the points.
type courses []schema.MetricInfo

func coursesOf(run *schema.Run) (out courses) {
	seen := map[string]bool{}
	var all []schema.SliceOf
	for i := range run.Points {
		for _, x := range run.Points[i].Slices.Series {
			if _, _, ok := x.Range(); ok && !seen[x.Name] {
				seen[x.Name] = true
				all = append(all, x)
			}
		}
	}
	schema.SortSlices(all)
	for _, x := range all {
		if info, known := schema.SliceInfo(x.Name); known {
			out = append(out, info)
		}
	}
	return out
}

// byTime ends the heads of the pictures: the drawer finds them by it.
const byTime = " by time"

func (c courses) columns() (out []Col) {
	if len(c) == 0 {
		return nil
	}
	out = []Col{{Head: "Over", Unit: "s", Num: true}}
	for _, info := range c {
		out = append(out, Col{Head: info.Label + byTime, Unit: info.Unit})
	}
	return out
}

// cells are how long a point was measured and its pictures, each with the range of its values.
func (c courses) cells(p *schema.Point) []Cell {
	if len(c) == 0 {
		return nil
	}
	out := []Cell{text(words.Absent)}
	for _, info := range c {
		cell := text(words.Absent)
		for _, x := range p.Slices.Series {
			if lo, hi, ok := x.Range(); ok && x.Name == info.Name {
				out[0] = text(words.Number(p.Slices.Step * float64(len(x.Values))))
				cell = Cell{Spark: &Spark{courseLabel(info, x.Values), x.Values}, Sub: rangeText(lo, hi)}
			}
		}
		out = append(out, cell)
	}
	return out
}

// courseLabel says where a course begins and ends.
func courseLabel(info schema.MetricInfo, values []float64) string {
	first, last := math.NaN(), math.NaN()
	for _, v := range values {
		if math.IsNaN(first) {
			first = v
		}
		if !math.IsNaN(v) {
			last = v
		}
	}
	return fmt.Sprintf("%s from %s to %s %s", info.Label, words.Number(first), words.Number(last), info.Unit)
}

// rangeText is "12 to 15".
func rangeText(lo, hi float64) string {
	if from, to := words.Number(lo), words.Number(hi); from != to {
		return from + " to " + to
	}
	return words.Number(lo)
}
