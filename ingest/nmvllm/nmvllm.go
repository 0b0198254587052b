// Package nmvllm reads the results of neuralmagic/nm-vllm: BenchmarkResult JSON, and the data.js stores of
// github-action-benchmark into which they were published.
//
// It takes one decoded value and returns readings: a store holds a run for each commit, GPU and model. Source:
// neuralmagic/benchmarks of nm-vllm, 2024; benchmark-action/github-action-benchmark.
//
// Every metric states its unit.
//
// Traps: a store's "name" and "extra" are JSON within strings; versions of libraries are part of the name, so that
// each upgrade would begin new series: here they are attributes; a commit that was measured again has a further entry
// and counts as a repeat; "date" in extra ends in a zone's abbreviation, the store's own is milliseconds since 1970;
// TPOT includes the first token before vLLM 0.5.0; the number of prompts and the rate were varied together as
// nr_qps_pair_.
//
// Stores of other projects are read too: each value is a point whose workload is its name and suite, with a metric of
// its own unit and direction.
package nmvllm

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format = "nm-vllm"
	Store  = "github-action-benchmark"
)

// Reader looks for the members of a result, or of a store.
var Reader = draft.Format{
	Name: Format, Detail: "BenchmarkResult", Tool: "nm-vllm", Point: readResult,
	Wants: draft.Wants("json_schema_version", "benchmarking_context{}", "metrics{}"),
	Others: []draft.Format{
		{
			Name: Store, Detail: "store of a benchmark's history", Wants: draft.Wants("entries{}", "lastUpdate"), All: readStore,
		},
		{
			Name: "nm-vllm-copy", Detail: "not a result: a copy that ttreport wrote of a result that it had read",
			Wants: draft.Wants("written_by", "json_schema_version"),
		},
	},
}

func readResult(d *draft.Draft) {
	v, r := d.In, d.Reading
	r.Facts = facts(d.File.First)
	r.Facts.Start = cmp.Or(draft.Epoch(d.File.First.Get("epoch_time")), r.Facts.Start)
	r.Facts.End = r.Facts.Start
	workload(v, d)
	for _, x := range v.Get("metrics").Members() {
		name, value, unit := cmp.Or(x.Val.Get("key").Str(), x.Key), x.Val.Get("value"), x.Val.Get("unit").Str()
		if value.Ptr() != nil && !put(d, name, unit, value, r.Facts.Stack.Version) {
			d.Keep(name, strings.TrimSpace(value.Text()+" "+unit))
		}
	}
	meta := v.Get("metadata")
	d.Requests(meta.Get("completed").Ptr(), nil, meta.Get("num_prompts").Ptr(), "")
	d.Key.Rate = cmp.Or(d.Key.Rate, meta.Get("request_rate").Ptr())
	d.Of("duration_s", meta.Get("duration"))
	d.Foreign(v, `json_schema_version vllm_version benchmarking_context gpu_description date epoch_time
		tensor_parallel_size model tokenizer`)
}

var gpu = lazyregexp.New(`^(.*?) x (\d+)$`)

// facts reads the identity; v is a result, or a store's extra.
func facts(v decode.Value) schema.Facts {
	f := schema.Facts{
		Model:  schema.Model{ID: v.Get("model").Str()},
		Device: schema.Device{Name: v.Get("gpu_description").Str()},
		Stack: schema.Stack{
			Engine:  "vllm",
			Version: cmp.Or(v.At("benchmarking_context", "vllm_version").Str(), v.Get("vllm_version").Str()),
		},
	}
	if m := gpu.FindStringSubmatch(f.Device.Name); m != nil {
		f.Device.Name = m[1]
		f.Device.Chips, _ = strconv.Atoi(m[2])
	}
	if t, err := time.Parse("2006-01-02 15:04:05 MST", v.Get("date").Str()); err == nil {
		f.Start = t.UTC()
		if name, offset := t.Zone(); offset == 0 && name != "UTC" && name != "GMT" {
			f.StartNote = "zone " + name + " is not known"
		}
	}
	return f
}

var (
	maxLen   = lazyregexp.New(`(?m)^max-model-len - (\d+)`)
	sparsity = lazyregexp.New(`(?m)^sparsity - (\S+)`)
)

