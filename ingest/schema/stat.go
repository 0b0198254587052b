package schema

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// statName is the name of a statistic in the eight bytes that the longest takes.
type statName [8]byte

// nameOf is the name of a statistic, empty where the text is too long for one.
func nameOf(text string) (name statName) {
	if len(text) <= len(name) {
		copy(name[:], text)
	}
	return name
}

// Stat is one named statistic.
type Stat struct {
	name  statName
	Value float64
}

// NewStat returns a statistic of a name that [IsStat] knows.
func NewStat(name string, v float64) Stat { return Stat{nameOf(name), v} }

// Name is "mean", "p99.9".
func (s Stat) Name() string {
	for i := range statistics {
		if name := statistics[i].Name; s.Is(name) { // without allocating
			return name
		}
	}
	return string(bytes.TrimRight(s.name[:], "\x00"))
}

// Is reports whether the statistic has a name.
func (s Stat) Is(name string) bool { return s.name == nameOf(name) }

// IsNamed reports whether two statistics have one name.
func (s Stat) IsNamed(o Stat) bool { return s.name == o.name }

// Stats is a small set of statistics, sorted by name, each name once.
type Stats []Stat

// Get returns one statistic.
func (s Stats) Get(name string) (float64, bool) {
	of := nameOf(name)
	for i := range s {
		if s[i].name == of {
			return s[i].Value, true
		}
	}
	return 0, false
}

// Set adds or replaces one statistic and keeps the order. A name that no statistic has is left out: see [IsStat].
func (s *Stats) Set(name string, v float64) {
	of := nameOf(name)
	i, has := slices.BinarySearchFunc(*s, of, func(a Stat, b statName) int { return bytes.Compare(a.name[:], b[:]) })
	switch {
	case has:
		(*s)[i].Value = v
	case of != statName{}:
		*s = slices.Insert(*s, i, Stat{of, v})
	}
}

// Beyond returns a number that no machine reaches.
func (s Stats) Beyond() (float64, bool) {
	// beyondMachines is what no number of a canonical metric reaches in its unit: 10^12 tok/s, or 31 years in ms.
	const beyondMachines = 1e12
	for i := range s {
		if s[i].Value > beyondMachines {
			return s[i].Value, true
		}
	}
	return 0, false
}

// StatInfo holds the fixed facts about a statistic.
type StatInfo struct {
	Name     string
	Label    string   // at the head of a column
	Aliases  []string // what tools call it, in lower case
	Quantile float64  // between 0 and 1; -1 for what is no quantile
	Column   bool     // tables of results have it, of a latency that a point fills
}

// Statistics lists the statistics that have a name of their own, in reading order. Every other percentile is called
// p1 … p99.99: see [ParseStat].
func Statistics() []StatInfo { return slices.Clone(statistics) }

var statistics = []StatInfo{
	{"mean", "Avg", []string{"avg", "average"}, -1, true},
	{"std", "Std", []string{"stdev", "stddev", "std_dev", "std dev"}, -1, true},
	{"median", "P50", []string{"p50"}, .5, true},
	{"p90", "P90", nil, .9, true},
	{"p95", "P95", nil, .95, true},
	{"p99", "P99", nil, .99, true},
	{"min", "Min", []string{"minimum", "p0"}, 0, false},
	{"max", "Max", []string{"maximum", "p100"}, 1, false},
	{"value", "", nil, -1, false},
}

// CenterStats are the statistics that stand for a metric as a whole, best first: a tool writes one of them.
func CenterStats() []string { return []string{"mean", "median", "value"} }

// ParseStat returns the name of a statistic that a tool calls so: "avg" is the mean, "p50" the median, "p99p9" p99.9.
// ok is false for anything else.
func ParseStat(text string) (name string, ok bool) {
	text = strings.ToLower(text)
	for _, s := range statistics {
		if s.Name == text || slices.Contains(s.Aliases, text) {
			return s.Name, true
		}
	}
	rank, isP := strings.CutPrefix(text, "p")
	rank = strings.Replace(rank, "p", ".", 1)
	if !isP || rank == "" || len(rank) > 7 || strings.Trim(rank, "0123456789.") != "" || rank[0] == '.' {
		return "", false
	}
	q, err := strconv.ParseFloat(rank, 64)
	if err != nil || q > 100 {
		return "", false
	}
	return "p" + rank, true
}

// IsStat reports whether points have a statistic of that name.
func IsStat(name string) bool {
	as, ok := ParseStat(name)
	return ok && as == name
}

// StatQuantile returns which quantile a statistic is, from 0 for the smallest to 1 for the largest value.
func StatQuantile(stat string) (q float64, ok bool) {
	for _, s := range statistics {
		if s.Name == stat {
			return s.Quantile, s.Quantile >= 0
		}
	}
	rank, isP := strings.CutPrefix(stat, "p")
	q, err := strconv.ParseFloat(rank, 64)
	return q / 100, isP && err == nil && q >= 0 && q <= 100
}

// TailStat is the percentile of a tail that has verdicts and targets.
const TailStat = "p99"

// fewForTail is the number of requests below which a percentile beyond the 95th is not shown: it would be the largest
// or second largest of a few values.
const fewForTail = 100

// TailHolds reports whether a statistic is meaningful over a number of requests. Only percentiles beyond the 95th
// need many. Tables, files, verdicts and lints share this rule.
func TailHolds(stat string, requests float64) bool {
	q, ok := StatQuantile(stat)
	return !ok || q <= .95 || q == 1 || requests >= fewForTail
}
