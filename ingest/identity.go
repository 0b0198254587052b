package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// result is a source with numbers and their identity: what was measured, which source states each fact, and the folder
// of the run.
type result struct {
	*source
	identity
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
	apart     string     // what tells its run from another of the same folder, system and build, or ""
	sidecar   bool       // a sidecar states when it was measured
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

// precedence lists the kinds of sources: what an earlier one states wins over what a later one does. What people state
// comes first; a result, a spec or a name that a tool made may be a guess.
var precedence = []schema.From{
	schema.FromSidecar, schema.FromManifest, schema.FromFlag, fromPattern, schema.FromFile, schema.FromSpec,
	schema.FromPath, schema.FromDerived,
}

// rank is the place of an origin in the order of precedence.
func (r *result) rank(o schema.Origin) int {
	if o.From == schema.FromPath && o.Where != r.shown() {
		o.From = fromPattern
	}
	return slices.Index(precedence, o.From)
}

// take takes the facts that a source states and that no source before it in the order of precedence does. Where two
// contradict, a problem says so.
func (r *result) take(s statement) {
	origin := schema.Origin{From: s.from, Where: s.where}
	var better []manifest.Conflict
	for _, c := range manifest.Conflicts(&r.facts, s.facts) {
		if is := r.origin.of(c.Field); r.rank(origin) < r.rank(*is) {
			better = append(better, c)
			r.contradiction(c, is.From, s.from, c.Second)
		}
	}
	manifest.Without(&r.facts, better)
	taken, conflicts := manifest.Take(&r.facts, s.facts)
	for _, field := range taken {
		*r.origin.of(field) = origin
	}
	for _, c := range conflicts {
		if !s.isQuiet {
			r.contradiction(c, r.origin.of(c.Field).From, s.from, c.First)
		}
	}
}

// state takes what a source states of the run and of its workloads, where it fills in what is open.
func (r *result) state(s statement) {
	r.take(s)
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		contradictions := fillKey(p, s.workload, string(s.from))
		if s.isQuiet {
			contradictions = nil
		}
		for _, c := range contradictions {
			r.report(schema.Problem{
				Severity: schema.SevWarning, Path: r.shown(), Code: codeContradiction, Found: c,
				Expected: "one value", Used: "the earlier one", Hint: "correct the one that is wrong",
			})
		}
		k := &p.Key
		if s.workload.Task != "" && (k.Task == "" || k.Task == "text") {
			k.Task = s.workload.Task
		}
		k.Tool = cmp.Or(s.tool, k.Tool) // it may follow from the format alone
		if share := s.workload.Dims["structured"]; k.Dims["structured"] == vllm.StructuredOn && share != "" {
			k.Dims = with(k.Dims, "structured", share) // it says more than "on"
		}
		k.Dims = withMissing(k.Dims, s.workload.Dims)
		p.Conditions = withMissing(p.Conditions, s.conditions)
	}
}

// codeContradiction is the code of a problem about two sources that state different values.
const codeContradiction = "contradiction"

// contradiction reports a fact that two sources state differently. A device's number and its full name do not
// contradict each other.
func (r *result) contradiction(c manifest.Conflict, first, second schema.From, used string) {
	if c.Field == "device.name" && schema.IsDeviceWithin(c.First, c.Second) {
		return
	}
	r.report(schema.Problem{
		Severity: schema.SevWarning, Path: r.shown(), Code: codeContradiction,
		Found: c.Field + " is " + name(c.First) + " by the " + string(first) + " and " + name(c.Second) + " by the " +
			string(second),
		Expected: "one value", Used: name(used), Hint: "correct the one that is wrong",
	})
}

// fillKey fills in the numbers and the dataset that a point's key leaves open, records which source stated them, and
// returns contradictions.
func fillKey(p *schema.Point, w manifest.Workload, from string) (contradictions []string) {
	k := &p.Key
	for _, x := range []struct {
		name string
		is   **float64
		v    *float64
	}{
		{"isl", &k.ISL, w.ISL}, {"osl", &k.OSL, w.OSL}, {"concurrency", &k.Concurrency, w.Concurrency},
		{"rate", &k.Rate, w.Rate},
	} {
		switch {
		case x.v == nil:
		case *x.is == nil:
			*x.is = x.v
			p.Stated = with(p.Stated, x.name, from)
		case **x.is != *x.v:
			contradictions = append(contradictions,
				fmt.Sprintf("%s is %g by an earlier source and %g by the %s", x.name, **x.is, *x.v, from))
		}
	}
	if k.Dataset == "" && w.Dataset != "" {
		k.Dataset = w.Dataset
		p.Stated = with(p.Stated, "dataset", from)
	}
	return contradictions
}

