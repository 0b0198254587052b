package draft

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Draft is a point that a reader is filling in.
type Draft struct {
	schema.Point
	File    *decode.File
	Reading *schema.Reading
	// In is the point's part of the file, for the position of problems. What is read of it is not foreign.
	In decode.Value

	Undated bool // of some requests TTFT or E2EL is not known: their client read late
	leftOut int  // metrics beyond mostMetrics
}

// mostMetrics is how many metrics a point keeps: they are looked up one after another.
const mostMetrics = 400

// Full reports that a point has as many metrics as it keeps, and counts one that is left out.
func (d *Draft) Full() bool {
	if len(d.Metrics) < mostMetrics {
		return false
	}
	d.leftOut++
	return true
}

// New starts a point of a tool; at is its part of the file.
func New(f *decode.File, r *schema.Reading, at decode.Value, tool string) *Draft {
	return &Draft{
		File: f, Reading: r, In: at.Track(),
		Point: schema.Point{
			Key: schema.Key{Task: "text", Tool: tool}, Status: schema.StatusOK,
			Conditions: map[string]string{}, Source: f.Source(r.Format),
		},
	}
}

func (d *Draft) set(metric, def, stat string, x float64, from schema.From) {
	if x-x != 0 {
		return // not finite
	}
	m, has := d.Metric(metric)
	if !has && d.Full() {
		return
	}
	m.Set(schema.Kind{Name: metric, Unit: schema.Unit(metric), Def: def, From: cmp.Or(from, m.Kind().From)})
	m.Stats.Set(stat, x)
	d.Metrics.Put(m)
}

// Stat sets one statistic of a distribution, in the metric's own unit. Values that are not finite are left out.
func (d *Draft) Stat(metric, def, stat string, x float64) { d.set(metric, def, stat, x, "") }

// Value sets a metric that is one number.
func (d *Draft) Value(metric string, x float64) { d.set(metric, "", "value", x, "") }

// Derived sets a metric that follows from others.
func (d *Draft) Derived(metric, def, stat string, x float64) {
	d.set(metric, def, stat, x, schema.FromDerived)
}

// Recomputed sets a metric that is one number, computed from per-request values.
func (d *Draft) Recomputed(metric string, x float64) {
	d.set(metric, "", "value", x, schema.FromRecomputed)
}

// Number returns a metric that is one number; nil where there is none.
func (d *Draft) Number(metric string) *float64 {
	if x, ok := d.Point.Value(metric, "value"); ok {
		return &x
	}
	return nil
}

// Missing sets the reason why a metric has no number.
func (d *Draft) Missing(metric, def, why string) {
	d.Metrics.Put(schema.NewMetric(schema.Kind{Name: metric, Unit: schema.Unit(metric), Def: def, Why: why}))
}

// Size sets the sample size of a metric that has numbers.
func (d *Draft) Size(metric string, n int) {
	if m, _ := d.Metric(metric); len(m.Stats) > 0 && n > 0 {
		m.N = n
		d.Metrics.Put(m)
	}
}

// Condition keeps a condition that affects the numbers in addition to the workload, without secrets.
func (d *Draft) Condition(name, value string) {
	if value != "" && len(value) <= longest {
		d.Conditions[name] = redact.Field(name, value)
	}
}

// Dim sets a dimension, which makes the point a different workload.
func (d *Draft) Dim(name, value string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	if d.Key.Dims == nil {
		d.Key.Dims = map[string]string{}
	}
	d.Key.Dims[name] = redact.Field(name, value)
}

// Problem adds a problem at a place in the file. details are, in this order, what is expected, what is used, a hint.
func (d *Draft) Problem(severity schema.Severity, code string, at decode.Value, found string, details ...string) {
	Problem(d.File, d.Reading, severity, code, at, found, details...)
}

// Problem is the same for a problem of a whole file.
func Problem(
	f *decode.File, r *schema.Reading, severity schema.Severity, code string, at decode.Value, found string,
	details ...string,
) {
	p := f.Problem(severity, code, at)
	p.Found = found
	for i, to := range []*string{&p.Expected, &p.Used, &p.Hint} {
		if i < len(details) {
			*to = details[i]
		}
	}
	r.Problems = append(r.Problems, p)
}

