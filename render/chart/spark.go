package chart

import (
	"fmt"
	"math"

	"github.com/ttreport/ttreport/render/words"
)

// Spark is a row's history as a picture of 116 by 30: raw values in release order, evenly spaced, gaps left open.
type Spark struct {
	Segments [][]XY // runs of neighbouring values
	Last     XY
	Label    string
}

// XY is a position.
type XY struct{ X, Y float64 }

const (
	sparkW, sparkH, sparkPad = 116., 30., 4.
	sparkLeast               = .2 // the span is never less than ±10 % of the values: noise cannot look like news
)

// NewSpark lays values over a number of releases; values[i] is absent where ok[i] is false. At most the last 24 are drawn.
func NewSpark(metric, unit string, values []float64, ok []bool) *Spark {
	const most = 24
	if len(values) > most {
		values, ok = values[len(values)-most:], ok[len(ok)-most:]
	}
	lo, hi, n, first, last := math.Inf(1), math.Inf(-1), 0, -1, -1
	for i, v := range values {
		if ok[i] {
			lo, hi, last = math.Min(lo, v), math.Max(hi, v), i
			if n++; first < 0 {
				first = i
			}
		}
	}
	if n == 0 {
		return nil
	}
	if least := sparkLeast * math.Abs(hi); hi-lo < least {
		mid := (hi + lo) / 2
		lo, hi = mid-least/2, mid+least/2
	}
	if hi == lo {
		lo, hi = lo-1, hi+1
	}
	s := &Spark{}
	var seg []XY
	for i, v := range values {
		if !ok[i] {
			if len(seg) > 0 {
				s.Segments = append(s.Segments, seg)
				seg = nil
			}
			continue
		}
		x := sparkW - 8
		if len(values) > 1 {
			x = sparkPad + float64(i)/float64(len(values)-1)*(sparkW-12)
		}
		p := XY{round(x), round(sparkH - sparkPad - (v-lo)/(hi-lo)*(sparkH-2*sparkPad))}
		seg = append(seg, p)
		s.Last = p
	}
	if len(seg) > 0 {
		s.Segments = append(s.Segments, seg)
	}
	s.Label = fmt.Sprintf("%s over %s: %s to %s %s", metric, words.Plural(n, "release"), words.Number(values[first]), words.Number(values[last]), unit)
	if n == 1 {
		s.Label = fmt.Sprintf("%s: %s %s, one release", metric, words.Number(values[last]), unit)
	}
	return s
}
