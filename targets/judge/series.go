package judge

import (
	"hash/fnv"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/targets/regression"
)

// Series is one number over releases: a system, a workload, a metric, a statistic, one definition, within one line of
// releases.
type Series struct {
	Model, Device, Impl string
	Line                string // of releases
	Key                 schema.Key
	KeyIndex            int32 // of Key in the columns
	Metric, Stat, Unit  string
	Def                 string
	way                 float64 // [sign] of Metric
	cell                int32
	table               *regression.Table
	rows                *regression.Judgement // of the table
	releases            []Release
}

// System returns the system of the series.
func (s *Series) System() schema.System {
	return schema.System{Model: s.Model, Device: s.Device, Impl: s.Impl}
}

// Tail reports whether the series is of a tail instead of a mean. Tails are judged with a noise of their own and are
// not drawn.
func (s *Series) Tail() bool { return s.Stat == tailStat }

// Pair returns the model and device of the series.
func (s *Series) Pair() schema.Pair { return schema.Pair{Model: s.Model, Device: s.Device} }

// verdict starts a verdict on the series in a release.
func (s *Series) verdict(release string) schema.Verdict {
	return schema.Verdict{
		Release: release, Model: s.Model, Device: s.Device, Impl: s.Impl, Key: s.Key,
		Metric: s.Metric, Stat: s.Stat, Def: s.Def, Against: schema.AgainstHistory,
	}
}

// Name is the canonical name of the series, independent of its position in the input.
func (s *Series) Name() string {
	return strings.Join([]string{s.Model, s.Device, s.Impl, s.Line, s.Key.String(), s.Metric, s.Stat, s.Def}, "\x00")
}

// stratum is the device and metric of a series, which share a run-wide shift.
type stratum struct {
	device, metric string
	seq            sequence
	tail           bool
}

// SeriesValue is the value of one release, which every page shows and every verdict has: the geometric mean over its
// measurements; over the later ones alone where a first one raised a suspicion that they decided, because a number
// that was measured again for being high is too high.
type SeriesValue struct {
	Release int // index into the releases
	Value   float64
	N       int // measurements
}

// sign is +1 where smaller is better: larger z is worse.
func sign(metric string) float64 {
	if info, _ := schema.MetricByName(metric); info.Better == schema.Higher {
		return -1
	}
	return 1
}

func (s *Series) value(obs int32) SeriesValue {
	o := &s.table.Obs[obs]
	n := int(o.K + o.K2)
	z := o.Z
	switch {
	case s.rows != nil && later(&s.rows.Rows[obs]):
		z, n = o.Z2, int(o.K2)
	case o.K2 > 0:
		z = (float64(o.K)*o.Z + float64(o.K2)*o.Z2) / float64(n)
	}
	return SeriesValue{Release: int(o.Release), Value: latency.Round(math.Exp(s.way*z), 12), N: n}
}

// find returns the observation of a release, or -1.
func (s *Series) find(release int) int32 {
	c := &s.table.Cells[s.cell]
	n := int(c.End - c.First)
	i := sort.Search(n, func(i int) bool { return int(s.table.Obs[int(c.First)+i].Release) >= release })
	if i < n && int(s.table.Obs[int(c.First)+i].Release) == release {
		return c.First + int32(i)
	}
	return -1
}

// At returns the value in a release.
func (s *Series) At(release int) (float64, bool) {
	if i := s.find(release); i >= 0 {
		return s.value(i).Value, true
	}
	return 0, false
}

// PrimaryMetrics are the metrics that are judged, in reading order.
func PrimaryMetrics() []string {
	return []string{"ttft", "tpot", "e2el", "output_tps", "goodput_rps", "startup_s", schema.MetricEnergy}
}

// JudgedMetrics are the metrics of a history that are judged: the primary ones, then the user's own by name.
func JudgedMetrics(c *columns.Columns) []string {
	list := PrimaryMetrics()
	for _, s := range c.Stats {
		if info, _ := schema.MetricByName(s.Metric); info.Better == schema.Neither {
			continue
		}
		if schema.IsOwn(s.Metric) && !slices.Contains(list, s.Metric) {
			list = append(list, s.Metric)
		}
	}
	sort.Strings(list[len(PrimaryMetrics()):])
	return list
}

// tailStat is the statistic of tails.
const tailStat = "p99"

// Tails are the metrics of which the tail is judged too, where a point has requests enough for it.
func Tails() []string { return []string{"ttft", "tpot", "e2el"} }

// StandIns are judged where a point lacks the better primary metric: ITL in place of TPOT, total throughput in place
// of output throughput.
func StandIns() map[string][]string {
	return map[string][]string{"tpot": {"ntpot", "itl"}, "output_tps": {"total_tps", "rps"}}
}

// seedOf derives the seed of a series' permutations from its name.
func seedOf(s *Series) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Name())) // a hash never fails
	return h.Sum64()
}

// Higher reports whether a larger value of a metric is better.
func Higher(metric string) bool { return sign(metric) < 0 }