// with returns a copy of m with one more entry; readings may share maps.
func with(m map[string]string, name, v string) map[string]string {
	out := make(map[string]string, len(m)+1)
	maps.Copy(out, m)
	out[name] = v
	return out
}

// withMissing returns m with the entries of more that it lacks: m itself if it lacks none.
func withMissing(m, more map[string]string) map[string]string {
	for name, v := range more {
		if _, has := m[name]; !has {
			m = with(m, name, v)
		}
	}
	return m
}

// identify resolves who was measured, from everything that states it.
func identify(src *source, side *sideFiles, opt Options) *result {
	r := &result{source: src, identity: identity{
		origin: make(origins, 0, 10), targets: src.reading.Targets, plan: src.reading.Plan, accepted: src.reading.Acceptance,
	}}
	r.state(statement{from: schema.FromFile, where: r.shown(), facts: &r.reading.Facts})
	for field, origin := range r.reading.Provenance { // our own documents state the origin
		origin.Where = redact.Text(origin.Where)
		*r.origin.of(field) = origin
	}
	r.startNote = r.reading.Facts.StartNote
	sidecarTool := r.applySidecar(side)
	if c, ok := side.commands[strings.TrimSuffix(r.shown(), ".json")]; ok { // of vLLM's continuous benchmarks
		r.state(statement{
			from: schema.FromSidecar, where: c.shown(), facts: &c.commands.Facts, workload: c.commands.Workload,
		})
		for i := range r.reading.Points {
			if p := &r.reading.Points[i]; len(p.Command) == 0 {
				p.Command = redact.Argv(c.commands.Client)
			}
		}
		c.reading.PartOf = r.shown()
	}
	for i, m := range side.manifestsFor(r.found) {
		s := statement{from: schema.FromManifest, where: path.Join(m.dir, manifest.FileName), isQuiet: i > 0}
		facts, tool, w := m.Facts(m.rel)
		s.facts, s.workload = &facts, w
		if s.isQuiet { // its run is a different one
			facts.RunID, facts.Start, facts.End, facts.StartNote = "", time.Time{}, time.Time{}, ""
			r.state(s)
			continue
		}
		if sidecarTool == "" {
			s.tool = tool
		}
		r.state(s)
		r.applyRunFolder(m, side)
	}
	named, isNamed := ttis.NameFacts(r.shown())
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
			from: schema.FromPath, where: r.shown(), facts: withoutKnownModel(named.Facts, &r.facts), workload: named.Workload,
			conditions: named.Conditions,
		})
	}
	for _, p := range opt.Patterns {
		r.applyPattern(p)
	}
	r.state(statement{from: schema.FromFlag, where: "command line", facts: &opt.Flags})
	r.complete()
	return r
}

// applySidecar sets a sidecar's facts on the points of its result, because it was written when the tool ran, and
// returns the tool that it names.
func (r *result) applySidecar(side *sideFiles) (tool string) {
	s, ok := side.sidecars[r.shown()]
	if !ok {
		return ""
	}
	r.sidecar, r.asked = true, s.Workload.Key(s.Tool)
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		p.Key.Tool = cmp.Or(s.Tool, p.Key.Tool)
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
	if !s.Start.IsZero() {
		r.facts.Start, r.facts.End = time.Time{}, time.Time{}
	}
	r.state(statement{
		from: schema.FromSidecar, where: r.shown() + manifest.SidecarSuffix, facts: &schema.Facts{Start: s.Start, End: s.End},
		workload: s.Workload, conditions: s.Conditions,
	})
	return s.Tool
}

