package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/schema/naming"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// result is a source with numbers and their identity: what was measured, which source states each fact, and the folder
// of the run.
type result struct {
	*source
	identity
	doc      *document        // that it was stored in, nil for what was read
	same     []*result        // what is stored of the same bytes
	content  string           // by which a copy of all its numbers is known
	sameEval map[*result]bool // with which others; see [sameEval]
	// printed is what its scores are of where it is a table that states no model; else nil
	printed *printedScores

	isCorrected bool   // it is stored, and a copy that was read knows more of it: it may be of another run
	isGathered  bool   // by a script, of other files that it names
	hasPattern  bool   // its path was read with a pattern of the user's
	rest        string // the path without what patterns read from it
	// labels are those that were stored of its points, by their numbers: a file that is read by itself keeps what the
	// folders above it are called
	labels map[string]string
}

type identity struct {
	facts     schema.Facts
	origin    origins
	startNote string // of a start that the file itself states
	targets   []schema.Target
	accepted  schema.Acceptance
	plan      []schema.Key
	asked     schema.Key // the workload as its sidecar states it, which is how it was planned
	runFolder string     // the folder that defines the run, if no id is stated
	journal   *source    // of the run folder, when there is one
	sidecar   bool       // a sidecar states when it was measured

	contradictions []contradiction // until they are told
}

// origins holds which source states each fact of a result. It is a list because a tree has tens of thousands of
// results, and a map of ten fields takes twice the memory.
type origins []factOrigin

type factOrigin struct {
	field string
	schema.Origin
}

// of returns the origin of a field, zero where nothing states it, to be read or set.
func (o *origins) of(field string) *schema.Origin {
	i := slices.IndexFunc(*o, func(f factOrigin) bool { return f.field == field })
	if i < 0 {
		i = len(*o)
		*o = append(*o, factOrigin{field: field})
	}
	return &(*o)[i].Origin
}

// provenance returns the origins as a run has them.
func (r *result) provenance() map[string]schema.Origin {
	out := make(map[string]schema.Origin, len(r.origin))
	for _, f := range r.origin {
		if f.field == "start" && r.startNote != "" && f.Where == r.shown() {
			f.Where += " (" + r.startNote + ")"
		}
		if f.From != "" {
			out[f.field] = f.Origin
		}
	}
	return out
}

// statement is what one source states of a result.
type statement struct {
	from       schema.From
	where      string
	facts      *schema.Facts
	tool       string
	workload   manifest.Workload
	conditions map[string]string
	isQuiet    bool // what a better source overrides is no contradiction: a manifest above another one
}

// fromPattern is a path that is read with a pattern of the user's. Documents say "path".
const fromPattern schema.From = "pattern"

// fromHistory is what a person stated of the same bytes when they were read before.
const fromHistory schema.From = "history"

// precedence lists the kinds of sources: what an earlier one states wins over what a later one does. What people state
// comes first; a result, a spec or a name that a tool made may be a guess.
var precedence = []schema.From{
	schema.FromFlag, schema.FromManifest, fromPattern, fromHistory, schema.FromSidecar, schema.FromFile,
	schema.FromSpec, schema.FromPath, schema.FromDerived,
}

// rankOf is the place of a kind of source in the order of precedence.
func rankOf(from schema.From) int {
	if i := slices.Index(precedence, from); i >= 0 {
		return i
	}
	return len(precedence)
}

// isStated reports a kind of source by which a person states something.
func isStated(from schema.From) bool { return rankOf(from) <= rankOf(fromPattern) }

// kind is the kind of source of an origin, where documents say "path" of two.
func (r *result) kind(o schema.Origin) schema.From {
	if o.From == schema.FromPath && o.Where != r.shown() {
		return fromPattern
	}
	return o.From
}

// contradiction is a fact that two sources state differently.
type contradiction struct {
	manifest.Conflict // the first one's value is used
	won, lost         schema.From
}

