package nmvllm

import (
	"fmt"
	"hash/maphash"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// store reads the entries of a store: every bench is one statistic of one point.
type store struct {
	f       *decode.File
	format  string
	runs    map[string]*run
	order   []string
	foreign int // benches of something else
	example string
	full    bool
	seen    map[uint64]bool // hashes of values of a commit by date, so that an entry published twice counts once
	seed    maphash.Seed
	points  int
	twice   int
	names   map[string]decode.Value // titles that were decoded already: they repeat from commit to commit
}

// run is what one commit measured on one system.
type run struct {
	reading schema.Reading
	points  map[string]*draft.Draft
	order   []string
}

func readStore(f *decode.File, m schema.Match) schema.Reading {
	s := &store{f: f, format: m.Format, runs: map[string]*run{}, seen: map[uint64]bool{}, seed: maphash.MakeSeed(), names: map[string]decode.Value{}}
	for _, suite := range f.First.Get("entries").Members() {
		for entry := range suite.Val.Items() {
			for bench := range entry.Get("benches").Items() {
				if s.bench(entry, bench); s.full {
					break
				}
			}
			if s.full {
				break
			}
		}
	}
	out := schema.Reading{Format: m.Format, Detail: m.Detail}
	first := true
	points := 0
	for _, key := range s.order {
		r := s.runs[key]
		for _, name := range r.order {
			r.points[name].Done()
			points++
		}
		if first {
			out.Facts, out.Points, out.Problems, first = r.reading.Facts, r.reading.Points, r.reading.Problems, false
			continue
		}
		out.More = append(out.More, r.reading)
	}
	out.Detail = fmt.Sprintf("%s: %d runs, %d points", m.Detail, len(s.order), points)
	if s.foreign > 0 {
		out.Problems = append(out.Problems, schema.Problem{Severity: schema.SevNote, Path: f.Path, Code: "other-benchmarks", Found: fmt.Sprintf("%d values of other benchmarks, the first %q", s.foreign, s.example),
			Expected: "metrics of nm-vllm", Used: "the others"})
	}
	if s.twice > 0 {
		out.Problems = append(out.Problems, schema.Problem{Severity: schema.SevNote, Path: f.Path, Code: "published-twice", Found: fmt.Sprintf("%d values of the same commit, time and number as earlier ones", s.twice), Used: "the first, once"})
	}
	if s.full {
		out.Problems = append(out.Problems, schema.Problem{Severity: schema.SevWarning, Path: f.Path, Code: "too-many-results", Found: "more points than are read from one file", Used: fmt.Sprintf("the first %d", points)})
	}
	if points == 0 {
		out.Detail = "not a result: a store of other benchmarks"
	}
	return out
}

func (s *store) bench(entry, bench decode.Value) {
	title := bench.Get("name").Str()
	name, known := s.names[title]
	if !known {
		name = inner(s.f.Path, title)
		if len(s.names) < decode.MostTitles {
			s.names[title] = name
		}
	}
	metric := name.Get("name").Str()
	value, ok := bench.Get("value").Float()
	if metric == "" || !ok {
		if s.foreign++; s.example == "" {
			s.example = short(title)
		}
		return
	}
	extra := inner(s.f.Path, bench.Get("extra").Str())
	if extra.Kind() == decode.Invalid {
		extra = name
	}
	commit := entry.At("commit", "id").Str()
	when := extra.Get("date").Str()
	once := maphash.String(s.seed, fmt.Sprint(commit, "\x00", title, "\x00", when, "\x00", extra.Get("model").Str(), "\x00", value))
	if when != "" && s.seen[once] {
		s.twice++
		return
	}
	s.seen[once] = true
	runKey := fmt.Sprint(commit, "\x00", name.Get("gpu_description").Str(), "\x00", extra.Get("model").Str(), "\x00", name.Get("vllm_version").Str(), "\x00", entry.Get("date").Text())
	r := s.runs[runKey]
	if r == nil {
		r = &run{points: map[string]*draft.Draft{}}
		r.reading = schema.Reading{Format: s.format, Detail: "a commit of a store", Facts: storeFacts(entry, name, extra, commit)}
		s.runs[runKey] = r
		s.order = append(s.order, runKey)
	}
	point := name.Get("description").Str() + "\x00" + when
	d := r.points[point]
	if d == nil {
		if s.points++; s.points > s.f.Limits().Results {
			s.full = true
			return
		}
		d = draft.New(s.f, &r.reading, bench, "nm-vllm")
		workload(extra, d)
		d.Start = r.reading.Facts.Start
		if own := facts(extra).Start; !own.IsZero() {
			d.Start = own
		}
		d.End = d.Start
		r.points[point] = d
		r.order = append(r.order, point)
	}
	if !put(d, metric, bench.Get("unit").Str(), value, name.Get("vllm_version").Str()) {
		d.Keep(metric, bench.Get("value").Text())
	}
}

func storeFacts(entry, name, extra decode.Value, commit string) schema.Facts {
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
	if ms, ok := entry.Get("date").Float(); ok && ms > 1e11 && ms < 1e14 {
		f.End = time.UnixMilli(int64(ms)).UTC().Truncate(time.Second)
		if f.Start.IsZero() || f.Start.After(f.End) {
			f.Start = f.End
		}
	}
	return f
}

func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
