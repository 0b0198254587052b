package library

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// requirements reads a requirements document, schemaVersion 2.x (tt-inference-server, pull request 4898 and its
// successors): the evals with their reference scores, and for each scenario a sweep of points with expected values
// and scalar targets. Identity is at the top level, or since 2.6 in an object called document. must is required
// whatever the model's status; should is informational.
//
// What is not read: service levels of a request (they define goodput, which tools compute with the levels they are
// given), agentic sweeps, reference curves.
func (r *reader) requirements(root decode.Value) {
	version := root.Get("schemaVersion").Text()
	if major, _, _ := strings.Cut(version, "."); major != "2" {
		r.at = root.Get("schemaVersion")
		r.problem(schema.SevError, "unknown-version", "requirements document of version "+version, "2.x", "", "")
		return
	}
	doc := root
	if e := root.Get("document"); e.Kind() == decode.Object {
		doc = e
	}
	name := doc.At("model", "name").Str()
	if name == "" {
		r.problem(schema.SevError, "bad-targets", "a requirements document without model.name", "model.name", "", "")
		return
	}
	r.model = name[strings.LastIndexByte(name, '/')+1:]
	r.device = cmp.Or(strings.ToLower(doc.At("deployment", "hardware").Str()), anyDevice)
	r.at = doc.Get("deployment")
	r.isDevice(r.model, r.device)
	for e := range root.Get("accuracyEvals").Items() {
		r.accuracy(e)
	}
	for _, list := range []string{"scenarios", "workloads"} {
		for s := range root.Get(list).Items() {
			r.scenario(s)
		}
	}
}

// required turns to an entry and reads must or should; the document's default is must.
func (r *reader) required(v decode.Value) (string, bool) {
	r.at = v
	p := cmp.Or(strings.ToLower(v.Get("priority").Str()), "must")
	if p == "must" || p == "should" {
		return p, true
	}
	r.refuse("bad-target", "priority "+p, "must or should")
	return "", false
}

func (r *reader) accuracy(v decode.Value) {
	priority, ok := r.required(v)
	value, has := v.Get("gpuReferenceScore").Float()
	if !has {
		value, has = v.Get("publishedScore").Float()
	}
	switch name := v.Get("name").Str(); {
	case !ok:
	case name == "":
		r.refuse("bad-target", "an eval without a name", "name")
	case !has || value == 0:
		r.problem(schema.SevNote, "no-reference", name+" without a reference score", "gpuReferenceScore or publishedScore",
			"nothing of it", "")
	default:
		t := r.source
		t.Key, t.Stat, t.Level = schema.EvalKey(&schema.Score{Task: name}), "value", schema.LevelReference
		t.Value, t.Priority, t.Tolerance = value, priority, .05
		if tol, stated := v.Get("tolerance").Float(); stated {
			t.Tolerance = tol
		}
		t.Scores = &schema.ReferenceScores{
			GPU: v.Get("gpuReferenceScore").Float0(), Published: v.Get("publishedScore").Float0(),
		}
		r.take(r.model, r.device, row{t, requirements})
	}
}

// sweepValues maps the expected values of a sweep point to our metrics.
var sweepValues = []struct{ theirs, metric, stat string }{
	{"ttftMeanMs", "ttft", "mean"}, {"ttftP50Ms", "ttft", "median"}, {"ttftP99Ms", "ttft", "p99"},
	{"tpotMeanMs", "tpot", "mean"}, {"tpotP50Ms", "tpot", "median"}, {"tpotP99Ms", "tpot", "p99"},
	{"e2elMeanMs", "e2el", "mean"}, {"e2elP50Ms", "e2el", "median"}, {"e2elP99Ms", "e2el", "p99"},
	{"decodeThroughputTps", "output_tps", "value"}, {"totalThroughputTps", "total_tps", "value"}, {"reqThroughputRps",
		"rps", "value"},
}