// oneModel returns facts without the name or the id of a model that another one is known for: a name that a person
// states is not that of an id that ends otherwise; from an id follows the name.
func (r *result) oneModel(s statement) *schema.Facts {
	known, m := &r.facts.Model, s.facts.Model
	switch {
	case m.ID == "" && known.ID != "" && m.Name != "":
		isNamed := strings.EqualFold(path.Base(known.ID), m.Name) || m.Name == known.Name
		if !isNamed && rankOf(s.from) <= rankOf(schema.FromFile) {
			r.contradicts("model.id", manifest.Conflict{Field: "model.name", First: known.ID, Second: m.Name}, s)
		}
		m.Name = ""
	case m.ID != "" && known.ID == "" && known.Name != "" && !strings.EqualFold(path.Base(m.ID), known.Name) &&
		isStated(r.kind(*r.origin.of("model.name"))):
		r.contradicts("model.name", manifest.Conflict{Field: "model.name", First: known.Name, Second: m.ID}, s)
		m.ID, m.Name = "", ""
	default:
		return s.facts
	}
	without := *s.facts
	without.Model = m
	return &without
}

// take takes the facts that a source states and that no source before it in the order of precedence does, and returns
// how many these are.
func (r *result) take(s statement) int {
	won := func(field string) bool { return rankOf(s.from) < rankOf(r.kind(*r.origin.of(field))) }
	taken, conflicts := manifest.Take(&r.facts, r.oneModel(s), won)
	for _, c := range conflicts {
		if !slices.Contains(taken, c.Field) {
			r.contradicts(c.Field, c, s)
			continue
		}
		lost := r.kind(*r.origin.of(c.Field))
		r.contradictions = append(r.contradictions, contradiction{c, s.from, lost})
	}
	for _, field := range taken {
		origin := r.origin.of(field)
		*origin = schema.Origin{From: schema.From(documented(s.from)), Where: s.where, Over: origin.Over}
	}
	return len(taken)
}

// contradicts keeps what a source states otherwise than a better one: as a label of the fact where a person stated
// that. A device's number and its full name do not contradict each other.
func (r *result) contradicts(field string, c manifest.Conflict, s statement) {
	origin := r.origin.of(field)
	won := r.kind(*origin)
	isGuess := s.from == fromHistory || s.from == schema.FromDerived // what gave way before, or follows from what did
	if isStated(won) && !isStated(s.from) && !isGuess && origin.Over == "" {
		origin.Over = name(c.Second) + " by the " + string(s.from)
	}
	if !s.isQuiet && !(c.Field == "device.name" && schema.IsDeviceWithin(c.First, c.Second)) {
		r.contradictions = append(r.contradictions, contradiction{c, won, s.from})
	}
}

// tellContradictions reports the facts that two sources state differently, with the first result of each folder. Where
// a person stated what is used it returns one note for all, which no run keeps: its provenance has what gave way.
func tellContradictions(results []*result) (notes []schema.Problem) {
	type place struct {
		folder, field string
		won, lost     schema.From
		value         string // of the file, where no person decided between the two
	}
	type told struct {
		r *result
		contradiction
	}
	var all []told
	for _, r := range results {
		for _, c := range r.contradictions {
			if rankOf(r.kind(*r.origin.of(c.Field))) >= rankOf(c.won) { // else neither is used
				all = append(all, told{r, c})
			}
		}
		r.contradictions = nil
	}
	for _, alike := range schema.Alike(all, func(t told) place {
		if isStated(t.won) {
			return place{"", t.Field, t.won, t.lost, ""}
		}
		return place{path.Dir(t.r.shown()), t.Field, t.won, t.lost, t.First + idSeparator + t.Second}
	}) {
		t, values := alike[0], map[string]bool{}
		for _, one := range alike {
			values[one.Second] = true
		}
		p := schema.Problem{
			Severity: schema.SevWarning, Path: t.r.shown(), Code: "contradiction",
			Found: fmt.Sprintf("%s is %s by the %s and %s by the %s", t.Field, name(t.First), t.won, name(t.Second), t.lost),
			Used:  name(t.First), Expected: "one value", Hint: "correct the wrong one",
		}
		if n := len(values); n > 1 {
			p.Found += " and " + plaintext.Plural(n-1, "other value")
		}
		if n := len(alike); n > 1 {
			p.Found += fmt.Sprintf(" (in %d files)", n)
		}
		if !isStated(t.won) || isStated(t.lost) {
			t.r.report(p)
			continue
		}
		p.Severity, p.Hint = schema.SevNote, "nothing to do if what was stated is right; the other stays in the provenance"
		notes = append(notes, p)
	}
	return notes
}

