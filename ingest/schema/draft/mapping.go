package draft

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Field says what a format has under a key: a metric, its definition, and the factor from the file's unit to ours (0
// for 1). A format's fields are one table, which [Draft.Flat], [Draft.Blocks] and [Draft.Block] read.
type Field struct {
	Key, Metric, Def string
	Scale            float64
}

// Statistics that are kept of a distribution. The others stay in the raw file.
const (
	Usual = " mean median std min max p90 p95 p99 "
	Wide  = Usual + "p10 p25 p75 p99.9 "
	// of a rate, whose mean is the one number that is judged
	WithoutMean = " median std min max p90 p95 p99 p10 p25 p75 p99.9 "
)

// Flat reads statistics that are members of an object themselves: split takes a key apart into a statistic and the key
// of a field ("p99_ttft_ms" is p99 of ttft).
func (d *Draft) Flat(v decode.Value, split func(key string) (stat, of string, ok bool), fields []Field) {
	for i, m := range v.Members() {
		stat, of, ok := split(m.Key)
		for _, f := range fields {
			if ok && f.Key == of {
				v.MarkAt(i)
				d.Put(f, stat, m.Val)
			}
		}
	}
}

// Block reads the statistics of one distribution, as far as they are kept; count is the size of its sample.
func (d *Draft) Block(block decode.Value, kept string, f Field) {
	for _, m := range block.Members() {
		if stat, ok := schema.ParseStat(m.Key); ok && strings.Contains(kept, " "+stat+" ") {
			d.Put(f, stat, m.Val)
		}
	}
}

// Put sets one statistic of a field, where the value is a number.
func (d *Draft) Put(f Field, stat string, v decode.Value) {
	if x, ok := v.Float(); ok {
		if f.Scale != 0 {
			x *= f.Scale
		}
		d.Stat(f.Metric, f.Def, stat, x)
	}
}

// Of sets a metric that is one number from a value of the file, where it is one: the mean of a latency or a length, and
// the value of any other.
func (d *Draft) Of(metric string, v decode.Value) bool {
	stat := "value"
	if info, _ := schema.MetricByName(metric); info.Latency || info.Unit == "tok" {
		stat = "mean"
	}
	x, ok := v.Float()
	if ok {
		d.Stat(metric, "", stat, x)
	}
	return ok
}

// Fields takes what a table says of the members of an object: what each is for us, and the path to it. "|" is between
// the paths of versions, of which the first that has a value counts. What was set before stays, but for metrics.
//
//	rps: request_throughput|request_inthroughput  a metric that is one number
//	key isl: dataset.isl                          a part of the workload: isl osl concurrency rate, above 0; dataset
//	dim tp: tp_size                               a dimension of the workload
//	condition seed: seed                          a condition
//	fact model.id: model                          a fact about the run that nothing has stated before
func (d *Draft) Fields(v decode.Value, members map[string]string) {
	for target, paths := range members {
		found := false
		for path := range strings.SplitSeq(paths, "|") {
			x := v.Path(path)
			found = found || d.take(target, x)
		}
	}
}

func (d *Draft) take(target string, x decode.Value) bool {
	kind, name, _ := strings.Cut(target, " ")
	switch kind {
	case "key":
		return d.keyPart(name, x)
	case "dim":
		d.Dim(name, x.Text())
	case "condition":
		d.Condition(name, cmp.Or(d.Conditions[name], x.Text()))
	case "fact":
		to := manifest.Text(&d.Reading.Facts, name)
		*to = cmp.Or(*to, x.Text())
	default:
		return d.Of(target, x)
	}
	return x.Text() != ""
}

func (d *Draft) keyPart(name string, x decode.Value) bool {
	if name == "dataset" {
		d.Key.Dataset = cmp.Or(d.Key.Dataset, x.Str())
		return x.Str() != ""
	}
	var to **float64
	switch name {
	case "isl":
		to = &d.Key.ISL
	case "osl":
		to = &d.Key.OSL
	case "concurrency":
		to = &d.Key.Concurrency
	case "rate":
		to = &d.Key.Rate
	}
	if *to == nil && x.Float0() > 0 {
		*to = x.Ptr()
	}
	return *to != nil
}

// Flags is a command line as an object: {"--isl": "128"}, of each flag the first.
func Flags(argv []string) decode.Value {
	out := map[string]string{}
	for i, a := range argv {
		name, value, has := strings.Cut(a, "=")
		if !has && i+1 < len(argv) {
			value = argv[i+1]
		}
		if _, before := out[name]; !before && strings.HasPrefix(name, "-") {
			out[name] = value
		}
	}
	v, _ := decode.Of(out)
	return v
}

// MeanTokens sets the mean lengths from the totals that vLLM's client and its descendants write.
func (d *Draft) MeanTokens(v decode.Value, completed *float64) {
	for metric, name := range map[string]string{"isl": "total_input", "osl": "total_output"} {
		total := v.Number(name+"_tokens", name) // without _tokens before vLLM 0.5
		if total != nil && completed != nil && *completed > 0 {
			d.Stat(metric, "", "mean", *total / *completed)
		}
	}
}