// scenario reads the sweep's expected values and the scalar targets: a latency target holds at every point of the
// sweep, a rate target at the point of the highest concurrency, where the rate is highest.
func (r *reader) scenario(s decode.Value) {
	if kind := s.Get("kind").Str(); kind != "" && kind != "text" {
		r.at = s
		r.problem(schema.SevNote, "not-read", "a scenario of kind "+kind, "text", "nothing of it", "")
		return
	}
	var keys []schema.Key
	top := 0
	for p := range s.Get("sweep").Items() {
		r.at = p
		k := schema.Key{Task: "text", ISL: p.Get("isl").Ptr(), OSL: p.Get("osl").Ptr(),
			Concurrency: p.Get("concurrency").Ptr()}
		if k.ISL == nil || k.OSL == nil || k.Concurrency == nil {
			r.refuse("bad-target", "a sweep point without isl, osl or concurrency", "all three")
			continue
		}
		keys = append(keys, k)
		if *k.Concurrency > *keys[top].Concurrency {
			top = len(keys) - 1
		}
		for _, m := range sweepValues {
			if v, ok := p.Get(m.theirs).Float(); ok {
				r.put(k, m.metric, m.stat, v, "should")
			}
		}
	}
	for t := range s.Get("scalarTargets").Items() {
		r.scalar(t, keys, top)
	}
}

func (r *reader) scalar(t decode.Value, keys []schema.Key, top int) {
	priority, ok := r.required(t)
	theirs := t.Get("metric").Str()
	metric, known := map[string]string{
		"system_throughput": "output_tps", "output_throughput": "output_tps", "total_throughput": "total_tps",
		"request_throughput": "rps", "request_goodput": "goodput_rps", "user_throughput": "tps_user",
		"ttft": "ttft", "tpot": "tpot", "e2el": "e2el",
	}[strings.ToLower(theirs)]
	value, has := t.Get("target").Float()
	comparator := cmp.Or(strings.ToLower(t.Get("comparator").Str()), "gte")
	info, _ := schema.MetricByName(metric)
	leaveOut := func(code, found, expected string) {
		r.problem(schema.SevWarning, code, found, expected, "nothing of it", "")
	}
	switch {
	case !ok:
	case !known:
		leaveOut("unknown-metric", "scalar target on "+theirs, "a metric that tools measure")
	case !has:
		r.refuse("bad-target", "a scalar target without a value", "target")
	case comparator != "gte" && comparator != "lte":
		r.refuse("bad-target", "comparator "+comparator, "gte or lte")
	case (comparator == "gte") != (info.Better == schema.Higher):
		leaveOut("bad-target", metric+" "+comparator+", against the direction in which it improves", info.Better.String())
	case len(keys) == 0:
		leaveOut("bad-target", "a scalar target of a scenario without a sweep", "a sweep with its workloads")
	default:
		if value, ok = r.inUnit(t, value, info.Unit); !ok {
			return
		}
		if info.Better == schema.Higher {
			r.put(keys[top], metric, "value", value, priority)
			return
		}
		stat := strings.ToLower(t.Get("statistic").Str())
		if name, ok := schema.ParseStat(cmp.Or(stat, "mean")); ok {
			stat = name
		}
		for _, k := range keys {
			r.put(k, metric, stat, value, priority)
		}
	}
}

// inUnit returns a value in our unit of its metric: seconds become milliseconds. An unknown unit is refused, because
// a limit in the wrong unit is met by everything or by nothing.
func (r *reader) inUnit(t decode.Value, value float64, ours string) (float64, bool) {
	unit := strings.ToLower(t.Get("unit").Str())
	names := map[string][]string{"ms": {"ms", "milliseconds"}, "tok/s": {"tok/s", "tokens/s", "tps", "t/s",
		"tokens/sec", "tok/sec", "tokens/second", "tok/s/user", "tokens/s/user", "t/s/u"},
		"req/s": {"req/s", "requests/s", "rps", "qps", "requests/sec", "requests/second"}}
	switch {
	case unit == "" || slices.Contains(names[ours], unit):
		return value, true
	case ours == "ms" && slices.Contains([]string{"s", "sec", "seconds"}, unit):
		return value * 1000, true
	}
	r.refuse("bad-target", "unit "+unit, ours)
	return 0, false
}

func (r *reader) put(k schema.Key, metric, stat string, value float64, priority string) {
	t := r.source
	t.Key, t.Metric, t.Stat, t.Value, t.Unit = k, metric, stat, value, schema.Unit(metric)
	t.Level, t.Priority = schema.LevelTarget, priority
	r.take(r.model, r.device, row{t, requirements})
}