// state takes what a source states of the run and of its workloads.
func (r *result) state(s statement) {
	r.take(s)
	r.stateWorkloads(s)
}

// stateWorkloads takes what a source states of the workloads, and returns how much of it is new. It replaces what they
// have from a file, or from a source that was applied before; a source that is less than a file fills in what is open.
func (r *result) stateWorkloads(s statement) (taken int) {
	for i := range r.reading.Points {
		taken += r.stateWorkload(&r.reading.Points[i], s)
	}
	if !isStated(s.from) {
		return taken
	}
	for i := range r.reading.Scores { // those of different configurations are not compared
		t, before := &r.reading.Scores[i], taken
		text := t.Unknown.Text(schema.Settings)
		for _, name := range slices.Sorted(maps.Keys(s.workload.Dims)) {
			if one := name + "=" + s.workload.Dims[name]; name != schema.DimLabel && !strings.Contains(text, one) {
				text = strings.TrimPrefix(text+", "+one, ", ")
				taken++
			}
		}
		if taken > before {
			t.Unknown = maps.Clone(t.Unknown)
			t.Unknown.Set(schema.Settings, text)
		}
	}
	return taken
}

func (r *result) stateWorkload(p *schema.Point, s statement) (taken int) {
	for name, v := range s.conditions {
		if is, has := p.Conditions[name]; !has || is != v && isStated(s.from) {
			p.Conditions = repeat.With(p.Conditions, name, v)
			taken++
		}
	}
	return taken + r.stateLoad(p, s) + stateKind(p, s)
}

// documented is a kind of source as documents have it.
func documented(from schema.From) string {
	if from == fromPattern {
		return string(schema.FromPath)
	}
	return string(from)
}

// stateLoad takes the lengths and the load that a source states, and returns how many are new.
func (r *result) stateLoad(p *schema.Point, s statement) (taken int) {
	k, w, mayReplace := &p.Key, &s.workload, rankOf(s.from) < rankOf(schema.FromFile)
	for _, x := range []struct {
		name string
		is   **float64
		v    *float64
	}{
		{"isl", &k.ISL, w.ISL}, {"osl", &k.OSL, w.OSL}, {"concurrency", &k.Concurrency, w.Concurrency},
		{"rate", &k.Rate, w.Rate},
	} {
		if x.v == nil || *x.is != nil && **x.is == *x.v {
			continue
		}
		if *x.is != nil && !s.isQuiet {
			c := contradiction{
				manifest.Conflict{Field: x.name, First: fmt.Sprint(*x.v), Second: fmt.Sprint(**x.is)}, s.from,
				schema.From(cmp.Or(p.Stated[x.name], string(schema.FromFile))),
			}
			if !mayReplace {
				c.First, c.Second, c.won, c.lost = c.Second, c.First, c.lost, c.won
			}
			r.contradictions = append(r.contradictions, c)
		}
		if *x.is == nil || mayReplace {
			if *x.is != nil && isStated(s.from) {
				text, _ := json.Marshal(**x.is) // a finite number has a form
				p.Extra = withUnknown(schema.Unknown{x.name + "_by_the_file": text}, p.Extra)
			}
			*x.is = x.v
			p.Stated = repeat.With(p.Stated, x.name, documented(s.from))
			taken++
		}
	}
	return taken
}

