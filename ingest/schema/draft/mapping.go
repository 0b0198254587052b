package draft

import (
	"cmp"
	"encoding/csv"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Field says what a format has under a key: a metric, its definition, and the factor from the file's unit to ours (0
// for 1). A format's fields are one table, which [Draft.Flat] and [Draft.Block] read.
type Field struct {
	Key, Metric, Def string
	Scale            float64
}

// Stat is the statistic that the name of a member says, where the key is how such names are made: "{}_ttft_ms", with
// "|" between several. There is no regular expression, which took a third of the reading time.
func (f Field) Stat(name string) (stat string, ok bool) {
	for form := range strings.SplitSeq(f.Key, "|") {
		before, after, _ := strings.Cut(form, "{}")
		rest, begins := strings.CutPrefix(name, before)
		rest, ends := strings.CutSuffix(rest, after)
		if begins && ends {
			if stat, ok = schema.ParseStat(rest); ok {
				return stat, true
			}
		}
	}
	return "", false
}

// StatIn is the first member of an object that is a statistic of fields; "" for none.
func StatIn(v decode.Value, fields ...Field) string {
	for _, m := range v.Members() {
		for _, f := range fields {
			if _, ok := f.Stat(m.Key); ok {
				return m.Key
			}
		}
	}
	return ""
}

// Statistics that are kept of a distribution. The others stay in the raw file.
const (
	Usual = " mean median std min max p90 p95 p99 "
	Wide  = Usual + "p10 p25 p75 p99.9 "
	// of a rate, whose mean is the one number that is judged
	WithoutMean = " median std min max p90 p95 p99 p10 p25 p75 p99.9 "
)

// Flat reads statistics that are members of an object themselves.
func (d *Draft) Flat(v decode.Value, fields []Field) {
	for i, m := range v.Members() {
		for _, f := range fields {
			if stat, ok := f.Stat(m.Key); ok {
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

// Of sets a statistic of a metric from a value of the file, where it is a number. It is said in words as "ttft p95 s
// first-content": the metric, then what is not usual. Usual are the mean of a latency or a length and the value of any
// other, our unit, and no definition.
func (d *Draft) Of(metric string, v decode.Value) bool {
	_, ok := v.Float()
	if ok {
		f, stat := field(metric, "")
		d.Put(f, stat, v)
	}
	return ok
}

// Table are the fields of texts such as "ttft s first-content: time_to_first_token": words and a key.
func Table(texts ...string) (out []Field) {
	for _, text := range texts {
		words, key, _ := strings.Cut(text, ": ")
		f, _ := field(words, key)
		out = append(out, f)
	}
	return out
}

// Above takes metrics of an object where they are above 0, of clients that write 0 for what is absent. Of several
// members, with "|" between them, the last counts.
func (d *Draft) Above(v decode.Value, members map[string]string) {
	for metric, names := range members {
		for name := range strings.SplitSeq(names, "|") {
			if x := v.Get(name); x.Float0() > 0 {
				d.Of(metric, x)
			}
		}
	}
}

// field is what such words say of the members that are called by a key.
func field(words, key string) (f Field, stat string) {
	name, more, _ := strings.Cut(words, " ")
	info, _ := schema.MetricByName(name)
	f.Key, f.Metric, stat = key, name, "value"
	if info.Latency || info.Unit == "tok" {
		stat = "mean"
	}
	for word := range strings.FieldsSeq(more) {
		if schema.IsStat(word) {
			stat = word
		} else if factor, isUnit := Scale(word, info.Unit); isUnit {
			f.Scale = factor
		} else {
			f.Def = word
		}
	}
	return f, stat
}

// Fields takes what a table says of the members of an object: what each is for us, and the path to it. "|" is between
// the paths of versions, of which the first that has a value counts. What was set before stays, but for metrics.
//
//	rps: request_throughput|request_inthroughput  a metric, in the words of [Draft.Of]
//	ttft s first-content: {}_ttft_s               its statistics, which the members' names say in place of {}
//	key isl: dataset.isl                          a part of the workload: isl osl concurrency rate, above 0; dataset
//	dim mode: mode                                a dimension of the workload
//	degree tp: tp_size                            one that a number above 1 makes, as of parallelism
//	condition seed: seed                          a condition
//	fact model.id: model                          a fact about the run that nothing has stated before
func (d *Draft) Fields(v decode.Value, members map[string]string) {
	for target, paths := range members {
		if strings.Contains(paths, "{}") {
			f, _ := field(target, paths)
			d.Flat(v, []Field{f})
			continue
		}
		first(v, paths, func(x decode.Value) bool { return d.take(target, x) })
	}
}

// Facts takes the facts about a run from the members of an object, as [Draft.Fields] does.
func Facts(f *schema.Facts, v decode.Value, members map[string]string) {
	for name, paths := range members {
		first(v, paths, func(x decode.Value) bool {
			to := manifest.Text(f, name)
			*to = cmp.Or(*to, x.Text())
			return x.Text() != ""
		})
	}
}

// first takes the members at paths up to one that is what it should be; the others count as read.
func first(v decode.Value, paths string, take func(decode.Value) bool) {
	found := false
	for path := range strings.SplitSeq(paths, "|") {
		x := v.Path(path)
		found = found || take(x)
	}
}

func (d *Draft) take(target string, x decode.Value) bool {
	kind, name, _ := strings.Cut(target, " ")
	switch kind {
	case "key":
		return d.keyPart(name, x)
	case "dim":
		d.Dim(name, x.Text())
	case "degree":
		if x.Float0() <= 1 {
			return false
		}
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

// Load is a number of the workload by its name; nil for any other name.
func (d *Draft) Load(name string) **float64 {
	return map[string]**float64{
		"isl": &d.Key.ISL, "osl": &d.Key.OSL, "concurrency": &d.Key.Concurrency, "rate": &d.Key.Rate,
	}[name]
}

// noRate, in req/s, is what clients without a word for it are given for as fast as possible.
const noRate = 1e6

func (d *Draft) keyPart(name string, x decode.Value) bool {
	if name == "dataset" {
		d.Key.Dataset = cmp.Or(d.Key.Dataset, x.Str())
		return x.Str() != ""
	}
	to := d.Load(name)
	if *to == nil && x.Float0() > 0 && !(name == "rate" && x.Float0() >= noRate) {
		*to = x.Ptr()
	}
	return *to != nil
}

// Each are the items of a list, up to one more than the results that are read from one file, which package ingest
// reports.
func Each[T any](f *decode.File, items iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		n := 0
		for x := range items {
			if !yield(x) || n > f.Limits().Results {
				return
			}
			n++
		}
	}
}

// Rows are the lines of a table as objects of texts by heading, up to its end or to a line of other cells.
func Rows(text string) (rows []decode.Value, err error) {
	lines := csv.NewReader(strings.NewReader(text))
	head, err := lines.Read()
	for err == nil {
		var row []string
		if row, err = lines.Read(); err == nil {
			cells := map[string]string{}
			for i, cell := range row {
				cells[head[i]] = cell
			}
			rows = append(rows, decode.Of(cells))
		}
	}
	if err == io.EOF {
		err = nil
	}
	return rows, err
}

// Cells are those of a line of a markdown table, also of one that is quoted, without blanks and marks around them; nil
// for any other line.
func Cells(line []byte, marks string) []string {
	text := strings.TrimSpace(strings.TrimLeft(string(line[:min(len(line), longestRow)]), "> \t"))
	if len(text) < 3 || text[0] != '|' || len(line) > longestRow {
		return nil
	}
	cells := strings.Split(strings.Trim(text, "|"), "|")
	for i := range cells {
		cells[i] = strings.Trim(cells[i], " \t"+marks)
	}
	return cells
}

const longestRow = 2000

// Flags is a command line as an object: {"--isl": "128"}, of each flag the last, which argparse takes.
func Flags(argv []string) decode.Value {
	out := map[string]string{}
	for i, a := range argv {
		name, value, has := strings.Cut(a, "=")
		if !has && i+1 < len(argv) {
			value = argv[i+1]
		}
		if strings.HasPrefix(name, "-") {
			out[name] = value
		}
	}
	return decode.Of(out)
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

// VLLM are the fields of vLLM's client and of what copies its definitions, in the form of their names, where X stands
// for the metric, with the factor to milliseconds.
func VLLM(form string, scale float64) []Field {
	fields := Table("ttft first-chunk: ", "tpot excl-first: ", "itl chunk-gap: ", "e2el last-chunk: ")
	for i := range fields {
		fields[i].Key, fields[i].Scale = strings.ReplaceAll(form, "X", fields[i].Metric), scale
	}
	return fields
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

// Epoch reads seconds since 1970; the zero time for anything else.
func Epoch(v decode.Value) time.Time {
	s := v.Float0()
	if s <= 1e8 || s >= 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000)).UTC().Truncate(time.Second)
}

// layouts are the ways in which tools and people write a time. Each also reads fractions of a second.
var layouts = []string{
	time.RFC3339, time.DateTime, time.DateTime + "Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04",
	"2006-01-02T15-04-05", "2006-01-02_15-04-05", "2006-01-02-15-04-05", "2006_01_02-15_04_05", "20060102-150405",
	"20060102_150405", "20060102T150405", "20060102T150405Z07:00", "20060102150405", time.DateOnly, "20060102",
}

// Time reads a time in the usual ways of writing one, to the second; the zero time for anything else.
func Time(text string) time.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Truncate(time.Second)
		}
	}
	return time.Time{}
}

// Dated says when a run was, where that is known, and what to note of it.
func Dated(f *schema.Facts, at time.Time, note string) {
	if !at.IsZero() {
		f.Start, f.End, f.StartNote = at, at, note
	}
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
var commitOf = lazyregexp.New(`^[0-9a-f]{7,40}$`)

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

// NumberOf is a number of a file, or why there is none.
func NumberOf(v decode.Value, why string) schema.Number {
	if x, ok := v.Float(); ok {
		return schema.Num(x)
	}
	return schema.Missing(why)
}

// NoError is why a score has no standard error.
const NoError = "not in the file"

// Score adds the score of a task to a reading and returns it, to be completed.
func Score(f *decode.File, r *schema.Reading, task, metric string, x float64) *schema.Score {
	r.Scores = append(r.Scores, schema.Score{
		Task: task, Metric: metric, Value: schema.Num(x), Stderr: schema.Missing(NoError),
		Source: f.Source(r.Format),
	})
	return &r.Scores[len(r.Scores)-1]
}
