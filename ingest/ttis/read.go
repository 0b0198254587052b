package ttis

import (
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/perfref"
	"github.com/ttreport/ttreport/ingest/schema/redact"
)

// Read reads a runtime spec or a harmonised result, or names what else the file is.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	switch m.Format {
	case Spec:
		return readSpec(f)
	case Harmonised:
		return readHarmonised(f)
	}
	return schema.Reading{Format: m.Format, Detail: m.Detail}
}

// readSpec takes identity and targets from a runtime spec.
func readSpec(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Spec, Detail: "runtime spec"}
	spec := f.Doc.Values[0].Get("runtime_model_spec")
	id := spec.Get("model_id").Str()
	r.Facts = schema.Facts{
		RunID:   f.Doc.Values[0].At("runtime_config", "run_id").Str(),
		Release: spec.Get("version").Str(),
		Model:   schema.Model{ID: spec.Get("hf_model_repo").Str(), Name: spec.Get("model_name").Str(), Status: spec.Get("status").Str()},
		Impl:    spec.At("impl", "impl_name").Str(),
		Device:  schema.Device{Name: strings.ToLower(spec.Get("device_type").Str())},
		Stack:   schema.Stack{Engine: strings.ToLower(spec.Get("inference_engine").Str()), Image: redact.Text(spec.Get("docker_image").Str()), Commits: map[string]string{}},
	}
	for _, c := range []string{"tt_metal", "vllm"} {
		if hash := spec.Get(c + "_commit").Str(); hash != "" {
			r.Facts.Stack.Commits[c] = hash
		}
	}
	if stamp, rest, ok := specName(path.Base(f.Path)); ok {
		r.Facts.Start, r.Facts.StartNote = stamp, "local time of the host, zone not stated"
		if r.Facts.RunID == "" {
			r.Facts.RunID = rest
		}
	}
	r.Extra = schema.Unknown{"ttis_model_id": schema.JSONString(id)}
	source := schema.Target{Source: f.Path, SHA256: f.SHA256}
	if !r.Facts.Start.IsZero() {
		source.AsOf = r.Facts.Start.Format(time.DateOnly)
	}
	for _, entry := range spec.At("device_model_spec", "perf_reference").List() {
		targets, problems := perfref.Targets(f, entry, source)
		r.Targets = append(r.Targets, targets...)
		r.Problems = append(r.Problems, problems...)
	}
	return r
}

var specFile = regexp.MustCompile(`^(?:runtime_model_spec|tt_model_spec)_((\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_.+)\.json$`)

// specName reads the time stamp and the run id out of a spec's file name.
func specName(name string) (time.Time, string, bool) {
	m := specFile.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, "", false
	}
	t, err := time.Parse("2006-01-02_15-04-05", m[2])
	return t, m[1], err == nil
}

// readHarmonised reads a flat copy of another tool's result. A zero there means that the metric was absent.
func readHarmonised(f *decode.File) schema.Reading {
	v := f.Doc.Values[0]
	tool := toolOf(v, f.Path)
	r := schema.Reading{Format: Harmonised, Detail: "harmonised copy of " + tool}
	p := schema.Point{Key: schema.Key{Task: "text", Tool: tool, Concurrency: v.Get("max_concurrency").Ptr()}, Status: schema.StatusOK,
		Metrics: map[string]schema.Metric{}, Conditions: map[string]string{}, Source: f.Source(Harmonised)}
	if n := v.Get("num_prompts").Text(); n != "" {
		p.Conditions["num_prompts"] = n
	}
	if t := v.Get("tokenizer_id").Str(); t != "" && t != v.Get("model_id").Str() {
		p.Conditions["tokenizer"] = redact.Text(t)
	}
	ok, _ := v.Get("completed").Float()
	for _, fam := range []struct{ name, def string }{{"ttft", schema.DefFirstContent}, {"tpot", schema.DefExclFirst}, {"itl", schema.DefCopyOfTPOT}, {"e2el", schema.DefLastContent}} {
		m := schema.Metric{Unit: "ms", Def: fam.def, N: int(ok)}
		for _, stat := range []string{"mean", "median", "std", "p99"} {
			if x, have := v.Get(stat + "_" + fam.name + "_ms").Float(); have {
				m.Stats.Set(stat, x)
			}
		}
		if mean, have := m.Stats.Get("mean"); have && mean == 0 {
			m = schema.Metric{Unit: "ms", Def: fam.def, Why: "the file says 0, which this format writes for an absent metric"}
		}
		if fam.def == schema.DefCopyOfTPOT {
			continue // not a measurement of its own
		}
		if len(m.Stats) > 0 || m.Why != "" {
			p.Metrics[fam.name] = m
		}
	}
	single(&p, v, ok)
	if ok == 0 {
		p.Status = schema.StatusFailed
		q := f.Problem(schema.SevError, "all-failed", v.Get("completed"))
		q.Found, q.Used, q.Hint = "no request completed", "no number: the zeros in the file are not measurements", "look at the server's log of this point"
		r.Problems = append(r.Problems, q)
		for name, m := range p.Metrics {
			if name != "requests_ok" && name != "requests_failed" {
				p.Metrics[name] = schema.Metric{Unit: m.Unit, Def: m.Def, Why: "no request completed"}
			}
		}
	}
	r.Facts.Model.ID = v.Get("model_id").Str()
	if t, err := time.Parse("20060102-150405", v.Get("date").Str()); err == nil {
		r.Facts.Start, r.Facts.End, r.Facts.StartNote = t, t, "local time of the client, zone not stated"
		p.Start, p.End = t, t
	}
	r.Points = []schema.Point{p}
	return r
}

func single(p *schema.Point, v decode.Value, ok float64) {
	put := func(name, unit, def, from string, x float64) {
		m := schema.Metric{Unit: unit, Def: def, From: from}
		m.Stats.Set("value", x)
		p.Metrics[name] = m
	}
	for _, s := range [][4]string{{"output_token_throughput", "output_tps", "tok/s"}, {"total_token_throughput", "total_tps", "tok/s"}, {"request_throughput", "rps", "req/s"}} {
		if x, have := v.Get(s[0]).Float(); have && x > 0 {
			put(s[1], s[2], "", "", x)
		}
	}
	put("requests_ok", "req", "", "", ok)
	if asked, have := v.Get("num_prompts").Float(); have && asked >= ok {
		put("requests_failed", "req", "", "derived", asked-ok)
		if asked > ok && ok > 0 {
			p.Status = schema.StatusPartial
		}
	}
	if mean, have := p.Metrics["tpot"].Stats.Get("mean"); have && mean > 0 {
		put("tps_user", "tok/s", schema.DefRecipMeanTPOT, "", 1000/mean)
	}
	for _, t := range [][2]string{{"isl", "total_input_tokens"}, {"osl", "total_output_tokens"}} {
		if total, have := v.Get(t[1]).Float(); have && ok > 0 && total > 0 {
			m := schema.Metric{Unit: "tok", From: "derived"}
			m.Stats.Set("mean", total/ok)
			p.Metrics[t[0]] = m
		}
	}
}
