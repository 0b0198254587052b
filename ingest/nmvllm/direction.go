package nmvllm

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// perSecond matches the units of rates.
var perSecond = regexp.MustCompile(`(?i)(/|per )s(ec(onds?)?)?$`)

// rate matches them where they are per user or device as well: tok/s/gpu.
var rate = regexp.MustCompile(`(?i)(/|per )s(ec(onds?)?)?(/|$)`)

// isTime reports a unit of time, also per operation or iteration.
func isTime(unit string) bool {
	base, _, _ := strings.Cut(strings.ToLower(unit), "/")
	return strings.Contains(" ns us ms s sec seconds min ", " "+strings.TrimSpace(base)+" ")
}

// lowerByNature reports values that are better when they are lower whatever a suite says: times, latencies, and counts
// of failures. A project with one suite states one direction for all that it measures. Rates are none of them, whatever
// they are named after, and neither is what a title calls a gain.
func lowerByNature(title, unit string) bool {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	has := func(list string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(list, " "+w+" ") })
	}
	switch {
	case rate.MatchString(unit), has(" attainment avoided between budget free gain hidden improvement met recovered " +
		"reduction saved saving savings slo speedup until uptime within "):
		return false
	case isTime(unit), has(" fail failed fails failure failures error errors timeout timeouts "):
		return true
	}
	return unit != "%" && unit != "x" && has(" latency latencies ttft tpot itl e2el ")
}