// stateKind takes what else a source states of a workload, and returns how much is new.
func stateKind(p *schema.Point, s statement) (taken int) {
	k, w, mayReplace := &p.Key, &s.workload, rankOf(s.from) < rankOf(schema.FromFile)
	if w.Dataset != "" && w.Dataset != k.Dataset && (k.Dataset == "" || mayReplace) {
		k.Dataset = w.Dataset
		p.Stated = repeat.With(p.Stated, "dataset", documented(s.from))
		taken++
	}
	if w.Task != "" && w.Task != k.Task && (k.Task == "" || k.Task == "text" || mayReplace) {
		k.Task = w.Task
		taken++
	}
	if s.tool != "" && s.tool != k.Tool { // it may follow from the format alone
		k.Tool = s.tool
		taken++
	}
	return taken + stateDims(k, w.Dims, mayReplace)
}

func stateDims(k *schema.Key, dims map[string]string, mayReplace bool) (taken int) {
	for dim, v := range dims {
		is, has := k.Dims[dim]
		isMore := dim == "structured" && is == vllm.StructuredOn && v != "" // a share says more than "on"
		if !has || isMore || is != v && mayReplace {
			k.Dims = repeat.With(k.Dims, dim, v)
			taken++
		}
	}
	return taken
}

// identify resolves who was measured, from everything that states it, in the order of precedence.
func identify(src *source, side *sideFiles, opt Options, uses patternUses, m *memory) *result {
	r := &result{source: src, identity: identity{
		origin: make(origins, 0, 10), targets: src.reading.Targets, plan: src.reading.Plan, accepted: src.reading.Acceptance,
	}}
	r.stateBetter(side, opt, uses, m)
	r.take(statement{from: schema.FromFile, where: r.shown(), facts: &r.reading.Facts})
	for field, origin := range r.reading.Provenance { // our own documents state the origin
		if is := r.origin.of(field); is.From == "" || is.From == schema.FromFile && is.Where == r.shown() {
			origin.Where = redact.Text(origin.Where)
			*is = origin
		}
	}
	r.startNote = r.reading.Facts.StartNote
	f := &r.reading.Facts
	if isStated(r.kind(*r.origin.of("start"))) && !f.Start.IsZero() && f.Start.Sub(r.facts.Start).Abs() >= aDay {
		if r.facts.End.Equal(f.End) && !f.End.IsZero() { // of the day that was wrong
			r.facts.End = r.facts.Start.Add(f.End.Sub(f.Start))
		}
		for i := range r.reading.Points {
			r.reading.Points[i].Start, r.reading.Points[i].End = time.Time{}, time.Time{}
		}
	}
	named, isNamed := ttis.NameFacts(r.place())
	if isNamed || len(side.specs) > 0 {
		if s := side.specFor(src, named.ModelID); s != nil {
			r.state(statement{from: schema.FromSpec, where: s.shown(), facts: &s.reading.Facts})
			r.lieBeside(s)
			r.runFolder = path.Dir(path.Dir(s.shown()))
		}
	}
	r.applyReport(side)
	if isNamed {
		r.runFolder = cmp.Or(r.runFolder, workflowTree(r.shown()))
		r.state(statement{
			from: schema.FromPath, where: r.shown(), facts: &named.Facts, workload: named.Workload, conditions: named.Conditions,
		})
	}
	r.remember(false)
	r.complete()
	return r
}