// workload reads the requested workload: script_args, and the lines of the generated description.
func workload(v decode.Value, d *draft.Draft) {
	args := v.Get("script_args")
	// the number of prompts and the rate, which were varied together: "50,0.5" or [50, 0.5]
	if n, rate, ok := strings.Cut(args.Get("nr_qps_pair_").Str(), ","); ok {
		d.Condition("num_prompts", n)
		d.Fields(decode.Of(map[string]string{"rate": rate}), map[string]string{"key rate": "rate"})
	}
	d.Fields(args, map[string]string{
		"key isl": "num_input_tokens|input_len", "key osl": "num_output_tokens|output_len",
		"key rate":              "nr_qps_pair_.1|request_rate_|request_rate",
		"condition num_prompts": "nr_qps_pair_.0|num_prompts_|num_prompts",
	})
	script := strings.TrimSuffix(v.Get("script_name").Str(), ".py")
	d.Condition("script", script)
	dataset := v.Get("dataset").Str()
	d.Key.Dataset = dataset[strings.LastIndexAny(dataset, "/\\")+1:] // it may be a path
	description := v.Get("description").Str()
	if m := maxLen.FindStringSubmatch(description); m != nil {
		d.Dim("max_model_len", m[1])
	}
	if m := sparsity.FindStringSubmatch(description); m != nil && m[1] != "None" {
		d.Dim("sparsity", m[1])
	}
	if n := args.Get("server_tensor_parallel_size").Text(); n != "1" {
		d.Dim("tp", n)
	}
	if (d.Key.ISL == nil || d.Key.OSL == nil) && d.Key.Dataset != "" {
		label := d.Key.Dataset
		if script != "" && script != "benchmark_serving" {
			label = script + " " + label
		}
		d.Dim(schema.DimLabel, label)
	}
}

// fields are nm-vllm's latencies and rates, see [put].
var (
	fields = draft.Table(
		"ttft first-chunk: {}_ttft_ms", "e2el last-chunk: {}_request_latency", "tpot excl-first: {}_tpot_ms",
	)
	rates = map[string]string{
		"request_throughput": "rps", "output_throughput": "output_tps", "token_throughput": "total_tps",
	}
)

// before05 matches the versions whose TPOT includes the first token.
var before05 = lazyregexp.New(`^0\.[0-4]\.`)

// put maps one metric of nm-vllm; it reports whether the name is known.
func put(d *draft.Draft, name, unit string, x decode.Value, version string) bool {
	if rates[name] != "" {
		return d.Of(rates[name], x)
	}
	for _, f := range fields {
		stat, ok := f.Stat(name)
		if !ok || unit != "ms" && unit != "" {
			continue
		}
		if f.Metric == "tpot" && before05.MatchString(version) {
			f.Metric, f.Def = "ntpot", schema.DefInclFirst
		}
		d.Put(f, stat, x)
		return true
	}
	return false
}

// builds names what was measured of a commit: a build on the main branch. It has the day in UTC on which its first
// measurement was published, so that jobs that run past midnight are one build, and no build has a day before its
// commit.
type builds map[string][]time.Time // of each commit, in order

// oneBuild is how long measurements belong to the build that the first of them began.
const oneBuild = 12 * time.Hour

func buildsOf(suites decode.Value) builds {
	b := builds{}
	for _, suite := range suites.Members() {
		for entry := range suite.Val.Items() {
			if when, ok := dateOf(entry); ok {
				commit := entry.At("commit", "id").Str()
				b[commit] = append(b[commit], when)
			}
		}
	}
	for commit, dates := range b {
		slices.SortFunc(dates, time.Time.Compare)
		begun := dates[:0] // a store has a date for every value, and a build is asked for as often
		for _, when := range dates {
			if len(begun) == 0 || when.Sub(begun[len(begun)-1]) >= oneBuild {
				begun = append(begun, when)
			}
		}
		b[commit] = begun
	}
	return b
}

// name is the name of the build of a commit to which a date belongs. What states no commit has the day alone.
func (b builds) name(when time.Time, commit string) string {
	if commit == "" {
		return when.Format(time.DateOnly)
	}
	var begun time.Time // the build
	for _, at := range b[commit] {
		if at.After(when) {
			break
		}
		begun = at
	}
	name := begun.Format(time.DateOnly)
	if len(commit) >= 7 {
		name += " " + commit[:7]
	}
	return name
}

// dateOf is when an entry was published, to the second.
func dateOf(entry decode.Value) (when time.Time, ok bool) {
	ms := entry.Get("date").Float0()
	return time.UnixMilli(int64(ms)).UTC().Truncate(time.Second), ms > 1e11 && ms < 1e14
}

