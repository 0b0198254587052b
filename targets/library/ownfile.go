package library

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// File is a target file of our own: targets/*.yaml. Every value has a source and a date, so that a reader can trace
// it.
type File struct {
	Targets []FileTarget `yaml:"targets,omitempty"`
	Evals   []FileEval   `yaml:"evals,omitempty"`
}

// FileTarget is one target of a workload.
type FileTarget struct {
	Model     string            `yaml:"model"`
	Device    string            `yaml:"device"`
	Workload  manifest.Workload `yaml:"workload"`
	At        string            `yaml:"at,omitempty"` // a service level in place of a load: tps_user=35, ttft.p90<200
	Metric    string            `yaml:"metric"`
	Stat      string            `yaml:"stat,omitempty"`
	Value     float64           `yaml:"value"`
	Level     string            `yaml:"level,omitempty"`     // functional, complete or target; the default is target
	Tolerance float64           `yaml:"tolerance,omitempty"` // 0.05 lets a value miss by five percent
	Priority  string            `yaml:"priority,omitempty"`  // must or should
	Source    string            `yaml:"source"`
	AsOf      string            `yaml:"as_of"` // YYYY-MM-DD
}

// FileEval is a reference score.
type FileEval struct {
	Model     string  `yaml:"model"`
	Device    string  `yaml:"device,omitempty"` // any, when left out
	Task      string  `yaml:"task"`
	Metric    string  `yaml:"metric,omitempty"`
	Filter    string  `yaml:"filter,omitempty"`
	Value     float64 `yaml:"value"`           // a share, or a percentage
	Items     int     `yaml:"items,omitempty"` // questions behind the reference
	Tolerance float64 `yaml:"tolerance,omitempty"`
	Priority  string  `yaml:"priority,omitempty"`
	Source    string  `yaml:"source"`
	AsOf      string  `yaml:"as_of"`
	// GPU and Published are the scores that Value is one of: measured on a GPU, and stated by the model's publisher.
	GPU       *FileScore `yaml:"gpu,omitempty"`
	Published *FileScore `yaml:"published,omitempty"`
	// Run states how the score is measured: with it, ttreport collect runs this task for this model.
	Run *EvalRun `yaml:"run,omitempty"`
}

// FileScore is a score that somebody states, on the scale of the reference.
type FileScore struct {
	Value  float64 `yaml:"value"`
	Source string  `yaml:"source,omitempty"`
}

// EvalRun states how an eval is run. A field that is left out has the tool's own default.
type EvalRun struct {
	Tool       string `yaml:"tool,omitempty"`  // lm-eval (the default), lmms-eval, inspect
	Limit      int    `yaml:"limit,omitempty"` // questions
	Fewshot    *int   `yaml:"fewshot,omitempty"`
	GenKwargs  string `yaml:"gen_kwargs,omitempty"` // temperature=0.6,do_sample=true
	Chat       bool   `yaml:"chat,omitempty"`
	Concurrent int    `yaml:"num_concurrent,omitempty"`
	Tokenizer  string `yaml:"tokenizer,omitempty"`
}

// Params are what is stated, by the names that lm-eval has for it.
func (r EvalRun) Params() map[string]string {
	p := map[string]string{"gen_kwargs": r.GenKwargs, "tokenizer": r.Tokenizer}
	if r.Fewshot != nil {
		p["fewshot"] = fmt.Sprint(*r.Fewshot)
	}
	if r.Concurrent > 0 {
		p["num_concurrent"] = fmt.Sprint(r.Concurrent)
	}
	if r.Chat {
		p["chat"] = "true"
	}
	maps.DeleteFunc(p, func(_, value string) bool { return value == "" })
	return p
}

// Marshal returns the file's content.
func (f File) Marshal() ([]byte, error) { return decode.EncodeYAML(f) }

// own reads a file of our own, strictly.
func (r *reader) own(data []byte) {
	var f File
	if p := decode.YAML(r.source.Source, data, &f); p != nil {
		r.problems = append(r.problems, *p)
		return
	}
	for i, t := range f.Targets {
		r.entry = fmt.Sprintf("targets[%d]", i)
		r.target(t)
	}
	for i, e := range f.Evals {
		r.entry = fmt.Sprintf("evals[%d]", i)
		r.score(e)
	}
}

