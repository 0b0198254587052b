package ingest

import (
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/course"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// result is a source with numbers and their identity.
type result struct {
	*source
	identity
}

// identity holds what was measured, which source states each fact, and the folder of the run.
type identity struct {
	facts     schema.Facts
	origin    origins
	startNote string // of a start that the file itself states
	targets   []schema.Target
	accepted  schema.Acceptance
	plan      []schema.Key
	runFolder string  // the folder that defines the run, if no id is stated
	journal   *source // of the run folder, when there is one
	apart     string  // what tells its run from another of the same folder, system and build, or ""
	sidecar   bool    // a sidecar states when it was measured
}

// identifyAll resolves the identity of every source with numbers.
func identifyAll(sources []*source, side *sideFiles, opt Options) []*result {
	var out []*result
	shared := sharedTexts{}
	for _, src := range sources {
		if src.counts() {
			r := identify(src, side, opt)
			shared.share(r.reading.Points)
			out = append(out, r)
		}
	}
	return out
}

// identify resolves who was measured: the file itself, then its sidecar, a manifest, a runtime spec, its path, the
// flags. A later source fills what the earlier ones leave open; where two contradict, what people state is used, else
// the earlier one, and a problem says so.
func identify(src *source, side *sideFiles, opt Options) *result {
	r := &result{
		source: src,
		identity: identity{
			origin: make(origins, 0, 10), targets: src.reading.Targets, plan: src.reading.Plan, accepted: src.reading.Acceptance,
		},
	}
	r.stateOwn()
	sideTool := r.applySidecar(side)
	r.applyCommands(side)
	r.applyManifests(side, sideTool)
	named, isNamed := ttis.NameFacts(r.shown())
	if isNamed || len(side.specs) > 0 {
		if s := side.specFor(src, named.ModelID); s != nil {
			r.state(s.reading.Facts, schema.FromSpec, s.shown())
			r.lieBeside(s)
			r.runFolder = path.Dir(path.Dir(s.shown()))
		}
	}
	r.applyReport(side)
	if isNamed {
		if r.runFolder == "" {
			r.runFolder = workflowTree(r.shown())
		}
		r.applyWorkload("", named.Workload, named.Conditions, schema.FromPath)
		r.state(withoutKnownModel(named.Facts, r.facts), schema.FromPath, r.shown())
	}
	for _, p := range opt.Patterns {
		r.applyPattern(p)
	}
	r.state(opt.Flags, schema.FromFlag, "command line")
	r.complete()
	return r
}

// state takes the facts that one kind of source states and nothing before it did.
//
// What people state, in a manifest or by a flag, replaces what a result or a spec says of itself: there it may be a
// guess. The nearest statement is used where two contradict.
func (r *result) state(stated schema.Facts, from schema.From, where string) {
	f := &stated
	var replaced []manifest.Conflict
	if from == schema.FromManifest || from == schema.FromFlag {
		for _, c := range manifest.Conflicts(&r.facts, f) {
			if isGuess(r.origin.get(c.Field), r.shown()) {
				replaced = append(replaced, c)
			}
		}
		manifest.Without(&r.facts, replaced)
	}
	for _, c := range replaced {
		r.contradiction(c, r.origin.get(c.Field).From, from, c.Second)
	}
	taken, conflicts := manifest.Take(&r.facts, f)
	for _, field := range taken {
		r.origin.set(field, schema.Origin{From: from, Where: where})
	}
	for _, c := range conflicts {
		r.contradiction(c, r.origin.get(c.Field).From, from, c.First)
	}
}

// isGuess reports a fact that nobody stated: a result, a spec or a name that a tool made has it.
func isGuess(o schema.Origin, path string) bool {
	return o.From == schema.FromFile || o.From == schema.FromSpec || o.From == schema.FromDerived ||
		o.From == schema.FromPath && o.Where == path
}

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

// codeContradiction is the code of a problem about two sources that state different values.
const codeContradiction = "contradiction"

// stateOwn takes what the file itself states.
func (r *result) stateOwn() {
	own := r.reading.Facts
	r.state(own, schema.FromFile, r.shown())
	for field, origin := range r.reading.Provenance { // our own documents state the origin
		origin.Where = redact.Text(origin.Where)
		r.origin.set(field, origin)
	}
	r.startNote = own.StartNote
}

// applySidecar sets a sidecar's facts on the points of its result, because it was written when the tool ran, and
// returns the tool that it names.
func (r *result) applySidecar(side *sideFiles) (tool string) {
	s, ok := side.sidecars[r.shown()]
	if !ok {
		return ""
	}
	where := r.shown() + manifest.SidecarSuffix
	r.sidecar = true
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		if s.Tool != "" {
			p.Key.Tool = s.Tool
		}
		if s.ToolVersion != "" {
			p.Source.ToolVersion = s.ToolVersion
		}
		p.Client = s.Client
		p.Block = max(0, s.Block)
		p.Command = redact.Argv(s.Argv)
		if len(r.reading.Points) == 1 { // what lies beside a file of several loads is of all of them together
			course.Add(p, &s)
		}
		if !s.Start.IsZero() {
			p.Start, p.End = s.Start, s.End
		}
	}
	r.applyWorkload("", s.Workload, s.Conditions, schema.FromSidecar)
	if !s.Start.IsZero() {
		r.facts.Start, r.facts.End = s.Start, s.End
		r.origin.set("start", schema.Origin{From: schema.FromSidecar, Where: where})
	}
	r.state(schema.Facts{Start: s.Start, End: s.End}, schema.FromSidecar, where)
	return s.Tool
}