// Requests sets how many requests completed and failed, where they are known, and decides the status. asked is how
// many were to be sent: if failures are not stated, the missing ones failed. what is appended to the message, for the
// text of the first failure.
func (d *Draft) Requests(ok, failed, asked *float64, what string) {
	if ok != nil {
		d.Value("requests_ok", *ok)
	}
	switch {
	case failed != nil:
		d.Value("requests_failed", *failed)
	case ok != nil && asked != nil && *asked >= *ok:
		failed = new(*asked - *ok)
		d.Derived("requests_failed", "", "value", *failed)
	}
	good, bad := *cmp.Or(ok, new(0.)), *cmp.Or(failed, new(0.))
	if bad > 0 {
		d.Derived("error_rate", "", "value", 100*bad/(good+bad))
	}
	switch {
	case (ok != nil && good == 0) || (ok == nil && bad > 0):
		d.Fail("no request completed")
		d.Problem(schema.SevError, "all-failed", d.In, "no request completed"+what, "at least one",
			"no value: zeros in the file are not measurements", "look at the client's and the server's log of this point")
	case bad > 0:
		d.Status = schema.StatusPartial
		d.Problem(schema.SevWarning, "partly-failed", d.In,
			fmt.Sprintf("%.0f of %.0f requests failed%s", bad, good+bad, what), "none",
			"the statistics of those that completed",
			"compare this point with care: the requests that fail are often the slow ones")
	}
}

// Fail makes every latency and rate a missing number with a reason: its own, where why it has none is known already.
func (d *Draft) Fail(why string) {
	d.Status = schema.StatusFailed
	for i := range d.Metrics {
		if m := &d.Metrics[i]; isMeasurement(m.Name()) && (len(m.Stats) > 0 || m.Kind().Why == "") {
			*m = m.Without(why)
		}
	}
}

// Invalid leaves a point without its latencies, which the client itself says are none.
func (d *Draft) Invalid(code string, at decode.Value, found string, details ...string) {
	d.Status = schema.StatusInvalid
	d.Problem(schema.SevWarning, code, at, found, details...)
	for i := range d.Metrics {
		switch m := &d.Metrics[i]; m.Name() {
		case "ttft", "tpot", "itl", "e2el", schema.MetricTTFO:
			*m = m.Without(found)
		}
	}
}

// isMeasurement reports speeds and times, which a failed point does not have; counts are not measurements.
func isMeasurement(metric string) bool {
	return metric != "requests_ok" && metric != "requests_failed" && metric != "error_rate" && metric != "duration_s"
}

// distributions are the metrics whose zero means that they were not measured, and that cannot be negative.
const distributions = " ttft tpot itl ntpot e2el tps_user output_tps total_tps input_tps rps startup_s duration_s "

// zeroWhy is why a metric that the file states as 0 has no number.
const zeroWhy = "the file says 0, which is not measured"

// Done completes the point and adds it to the reading. Its time is the run's where it has none of its own. Of more
// points than are read from one file only one is added, which package ingest reports.
func (d *Draft) Done() {
	if len(d.Reading.Points) > d.File.Limits().Results {
		return
	}
	if d.Start.IsZero() {
		d.Start, d.End = d.Reading.Facts.Start, d.Reading.Facts.End
	}
	if d.leftOut > 0 {
		d.Problem(schema.SevWarning, "many-metrics", d.In, fmt.Sprintf("%d more metrics", d.leftOut),
			fmt.Sprintf("at most %d of a measurement", mostMetrics), "the first of them")
	}
	d.withoutNumber()
	// GenAI-Perf writes -1 if no service level was requested
	if x := d.Number("goodput_rps"); x != nil && *x < 0 {
		d.Metrics.Drop("goodput_rps")
	}
	d.withoutZeros()
	if d.End.Before(d.Start) {
		d.End = d.Start
	}
	d.impossible()
	d.wholeAnswers()
	user, _ := d.Metric("tps_user")
	if tpot, _ := d.Metric("tpot"); tpot.Kind().Def == schema.DefExclFirst && len(user.Stats) == 0 {
		if mean, ok := tpot.Stats.Get("mean"); ok && mean > 0 {
			d.Stat("tps_user", schema.DefRecipMeanTPOT, "value", 1000/mean)
		} else if median, ok := tpot.Stats.Get("median"); ok && median > 0 { // a file without means
			d.Stat("tps_user", schema.DefRecipMedianTPOT, "value", 1000/median)
		}
	}
	d.sizes()
	// without spare capacity: tens of thousands of points are held at once
	d.Metrics = slices.Clone(d.Metrics)
	for i := range d.Metrics {
		d.Metrics[i].Stats = slices.Clone(d.Metrics[i].Stats)
	}
	d.Reading.Points = append(d.Reading.Points, d.Point)
}

