package chart

import (
	"math"
	"strconv"
	"strings"
)

// XY is a position.
type XY struct{ X, Y float64 }

// Rect is an area.
type Rect struct{ X0, Y0, X1, Y1 float64 }

// Label is a text at a place.
type Label struct {
	XY
	Text string
	End  bool // the text ends at the place; else it begins there
}

// over says whether two labels of 12 units lie over each other.
func (l Label) over(o Label) bool {
	a, b := l.X, o.X
	if l.End {
		a -= width(l.Text)
	}
	if o.End {
		b -= width(o.Text)
	}
	const high = 11
	return l.Text != "" && o.Text != "" && a < b+width(o.Text) && b < a+width(l.Text) && math.Abs(l.Y-o.Y) < high
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

// least widens a span around its middle to at least so much: noise must not look like news.
func least(lo, hi, span float64) (float64, float64) {
	if hi-lo < span {
		middle := (hi + lo) / 2
		lo, hi = middle-span/2, middle+span/2
	}
	if lo == hi {
		lo, hi = lo-1, hi+1
	}
	return lo, hi
}

// lines are the paths through neighbouring values, as SVG path data: a missing one breaks the line, and one alone draws
// none.
func lines(points []XY, ok func(i int) bool) []string {
	var out []string
	var b strings.Builder
	n := 0
	end := func() {
		if n > 1 {
			out = append(out, b.String())
		}
		b.Reset()
		n = 0
	}
	for i, p := range points {
		if !ok(i) {
			end()
			continue
		}
		op := byte('L')
		if n == 0 {
			op = 'M'
		}
		b.WriteByte(op)
		b.WriteString(strconv.FormatFloat(p.X, 'g', -1, 64))
		b.WriteByte(' ')
		b.WriteString(strconv.FormatFloat(p.Y, 'g', -1, 64))
		n++
	}
	end()
	return out
}

// short cuts a long release name for an axis; the whole name is in the table.
func short(name string) string {
	const most = 11
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// width is at least how wide a text of 12 units is in a sans-serif face: digits are 6.7 wide in Arial and its likes.
func width(text string) float64 {
	w := 0.
	for _, r := range text {
		switch {
		case strings.ContainsRune(",. ", r):
			w += 3.6
		default:
			w += 7.2
		}
	}
	return w
}
