package schema

import (
	"regexp"
	"strconv"
)

// DimLevel is the dimension of a target that holds at a service level and not at a load, as in tps_user=35.
const DimLevel = "at"

var levelText = regexp.MustCompile(`^(?:(?:tps_user|tok_s_user)=([0-9.]+)|ttft(?:[._](\w+))?<([0-9.]+)(?:ms)?)$`)

// Level is what a user sees where a target of output holds.
type Level struct {
	Metric string // tps_user, or ttft in ms
	Stat   string // of ttft
	Value  float64
}

// ParseLevel reads a level: tps_user=35 or tok_s_user=35, ttft<200, ttft_p90<200ms or ttft.p90<200.
func ParseLevel(text string) (Level, bool) {
	m := levelText.FindStringSubmatch(text)
	if m == nil {
		return Level{}, false
	}
	v, err := strconv.ParseFloat(m[1]+m[3], 64)
	l, known := Level{Metric: "tps_user", Value: v}, true
	if m[3] != "" {
		l.Metric, l.Stat = "ttft", "mean"
	}
	if m[2] != "" {
		l.Stat, known = ParseStat(m[2])
	}
	return l, err == nil && known && Measurable(v)
}

// AtLevel lists the metrics of which a target may hold at a level: those that follow from the output.
func AtLevel() []string {
	return []string{"output_tps", "output_tps_accelerator", MetricCostOutput, MetricCostInput, MetricCostTotal}
}