// withoutZeros makes numbers missing that mean "not measured", or cannot be.
func (d *Draft) withoutZeros() {
	for i := range d.Metrics {
		m := &d.Metrics[i]
		name := m.Name()
		if len(m.Stats) == 0 || !strings.Contains(distributions, " "+name+" ") {
			continue
		}
		zero, negative := true, 0. // of what cannot be negative
		for _, x := range m.Stats {
			if zero = zero && x.Value == 0; !x.Is("std") {
				negative = math.Min(negative, x.Value)
			}
		}
		switch {
		case negative < -1e-3:
			d.Problem(schema.SevWarning, "negative", d.In, fmt.Sprintf("%s of %.6g %s", name, negative, m.Kind().Unit),
				"zero or more", "no value of this metric",
				"the client's clock was changed, or the tool subtracted a value that it had not measured")
			*m = m.Without("the file has a negative number")
		case zero || negative < 0:
			*m = m.Without(zeroWhy)
		}
	}
}

// sizes fills in the sample size of latencies, and from it the standard error of a mean.
func (d *Draft) sizes() {
	if n := d.Number("requests_ok"); n != nil && d.Status != schema.StatusFailed {
		for _, name := range []string{"ttft", "e2el"} {
			m, _ := d.Metric(name)
			if len(m.Stats) == 0 || m.N != 0 || m.Kind().From != "" || *n < 1 {
				continue
			}
			m.N = int(*n)
			if std, ok := m.Stats.Get("std"); ok && m.N > 1 { // of the population
				m.SetDetail(schema.Detail{SE: schema.Num(std / math.Sqrt(float64(m.N-1)))})
			}
			d.Metrics.Put(m)
		}
	}
}

// wholeAnswers drops a TTFT that equals the end of the answer and has no gaps after it: the client did not stream.
func (d *Draft) wholeAnswers() {
	tpot, _ := d.Metric("tpot")
	itl, _ := d.Metric("itl")
	if osl, ok := d.Point.Value("osl", "mean"); !ok || osl < 2 || len(tpot.Stats)+len(itl.Stats) > 0 {
		return
	}
	for _, stat := range []string{"mean", "median"} {
		ttft, a := d.Point.Value("ttft", stat)
		e2el, b := d.Point.Value("e2el", stat)
		if a && b && ttft >= .999*e2el {
			m, _ := d.Metric("ttft")
			d.Metrics.Put(m.Without("the file's TTFT is the whole answer: it was not streamed"))
			return
		}
	}
}

// Runs collects what one file states about several runs, in order of occurrence. K identifies a run.
type Runs[K comparable] struct {
	byKey map[K]*schema.Reading
	order []*schema.Reading
	file  *schema.Reading
	from  schema.Reading
}

// RunsOf begins the runs of the reading of a file.
func RunsOf[K comparable](r *schema.Reading) *Runs[K] {
	return &Runs[K]{map[K]*schema.Reading{}, nil, r, schema.Reading{Format: r.Format, Detail: r.Detail}}
}

// Of returns the reading of a run, which has the facts if it is new.
func (r *Runs[K]) Of(key K, facts schema.Facts) *schema.Reading {
	if r.byKey[key] == nil {
		begun := r.from
		begun.Facts = facts
		r.byKey[key] = &begun
		r.order = append(r.order, &begun)
	}
	return r.byKey[key]
}

// Add adds the points and problems of a reading to those of a run, which it returns.
func (r *Runs[K]) Add(key K, part schema.Reading) *schema.Reading {
	to := r.Of(key, part.Facts)
	to.Points, to.Problems = append(to.Points, part.Points...), append(to.Problems, part.Problems...)
	return to
}

// Len returns the number of runs.
func (r *Runs[K]) Len() int { return len(r.order) }

// Join makes the reading of the file the first one with the others in More, or an empty one if there are none. It keeps
// the problems of the file.
func (r *Runs[K]) Join(detail string) {
	problems, out := r.file.Problems, r.from
	for i, one := range r.order {
		if i == 0 {
			out = *one
		} else {
			out.More = append(out.More, *one)
		}
	}
	out.Detail, out.Problems = detail, append(out.Problems, problems...)
	*r.file = out
}

