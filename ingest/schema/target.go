package schema

import (
	"maps"
	"slices"
	"strconv"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
)

// Target is one target of one workload, as it was in force when a run was made. A manifest states some of it.
type Target struct {
	// only the fields that the target states; the tool is never among them
	Key       Key     `json:"key" yaml:"workload"`
	Metric    string  `json:"metric,omitzero" yaml:"metric"`
	Stat      string  `json:"stat,omitzero" yaml:"stat,omitempty"`
	Value     float64 `json:"value" yaml:"value"`
	Unit      string  `json:"unit,omitzero" yaml:"-"`
	Level     string  `json:"level,omitzero" yaml:"level,omitempty"`         // functional, complete or target
	Tolerance float64 `json:"tolerance,omitzero" yaml:"tolerance,omitempty"` // relative: 0.05 allows to miss by 5 %
	Source    string  `json:"source,omitzero" yaml:"source,omitempty"`       // file that states it
	SHA256    string  `json:"sha256,omitzero" yaml:"sha256,omitempty"`
	AsOf      string  `json:"as_of,omitzero" yaml:"as_of,omitempty"` // date of the source, YYYY-MM-DD, or ""
	// must or should, if the source states it: it then decides in place of the model's declared status
	Priority string `json:"priority,omitzero" yaml:"-"`
	Items    int    `json:"items,omitzero" yaml:"-"` // questions behind the reference score of an eval; 0: not stated
	// Scores are the scores that the source states for an eval, of which Value is the one that grades; nil for none.
	Scores  *ReferenceScores `json:"scores,omitzero" yaml:"-"`
	Unknown Unknown          `json:",unknown" yaml:"-"`
}

// ReferenceScores are what an eval's result is compared with, on the scale of the target's value; 0 is not stated.
type ReferenceScores struct {
	GPU           float64 `json:"gpu,omitzero"`        // measured on a GPU
	GPUSource     string  `json:"gpu_source,omitzero"` // where it is from: a link, or a name
	Published     float64 `json:"published,omitzero"`  // stated by the publisher of the model
	PublishSource string  `json:"published_source,omitzero"`
}

// Levels of a target, least demanding first.
const (
	LevelFunctional = "functional"
	LevelComplete   = "complete"
	LevelTarget     = "target"
	// LevelReference is the only level of an eval: the published score of the model. Any declared status above
	// experimental requires it.
	LevelReference = "reference"
)

// Levels lists the levels, least demanding first.
func Levels() []string { return []string{LevelFunctional, LevelComplete, LevelTarget} }

// SameNumber reports whether two targets are about the same number and level. Tools write a single value as mean or
// value, and early references state no task; they mean text.
func (t *Target) SameNumber(o *Target) bool {
	stat := func(s string) string {
		if s == "" || s == "value" {
			return "mean"
		}
		return s
	}
	key := func(k Key) string {
		if k.Task == "" {
			k.Task = "text"
		}
		return k.String()
	}
	return t.Level == o.Level && t.Metric == o.Metric && stat(t.Stat) == stat(o.Stat) && key(t.Key) == key(o.Key)
}

// MergeTargets returns targets and those of more whose number they leave open. The result may be one of the two lists.
func MergeTargets(list, more []Target) []Target {
	switch { // thousands of results share the list of one spec
	case len(list) == 0:
		return slices.Clip(more)
	case len(more) == 0 || len(list) == len(more) && &list[0] == &more[0]:
		return slices.Clip(list)
	}
	out := slices.Clip(list)
	for i := range more {
		if !slices.ContainsFunc(list, func(t Target) bool { return t.SameNumber(&more[i]) }) {
			out = append(out, more[i])
		}
	}
	return out
}

// Matches reports whether the target covers a measured key. A field that the target leaves out matches anything,
// except that a target without dimensions covers only points without them: a structured-output run at 128/128/1 is
// not the plain one.
func (t Target) Matches(k Key) bool {
	for _, p := range [][2]*float64{{t.Key.ISL, k.ISL}, {t.Key.OSL, k.OSL}, {t.Key.Concurrency, k.Concurrency}} {
		if p[0] != nil && compareNumber(p[0], p[1]) != 0 {
			return false
		}
	}
	return (t.Key.Task == "" || k.Task == "" || t.Key.Task == k.Task) && compareNumber(t.Key.Rate, k.Rate) == 0 &&
		(t.Key.Dataset == "" || t.Key.Dataset == k.Dataset) && maps.Equal(t.Key.Dims, k.Dims)
}

// DimLevel is the dimension of a target that holds at a service level and not at a load, as in tps_user=35.
const DimLevel = "at"

var levelText = lazyregexp.New(`^(?:(?:tps_user|tok_s_user)=([0-9.]+)|ttft(?:[._](\w+))?<([0-9.]+)(?:ms)?)$`)

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
