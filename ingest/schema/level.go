package schema

import (
	"regexp"
	"strconv"
)

// DimLevel is the dimension of a target that holds at a service level and not at a load, as in tps_user=35.
const DimLevel = "at"

var levelText = regexp.MustCompile(`^(tps_user=|ttft(?:\.(\w+))?<)([0-9.]+)$`)

// Level is what a user sees where a target of output holds.
type Level struct {
	Metric string // tps_user, or ttft in ms
	Stat   string // of ttft
	Value  float64
}

// ParseLevel reads a level: tps_user=35, ttft<200, ttft.p90<200.
func ParseLevel(text string) (Level, bool) {
	m := levelText.FindStringSubmatch(text)
	if m == nil {
		return Level{}, false
	}
	v, err := strconv.ParseFloat(m[3], 64)
	l := Level{Metric: "tps_user", Value: v}
	known := true
	if m[1][:3] != "tps" {
		l.Metric, l.Stat = "ttft", "mean"
		if m[2] != "" {
			l.Stat, known = ParseStat(m[2])
		}
	}
	return l, err == nil && known && Measurable(v)
}