// origin fills in the source and date of a value; both are required.
func (r *reader) origin(source, asOf, priority string) (schema.Target, bool) {
	t := r.source
	_, badDate := time.Parse(time.DateOnly, asOf)
	switch {
	case strings.TrimSpace(source) == "" || asOf == "":
		r.refuse("no-source", "a value without source or as_of", "both, as in source: release plan 12, as_of: 2026-01-31")
	case priority != "" && priority != "must" && priority != "should":
		r.refuse("bad-target", "priority "+priority, "must or should")
	case badDate != nil:
		r.refuse("bad-target", "as_of "+asOf, "a date such as 2026-01-31")
	default:
		t.Source, t.AsOf, t.Priority = redact.Text(source), asOf, priority // it is stored and shown
		return t, true
	}
	return t, false
}

func (r *reader) target(x FileTarget) {
	t, ok := r.origin(x.Source, x.AsOf, x.Priority)
	if !ok {
		return
	}
	x.Model, x.Device = strings.TrimSpace(x.Model), strings.TrimSpace(x.Device)
	x.Level, x.Stat = cmp.Or(x.Level, schema.LevelTarget), cmp.Or(x.Stat, "mean")
	info, isMetric := schema.MetricByName(x.Metric)
	_, isLevel := schema.ParseLevel(x.At)
	switch {
	case x.Model == "" || x.Device == "":
		r.refuse("bad-target", "no model or no device", "both")
	case !isMetric:
		graded := func(m *schema.MetricInfo) bool { return m.Better != schema.Neither }
		r.refuse("unknown-metric", fmt.Sprintf("metric %q", x.Metric),
			"one of "+strings.Join(schema.MetricNames(graded), ", "))
	case info.Better == schema.Neither:
		r.refuse("bad-target", "metric "+x.Metric+", which neither improves nor worsens", "a latency or a rate")
	case !slices.Contains(schema.Levels(), x.Level):
		r.refuse("unknown-level", fmt.Sprintf("level %q", x.Level), strings.Join(schema.Levels(), ", "))
	case x.At != "" && (!slices.Contains(schema.AtLevel(), x.Metric) || x.Workload.Concurrency != nil ||
		x.Workload.Rate != nil):
		r.refuse("bad-target", "at "+x.At+" of "+x.Metric+" or with a load", "one of "+strings.Join(schema.AtLevel(), ", ")+
			", of a workload without concurrency and rate, which the level stands for")
	case x.At != "" && !isLevel:
		r.refuse("bad-target", "at "+x.At, "a level such as tps_user=35, ttft<200 or ttft_p90<200 (ms)")
	default:
		t.Key = x.Workload.Key("")
		if x.At != "" {
			t.Key.Dims = maps.Clone(t.Key.Dims)
			if t.Key.Dims == nil {
				t.Key.Dims = map[string]string{}
			}
			t.Key.Dims[schema.DimLevel] = x.At
		}
		r.isDevice(x.Model, x.Device)
		t.Metric, t.Stat, t.Value, t.Unit, t.Level, t.Tolerance = x.Metric, x.Stat, x.Value, info.Unit, x.Level, x.Tolerance
		r.take(x.Model, x.Device, row{t, own})
	}
}

func (r *reader) score(x FileEval) {
	t, ok := r.origin(x.Source, x.AsOf, x.Priority)
	if !ok {
		return
	}
	x.Model, x.Task = strings.TrimSpace(x.Model), strings.TrimSpace(x.Task)
	x.Device = cmp.Or(strings.TrimSpace(x.Device), anyDevice)
	if x.Model == "" || x.Task == "" {
		r.refuse("bad-target", "no model or no task", "both")
		return
	}
	if x.Run != nil {
		r.asked = append(r.asked, PlannedEval{x.Task, *x.Run, pairOf(x.Model, x.Device)})
	}
	t.Key = schema.EvalKey(&schema.Score{Task: x.Task, Filter: x.Filter})
	t.Metric, t.Stat, t.Value, t.Level, t.Tolerance, t.Items = x.Metric, "value", x.Value, schema.LevelReference,
		x.Tolerance, x.Items
	if x.GPU != nil || x.Published != nil {
		gpu, published := cmp.Or(x.GPU, &FileScore{}), cmp.Or(x.Published, &FileScore{})
		t.Scores = &schema.ReferenceScores{GPU: gpu.Value, GPUSource: gpu.Source, Published: published.Value,
			PublishSource: published.Source}
	}
	r.take(x.Model, x.Device, row{t, own})
}

