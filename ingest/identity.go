package ingest

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/schema/redact"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// identify resolves who was measured: the file itself, then its sidecar, a manifest, a runtime spec, its path, the
// flags. A later source fills what the earlier ones leave open; where two contradict, the earlier one is used and a
// problem says so.
func identify(it *item, b beside, opt Options) {
	it.origin = map[string]schema.Origin{}
	it.facts = schema.Facts{}
	add := func(f schema.Facts, from, where string) {
		merged, taken, conflicts := manifest.MergeNoted(it.facts, f)
		it.facts = merged
		for _, field := range taken {
			it.origin[field] = schema.Origin{From: from, Where: where}
		}
		for _, c := range conflicts {
			it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevWarning, Path: it.shown(), Code: "contradiction",
				Found:    c.Field + " is " + name(c.First) + " by the " + it.origin[c.Field].From + " and " + name(c.Second) + " by the " + from,
				Expected: "one value", Used: name(c.First), Hint: "correct the one that is wrong"})
		}
	}
	own := it.reading.Facts
	add(own, "file", it.shown())
	for field, origin := range it.reading.Provenance { // one of our documents knows better
		origin.Where = redact.Text(origin.Where)
		it.origin[field] = origin
	}
	it.targets, it.plan = it.reading.Targets, it.reading.Plan
	if o, ok := it.origin["start"]; ok && own.StartNote != "" {
		o.Where += " (" + own.StartNote + ")"
		it.origin["start"] = o
	}
	sideTool := ""
	if s, ok := b.sidecars[it.shown()]; ok {
		applySidecar(it, s)
		add(schema.Facts{Start: s.Start, End: s.End}, "sidecar", it.shown()+manifest.SidecarSuffix)
		sideTool = s.Tool
	}
	applyCommands(it, b, add)
	applyManifest(it, b, sideTool, add)
	named, isNamed := ttis.NameFacts(it.shown())
	if isNamed || len(b.specs) > 0 {
		if s := b.specFor(it, named.ModelID); s != nil {
			add(s.reading.Facts, "spec", s.shown())
			it.targets, it.runRoot = s.reading.Targets, path.Dir(path.Dir(s.shown()))
		}
	}
	if it.runRoot == "" {
		if r := b.reportFor(it); r != nil {
			facts := withoutKnownModel(r.reading.Facts, it.facts)
			facts.Start, facts.End, facts.StartNote = time.Time{}, time.Time{}, ""
			add(facts, "spec", r.shown())
			it.runRoot = reportTree(r.shown())
		}
	}
	if isNamed {
		applyWorkload(it, "", named.Workload, named.Conditions, "path")
		add(withoutKnownModel(named.Facts, it.facts), "path", it.shown())
	}
	for _, p := range opt.Patterns {
		applyPattern(it, p, add)
	}
	add(opt.Flags, "flag", "command line")
	complete(it)
}

// applyCommands takes what vLLM's continuous benchmarks wrote beside the result.
func applyCommands(it *item, b beside, add func(f schema.Facts, from, where string)) {
	if c, ok := b.commands[strings.TrimSuffix(it.shown(), ".json")]; ok {
		add(c.beside.Facts, "sidecar", c.shown())
		applyWorkload(it, "", c.beside.Workload, nil, "sidecar")
		for i := range it.reading.Points {
			if p := &it.reading.Points[i]; len(p.Command) == 0 {
				p.Command = redact.Argv(c.beside.Client)
			}
		}
		c.reading.PartOf = it.shown()
	}
}

// applyManifest takes what the nearest manifest says of the file: facts, workload, targets, and the plan it was part of.
// Manifests further above say what that one leaves open; that a nearer one says something else is its purpose.
func applyManifest(it *item, b beside, sideTool string, add func(f schema.Facts, from, where string)) {
	for i, m := range b.manifestsFor(it) {
		facts, tool, w := m.Facts(m.rel)
		where := path.Join(m.dir, manifest.FileName)
		if sideTool != "" || i > 0 {
			tool = ""
		}
		if i > 0 {
			facts, w = defaults(it, facts, w)
			add(facts, "manifest", where)
			applyWorkload(it, "", w, nil, "manifest")
			continue
		}
		add(facts, "manifest", where)
		applyWorkload(it, tool, w, nil, "manifest")
		if rows := m.SchemaTargets(); len(rows) > 0 {
			it.targets = rows
		}
		if len(m.Setting) > 0 {
			if text, err := json.Marshal(m.Setting); err == nil {
				it.reading.Extra = withUnknown(it.reading.Extra, "setting", text)
			}
		}
		it.runRoot = m.dir
		if !strings.HasPrefix(it.shown(), m.dir+"/") && m.dir != "." {
			it.runRoot = it.root.Name // it lies above what was asked for
		}
		it.journal = b.journals[m.dir]
		for _, p := range m.Plan {
			if p.Eval == "" {
				it.plan = append(it.plan, p.Workload.Key(p.Tool))
			}
		}
		if m.Pattern != "" {
			if p, err := manifest.NewPattern(m.Pattern); err == nil {
				applyPattern(it, p, add)
			}
		}
	}
}