// stateBetter takes what sources state that count for more than the file: the facts of the best first, since the first
// one counts; the workloads of the best last, since each replaces what is there.
func (r *result) stateBetter(side *sideFiles, opt Options, uses patternUses, m *memory) {
	better := make([]statement, 0, 3) // than the file, best first
	add := func(s statement) {
		r.take(s)
		better = append(better, s)
	}
	sidecar := r.applySidecar(side)
	add(statement{from: schema.FromFlag, where: "command line", facts: &opt.Flags})
	patterns := opt.Patterns
	for i, m := range side.manifestsFor(r.found) {
		s := statement{from: schema.FromManifest, where: path.Join(m.dir, manifest.FileName), isQuiet: i > 0}
		facts, tool, w := m.Of(m.rel)
		s.facts, s.tool, s.workload = &facts, tool, w
		if s.isQuiet { // its run is a different one
			facts.RunID, facts.Start, facts.End, facts.StartNote, s.tool = "", time.Time{}, time.Time{}, "", ""
		} else {
			patterns = slices.Concat(patterns, m.Patterns())
		}
		add(s)
		if i == 0 {
			r.applyRunFolder(m, side)
		}
		r.addFacts(m, side, uses, add)
	}
	r.addFacts(placedManifest{Manifest: manifest.Manifest{FactsFrom: opt.FactsFrom}, dir: "."}, side, uses, add)
	for _, p := range patterns {
		if facts, tool, w, conditions, ok := p.Match(r.shown()); ok {
			s := statement{fromPattern, p.String(), &facts, tool, w, conditions, false}
			n := r.take(s)
			better, r.hasPattern, r.rest = append(better, s), true, p.Rest(r.shown())
			uses[p.String()] += n
			break
		}
	}
	r.same = m.same(r)
	r.remember(true)
	if sidecar.facts != nil {
		add(sidecar)
	}
	if c, ok := side.commands[strings.TrimSuffix(r.shown(), ".json")]; ok { // of vLLM's continuous benchmarks
		add(statement{
			from: schema.FromSidecar, where: c.shown(), facts: &c.commands.Facts, workload: c.commands.Workload,
		})
		for i := range r.reading.Points {
			if p := &r.reading.Points[i]; len(p.Command) == 0 {
				p.Command = redact.Argv(c.commands.Client)
			}
		}
		c.reading.PartOf = r.shown()
	}
	for _, s := range slices.Backward(better) {
		if n := r.stateWorkloads(s); s.from == fromPattern {
			uses[s.where] += n
		}
	}
}

// applySidecar sets a sidecar's facts on the points of its result, because it was written when the tool ran. It returns
// what else the sidecar states, zero where there is none.
func (r *result) applySidecar(side *sideFiles) statement {
	s, ok := side.sidecars[r.shown()]
	if !ok {
		return statement{}
	}
	r.sidecar, r.asked = true, s.Workload.Key(s.Tool)
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		p.Source.ToolVersion = cmp.Or(s.ToolVersion, p.Source.ToolVersion)
		p.Client = s.Client
		p.Block = max(0, s.Block)
		p.Command = redact.Argv(s.Argv)
		if len(r.reading.Points) == 1 { // what lies beside a file of several loads is of all of them together
			addGauges(p, &s)
		}
		if !s.Start.IsZero() {
			p.Start, p.End = s.Start, s.End
		}
	}
	where := r.shown() + manifest.SidecarSuffix
	if !s.Start.IsZero() { // of this result; a manifest states that of the whole run
		r.facts.Start, r.facts.End = s.Start, s.End
		*r.origin.of("start") = schema.Origin{From: schema.FromSidecar, Where: where}
	}
	return statement{
		from: schema.FromSidecar, where: where, facts: &schema.Facts{}, tool: s.Tool, workload: s.Workload,
		conditions: s.Conditions,
	}
}

// applyRunFolder takes what the nearest manifest states about its run as a whole: targets, plan, setting and journal.
func (r *result) applyRunFolder(m placedManifest, side *sideFiles) {
	if len(m.Targets) > 0 {
		r.targets = m.Targets
	}
	r.reading.Interleaved = m.Interleaved
	if len(m.Setting) > 0 {
		setting := map[string]string{}
		for name, v := range m.Setting {
			setting[redact.Text(name)] = redact.Field(name, v)
		}
		if text, err := json.Marshal(setting); err == nil {
			delete(r.reading.Extra, "setting")
			r.reading.Extra = withUnknown(r.reading.Extra, schema.Unknown{"setting": text})
		}
	}
	r.journal = side.journals[m.dir]
	if m.Pattern == "" { // else it is of many runs, which the paths below it name
		r.runFolder = m.dir
		if !strings.HasPrefix(r.shown(), m.dir+"/") && m.dir != "." {
			r.runFolder = r.root.Name // it is above the root
		}
	}
	for _, p := range m.Plan {
		if p.Eval == "" {
			r.plan = append(r.plan, p.Workload.Key(p.Tool))
		}
	}
}