// Units of rates, which rate matches also per user or device: tok/s/gpu.
var (
	perSecond = lazyregexp.New(`(?i)(/|per )s(ec(onds?)?)?$`)
	rate      = lazyregexp.New(`(?i)(/|per )s(ec(onds?)?)?(/|$)`)
)

// isTime reports a unit of time, also per operation or iteration.
func isTime(unit string) bool {
	base, _, _ := strings.Cut(strings.ToLower(unit), "/")
	return strings.Contains(" ns us ms s sec seconds min ", " "+strings.TrimSpace(base)+" ")
}

// lowerByNature reports values that are better when they are lower whatever a suite says: times, latencies, and counts
// of failures. A project with one suite states one direction for all that it measures. Rates are none of them, whatever
// they are named after, and neither is what a title calls a gain.
func lowerByNature(title, unit string) bool {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	switch {
	case rate.MatchString(unit), slices.ContainsFunc(words, gains):
		return false
	case isTime(unit), slices.ContainsFunc(words, failures):
		return true
	}
	return unit != "%" && unit != "x" && slices.ContainsFunc(words, latencies)
}

// Words of a title that say what is better.
var (
	gains = draft.Names(`attainment avoided between budget free gain hidden improvement met recovered reduction saved
		saving savings slo speedup until uptime within`)
	failures  = draft.Names("fail failed fails failure failures error errors timeout timeouts")
	latencies = draft.Names("latency latencies ttft tpot itl e2el")
)

// own reads a value of a project's own: a point of a workload that has the value's name, in the suite's name. A store
// states neither model nor device. ok is false where the value is no number or its direction is not known.
func (s *store) own(suite string, entry, bench decode.Value) bool {
	title := bench.Get("name").Str()
	value, ok := bench.Get("value").Float()
	tool, unit := entry.Get("tool").Str(), bench.Get("unit").Str()
	turned := tool == biggerIsBetter && lowerByNature(title, unit)
	if turned { // the stated direction contradicts the name or the unit
		tool = smallerIsBetter
	}
	metric, known := otherMetric(tool, unit)
	if !ok || !known || title == "" {
		return false
	}
	if unit == "" && setting.MatchString(title) && !found.MatchString(title) {
		s.set++
		s.setFirst = cmp.Or(s.setFirst, plaintext.Short(title, 40))
		return true
	}
	if turned {
		s.turned++
		s.turnedFirst = cmp.Or(s.turnedFirst, fmt.Sprintf("%q in %s", plaintext.Short(title, 40), unit))
	}
	if s.isTwice(published{entry.At("commit", "id").Str(), title, entry.Get("date").Text(), suite, value}) {
		return true
	}
	d := s.other(suite, title, entry, bench)
	d.Value(metric, value)
	if std, ok := spread(bench.Get("range").Text(), value); ok {
		d.Stat(metric, "", "std", std)
	}
	return true
}

// found matches the title of a number that was searched for: "max sustained concurrency".
var found = lazyregexp.New(`(?i)\b(?:max|peak|best|sustained)\b`)

// setting matches the title of a value that says what was set: "model 1024/128 c=8 _gpu_count".
var setting = lazyregexp.New(
	`(?i)(?:^|[ _:])(?:tp|pp|dp|ep|gpu_count|num_gpus|gpus|isl|osl|concurrency|batch_size)$`)

// Tools of the action that state a direction.
const (
	biggerIsBetter  = "customBiggerIsBetter"
	smallerIsBetter = "customSmallerIsBetter"
)

// otherMetric is the metric of a value: the action states the direction for suites of its custom tools; for others a
// rate is better when it is higher, and a time when it is lower.
func otherMetric(tool, unit string) (name string, ok bool) {
	unit = strings.NewReplacer("µ", "u", "μ", "u", ",", " ").Replace(unit)
	if len(unit) > 16 {
		unit = strings.TrimSpace(unit[:16])
	}
	better := ""
	switch {
	case tool == biggerIsBetter, !strings.HasPrefix(tool, "custom") && perSecond.MatchString(unit):
		better = "higher"
	case tool == smallerIsBetter, isTime(unit):
		better = "lower"
	default:
		return "", false
	}
	return schema.OwnMetric("value", unit, better)
}

// spread reads "± 12", "+/- 12" or "± 5%": the deviation of a value, in its unit.
func spread(text string, value float64) (float64, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "±"), "+/-"))
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(x >= 0) || x > 1e300 {
		return 0, false
	}
	if percent {
		x *= value / 100
	}
	return x, x >= 0
}

