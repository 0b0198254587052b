package words

import (
	"fmt"
	"math"
)

// Sensitivity says what a release's comparison with history could not have seen: how many of its numbers could hide a
// regression beyond the effect that matters, and the change that half of them would have shown.
func Sensitivity(series, hidden int, median float64) string {
	switch {
	case series == 0 || math.IsNaN(median):
		return ""
	case hidden == 0:
		return fmt.Sprintf("A regression beyond the limit in any of %s would have been shown.", Plural(series, "number"))
	case math.IsInf(median, 1):
		return fmt.Sprintf("%s of %s numbers could hide a regression beyond the limit.", Count(hidden), Count(series))
	}
	const could = "%s of %s numbers could hide a regression beyond the limit; half would have shown one of %s."
	return fmt.Sprintf(could, Count(hidden), Count(series), percent(median))
}