// defaults leaves of a farther manifest what nothing nearer says. Its run is another one.
func defaults(it *item, facts schema.Facts, w manifest.Workload) (schema.Facts, manifest.Workload) {
	facts.RunID, facts.Start, facts.End, facts.StartNote = "", time.Time{}, time.Time{}, ""
	_, _, conflicts := manifest.MergeNoted(it.facts, facts)
	manifest.Without(&facts, conflicts)
	for i := range it.reading.Points {
		k := &it.reading.Points[i].Key
		for _, x := range []struct{ stated, dst **float64 }{{&k.ISL, &w.ISL}, {&k.OSL, &w.OSL}, {&k.Concurrency, &w.Concurrency}, {&k.Rate, &w.Rate}} {
			if *x.stated != nil {
				*x.dst = nil
			}
		}
	}
	return facts, w
}

// withoutKnownModel drops the model's name of a path where the id is known: the name follows from the id.
func withoutKnownModel(f, known schema.Facts) schema.Facts {
	if known.Model.ID != "" {
		f.Model.Name = ""
	}
	return f
}

func applyPattern(it *item, p manifest.Pattern, add func(schema.Facts, string, string)) {
	facts, tool, w, conditions, ok := p.Match(it.shown())
	if !ok {
		return
	}
	applyWorkload(it, tool, w, conditions, "path")
	add(withoutKnownModel(facts, it.facts), "path", p.String())
}

// applySidecar lays a sidecar's facts over the points of its result; it was written by who ran the tool.
func applySidecar(it *item, s manifest.Sidecar) {
	it.sidecar = true
	for i := range it.reading.Points {
		p := &it.reading.Points[i]
		if s.Tool != "" {
			p.Key.Tool = s.Tool
		}
		if s.ToolVersion != "" {
			p.Source.ToolVersion = s.ToolVersion
		}
		p.Client = s.Client
		p.Command = redact.Argv(s.Argv)
		if !s.Start.IsZero() {
			p.Start, p.End = s.Start, s.End
		}
	}
	applyWorkload(it, "", s.Workload, s.Conditions, "sidecar")
	if !s.Start.IsZero() {
		it.facts.Start, it.facts.End = s.Start, s.End
		it.origin["start"] = schema.Origin{From: "sidecar", Where: it.shown() + manifest.SidecarSuffix}
	}
}

// applyWorkload fills what the points' keys leave open. A tool that is stated replaces the one that follows from the
// format, and so does a task; a number that contradicts an earlier source's is a problem.
func applyWorkload(it *item, tool string, w manifest.Workload, conditions map[string]string, from string) {
	for i := range it.reading.Points {
		p := &it.reading.Points[i]
		for _, c := range fillKey(p, w, from) {
			it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevWarning, Path: it.shown(), Code: "contradiction",
				Found: c, Expected: "one value", Used: "the earlier one", Hint: "correct the one that is wrong"})
		}
		k := &p.Key
		if w.Task != "" && (k.Task == "" || k.Task == "text") {
			k.Task = w.Task
		}
		if tool != "" {
			k.Tool = tool
		}
		for name, v := range w.Dims {
			if _, has := k.Dims[name]; !has {
				k.Dims = with(k.Dims, name, v)
			}
		}
		for name, v := range conditions {
			if _, has := p.Conditions[name]; !has {
				p.Conditions = with(p.Conditions, name, v)
			}
		}
	}
}

