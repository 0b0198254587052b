package nmvllm

import (
	"fmt"
	"hash/maphash"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// store reads the entries of a store: every bench is one statistic of one point.
type store struct {
	f      *decode.File
	format string
	runs   draft.Runs[runID]
	drafts map[pointID]*draft.Draft
	points []*draft.Draft          // in order of occurrence
	names  map[string]decode.Value // titles that were decoded already: they repeat from commit to commit

	foreign int             // values of other benchmarks
	example string          // the title of the first
	turned  int             // values that state another direction than their name or unit has
	full    bool            // more points than are read from one file
	seen    map[uint64]bool // hashes of values, so that a value that was published twice counts once
	seed    maphash.Seed
	twice   int
	builds  builds
	suites  map[pointID][]half // by measurement: two, where two machines began in the same second

	turnedFirst string // the first of those, with its unit
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
		f: f, format: out.Format, drafts: map[pointID]*draft.Draft{}, seen: map[uint64]bool{}, seed: maphash.MakeSeed(),
		names: map[string]decode.Value{}, suites: map[pointID][]half{}, builds: buildsOf(f.First.Get("entries")),
	}
	for _, suite := range f.First.Get("entries").Members() {
		for entry := range suite.Val.Items() {
			for bench := range entry.Get("benches").Items() {
				if !s.full {
					s.bench(suite.Key, entry, bench)
				}
			}
			if !s.full && isEmpty(entry) {
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
	*out = s.runs.Join(out.Format, detail)
	s.problems(out)
}

// isEmpty reports a commit that published no number: its benchmark failed, or never ran.
func isEmpty(entry decode.Value) bool {
	for bench := range entry.Get("benches").Items() {
		if _, ok := bench.Get("value").Float(); ok {
			return false
		}
	}
	return true
}

// failed makes a point without a number of each value that such a commit names, or one of its suite: left out, an
// older commit would pass for the newest build.
func (s *store) failed(suite string, entry decode.Value) {
	run := runID{commit: entry.At("commit", "id").Str(), model: suite, date: entry.Get("date").Text()}
	r := s.runs.Of(run, func() schema.Reading {
		return schema.Reading{Format: s.format, Detail: "a commit of a store", Facts: s.otherFacts(entry, run.commit)}
	})
	add := func(title, unit string) {
		metric, known := otherMetric(entry.Get("tool").Str(), unit)
		if !known {
			metric, _ = schema.OwnMetric("value", "", "neither")
		}
		d := draft.New(s.f, r, entry, "github-action-benchmark")
		d.Key.Task = ""
		d.Dim(schema.DimLabel, title)
		d.Dim("suite", suite)
		d.Start, d.End = r.Facts.Start, r.Facts.End
		d.Missing(metric, "", "the commit has no value of it")
		d.Fail("the commit has no value of it")
		s.points = append(s.points, d)
	}
	seen := map[string]bool{"": true}
	for bench := range entry.Get("benches").Items() {
		if title := bench.Get("name").Str(); !seen[title] && len(s.points) < s.f.Limits().Results {
			seen[title] = true
			add(title, bench.Get("unit").Str())
		}
	}
	if len(seen) == 1 {
		add("", "")
	}
	draft.Problem(s.f, r, schema.SevError, "all-failed", entry, "a commit of suite "+suite+" without a number",
		"a number for each benchmark", "points without a number", "look at the job that measured it, and publish it again")
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
	add(s.turned, schema.SevWarning, "direction",
		fmt.Sprintf("%d values that state \"higher is better\" (%s), the first %s", s.turned, biggerIsBetter, s.turnedFirst),
		"\"lower is better\" for a time, a latency or failures", "lower is better",
		"publish them in a suite of "+smallerIsBetter)
	add(s.twice, schema.SevNote, "published-twice",
		fmt.Sprintf("%d values of the same commit, time and number as earlier ones", s.twice), "", "the first, once")
	if s.full {
		add(1, schema.SevWarning, "too-many-results", "more points than are read from one file", "",
			fmt.Sprintf("the first %d", len(s.points)))
	}
}

// bench reads one value.
func (s *store) bench(suite string, entry, bench decode.Value) {
	title := bench.Get("name").Str()
	name := s.name(title)
	metric := name.Get("name").Str()
	value, ok := bench.Get("value").Float()
	if metric == "" || !ok {
		if s.other(suite, entry, bench) {
			return
		}
		if s.foreign++; s.example == "" {
			s.example = plaintext.Short(title, 40)
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
	r := s.runs.Of(run, func() schema.Reading {
		return schema.Reading{
			Format: s.format, Detail: "a commit of a store", Facts: s.facts(entry, name, extra, run.commit),
		}
	})
	if d := s.point(id, r, bench, extra); d != nil {
		s.suites[measurement] = append(known, half{d, map[string]bool{metric: true}})
		s.put(d, metric, bench, run.version)
	}
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
	once := maphash.Comparable(s.seed, p)
	if p.date != "" && s.seen[once] {
		s.twice++
		return true
	}
	s.seen[once] = true
	return false
}

// name decodes a title.
func (s *store) name(title string) decode.Value {
	name, known := s.names[title]
	if !known {
		name = inner(s.f.Path, title)
		if len(s.names) < decode.MostTitles {
			s.names[title] = name
		}
	}
	return name
}

// point returns the draft of a point; nil when there are too many.
func (s *store) point(id pointID, r *schema.Reading, bench, extra decode.Value) *draft.Draft {
	if d := s.drafts[id]; d != nil {
		return d
	}
	if len(s.points) == s.f.Limits().Results {
		s.full = true
		return nil
	}
	d := draft.New(s.f, r, bench, "nm-vllm")
	workload(extra, d)
	d.Start = r.Facts.Start
	if own := facts(extra).Start; !own.IsZero() {
		d.Start = own
	}
	d.End = d.Start
	s.drafts[id] = d
	s.points = append(s.points, d)
	return d
}

func (s *store) facts(entry, name, extra decode.Value, commit string) schema.Facts {
	f := facts(extra)
	if f.Device.Name == "" {
		f.Device = facts(name).Device
	}
	if f.Stack.Version == "" {
		f.Stack.Version = name.Get("vllm_version").Str()
	}
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
