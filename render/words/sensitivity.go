package words

import (
	"fmt"
	"math"
)

// Sensitivity says what a release's comparison with history could not have seen: how many of its series could hide more
// than what matters, and the change that half of them would have shown.
func Sensitivity(series, hidden int, median float64) string {
	switch {
	case series == 0 || math.IsNaN(median):
		return ""
	case hidden == 0:
		return fmt.Sprintf("Each of %s would have shown a regression that matters.", Plural(series, "number"))
	case math.IsInf(median, 1):
		return fmt.Sprintf("%d of %d numbers could hide more than what matters.", hidden, series)
	}
	return fmt.Sprintf("%d of %d numbers could hide more than what matters; half would have shown %s.", hidden, series,
		percent(median))
}
