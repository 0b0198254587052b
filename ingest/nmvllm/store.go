package nmvllm

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// store reads the entries of a store: every bench is one statistic of one point.
type store struct {
	f      *decode.File
	runs   *draft.Runs[runID]
	drafts map[pointID]*draft.Draft
	points []*draft.Draft     // in order of occurrence
	suites map[pointID][]half // by measurement: two, where two machines began in the same second
	builds builds
	seen   map[published]bool // a value that was published twice counts once

	// values of other benchmarks, of another direction than their name has, published twice, and of what was set
	foreign, turned, twice, set    int
	example, turnedFirst, setFirst string // the first of those
}

// runID is what the values of one commit on one system have in common.
type runID struct{ commit, device, model, version, date string }

// pointID is what the values of one point have in common.
type pointID struct {
	run               runID
	description, date string
}

func readStore(f *decode.File, out *schema.Reading) {
	s := &store{
		f: f, drafts: map[pointID]*draft.Draft{}, seen: map[published]bool{}, suites: map[pointID][]half{},
		runs:   draft.RunsOf[runID](&schema.Reading{Format: out.Format, Detail: "a commit of a store"}),
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
	detail := fmt.Sprintf("%s: %d runs, %d points", out.Detail, s.runs.Len(), len(s.points))
	if len(s.points) == 0 {
		detail = "not a result: a store of other benchmarks"
	}
	*out = s.runs.Join(detail)
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
	name := inner(s.f.Path, title)
	metric := name.Get("name").Str()
	value, ok := bench.Get("value").Float()
	if metric == "" || !ok {
		if !s.own(suite, entry, bench) {
			s.foreign++
			s.example = cmp.Or(s.example, plaintext.Short(title, 40))
		}
		return
	}
	extra := inner(s.f.Path, bench.Get("extra").Str())
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
	id := pointID{run, name.Get("description").Str(), date}
	// A store has the means of a measurement in one suite and its percentiles in another, which were published one after
	// the other.
	measurement := id
	measurement.run.date = ""
	known := s.suites[measurement]
	for _, x := range known {
		if date != "" && !x.has[metric] {
			x.has[metric] = true
			s.put(x.point, metric, bench, run.version)
			return
		}
	}
	r := s.runs.Of(run, s.facts(entry, name, extra, run.commit))
	d := s.drafts[id]
	if d == nil {
		d = draft.New(s.f, r, bench, "nm-vllm")
		workload(extra, d)
		d.Start = facts(extra).Start
		d.End = d.Start
		s.drafts[id], s.points = d, append(s.points, d)
	}
	s.suites[measurement] = append(known, half{d, map[string]bool{metric: true}})
	s.put(d, metric, bench, run.version)
}

// put sets one value of a point.
func (s *store) put(d *draft.Draft, metric string, bench decode.Value, version string) {
	if !put(d, metric, bench.Get("unit").Str(), bench.Get("value"), version) {
		d.Keep(metric, bench.Get("value").Text())
	}
}

// half is a point of a measurement, with the metrics that it has.
type half struct {
	point *draft.Draft
	has   map[string]bool
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