// lieBeside takes the targets and the acceptance that a spec or a report states about the results of its tree.
func (r *result) lieBeside(s *source) {
	r.targets = schema.MergeTargets(r.targets, s.reading.Targets)
	r.accepted = r.accepted.With(s.reading.Acceptance)
}

// applyReport takes what the report of the tree states about its results, and the identity if no runtime spec states
// it.
func (r *result) applyReport(side *sideFiles) {
	report := side.reportFor(r.source, r.facts.Model.ID)
	switch {
	case r.reading.Format == ttis.ReportData: // its rows are of one run with those of the tables beside it
		r.runFolder = reportTree(r.shown())
		return
	case report == nil:
		return
	}
	r.lieBeside(report)
	r.reading.Extra = withUnknown(r.reading.Extra, report.reading.Extra)
	if r.runFolder != "" {
		status := schema.Model{Status: report.reading.Facts.Model.Status}
		r.state(statement{from: schema.FromSpec, where: report.shown(), facts: &schema.Facts{Model: status}})
		return
	}
	facts := report.reading.Facts
	facts.Start, facts.End, facts.StartNote = time.Time{}, time.Time{}, ""
	r.state(statement{from: schema.FromSpec, where: report.shown(), facts: &facts})
	r.runFolder = reportTree(report.shown())
}

// patternUses counts by pattern, where it matches a result, what it states that no better source and no file does.
type patternUses map[string]int

// useless are the problems of patterns that match no file with results, or that state nothing new of those that they
// match: whoever wrote one expects something of it.
func (u patternUses) useless(patterns []manifest.Pattern, side *sideFiles, results []*result) []schema.Problem {
	if len(results) == 0 {
		return nil
	}
	files := map[string]bool{}
	for _, r := range results {
		files[r.shown()] = true
	}
	var out []schema.Problem
	check := func(i int, pattern, where string, isFlag, isAbove bool) {
		p := schema.Problem{
			Severity: schema.SevError, Path: where, Code: CodePattern, Used: "nothing of it",
			Found:    "it matches none of the " + plaintext.Plural(len(files), "file") + " with results",
			Expected: "a pattern that goes to the end of the file's name, as of " + slices.Min(slices.Collect(maps.Keys(files))),
			Hint:     "end it with /* for whatever the files are called; compare it with the path of a file, folder by folder",
		}
		if i > 0 {
			p.Found = fmt.Sprintf("%s matches none of the %s with results, or only those of the patterns before it", pattern,
				plaintext.Plural(len(files), "file"))
		}
		switch taken, isMatched := u[pattern]; {
		case isAbove: // it is of more files than are read this time
			p.Severity, p.Hint = schema.SevNote, "nothing, if it is for other files of its folder; otherwise "+p.Hint
			if isMatched {
				return
			}
		case !isMatched:
		case taken == 0:
			p.Found = "what it reads from paths is stated already, by a flag, a manifest or the files, or is of no result"
			p.Expected, p.Hint = "a pattern that states something new", "leave it out"
			if !isFlag { // a flag may have stated it this time
				p.Severity = schema.SevWarning
			}
		default:
			return
		}
		out = append(out, p)
	}
	for i, p := range patterns {
		check(i, p.String(), "--pattern "+p.String(), true, false)
	}
	for _, dir := range slices.Sorted(maps.Keys(side.manifests)) {
		m, isOf := side.manifests[dir], func(a Above) bool { return a.Root.Name == dir }
		below := slices.DeleteFunc(slices.Clone(results), func(r *result) bool { return !r.isBelow(dir) })
		isAbove := !slices.ContainsFunc(below, func(r *result) bool { return !slices.ContainsFunc(r.root.Above, isOf) })
		for i, p := range m.Patterns() {
			if len(below) > 0 {
				check(i, p.String(), path.Join(dir, manifest.FileName), false, isAbove)
			}
		}
		if !isAbove {
			out = append(out, u.uselessFacts(dir, m, side)...)
		}
	}
	return out
}

