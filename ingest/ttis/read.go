package ttis

import (
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/perfref"
)

// Read reads a runtime spec or a harmonised result, or states what else the file is.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	switch m.Format {
	case Spec:
		return readSpec(f)
	case Harmonised:
		return readHarmonised(f)
	case ReportData:
		return readReport(f)
	case Statistics:
		return readStatistics(f, m)
	case Media:
		return readMedia(f)
	case MediaEval:
		return readMediaEval(f)
	}
	return schema.Reading{Format: m.Format, Detail: m.Detail}
}

// readSpec takes identity and targets from a runtime spec.
func readSpec(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Spec, Detail: "runtime spec"}
	spec := f.First.Get("runtime_model_spec")
	id := spec.Get("model_id").Str()
	r.Facts = schema.Facts{
		RunID:   f.First.At("runtime_config", "run_id").Str(),
		Release: spec.Get("version").Str(),
		Model: schema.Model{
			ID: spec.Get("hf_model_repo").Str(), Name: spec.Get("model_name").Str(), Status: spec.Get("status").Str(),
		},
		Impl:   spec.At("impl", "impl_name").Str(),
		Device: schema.Device{Name: strings.ToLower(spec.Get("device_type").Str())},
		Stack: schema.Stack{
			Engine: strings.ToLower(spec.Get("inference_engine").Str()), Image: redact.Text(spec.Get("docker_image").Str()),
			Commits: map[string]string{},
		},
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
	r.Acceptance.KnownIssues = knownIssues(f, spec.At("device_model_spec", "known_issues"))
	source := schema.Target{Source: f.Path, SHA256: f.SHA256}
	if !r.Facts.Start.IsZero() {
		source.AsOf = r.Facts.Start.Format(time.DateOnly)
	}
	for entry := range spec.At("device_model_spec", "perf_reference").Items() {
		targets, problems := perfref.Targets(f, entry, source)
		r.Targets = append(r.Targets, targets...)
		r.Problems = append(r.Problems, problems...)
	}
	return r
}

var specFile = regexp.MustCompile(`^(?:runtime_model_spec|tt_model_spec)_((\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_.+)\.json$`)

// specName reads the time stamp and the run id from a spec's file name.
func specName(name string) (time.Time, string, bool) {
	m := specFile.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, "", false
	}
	t, err := time.Parse("2006-01-02_15-04-05", m[2])
	return t, m[1], err == nil
}

// readHarmonised reads a flat copy of another tool's result. A zero there means that the metric was absent, and its
// "itl" is a copy of TPOT and no measurement.
func readHarmonised(f *decode.File) schema.Reading {
	v := f.First
	tool := toolOf(v, f.Path)
	r := schema.Reading{Format: Harmonised, Detail: "harmonised copy of " + tool}
	d := draft.New(f, &r, v, tool)
	d.Key.Concurrency = v.Get("max_concurrency").Ptr()
	d.Condition("num_prompts", v.Get("num_prompts").Text())
	if t := v.Get("tokenizer_id").Str(); t != v.Get("model_id").Str() {
		d.Condition("tokenizer", t)
	}
	ok := v.Get("completed").Float0()
	for _, fam := range []struct{ name, def string }{
		{"ttft", schema.DefFirstContent}, {"tpot", schema.DefExclFirst}, {"e2el", schema.DefLastContent},
	} {
		for _, stat := range []string{"mean", "median", "std", "p99"} {
			if x, have := v.Get(stat + "_" + fam.name + "_ms").Float(); have {
				d.Stat(fam.name, fam.def, stat, x)
			}
		}
		if mean, have := d.Metrics[fam.name].Stats.Get("mean"); have && mean == 0 {
			d.Missing(fam.name, fam.def, "the file says 0, which this format writes for an absent metric")
		}
		d.Size(fam.name, int(ok))
	}
	for metric, name := range map[string]string{
		"output_tps": "output_token_throughput", "total_tps": "total_token_throughput", "rps": "request_throughput",
	} {
		if x, have := v.Get(name).Float(); have && x > 0 {
			d.Value(metric, x)
		}
	}
	for metric, name := range map[string]string{"isl": "total_input_tokens", "osl": "total_output_tokens"} {
		if total, have := v.Get(name).Float(); have && ok > 0 && total > 0 {
			d.Derived(metric, "", "mean", total/ok)
		}
	}
	d.Requests(&ok, nil, v.Get("num_prompts").Ptr(), "")
	r.Facts.Model.ID = v.Get("model_id").Str()
	if t, note, ok := draft.ClientTime(v.Get("date")); ok {
		r.Facts.Start, r.Facts.End, r.Facts.StartNote = t, t, note
		d.Start, d.End = t, t
	}
	d.Foreign(v, isKnown)
	d.Done()
	return r
}

// isKnown reports the keys of a harmonised file that are read, or are copies of others.
var isKnown = draft.Names(`
	date backend model_id tokenizer_id num_prompts max_concurrency completed output_token_throughput
	total_token_throughput request_throughput total_input_tokens total_output_tokens mean_* median_* std_* p99_*`)