// fillKey fills the numbers and the dataset that a point's key leaves open, remembers who stated them, and returns what
// contradicts the key.
func fillKey(p *schema.Point, w manifest.Workload, from string) (contradictions []string) {
	k := &p.Key
	fill := func(name string, dst **float64, v *float64) {
		switch {
		case v == nil:
		case *dst == nil:
			*dst = v
			p.Stated = with(p.Stated, name, from)
		case **dst != *v:
			contradictions = append(contradictions, fmt.Sprintf("%s is %g by an earlier source and %g by the %s", name, **dst, *v, from))
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
	for k, x := range m {
		out[k] = x
	}
	out[name] = v
	return out
}

// complete fills what follows from what is known: the model's name from its id, a label where lengths are unknown, a
// start from the file's own time where nothing states one.
func complete(it *item) {
	f := &it.facts
	manifest.EachText(f, name)
	for i := range it.reading.Points {
		it.reading.Points[i].Source.Path = redact.Text(it.reading.Points[i].Source.Path)
	}
	for i := range it.reading.Scores {
		s := &it.reading.Scores[i]
		s.Source.Path = redact.Text(s.Source.Path)
		s.Task, s.Metric, s.Filter, s.Version = name(s.Task), name(s.Metric), name(s.Filter), name(s.Version)
		if why := s.Value.Why(); redact.Text(why) != why {
			s.Value = schema.Missing(redact.Text(why))
		}
	}
	for i := range it.reading.Points {
		p := &it.reading.Points[i]
		p.Conditions, p.Client = cleaned(p.Conditions), cleaned(p.Client)
		for metric, m := range p.Metrics {
			if why := redact.Text(m.Why); why != m.Why {
				m.Why = why
				p.Metrics[metric] = m
			}
		}
		k := &p.Key
		k.Dataset, k.Tool, k.Task = name(k.Dataset), name(k.Tool), name(k.Task)
		for dim, v := range k.Dims {
			if short := redact.Field(dim, name(v)); short != v || len(dim) > longestName {
				k.Dims = with(k.Dims, dim, short)
				if len(dim) > longestName {
					delete(k.Dims, dim)
					k.Dims[name(dim)] = short
				}
			}
		}
	}
	if m := hubFolder.FindStringSubmatch(f.Model.ID); m != nil {
		f.Model.ID = strings.ReplaceAll(m[1], "--", "/")
		it.origin["model.id"] = schema.Origin{From: "derived", Where: "the hub's cache folder in " + it.origin["model.id"].Where}
	}
	if f.Model.Name == "" && f.Model.ID != "" {
		f.Model.Name = path.Base(strings.TrimSuffix(f.Model.ID, "/"))
		it.origin["model.name"] = schema.Origin{From: "derived", Where: "last part of model.id"}
	}
	if f.Start.IsZero() && !it.file.ModTime.IsZero() {
		f.Start = it.file.ModTime.UTC().Truncate(1e9)
		it.origin["start"] = schema.Origin{From: "derived", Where: "modification time of " + it.shown()}
	}
	for i := range it.reading.Points {
		p := &it.reading.Points[i]
		if !p.Key.Comparable() {
			fillKey(p, lengthsInName(path.Base(it.rel), p), "path")
		}
		if !p.Key.Comparable() {
			p.Key.Dims = with(p.Key.Dims, schema.DimLabel, it.label())
			p.Stated = with(p.Stated, schema.DimLabel, "path")
		}
		lengthsDiffer(it, p)
	}
}

// lengthsDiffer warns where the answers are not as long as was asked: the model stopped early, and the point is not the
// workload that its key says.
func lengthsDiffer(it *item, p *schema.Point) {
	osl, ok := p.Metrics["osl"].Stats.Get("mean")
	if !ok || p.Key.OSL == nil || *p.Key.OSL <= 0 || p.Status == schema.StatusFailed || math.Abs(osl / *p.Key.OSL - 1) <= .05 {
		return
	}
	for dim := range p.Key.Dims {
		if strings.HasSuffix(dim, "_stdev") || dim == "range_ratio" {
			return // lengths were drawn from a range
		}
	}
	it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevWarning, Path: it.shown(), Code: "osl-mismatch", Found: fmt.Sprintf("answers of %.4g tokens on average where %.4g were asked for, in %s", osl, *p.Key.OSL, p.Key.Workload()),
		Expected: "the two within 5 %", Hint: "make the server ignore the end of the answer (ignore_eos), or compare with runs of the same answer length only"})
}

// hubFolder matches a path into the hub's cache: …/models--org--name/snapshots/<commit>.
var hubFolder = regexp.MustCompile(`(?:^|/)models--([^/]+)/snapshots/`)

// cleaned is a map without secrets.
func cleaned(m map[string]string) map[string]string {
	for k, v := range m {
		if clean := redact.Field(k, name(v)); clean != v {
			m = with(m, k, clean)
		}
	}
	return m
}

// longestName is how long a name may be: of a model, a task, a dimension.
const longestName = 300

// name is a name without secrets, of a length that fits a page.
func name(s string) string {
	if len(s) > longestName {
		s = strings.ToValidUTF8(s[:longestName], "") + "…"
	}
	return redact.Text(s)
}
