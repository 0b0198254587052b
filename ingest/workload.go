package ingest

import (
	"fmt"
	"maps"
	"math"
	"path"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// applyWorkload fills in what the points' keys leave open. A stated tool replaces the one that follows from the
// format, and so does a task; a number that contradicts an earlier source is a problem.
func (r *result) applyWorkload(tool string, w manifest.Workload, conditions map[string]string, from schema.From) {
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		for _, c := range fillKey(p, w, string(from)) {
			r.report(schema.Problem{
				Severity: schema.SevWarning, Path: r.shown(), Code: codeContradiction, Found: c,
				Expected: "one value", Used: "the earlier one", Hint: "correct the one that is wrong",
			})
		}
		k := &p.Key
		if w.Task != "" && (k.Task == "" || k.Task == "text") {
			k.Task = w.Task
		}
		if tool != "" {
			k.Tool = tool
		}
		if k.Dims["structured"] == vllm.StructuredOn && w.Dims["structured"] != "" { // a share says more than "on"
			k.Dims = with(k.Dims, "structured", w.Dims["structured"])
		}
		k.Dims = withMissing(k.Dims, w.Dims)
		p.Conditions = withMissing(p.Conditions, conditions)
	}
}

// fillKey fills in the numbers and the dataset that a point's key leaves open, records which source stated them, and
// returns contradictions.
func fillKey(p *schema.Point, w manifest.Workload, from string) (contradictions []string) {
	k := &p.Key
	fill := func(name string, dst **float64, v *float64) {
		switch {
		case v == nil:
		case *dst == nil:
			*dst = v
			p.Stated = with(p.Stated, name, from)
		case **dst != *v:
			contradictions = append(contradictions,
				fmt.Sprintf("%s is %g by an earlier source and %g by the %s", name, **dst, *v, from))
		}
	}
	fill("isl", &k.ISL, w.ISL)
	fill("osl", &k.OSL, w.OSL)
	fill("concurrency", &k.Concurrency, w.Concurrency)
	fill("rate", &k.Rate, w.Rate)
	if k.Dataset == "" && w.Dataset != "" {
		k.Dataset = w.Dataset
		p.Stated = with(p.Stated, "dataset", from)
	}
	return contradictions
}

// with returns a copy of m with one more entry; readings may share maps.
func with(m map[string]string, name, v string) map[string]string {
	out := make(map[string]string, len(m)+1)
	maps.Copy(out, m)
	out[name] = v
	return out
}

// withMissing returns m with the entries of more that it lacks: m itself if it lacks none.
func withMissing(m, more map[string]string) map[string]string {
	for name, v := range more {
		if _, has := m[name]; !has {
			m = with(m, name, v)
		}
	}
	return m
}

// completeWorkloads reads lengths from names, or sets a label, if nothing else distinguishes a workload.
func (r *result) completeWorkloads() {
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		if !p.Key.Comparable() {
			fillKey(p, lengthsInName(path.Base(r.rel), p), string(schema.FromPath))
		}
		if !p.Key.Comparable() {
			p.Key.Dims = with(p.Key.Dims, schema.DimLabel, r.label(p))
			p.Stated = with(p.Stated, schema.DimLabel, string(schema.FromPath))
		}
		r.checkAnswerLength(p)
	}
}

// checkAnswerLength warns if the answers are not as long as requested: the model stopped early, and the point is not
// the workload of its key.
func (r *result) checkAnswerLength(p *schema.Point) {
	osl, ok := p.Value("osl", "mean")
	if !ok || p.Key.OSL == nil || *p.Key.OSL <= 0 || p.Key.LengthsVary() || p.Status == schema.StatusFailed ||
		math.Abs(osl / *p.Key.OSL - 1) <= .05 {
		return
	}
	r.report(schema.Problem{
		Severity: schema.SevWarning, Path: r.shown(), Code: "osl-mismatch",
		Found: fmt.Sprintf("answers of %.4g tokens on average where %.4g were asked for, in %s",
			osl, *p.Key.OSL, p.Key.Workload()),
		Expected: "the two within 5 %",
		Hint: "make the server ignore the end of the answer (ignore_eos), " +
			"or compare with runs of the same answer length only",
	})
}
