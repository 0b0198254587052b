package schema

import (
	"strconv"
	"strings"
)

// FewForTail is the number of requests below which a percentile beyond the 95th is no number: it would be the largest or
// second largest value of a handful.
const FewForTail = 100

// TailHolds reports whether a statistic means something over a number of requests. Everything but a percentile beyond the
// 95th always does. Tables, verdicts and lints share this rule.
func TailHolds(stat string, requests float64) bool {
	q, ok := strings.CutPrefix(stat, "p")
	rank, err := strconv.ParseFloat(q, 64)
	return !ok || err != nil || rank <= 95 || requests >= FewForTail
}