// CodePattern is the code of the problem of a pattern that is of no use.
const CodePattern = "pattern"

// complete removes secrets from every text that will be stored, then fills what follows from what is known: the model's
// name from its id, a start from the file's name.
func (r *result) complete() {
	manifest.EachText(&r.facts, name)
	r.facts.Stack.Commits = cleanTexts(r.facts.Stack.Commits)
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		k := &p.Key
		p.Source.Path = redact.Text(p.Source.Path)
		p.Conditions, p.Client, k.Dims = cleanTexts(p.Conditions), cleanTexts(p.Client), cleanTexts(k.Dims)
		k.Dataset, k.Tool, k.Task = name(k.Dataset), name(k.Tool), name(k.Task)
		if !k.Comparable() {
			r.stateWorkload(p, statement{from: schema.FromPath, workload: lengthsInName(path.Base(r.rel), p)})
		}
	}
	for i := range r.reading.Scores {
		s := &r.reading.Scores[i]
		s.Source.Path = redact.Text(s.Source.Path)
		s.Task = cmp.Or(r.root.Tasks[s.Task], s.Task)
		s.Task, s.Metric, s.Filter, s.Version = name(s.Task), name(s.Metric), name(s.Filter), name(s.Version)
		if why := s.Value.Why(); redact.Text(why) != why {
			s.Value = schema.Missing(redact.Text(why))
		}
	}
	r.completeModel()
	f := &r.facts
	if f.Start.IsZero() {
		own := r.ownNumbers()
		t, note, ok := dateInName(r.shown(), tomorrow(), own)
		if !ok { // what is read may be given by another path than its name
			t, note, ok = dateInName(r.root.Folders, tomorrow(), own)
		}
		if ok {
			f.Start, f.StartNote = t, note
			*r.origin.of("start") = schema.Origin{From: schema.FromPath, Where: r.shown() + " (" + note + ")"}
		}
	}
}

// label tells workloads of unknown lengths apart by the names of their files. All that else states them is known.
func (r *result) label() {
	if t := r.facts.Start; t.After(tomorrow()) && (len(r.reading.Points) > 0 || len(r.reading.Scores) > 0) {
		r.report(schema.Problem{
			Severity: schema.SevWarning, Path: r.shown(), Code: "future-date",
			Found:    "a start on " + t.Format("2006-01-02") + ", by the " + string(r.origin.of("start").From),
			Expected: "a time that has passed", Used: "the time as stated: the result counts as the newest until then",
			Hint: "set the clock of the machine that measured, and correct the date",
		})
	}
	if r.journal == nil && !r.sidecar {
		r.report(repeat.AddedNames(r.reading.Scores, r.facts.Model.Name)...)
	}
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		if !p.Key.Comparable() && p.Stated[schema.DimLabel] != string(schema.FromFlag) { // nothing else tells workloads apart
			p.Key.Dims = repeat.With(p.Key.Dims, schema.DimLabel, r.labelOf(p))
			p.Stated = repeat.With(p.Stated, schema.DimLabel, string(schema.FromPath))
		}
		r.checkAnswerLength(p)
	}
	r.tellOfBuild()
}

// CodeBuilds is the code of the problem of workloads that are called after what looks like a build.
const CodeBuilds = "build-in-name"