// slack is how far rounding may carry a number beyond its bound: tools write two decimals.
const slack = 1.001

// impossible voids the numbers that cannot be: counts below nothing, a mean outside its extremes, percentiles that
// fall, a first token after the end of the answer. One of them is wrong, and nothing says which.
func (d *Draft) impossible() {
	for _, name := range []string{"requests_ok", "requests_failed", "isl", "osl"} {
		m, _ := d.Metric(name)
		for _, s := range m.Stats {
			if s.Value < 0 {
				d.void(fmt.Sprintf("%s of %.6g", name, s.Value), "a value of 0 or more", name)
				break
			}
		}
	}
	for i := range d.Metrics {
		k := d.Metrics[i].Kind()
		if x, is := d.Metrics[i].Stats.Beyond(); is && !schema.IsOwn(k.Name) {
			d.void(fmt.Sprintf("%s of %.6g %s", k.Name, x, k.Unit), "what a machine can reach", k.Name)
		}
		if a, b, found := outOfOrder(d.Metrics[i].Stats); found {
			d.void(fmt.Sprintf("%s: %s %.6g above %s %.6g", k.Name, a.Name(), a.Value, b.Name(), b.Value),
				"a "+a.Name()+" of no more than the "+b.Name(), k.Name)
		}
	}
	for _, stat := range []string{"mean", "median", "min", "max"} {
		if d.Undated { // the ones are of other requests than the others
			break
		}
		ttft, a := d.Point.Value("ttft", stat)
		e2el, b := d.Point.Value("e2el", stat)
		if a && b && ttft > slack*e2el && e2el > 0 {
			d.void(fmt.Sprintf("%s TTFT of %.6g ms and %s E2EL of %.6g ms", stat, ttft, stat, e2el),
				"the first token before the end of the answer", "ttft", "e2el")
			break
		}
	}
}

// outOfOrder finds two statistics of a distribution that cannot both be: the first ought not to be larger.
func outOfOrder(s schema.Stats) (a, b schema.Stat, found bool) {
	for _, pair := range [][2]string{
		{"mean", "max"}, {"min", "mean"}, {"median", "max"}, {"min", "median"}, {"median", "p90"}, {"median", "p95"},
		{"median", "p99"}, {"p90", "p95"}, {"p90", "p99"}, {"p95", "p99"}, {"p99", "max"},
	} {
		x, ok := s.Get(pair[0])
		y, ok2 := s.Get(pair[1])
		if ok && ok2 && x > slack*y && x-y > 1e-3 {
			return schema.NewStat(pair[0], x), schema.NewStat(pair[1], y), true
		}
	}
	return a, b, false
}

// void takes numbers out of the point and says why.
func (d *Draft) void(found, expected string, metrics ...string) {
	d.Problem(schema.SevError, "impossible", d.In, found, expected, "no number of it",
		"the file was edited or damaged, or the tool has a defect")
	for _, name := range metrics {
		if m, ok := d.Metric(name); ok {
			d.Metrics.Put(m.Without("the file has numbers that cannot be: " + found))
		}
	}
}

// withoutNumber leaves a failed point without numbers, and fails one whose latencies and rates are all 0: a client that
// ended early or received nothing writes them. It was attempted, which is not the same as one that nobody measured.
func (d *Draft) withoutNumber() {
	switch d.Status {
	case schema.StatusFailed:
		d.Fail("no request completed")
		return
	case schema.StatusInvalid:
		return
	}
	var zeros []string
	for i := range d.Metrics {
		name, stats := d.Metrics[i].Name(), d.Metrics[i].Stats
		if len(stats) == 0 || !isMeasurement(name) || name == "isl" || name == "osl" {
			continue // counts and lengths say what was sent, not how fast
		}
		for _, s := range stats {
			if s.Value != 0 {
				return
			}
		}
		if !strings.Contains(distributions, " "+name+" ") {
			return // a metric whose 0 is a number
		}
		zeros = append(zeros, name)
	}
	if len(zeros) == 0 {
		return
	}
	slices.Sort(zeros)
	d.Fail(zeroWhy)
	d.Problem(schema.SevWarning, "only-zeros", d.In, "0 for every latency and rate: "+strings.Join(zeros, ", "),
		"a measurement above 0", "an attempted measurement without a number",
		"the client may have ended early, or received no answers; look at its log and the server's")
}
