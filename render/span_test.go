package render_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/render"
)

// One value far outside does not flatten the others; a new level, the newest value and few values are never cut.
func TestSpan(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		share  float64
		lo, hi float64
	}{
		{"one far outside", []float64{100, 101, 99, 900, 100, 102, 101}, 0, 99, 102},
		{"the first", []float64{900, 101, 99, 100, 100, 102, 101}, 0, 99, 102},
		{"the newest may be a new level", []float64{100, 101, 99, 100, 100, 102, 900}, 0, 99, 900},
		{"two in a row may be a level that ended", []float64{100, 101, 900, 890, 100, 102, 101}, 0, 99 + 1, 900},
		{"not far", []float64{100, 101, 99, 108, 100, 102, 101}, 0, 99, 108},
		{"what matters is shown anyway", []float64{100, 101, 99, 130, 100, 102, 101}, .1, 99, 130},
		{"few", []float64{100, 900, 101}, 0, 100, 900},
	} {
		var values []float64
		for _, v := range c.values {
			values = append(values, v, math.NaN())
		}
		if lo, hi := render.Span(values, c.share); lo != c.lo || hi != c.hi {
			t.Errorf("%s: %v to %v, want %v to %v", c.name, lo, hi, c.lo, c.hi)
		}
	}
}