// applyCommands takes the facts that vLLM's continuous benchmarks wrote next to the result.
func (r *result) applyCommands(side *sideFiles) {
	c, ok := side.commands[strings.TrimSuffix(r.shown(), ".json")]
	if !ok {
		return
	}
	r.state(c.commands.Facts, schema.FromSidecar, c.shown())
	r.applyWorkload("", c.commands.Workload, nil, schema.FromSidecar)
	for i := range r.reading.Points {
		if p := &r.reading.Points[i]; len(p.Command) == 0 {
			p.Command = redact.Argv(c.commands.Client)
		}
	}
	c.reading.PartOf = r.shown()
}

// applyManifests takes the facts of the manifests in the folder of the file and above, the nearest first. A nearer
// manifest overrides a farther one; that is not a contradiction.
func (r *result) applyManifests(side *sideFiles, sideTool string) {
	for i, m := range side.manifestsFor(r.found) {
		facts, tool, w := m.Facts(m.rel)
		where := path.Join(m.dir, manifest.FileName)
		if i > 0 {
			facts, w = r.unstated(facts, w)
			r.state(facts, schema.FromManifest, where)
			r.applyWorkload("", w, nil, schema.FromManifest)
			continue
		}
		if sideTool != "" {
			tool = ""
		}
		r.state(facts, schema.FromManifest, where)
		r.applyWorkload(tool, w, nil, schema.FromManifest)
		r.applyRunFolder(m, side)
	}
}

// applyRunFolder takes what the nearest manifest states about its run as a whole: targets, plan, setting and journal.
func (r *result) applyRunFolder(m placedManifest, side *sideFiles) {
	if rows := m.SchemaTargets(); len(rows) > 0 {
		r.targets = rows
	}
	r.reading.Interleaved = m.Interleaved.Schema()
	if len(m.Setting) > 0 {
		setting := map[string]string{}
		for name, v := range m.Setting {
			setting[redact.Text(name)] = redact.Field(name, v)
		}
		if text, err := json.Marshal(setting); err == nil {
			r.reading.Extra = withUnknown(r.reading.Extra, "setting", text)
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

// unstated keeps the facts of a farther manifest that no nearer one states. Its run is a different one.
func (r *result) unstated(facts schema.Facts, w manifest.Workload) (schema.Facts, manifest.Workload) {
	facts.RunID, facts.Start, facts.End, facts.StartNote = "", time.Time{}, time.Time{}, ""
	manifest.Without(&facts, manifest.Conflicts(&r.facts, &facts))
	for i := range r.reading.Points {
		k := &r.reading.Points[i].Key
		for _, x := range []struct{ stated, dst **float64 }{
			{&k.ISL, &w.ISL}, {&k.OSL, &w.OSL}, {&k.Concurrency, &w.Concurrency}, {&k.Rate, &w.Rate},
		} {
			if *x.stated != nil {
				*x.dst = nil
			}
		}
	}
	return facts, w
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
	for name, v := range report.reading.Extra {
		if _, has := r.reading.Extra[name]; !has {
			r.reading.Extra = withUnknown(r.reading.Extra, name, v)
		}
	}
	if r.runFolder != "" {
		r.state(schema.Facts{Model: schema.Model{Status: report.reading.Facts.Model.Status}}, schema.FromSpec,
			report.shown())
		return
	}
	facts := withoutKnownModel(report.reading.Facts, r.facts)
	facts.Start, facts.End, facts.StartNote = time.Time{}, time.Time{}, ""
	r.state(facts, schema.FromSpec, report.shown())
	r.runFolder = reportTree(report.shown())
}

// applyPattern takes the facts that a pattern reads from the path.
func (r *result) applyPattern(p manifest.Pattern) {
	facts, tool, w, conditions, ok := p.Match(r.shown())
	if !ok {
		return
	}
	r.applyWorkload(tool, w, conditions, schema.FromPath)
	r.state(withoutKnownModel(facts, r.facts), schema.FromPath, p.String())
}

// withoutKnownModel drops the model's name of a path if the id is known: the name follows from the id.
func withoutKnownModel(f, known schema.Facts) schema.Facts {
	if known.Model.ID != "" {
		f.Model.Name = ""
	}
	return f
}