// Fixed is a length whose least and most are one; nil for any other.
func Fixed(v decode.Value, least, most string) *float64 {
	a, b := v.Get(least).Ptr(), v.Get(most).Ptr()
	if a == nil || b == nil || *a != *b || *a <= 0 {
		return nil
	}
	return a
}

// Words splits the key of a statistic at the first of a separator: "p99_sequence_latency(ms)".
func Words(separator string) func(key string) (stat, of string, ok bool) {
	return func(key string) (stat, of string, ok bool) {
		stat, of, _ = strings.Cut(key, separator)
		stat, ok = schema.ParseStat(stat)
		return stat, of, ok
	}
}

// VLLM are the fields of vLLM's client and of what copies its definitions, with the factor to milliseconds.
func VLLM(scale float64) []Field {
	return []Field{
		{"ttft", "ttft", schema.DefFirstChunk, scale}, {"tpot", "tpot", schema.DefExclFirst, scale},
		{"itl", "itl", schema.DefChunkGap, scale}, {"e2el", "e2el", schema.DefLastChunk, scale},
	}
}

// scales are the factors from the units that tools write to ours.
var scales = map[string]map[string]float64{
	"ms": {
		"ms": 1, "milliseconds": 1, "s": 1000, "sec": 1000, "seconds": 1000, "us": 1e-3, "µs": 1e-3, "microseconds": 1e-3,
		"ns": 1e-6, "nanoseconds": 1e-6,
	},
	"s":     {"s": 1, "sec": 1, "seconds": 1, "ms": 1e-3, "ns": 1e-9, "min": 60, "h": 3600},
	"tok/s": {"tok/s": 1, "tokens/s": 1, "tok/min": 1. / 60, "ktok/s": 1000},
	"req/s": {"req/s": 1, "requests/s": 1, "req/min": 1. / 60, "rps": 1, "qps": 1},
	"%":     {"%": 1, "fraction": 100},

	"tok/step": {"tok/step": 1, "ratio": 1},
}

// Scale returns what a number in a unit is multiplied by to be in ours.
func Scale(theirs, ours string) (factor float64, ok bool) {
	if factor, ok = scales[ours][theirs]; !ok && theirs == ours {
		return 1, true
	}
	return factor, ok
}

// StatKey splits "p99.9_ttft_ms" into the statistic and the family, given the suffix with the unit. It does not use a
// regular expression, which took a third of the reading time, because it is called for every member of every file.
func StatKey(key, suffix string) (stat, family string, ok bool) {
	rest, ok := strings.CutSuffix(key, suffix)
	if !ok {
		return "", "", false
	}
	stat, family, _ = strings.Cut(rest, "_")
	switch family {
	case "ttft", schema.MetricTTFO, "tpot", "itl", "e2el", "e2e_latency":
		if stat, ok = schema.ParseStat(stat); ok {
			return stat, family, true
		}
	}
	return "", "", false
}

// Epoch reads seconds since 1970; the zero time for anything else.
func Epoch(v decode.Value) time.Time {
	s, ok := v.Float()
	if !ok || s <= 1e8 || s >= 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000)).UTC().Truncate(time.Second)
}

// Time reads a time in one of several layouts, to the second; the zero time for anything else.
func Time(text string, layouts ...string) time.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Truncate(time.Second)
		}
	}
	return time.Time{}
}

// LocalNote is the note of times that a client writes in its own zone, see [schema.Facts.StartNote].
const LocalNote = "local time of the client, zone not stated"

// ClientTime reads the date of vLLM's client and its descendants: the end of the run, in local time without a zone. The
// duration, in seconds, gives its start.
func ClientTime(f *schema.Facts, date, duration decode.Value) (ok bool) {
	end, err := time.Parse("20060102-150405", date.Str())
	if f.StartNote = LocalNote; err != nil {
		end, err = time.Parse(time.RFC3339, date.Str()) // of a tool that writes the same fields
		f.StartNote = ""
	}
	if err != nil {
		return false
	}
	f.End = end.UTC()
	f.Start = f.End
	if s, ok := duration.Float(); ok && s > 0 && s < 1e7 {
		f.Start = f.End.Add(-time.Duration(s * float64(time.Second))).Truncate(time.Second)
	}
	return true
}

// commitOf matches a commit of a repository of weights.
var commitOf = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

// Revision states which weights of a model were measured. A commit is a fact about the build; a branch or a tag, such
// as a step of training, is other weights and part of the model's name.
func Revision(f *schema.Facts, revision string) {
	switch {
	case revision == "" || revision == "main":
	case commitOf.MatchString(revision):
		f.Stack.Commits = map[string]string{schema.ModelCommit: revision}
	case f.Model.ID != "":
		f.Model.ID += "@" + strings.ReplaceAll(revision, "/", "-")
	}
}

// Score adds the score of a task to a reading and returns it, to be completed.
func Score(f *decode.File, r *schema.Reading, task, metric string, x float64) *schema.Score {
	r.Scores = append(r.Scores, schema.Score{
		Task: task, Metric: metric, Value: schema.Num(x), Stderr: schema.Missing("not in the file"),
		Source: f.Source(r.Format),
	})
	return &r.Scores[len(r.Scores)-1]
}
