package lmeval

import (
	"math"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Names of the formats that this package tells apart.
const (
	Format  = "lm-eval"
	Old     = "lm-eval-0.3"
	Samples = "lm-eval-samples"
)

// Detect says whether a file is the harness's, by content.
func Detect(f *decode.File) schema.Match {
	m := schema.Match{Format: Format}
	if len(f.Doc.Values) == 0 || f.Doc.Values[0].Kind() != decode.Object {
		m.Lacks = []string{"a JSON object"}
		return m
	}
	v := f.Doc.Values[0]
	if v.Has("doc_id") && v.Has("filtered_resps") {
		return schema.Match{Format: Samples, Has: []string{"doc_id", "filtered_resps"}, Detail: "per-item outcomes"}
	}
	results := v.Get("results")
	check := func(ok bool, what string) {
		if ok {
			m.Has = append(m.Has, what)
		} else {
			m.Lacks = append(m.Lacks, what)
		}
	}
	check(results.Kind() == decode.Object, "results")
	if v.Has("lmms_eval_version") {
		m.Lacks = append(m.Lacks, "lm-eval's own file (this is lmms-eval's)")
	}
	comma, flat := false, results.Len() > 0
	for _, task := range results.Members() {
		if task.Val.Kind() != decode.Object {
			flat = false
		}
		for _, metric := range task.Val.Members() {
			comma = comma || strings.Contains(metric.Key, ",")
		}
	}
	switch {
	case comma:
		m.Has, m.Detail = append(m.Has, `a metric key such as "acc,none"`), "0.4 or later"
		if version := v.Get("lm_eval_version").Str(); version != "" {
			m.Detail = version
		}
	case flat && v.Get("versions").Kind() == decode.Object:
		m.Format, m.Detail = Old, "0.3 or earlier"
		m.Has = append(m.Has, "versions")
	default:
		m.Lacks = append(m.Lacks, `a metric key such as "acc,none", or versions`)
	}
	return m
}

// Read returns the scores of a results file.
func Read(f *decode.File) schema.Reading {
	match := Detect(f)
	r := schema.Reading{Format: match.Format, Detail: match.Detail}
	if match.Format == Samples {
		r.Detail = "per-item outcomes of a results file beside it"
		return r
	}
	v := f.Doc.Values[0]
	r.Facts = facts(v)
	for _, task := range v.Get("results").Members() {
		readTask(f, v, task, &r)
	}
	if len(r.Scores) == 0 {
		p := f.Problem(schema.SevError, "no-scores", v.Get("results"))
		p.Found, p.Expected, p.Hint = "no score in results", "at least one metric with a number", "look at the harness's log"
		r.Problems = append(r.Problems, p)
	}
	return r
}

func facts(v decode.Value) schema.Facts {
	var f schema.Facts
	if f.Model.ID = v.Get("model_name").Str(); f.Model.ID == "" {
		args := v.At("config", "model_args")
		for _, name := range []string{"model", "pretrained"} {
			if f.Model.ID != "" {
				break
			}
			f.Model.ID = args.Get(name).Str()
			for _, part := range strings.Split(args.Str(), ",") {
				if value, ok := strings.CutPrefix(part, name+"="); ok && f.Model.ID == "" {
					f.Model.ID = value
				}
			}
		}
	}
	if sec, ok := v.Get("date").Float(); ok && sec > 1e8 {
		whole, frac := math.Modf(sec)
		f.Start = time.Unix(int64(whole), int64(frac*1e9)).UTC().Truncate(time.Second)
		f.End = f.Start
		if d, ok := v.Get("total_evaluation_time_seconds").Float(); ok && d > 0 && d < 1e7 {
			f.End = f.Start.Add(time.Duration(d * float64(time.Second))).Truncate(time.Second)
		}
	}
	return f
}

// notMetrics are members of a task's entry that are no scores.
const notMetrics = " alias name sample_len sample_count samples "

func readTask(f *decode.File, v decode.Value, task decode.Member, r *schema.Reading) {
	for _, m := range task.Val.Members() {
		metric, filter := m.Key, ""
		if i := strings.LastIndexByte(m.Key, ','); i >= 0 {
			metric, filter = m.Key[:i], m.Key[i+1:]
		} else if r.Format == Format {
			continue // 0.4 and later write every metric with its filter
		}
		if strings.Contains(notMetrics, " "+metric+" ") || strings.HasSuffix(metric, "_stderr") || strings.TrimSpace(metric) == "" {
			continue
		}
		s := schema.Score{Task: task.Key, Metric: metric, Filter: filter, Source: f.Source(r.Format)}
		s.Source.ToolVersion = v.Get("lm_eval_version").Str()
		x, ok := m.Val.Float()
		switch {
		case ok:
			s.Value = schema.Num(x)
		case m.Val.Kind() == decode.Number || m.Val.Kind() == decode.String || m.Val.Kind() == decode.Null:
			s.Value = schema.Missing("the file says " + string(m.Val.Raw()))
		default:
			continue
		}
		s.Stderr = schema.Missing("not in the file")
		key := metric + "_stderr"
		if filter != "" || r.Format == Format {
			key += "," + filter
		}
		if x, ok := task.Val.Get(key).Float(); ok {
			s.Stderr = schema.Num(x)
		}
		describe(v, &s)
		r.Scores = append(r.Scores, s)
	}
}

// describe adds what the other parts of the file say of a task.
func describe(v decode.Value, s *schema.Score) {
	if n, ok := v.At("n-samples", s.Task, "effective").Int(); ok {
		s.N = n
	}
	if n, ok := v.At("n-samples", s.Task, "original").Int(); ok {
		s.Total = n
	}
	shots := v.At("n-shot", s.Task)
	if shots.Kind() == decode.Invalid {
		shots = v.At("config", "num_fewshot")
	}
	if n, ok := shots.Int(); ok {
		s.Fewshot = &n
	}
	s.Limit = v.At("config", "limit").Ptr()
	if up, ok := v.At("higher_is_better", s.Task, s.Metric).Truth(); ok {
		s.Direction = "lower"
		if up {
			s.Direction = "higher"
		}
	}
	s.Version = v.At("versions", s.Task).Text()
}