// applyRunFolder takes what the nearest manifest states about its run as a whole: targets, plan, setting and journal.
func (r *result) applyRunFolder(m placedManifest, side *sideFiles) {
	if rows := m.SchemaTargets(); len(rows) > 0 {
		r.targets = rows
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
	r.runFolder = m.dir
	if !strings.HasPrefix(r.shown(), m.dir+"/") && m.dir != "." {
		r.runFolder = r.root.Name // it is above the root
	}
	r.journal = side.journals[m.dir]
	for _, p := range m.Plan {
		if p.Eval == "" {
			r.plan = append(r.plan, p.Workload.Key(p.Tool))
		}
	}
	if m.Pattern != "" {
		if p, err := manifest.NewPattern(m.Pattern); err == nil {
			r.applyPattern(p)
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
	facts := *withoutKnownModel(report.reading.Facts, &r.facts)
	facts.Start, facts.End, facts.StartNote = time.Time{}, time.Time{}, ""
	r.state(statement{from: schema.FromSpec, where: report.shown(), facts: &facts})
	r.runFolder = reportTree(report.shown())
}

// applyPattern takes the facts that a pattern reads from the path.
func (r *result) applyPattern(p manifest.Pattern) {
	facts, tool, w, conditions, ok := p.Match(r.shown())
	if ok {
		r.state(statement{
			from: schema.FromPath, where: p.String(), facts: withoutKnownModel(facts, &r.facts), tool: tool, workload: w,
			conditions: conditions,
		})
	}
}

// withoutKnownModel drops the model's name of a path if the id is known: the name follows from the id.
func withoutKnownModel(f schema.Facts, known *schema.Facts) *schema.Facts {
	if known.Model.ID != "" {
		f.Model.Name = ""
	}
	return &f
}

// unmatched are the problems of patterns of the command line that match no file with results: what they were to state
// is stated by nothing. Where another pattern matches, one of another layout may well match none, which is a warning.
func unmatched(patterns []manifest.Pattern, results []*result) []schema.Problem {
	if len(patterns) == 0 || len(results) == 0 {
		return nil
	}
	var files []string
	for _, r := range results {
		if last := len(files) - 1; last < 0 || files[last] != r.shown() { // results of one file follow each other
			files = append(files, r.shown())
		}
	}
	var out []schema.Problem
	for _, p := range patterns {
		if slices.ContainsFunc(files, p.Matches) {
			continue
		}
		out = append(out, schema.Problem{
			Severity: schema.SevWarning, Path: "--pattern " + p.String(), Code: "pattern",
			Found:    "it matches none of the " + plaintext.Plural(len(files), "file") + " with results",
			Expected: fmt.Sprintf("a pattern that goes to the end of the file's name, as of %s", files[0]),
			Used:     "nothing of it",
			Hint:     "end it with /* for whatever the files are called; compare it with the path of a file, folder by folder",
		})
	}
	if len(out) == len(patterns) {
		for i := range out {
			out[i].Severity = schema.SevError
		}
	}
	return out
}

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
	}
	for i := range r.reading.Scores {
		s := &r.reading.Scores[i]
		s.Source.Path = redact.Text(s.Source.Path)
		s.Task, s.Metric, s.Filter, s.Version = name(s.Task), name(s.Metric), name(s.Filter), name(s.Version)
		if why := s.Value.Why(); redact.Text(why) != why {
			s.Value = schema.Missing(redact.Text(why))
		}
	}
	r.completeModel()
	f := &r.facts
	if f.Start.IsZero() {
		if t, note, ok := dateInName(r.shown(), tomorrow(), r.ownNumbers()); ok {
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
		if !p.Key.Comparable() {
			fillKey(p, lengthsInName(path.Base(r.rel), p), string(schema.FromPath))
		}
		if !p.Key.Comparable() { // nothing else tells workloads apart
			p.Key.Dims = with(p.Key.Dims, schema.DimLabel, r.labelOf(p))
			p.Stated = with(p.Stated, schema.DimLabel, string(schema.FromPath))
		}
		r.checkAnswerLength(p)
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
		Found: fmt.Sprintf("answers of %.4g tokens on average where %.4g were asked for, in %s",
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
		derive("model.id", "ModelScope's folder in "+r.origin.of("model.id").Where+", where ___ stands for a point")
	}
	f.Model.Name = strings.ReplaceAll(f.Model.Name, "___", ".")
	if f.Model.Name == "" && f.Model.ID != "" {
		f.Model.Name = f.Model.ID
		if id := strings.TrimRight(f.Model.ID, "/"); id != "" && !strings.ContainsAny(id, "<>") {
			f.Model.Name = path.Base(id)
		}
		derive("model.name", "last part of model.id")
	}
}

// hubFolder matches a path into the hub's cache: …/models--org--name/snapshots/<commit>.
var hubFolder = regexp.MustCompile(`(?:^|/)models--([^/]+)/snapshots/`)

// cleanReasons removes secrets from the reasons of metrics without numbers.
func cleanReasons(p *schema.Point) {
	for metric, m := range p.Metrics {
		if why := redact.Text(m.Why); why != m.Why {
			m.Why = why
			p.Metrics[metric] = m
		}
	}
}

// cleanTexts returns a map without secrets.
func cleanTexts(m map[string]string) map[string]string {
	for k, v := range m {
		key, clean := name(k), redact.Field(k, name(v))
		if key != k || clean != v {
			if m = with(m, key, clean); key != k {
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