// Export turns targets of models and devices into a file of our own, with the source and date of each. It counts those
// that such a file cannot hold: targets on metrics that no tool measures.
func Export(list []Entry) (f File, unmeasured int) {
	for _, entry := range list {
		for _, t := range entry.Targets {
			info, known := schema.MetricByName(t.Metric)
			switch {
			case t.Key.IsEval():
				e := FileEval{Model: entry.Model, Device: entry.Device, Task: t.Key.Dataset, Metric: t.Metric,
					Filter: t.Key.Dims["filter"], Value: t.Value, Items: t.Items, Tolerance: t.Tolerance,
					Priority: t.Priority, Source: t.Source, AsOf: t.AsOf}
				if s := t.Scores; s != nil {
					e.GPU, e.Published = fileScore(s.GPU, s.GPUSource), fileScore(s.Published, s.PublishSource)
				}
				f.Evals = append(f.Evals, e)
			case !known || info.Better == schema.Neither:
				unmeasured++
			default:
				f.Targets = append(f.Targets, FileTarget{Model: entry.Model, Device: entry.Device,
					Workload: WorkloadOf(t.Key), Metric: t.Metric, Stat: t.Stat, Value: t.Value, Level: t.Level,
					Tolerance: t.Tolerance, Priority: t.Priority, Source: t.Source, AsOf: t.AsOf})
			}
		}
	}
	return f, unmeasured
}

// fileScore is a score that is stated; nil for none.
func fileScore(value float64, source string) *FileScore {
	if value == 0 {
		return nil
	}
	return &FileScore{value, source}
}

// WorkloadOf is the workload of a key, whichever tool measured it.
func WorkloadOf(k schema.Key) manifest.Workload {
	return manifest.Workload{Task: k.Task, ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency, Rate: k.Rate,
		Dims: k.Dims}
}

// unsound returns what is wrong with a target, whichever file states it; "" for a valid one. A target that every
// measurement meets, or none, must not look as if it graded something.
func unsound(t *schema.Target) (found, expected string) {
	switch {
	case t.Key.IsEval() && !(t.Value > 0 && t.Value <= 100):
		return fmt.Sprintf("score %g", t.Value), "a share or a percentage above zero"
	case !t.Key.IsEval() && !schema.Measurable(t.Value):
		return fmt.Sprintf("value %g", t.Value), "a number above zero"
	case !(t.Tolerance >= 0 && t.Tolerance < 1):
		return fmt.Sprintf("tolerance %g", t.Tolerance), "a share below 1, such as 0.05"
	case !schema.IsStat(t.Stat):
		return fmt.Sprintf("statistic %q", t.Stat), "mean, median, value, min, max, std or a percentile such as p99"
	}
	for i, v := range []*float64{t.Key.ISL, t.Key.OSL, t.Key.Concurrency, t.Key.Rate} {
		isLength := i < 2 // of a phase alone, one of them is 0
		if v != nil && !(*v > 0) && !(*v == 0 && isLength) {
			return fmt.Sprintf("%s %g", []string{"isl", "osl", "concurrency", "rate"}[i], *v), "a number above zero"
		}
	}
	return "", ""
}

// asks reports whether a target is more demanding than another of the same number: by priority, then by its limit.
func asks(a, b *schema.Target) bool {
	if must := a.Priority == "must"; must != (b.Priority == "must") {
		return must
	}
	info, _ := schema.MetricByName(a.Metric)
	if info.Better == schema.Lower && !a.Key.IsEval() {
		return a.Value*(1+a.Tolerance) < b.Value*(1+b.Tolerance)
	}
	return a.Value*(1-a.Tolerance) > b.Value*(1-b.Tolerance)
}

// statement returns a target in a few words, for messages.
func statement(model, device string, t *schema.Target) string {
	what := t.Metric
	if t.Key.IsEval() {
		what = strings.TrimSpace(t.Key.Dataset + " " + t.Metric)
	}
	out := fmt.Sprintf("%s %s of %s on %s as %g", what, t.Level, model, device, t.Value)
	if t.Priority != "" {
		out += " (" + t.Priority + ")"
	}
	return out
}