// store reads the entries of a store: every bench is one statistic of one point.
type store struct {
	f      *decode.File
	runs   *draft.Runs[runID]
	drafts map[pointID]*draft.Draft
	points []*draft.Draft // in order of occurrence
	has    map[pointMetric]bool
	builds builds
	seen   map[published]bool // a value that was published twice counts once

	// values of other benchmarks, of another direction than their name has, published twice, and of what was set
	foreign, turned, twice, set    int
	example, turnedFirst, setFirst string // the first of those
}

// runID is what the values of one commit on one system have in common.
type runID struct{ commit, device, model, version, date string }

// pointID is what the values of one point have in common. A store has the means of a measurement in one suite and its
// percentiles in another, which were published one after the other: when, is not part of it.
type pointID struct {
	run               runID
	description, date string
	n                 int // above 0 where two machines began in the same second
}

type pointMetric struct {
	point  pointID
	metric string
}

func readStore(f *decode.File, out *schema.Reading) {
	what := out.Detail
	out.Detail = "a commit of a store"
	s := &store{
		f: f, drafts: map[pointID]*draft.Draft{}, seen: map[published]bool{}, has: map[pointMetric]bool{},
		runs:   draft.RunsOf[runID](out),
		builds: buildsOf(f.First.Get("entries")),
	}
	for _, suite := range f.First.Get("entries").Members() {
		for entry := range suite.Val.Items() {
			isEmpty := true // its benchmark failed, or never ran
			for bench := range entry.Get("benches").Items() {
				if len(s.points) > f.Limits().Results {
					break // bound reports it
				}
				s.bench(suite.Key, entry, bench)
				_, ok := bench.Get("value").Float()
				isEmpty = isEmpty && !ok
			}
			if isEmpty && len(s.points) <= f.Limits().Results {
				s.failed(suite.Key, entry)
			}
		}
	}
	for _, d := range s.points {
		d.Done()
	}
	detail := fmt.Sprintf("%s: %d runs, %d points", what, s.runs.Len(), len(s.points))
	if len(s.points) == 0 {
		detail = "not a result: a store of other benchmarks"
	}
	s.runs.Join(detail)
	s.problems(out)
}

