package words

import (
	"fmt"
	"math"

	"github.com/ttreport/ttreport/targets/judge"
)

// Sensitivity says what a release's comparison with history could not have seen, without a re-run and with one.
func Sensitivity(s judge.Sensitivity) string {
	switch {
	case s.Series == 0 || math.IsNaN(s.Once.Median):
		return ""
	case s.Once.Hidden == 0:
		const any = "A regression beyond the limit in any one of %s would be named four times in five."
		return fmt.Sprintf(any, Plural(s.Series, "number"))
	}
	look := fmt.Sprintf("this release would name it four times in five from %s on (median of %s)",
		Percent(s.Once.Median), Plural(s.Series, "number"))
	if math.IsInf(s.Once.Median, 1) {
		look = "most of " + Plural(s.Series, "number") + " would not show it without a re-run"
	}
	again, hidden := "two runs could not confirm it yet", ""
	if !math.IsInf(s.Again.Median, 1) {
		again = "a re-run would confirm it from " + Percent(s.Again.Median) + " on"
		hidden = fmt.Sprintf(" without a re-run; %s %s more than the limit for a re-run to confirm it", Count(s.Again.Hidden),
			verb(s.Again.Hidden, "needs", "need"))
	}
	return fmt.Sprintf("Were one number alone to regress, %s, and %s; where many regress together, less is enough. "+
		"%s could hide more than the limit%s. A longer history and more repeats lower that.",
		look, again, Count(s.Once.Hidden), hidden)
}
