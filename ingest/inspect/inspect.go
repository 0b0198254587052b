// Package inspect reads the JSON logs of Inspect, the evaluation framework of the UK AI Security Institute
// (inspect_ai, log version 2, as written by 0.3.285). Its .eval archives use a compression that is not read; "inspect
// log convert --to json" converts them.
//
// It takes one decoded log and returns a [schema.Reading] with a score for every metric of every scorer. Where
// samples were scored right or wrong, their outcomes are kept for paired tests, by sample id and epoch.
package inspect

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"sort"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats.
const (
	Format = "inspect"
	Aside  = "inspect-aside" // how a log began, within an .eval archive: its header has the same and the results
)

// Detect looks for the log's eval, plan and status.
func Detect(f *decode.File) schema.Match {
	v := f.First
	if v.Get("eval").Has("task_id") && v.Has("plan") && !v.Has("status") && path.Base(f.Path) == "start.json" {
		return schema.Match{Format: Aside, Has: []string{"eval.task_id", "plan"}, Detail: "not a result: how the log began"}
	}
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "log of an eval"}}
	m.Want(v.Get("eval").Has("task_id"), "eval.task_id")
	m.Want(v.Get("plan").Kind() == decode.Object, "plan")
	m.Want(v.Has("status"), "status")
	if version := v.At("eval", "packages", "inspect_ai").Str(); version != "" {
		m.Detail = version
	}
	return m.Match
}

// Read returns a score for every metric of every scorer. A log that does not end in success has none.
func Read(f *decode.File) schema.Reading {
	v := f.First
	m := Detect(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	if m.Format == Aside {
		return r
	}
	r.Facts.Model.ID = strings.TrimPrefix(v.At("eval", "model").Str(), "openai/")
	r.Facts.Start, r.Facts.End = when(v.At("stats", "started_at")), when(v.At("stats", "completed_at"))
	if status := v.Get("status").Str(); status != "success" || v.Get("results").Kind() != decode.Object {
		p := f.Problem(schema.SevError, "eval-failed", v.Get("status"))
		p.Found, p.Expected = "status "+status+": "+v.At("error", "message").Str(), "success"
		p.Used, p.Hint = "no score", "run the eval again; with the server down inspect exits 0 as well"
		r.Problems = append(r.Problems, p)
		return r
	}
	for s := range v.At("results", "scores").Items() {
		name := s.Get("name").Str()
		outcomes := outcomesOf(v, name)
		for _, metric := range s.Get("metrics").Members() {
			if strings.Contains(metric.Key, "stderr") || metric.Key == "std" || metric.Key == "var" {
				continue
			}
			r.Scores = append(r.Scores, score(f, v, s, metric, outcomes))
		}
	}
	if len(r.Scores) == 0 {
		p := f.Problem(schema.SevError, "no-scores", v.Get("results"))
		p.Found, p.Expected = "no score in results", "a scorer with a metric"
		r.Problems = append(r.Problems, p)
	}
	r.Extra = draft.Foreign(nil, v,
		draft.Names("version status eval plan results stats invalidated tags metadata reductions samples error log_updates"))
	return r
}

func score(f *decode.File, v, s decode.Value, metric decode.Member, outcomes *schema.Outcomes) schema.Score {
	out := schema.Score{
		Task: v.At("eval", "task").Str(), Metric: metric.Key, Filter: s.Get("name").Str(),
		Value: schema.Missing("not a number"), Stderr: schema.Missing("not in the file"), Direction: "higher",
		Version: v.At("eval", "task_version").Text(), Source: f.Source(Format),
	}
	if x, ok := metric.Val.Get("value").Float(); ok {
		out.Value = schema.Num(x)
	}
	if x, ok := s.At("metrics", "stderr", "value").Float(); ok && (metric.Key == "accuracy" || metric.Key == "mean") {
		out.Stderr = schema.Num(x)
	}
	if n, ok := s.Get("scored_samples").Float(); ok {
		out.N = int(n)
	} else if n, ok := v.At("results", "completed_samples").Float(); ok {
		out.N = int(n)
	}
	if n, ok := v.At("eval", "dataset", "samples").Float(); ok {
		out.Total = int(n)
	}
	if n, ok := v.At("eval", "config", "limit").Float(); ok && n < float64(out.Total) {
		out.Limit = &n
	}
	if metric.Key == "accuracy" {
		out.Outcomes = outcomes
	}
	return out
}

// outcomesOf returns the samples' outcomes in the order of their ids; nil if some sample is neither right nor wrong.
func outcomesOf(v decode.Value, scorer string) *schema.Outcomes {
	type item struct {
		id    string // with the epoch, after a separator that no id has; must not change: hashes are compared
		right bool
	}
	var list []item
	for s := range v.Get("samples").Items() {
		value := s.At("scores", scorer, "value")
		right := value.Str() == "C"
		if x, ok := value.Float(); ok {
			if right = x == 1; x != 0 && x != 1 {
				return nil
			}
		} else if !right && value.Str() != "I" {
			return nil
		}
		list = append(list, item{s.Get("id").Text() + "\x00" + s.Get("epoch").Text(), right})
	}
	if len(list) == 0 {
		return nil
	}
	sort.Slice(list, func(i, j int) bool { return list[i].id < list[j].id })
	h := sha256.New()
	o := &schema.Outcomes{}
	for _, x := range list {
		_, _ = h.Write([]byte(x.id + "\x00")) // a hash never fails
		o.Right = append(o.Right, x.right)
	}
	o.Items = hex.EncodeToString(h.Sum(nil))[:16]
	return o
}

func when(v decode.Value) time.Time {
	t, err := time.Parse(time.RFC3339, v.Str())
	if err != nil {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}