// other begins the point of a value of a project's own, in the run of its commit.
func (s *store) other(suite, title string, entry, at decode.Value) *draft.Draft {
	of := map[string]string{} // of a text such as "GPU: AMD Instinct MI355X | Model: acme/m"
	for part := range strings.SplitSeq(at.Get("extra").Str(), "|") {
		if name, value, ok := strings.Cut(part, ":"); ok {
			of[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	run := runID{commit: entry.At("commit", "id").Str(), model: suite + "\n" + of["model"], device: of["gpu"],
		date: entry.Get("date").Text()}
	f := schema.Facts{
		Channel: schema.ChannelMain, Model: schema.Model{ID: of["model"]}, Device: schema.Device{Name: of["gpu"]},
	}
	if run.commit != "" {
		project := path.Base(strings.TrimSuffix(s.f.First.Get("repoUrl").Str(), "/"))
		if project == "." || project == "/" {
			project = "commit"
		}
		f.Stack.Commits = map[string]string{project: run.commit}
	}
	if when, ok := dateOf(entry); ok {
		f.Start, f.End, f.Release = when, when, s.builds.name(when, run.commit)
	}
	d := draft.New(s.f, s.runs.Of(run, f), at, "github-action-benchmark")
	d.Key.Task = ""
	d.Dim(schema.DimLabel, title)
	d.Dim("suite", suite)
	s.points = append(s.points, d)
	return d
}

// failed makes a point without a number of each value that a commit without any names, or one of its suite: left out,
// an older commit would pass for the newest build.
func (s *store) failed(suite string, entry decode.Value) {
	units := map[string]string{}
	var titles []string
	for bench := range entry.Get("benches").Items() {
		title := bench.Get("name").Str()
		if _, seen := units[title]; !seen && title != "" {
			units[title], titles = bench.Get("unit").Str(), append(titles, title)
		}
	}
	if titles == nil {
		titles = []string{""}
	}
	for _, title := range titles {
		metric, known := otherMetric(entry.Get("tool").Str(), units[title])
		if !known {
			metric, _ = schema.OwnMetric("value", "", "neither")
		}
		d := s.other(suite, title, entry, entry)
		d.Missing(metric, "", "the commit has no value of it")
		d.Fail("the commit has no value of it")
	}
	draft.Problem(s.f, s.points[len(s.points)-1].Reading, schema.SevError, "all-failed", entry,
		"a commit of suite "+suite+" without a number", "a number for each benchmark", "points without a number",
		"look at the job that measured it, and publish it again")
}

// problems reports what was left out.
func (s *store) problems(r *schema.Reading) {
	add := func(n int, severity schema.Severity, code, found string, details ...string) {
		if n > 0 {
			draft.Problem(s.f, r, severity, code, decode.Value{}, found, details...)
		}
	}
	add(s.foreign, schema.SevNote, "other-benchmarks",
		fmt.Sprintf("%d values that are not numbers or do not say which direction is better, the first %q", s.foreign,
			s.example), "a number, and a unit of time, a rate or a custom tool", "the others")
	add(s.set, schema.SevNote, "settings", fmt.Sprintf("%d values that say what was set, such as %q", s.set, s.setFirst),
		"what was measured", "none of them: they stand beside what was measured with them")
	add(s.turned, schema.SevWarning, "direction",
		fmt.Sprintf("%d values that state \"higher is better\" (%s), the first %s", s.turned, biggerIsBetter, s.turnedFirst),
		"\"lower is better\" for a time, a latency or failures", "lower is better",
		"publish them in a suite of "+smallerIsBetter)
	add(s.twice, schema.SevNote, "published-twice",
		fmt.Sprintf("%d values of the same commit, time and number as earlier ones", s.twice), "", "the first, once")
}

// bench reads one value.
func (s *store) bench(suite string, entry, bench decode.Value) {
	title := bench.Get("name").Str()
	name, _ := decode.Document(s.f.Path, []byte(title)) // nothing for other names
	metric := name.Get("name").Str()
	value, ok := bench.Get("value").Float()
	if metric == "" || !ok {
		if !s.own(suite, entry, bench) {
			s.foreign++
			s.example = cmp.Or(s.example, plaintext.Short(title, 40))
		}
		return
	}
	extra, _ := decode.Document(s.f.Path, []byte(bench.Get("extra").Str()))
	if extra.Kind() == decode.Invalid {
		extra = name
	}
	run := runID{
		commit: entry.At("commit", "id").Str(), device: name.Get("gpu_description").Str(),
		model: extra.Get("model").Str(), version: name.Get("vllm_version").Str(), date: entry.Get("date").Text(),
	}
	date := extra.Get("date").Str()
	if s.isTwice(published{run.commit, title, date, run.model, value}) {
		return
	}
	id := pointID{run: run, description: name.Get("description").Str(), date: date}
	if date != "" {
		id.run.date = ""
	}
	for s.has[pointMetric{id, metric}] {
		id.n++
	}
	s.has[pointMetric{id, metric}] = true
	d := s.drafts[id]
	if d == nil {
		d = draft.New(s.f, s.runs.Of(run, s.facts(entry, name, extra, run.commit)), bench, "nm-vllm")
		workload(extra, d)
		d.Start = facts(extra).Start
		d.End = d.Start
		s.drafts[id], s.points = d, append(s.points, d)
	}
	if !put(d, metric, bench.Get("unit").Str(), bench.Get("value"), run.version) {
		d.Keep(metric, bench.Get("value").Text())
	}
}

// published identifies a value, to find those that were published twice.
type published struct {
	commit, title, date, model string
	value                      float64
}

// isTwice reports a value that was published before, and counts it.
func (s *store) isTwice(p published) bool {
	if p.date != "" && s.seen[p] {
		s.twice++
		return true
	}
	s.seen[p] = true
	return false
}

func (s *store) facts(entry, name, extra decode.Value, commit string) schema.Facts {
	f := facts(extra)
	if f.Device.Name == "" {
		f.Device = facts(name).Device
	}
	f.Stack.Version = cmp.Or(f.Stack.Version, name.Get("vllm_version").Str())
	if commit != "" {
		f.Stack.Commits = map[string]string{"nm-vllm": commit}
	}
	f.Channel = schema.ChannelMain
	if when, ok := dateOf(entry); ok {
		f.End = when
		if f.Start.IsZero() || f.Start.After(f.End) {
			f.Start = f.End
		}
		f.Release = s.builds.name(f.End, commit)
	}
	return f
}