// tellOfBuild warns of workloads that are called after what looks like a build, where nothing states a release: those
// of each build would have a name of their own, and be compared with none. What it is, is for a person to say.
func (r *result) tellOfBuild() {
	if r.facts.Release != "" || r.hasPattern {
		return
	}
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		label := p.Key.Dims[schema.DimLabel]
		from, to, ok := naming.BuildIn(label)
		if !ok || p.Stated[schema.DimLabel] != string(schema.FromPath) {
			continue
		}
		hint := "{release} in --pattern says where in the names it stands"
		file := manifest.Named{Path: r.shown(), Model: r.facts.Model.Name}
		if pattern := manifest.Propose([]manifest.Named{file}, []string{"release"}); pattern != "" {
			hint = fmt.Sprintf("ttreport build --pattern '%s' %s", pattern, path.Dir(r.shown()))
		}
		r.report(schema.Problem{
			Severity: schema.SevWarning, Path: r.shown(), Code: CodeBuilds,
			Found:    fmt.Sprintf("workload %q, whose name has what looks like a build: %s", label, label[from:to]),
			Expected: "one name of a workload in all builds", Used: "the name as it is: builds are not compared",
			Hint: "if it is one: " + hint + "; if it is a setup, {config} in place of {release}",
		})
		return
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
		Found: fmt.Sprintf("answers of %.4g tokens on average where %.4g were requested, in %s",
			osl, *p.Key.OSL, p.Key.Workload()),
		Expected: "the two within 5 %",
		Hint: "make the server ignore the end of the answer (ignore_eos), " +
			"or compare with runs of the same answer length only",
	})
}

// completeModel spells the model's id as its hub does, and fills in its name.
func (r *result) completeModel() {
	f := &r.facts
	derive := func(field, where string) { *r.origin.of(field) = schema.Origin{From: schema.FromDerived, Where: where} }
	if m := hubFolder.FindStringSubmatch(f.Model.ID); m != nil {
		f.Model.ID = strings.ReplaceAll(m[1], "--", "/")
		derive("model.id", "the hub's cache folder in "+r.origin.of("model.id").Where)
	}
	if id := strings.ReplaceAll(f.Model.ID, "___", "."); id != f.Model.ID {
		f.Model.ID = id
		derive("model.id", "ModelScope's folder in "+r.origin.of("model.id").Where+", where ___ stands for a dot")
	}
	if id := strings.TrimRight(f.Model.ID, "/"); id != "" { // a folder with and without its slash is one
		f.Model.ID = id
	}
	f.Model.Name = strings.ReplaceAll(f.Model.Name, "___", ".")
	if f.Model.Name == "" && f.Model.ID != "" {
		f.Model.Name = f.Model.ID
		if id := strings.TrimRight(f.Model.ID, "/"); id != "" && !strings.ContainsAny(id, "<>") {
			f.Model.Name = nameOf(id)
		}
		derive("model.name", "last part of model.id")
	}
}

// nameOf is the last part of an id or a path, below the name of its model where it is a state of one.
func nameOf(id string) string {
	name := path.Base(id)
	for dir, last := path.Dir(id), name; checkpoint.MatchString(last); dir = path.Dir(dir) {
		last = path.Base(dir)
		if strings.Trim(last, "./") == "" || notModel.MatchString(last) {
			return path.Base(id)
		}
		name = last + "-" + name
	}
	return name
}

// notModel matches folders that hold models, and are called after none.
var notModel = lazyregexp.New(`(?i)^(?:models?|checkpoints?|ckpts?|outputs?|weights|snapshots|hub|cache|tmp|data)$`)

// checkpoint matches the last part of a path that is a state of a model, and not its name.
var checkpoint = lazyregexp.New(`(?i)^(?:(?:global_?step|checkpoint|ckpt|step|epoch|iter)[-_]?\d+(?:[-_]hf)?|` +
	`hf|final|merged|best|latest|last)$`)

// hubFolder matches a path into the hub's cache: …/models--org--name/snapshots/<commit>.
var hubFolder = lazyregexp.New(`(?:^|/)models--([^/]+)/snapshots/`)

// cleanTexts returns a map without secrets.
func cleanTexts(m map[string]string) map[string]string {
	for k, v := range m {
		key, clean := name(k), redact.Field(k, name(v))
		if key != k || clean != v {
			if m = repeat.With(m, key, clean); key != k {
				delete(m, k)
			}
		}
	}
	return m
}

// longestName is the most bytes in the name of a model, a task or a dimension.
const longestName = 300

// name returns a name without secrets, short enough for a page.
func name(s string) string {
	if len(s) > longestName {
		s = strings.ToValidUTF8(s[:longestName], "") + "…"
	}
	return redact.Text(s)
}
