package mlperf

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format   = "mlperf"
	Accuracy = "mlperf-accuracy" // a run that measures no speed
)

const title = "MLPerf Results Summary"

// Detect looks for the title and the scenario.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "summary of the load generator"}}
	if f.Form != decode.Text {
		m.Lacks = []string{"a text"}
		return m.Match
	}
	head := f.Data[:min(len(f.Data), 4096)]
	m.Want(bytes.Contains(head, []byte(title)), title)
	m.Want(bytes.Contains(head, []byte("Scenario :")), "Scenario :")
	if m.OK() && bytes.Contains(head, []byte("AccuracyOnly")) {
		m.Format, m.Detail = Accuracy, "not a result: a run for accuracy"
	}
	return m.Match
}

// Read returns the point of a summary.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	if m.Format == Accuracy {
		return r
	}
	values := map[string]string{}
	for line := range bytes.Lines(f.Data) {
		label, value, ok := strings.Cut(string(bytes.TrimSpace(line)), ":")
		label = strings.ToLower(strings.Join(strings.Fields(label), " "))
		if _, has := values[label]; ok && !has && len(values) < 300 && len(label) < 80 {
			values[label] = strings.TrimSpace(value)
		}
	}
	d := draft.New(f, &r, decode.Value{}, "mlperf")
	d.Dim("scenario", values["scenario"])
	distributions(d, values)
	rates(d, values)
	switch {
	case values["result is"] == "":
		d.Status = schema.StatusPartial
		report(f, &r, schema.SevWarning, "truncated", "a summary that does not say whether the result is valid")
	case values["result is"] != "VALID":
		d.Status = schema.StatusInvalid
		report(f, &r, schema.SevWarning, "invalid-by-tool",
			"the load generator calls the result "+values["result is"]+reasons(f.Data))
	}
	for _, name := range []string{
		"samples_per_query", "min_duration (ms)", "min_query_count", "performance_sample_count",
	} {
		if v := values[name]; v != "" {
			d.Condition(name, v)
		}
	}
	d.Keep("sut", values["sut name"])
	if said := values["result is"]; said != "" {
		r.Detail += ", " + said
		d.Keep("run_result", said) // what the load generator says of the run
	}
	identify(f.Path, &r)
	d.Done()
	return r
}

// reasons quotes why a result is not valid: the constraints that were not satisfied, and what is recommended.
func reasons(text []byte) string {
	var out []string
	inAdvice := false
	for line := range bytes.Lines(text) {
		line := strings.TrimSpace(string(line))
		label, value, _ := strings.Cut(line, ":")
		label, value = strings.TrimSpace(label), strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(line, "====") && inAdvice, len(out) == mostReasons:
			return join(out)
		case strings.HasSuffix(label, "satisfied") && strings.EqualFold(value, "no"):
			out = append(out, label+": no")
		case strings.EqualFold(label, "Recommendations"):
			inAdvice = true
		case inAdvice && strings.HasPrefix(line, "*"):
			out = append(out, strings.TrimSpace(strings.TrimLeft(line, "* ")))
		}
	}
	return join(out)
}

// mostReasons is how many reasons of one result are quoted.
const mostReasons = 8

func join(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return ": " + strings.Join(reasons, "; ")
}

func report(f *decode.File, r *schema.Reading, severity schema.Severity, code, found string) {
	r.Problems = append(r.Problems, schema.Problem{
		Severity: severity, Path: f.Path, Code: code, Found: found, Expected: "Result is : VALID", Used: "no verdict",
	})
}

var percentile = regexp.MustCompile(
	`^(\d+(?:\.\d+)?)(?:th)? percentile (latency|first token latency|time to output token) \(ns\)$`)

// distributions reads the latencies. A query of the stream scenarios is a request; in Offline all samples are one
// query, and its latency is the length of the run.
func distributions(d *draft.Draft, values map[string]string) {
	if strings.EqualFold(values["scenario"], "offline") {
		return
	}
	families := map[string][2]string{
		"latency": {"e2el", schema.DefLastContent}, "first token latency": {"ttft", schema.DefFirstContent},
		"time to output token": {"tpot", schema.DefExclFirst}, "time per output token": {"tpot", schema.DefExclFirst},
	}
	for label, text := range values {
		ns, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		if m := percentile.FindStringSubmatch(label); m != nil {
			p := strings.TrimSuffix(strings.TrimRight(m[1], "0"), ".")
			if !strings.Contains(m[1], ".") {
				p = m[1]
			}
			if p = "p" + p; p == "p50" {
				p = "median"
			}
			d.Stat(families[m[2]][0], families[m[2]][1], p, ns/1e6)
			continue
		}
		stat, rest, _ := strings.Cut(label, " ")
		if of, ok := families[strings.TrimSuffix(rest, " (ns)")]; ok && (stat == "min" || stat == "max" || stat == "mean") {
			d.Stat(of[0], of[1], stat, ns/1e6)
		}
	}
}

// rates reads throughputs, and the load that was asked for.
func rates(d *draft.Draft, values map[string]string) {
	number := func(labels ...string) (float64, bool) {
		for _, l := range labels {
			if x, err := strconv.ParseFloat(values[l], 64); err == nil && x-x == 0 {
				return x, true
			}
		}
		return 0, false
	}
	scenario := strings.ToLower(values["scenario"])
	completed := []string{"completed samples per second", "samples per second", "qps w/o loadgen overhead"}
	if x, ok := number(completed...); ok {
		d.Value("rps", x)
	}
	if x, ok := number("completed tokens per second", "tokens per second", "tps w/o loadgen overhead"); ok {
		d.Value("output_tps", x)
	}
	switch target, ok := number("target_qps"); {
	case scenario == "server" && ok && target > 0:
		d.Key.Rate = &target
	case scenario == "singlestream":
		one := 1.
		d.Key.Concurrency = &one
	case scenario == "multistream":
		if n, ok := number("samples_per_query"); ok && n > 0 {
			d.Key.Concurrency = &n
		}
	}
}

// place is the path of a result within a submission.
var place = regexp.MustCompile(
	`(?i)(?:^|/)([^/]+)/([^/]+)/(offline|server|interactive|singlestream|multistream)/performance/`)

// identify reads system and benchmark from the folders. The benchmark stands for the data set too.
func identify(path string, r *schema.Reading) {
	m := place.FindStringSubmatch(path)
	if m == nil {
		return
	}
	r.Facts.Device.Name, r.Facts.Model.Name = m[1], m[2]
	for i := range r.Points {
		r.Points[i].Key.Dataset = m[2]
	}
}
