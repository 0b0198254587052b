package schema

import (
	"strconv"
	"strings"
)

// FewForTail is the number of requests below which a percentile beyond the 95th is not shown: it would be the largest
// or second largest of a few values.
const FewForTail = 100

// TailHolds reports whether a statistic is meaningful over a number of requests. Only percentiles beyond the 95th
// need many. Tables, verdicts and lints share this rule.
func TailHolds(stat string, requests float64) bool {
	q, ok := strings.CutPrefix(stat, "p")
	rank, err := strconv.ParseFloat(q, 64)
	return !ok || err != nil || rank <= 95 || requests >= FewForTail
}
