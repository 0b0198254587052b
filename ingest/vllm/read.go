package vllm

import (
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/redact"
)

// Read returns one point per value of the file.
func Read(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Format}
	for i, v := range f.Doc.Values {
		alone := *f
		alone.Doc.Values = []decode.Value{v}
		if i > 0 && !Detect(&alone).OK() {
			p := f.Problem(schema.SevWarning, "foreign-value", v)
			p.Found, p.Expected = fmt.Sprintf("value %d of the file is not a serving result", i+1), "appended results of one tool"
			r.Problems = append(r.Problems, p)
			continue
		}
		readValue(f, v, &r)
	}
	if n := len(r.Points); n > 1 {
		r.Detail += fmt.Sprintf(", %d appended results", n)
	}
	return r
}

func readValue(f *decode.File, v decode.Value, r *schema.Reading) {
	e := eraOf(v)
	if r.Detail == "" {
		r.Detail = e.words
	}
	p := schema.Point{Status: schema.StatusOK, Metrics: map[string]schema.Metric{}, Conditions: map[string]string{},
		Source: f.Source(Format)}
	p.Key = key(v)
	facts := identity(v, &p)
	stated(f, v, e, &p, r)
	counts(f, v, &p, r)
	recompute(f, v, &p, r)
	finish(v, &p)
	p.Extra = foreign(v)
	if len(r.Points) == 0 {
		r.Facts = facts
	}
	p.Start, p.End = facts.Start, facts.End
	r.Points = append(r.Points, p)
}

// key reads the workload that the file states: the load, and lengths where --metadata or a sweep wrote them.
func key(v decode.Value) schema.Key {
	k := schema.Key{Task: "text", Tool: "vllm", Concurrency: v.Get("max_concurrency").Ptr(), Rate: v.Get("request_rate").Ptr()}
	first := func(names ...string) *float64 {
		for _, n := range names {
			if p := v.Get(n).Ptr(); p != nil {
				return p
			}
		}
		return nil
	}
	k.ISL = first("random_input_len", "isl", "input_len")
	k.OSL = first("random_output_len", "osl", "output_len")
	k.Dataset = v.Get("dataset_name").Str()
	if p := first("burstiness"); p != nil && *p != 1 && k.Rate != nil {
		k.Dims = map[string]string{"burstiness": v.Get("burstiness").Text()}
	}
	return k
}

// identity reads who was measured, as far as the file says. Metadata are strings under names that people chose; only
// names that say one thing are taken.
func identity(v decode.Value, p *schema.Point) schema.Facts {
	var f schema.Facts
	f.Model.ID = v.Get("model_id").Str()
	f.Release = v.Get("release").Str()
	f.Device.Name = v.Get("device").Str()
	f.Stack.Engine = v.Get("engine").Str()
	f.Stack.Version = v.Get("engine_version").Str()
	if t := v.Get("tokenizer_id").Str(); t != "" && t != f.Model.ID { // a model's own tokenizer is the rule
		p.Conditions["tokenizer"] = redact.Text(t)
	}
	for _, name := range []string{"num_prompts", "best_of", "use_beam_search"} {
		if t := v.Get(name).Text(); t != "" {
			p.Conditions[name] = t
		}
	}
	if b := v.Get("backend").Str(); b != "" {
		p.Conditions["client"] = b
	} else if b := v.Get("endpoint_type").Str(); b != "" {
		p.Conditions["client"] = b
	}
	if t, err := time.Parse("20060102-150405", v.Get("date").Str()); err == nil {
		f.End, f.Start = t, t
		f.StartNote = "local time of the client, zone not stated"
		if d, ok := v.Get("duration").Float(); ok && d > 0 {
			f.Start = t.Add(-time.Duration(d * float64(time.Second))).Truncate(time.Second)
		}
	}
	return f
}

// metric units and definitions of the statistic families.
func family(name string, e era) (metric, def string) {
	switch name {
	case "ttft":
		return "ttft", schema.DefFirstChunk
	case "tpot":
		if e.inclFirst {
			return "ntpot", schema.DefInclFirst
		}
		return "tpot", schema.DefExclFirst
	case "itl":
		return "itl", schema.DefChunkGap
	}
	return "e2el", schema.DefLastChunk
}

// stated takes the statistics as the file gives them.
func stated(f *decode.File, v decode.Value, e era, p *schema.Point, r *schema.Reading) {
	for _, m := range v.Members() {
		k := statKey.FindStringSubmatch(m.Key)
		if k == nil {
			continue
		}
		x, ok := m.Val.Float()
		if !ok {
			continue
		}
		name, def := family(k[2], e)
		metric := p.Metrics[name]
		metric.Unit, metric.Def = "ms", def
		metric.Stats.Set(k[1], x)
		p.Metrics[name] = metric
	}
	if m, ok := p.Metrics["e2el"]; ok && e.swappedE2EL {
		mean, a := m.Stats.Get("mean")
		median, b := m.Stats.Get("median")
		if a && b {
			m.Stats.Set("mean", median)
			m.Stats.Set("median", mean)
			q := f.Problem(schema.SevNote, "swapped-e2el", v.Get("mean_e2el_ms"))
			q.Found = fmt.Sprintf("mean_e2el_ms %.6g and median_e2el_ms %.6g in a file of v0.6.0 to v0.6.3, which exchange the two", mean, median)
			q.Used = "them exchanged back"
			r.Problems = append(r.Problems, q)
		}
	}
	single := func(name, unit, def string, keys ...string) {
		for _, key := range keys {
			if x, ok := v.Get(key).Float(); ok {
				m := schema.Metric{Unit: unit, Def: def}
				m.Stats.Set("value", x)
				p.Metrics[name] = m
				return
			}
		}
	}
	single("output_tps", "tok/s", "", "output_throughput")
	single("total_tps", "tok/s", "", "total_token_throughput")
	single("rps", "req/s", "", "request_throughput", "request_inthroughput")
	single("goodput_rps", "req/s", "", "request_goodput", "request_goodput:")
	single("duration_s", "s", "", "duration")
}

// foreign keeps scalars that have no canonical name, without secrets; arrays and long texts stay in the raw file.
func foreign(v decode.Value) schema.Unknown {
	const known = " completed failed duration num_prompts max_concurrency request_rate date model_id tokenizer_id backend endpoint_type output_throughput total_token_throughput request_throughput request_inthroughput request_goodput request_goodput: total_input_tokens total_output_tokens total_input total_output best_of use_beam_search burstiness random_input_len random_output_len max_concurrent_requests "
	var out schema.Unknown
	for _, m := range v.Members() {
		k := m.Val.Kind()
		if strings.Contains(known, " "+m.Key+" ") || statKey.MatchString(m.Key) || k == decode.Null || k == decode.Array || k == decode.Object || len(m.Val.Raw()) > 200 {
			continue
		}
		if t := m.Val.Text(); t == "" {
			continue
		}
		raw := m.Val.Raw()
		if k == decode.String {
			raw = schema.JSONString(redact.Field(m.Key, m.Val.Str()))
		} else if _, finite := m.Val.Float(); k == decode.Number && !finite {
			continue
		}
		if out == nil {
			out = schema.Unknown{}
		}
		out[m.Key] = append([]byte(nil), raw...)
	}
	return out
}
