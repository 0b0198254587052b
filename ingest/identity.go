package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/course"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
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

var (
	islInName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])isl[-_=]?(\d+)`)
	oslInName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])osl[-_=]?(\d+)`)
	conInName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:conc|concurrency|maxcon|max_concurrency)[-_=]?(\d+)`)
	inOut     = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])in[-_]?(\d+)[-_]out[-_]?(\d+)`)
)

// lengthsInName reads lengths from a file's name where they are unambiguous: isl1024_osl128; or in128_out2048 if the
// measured lengths agree within 10 %.
func lengthsInName(name string, p *schema.Point) manifest.Workload {
	var w manifest.Workload
	number := func(re *regexp.Regexp, i int) *float64 {
		m := re.FindStringSubmatch(name)
		if m == nil || len(m[i]) > 9 {
			return nil
		}
		x, err := strconv.ParseFloat(m[i], 64)
		if err != nil || x <= 0 {
			return nil
		}
		return &x
	}
	w.ISL, w.OSL = number(islInName, 1), number(oslInName, 1)
	in, out := number(inOut, 1), number(inOut, 2)
	if in != nil && out != nil && measured(p, "isl", *in) && measured(p, "osl", *out) {
		w.ISL, w.OSL = in, out
	}
	if w.ISL == nil || w.OSL == nil {
		return manifest.Workload{}
	}
	if p.Key.Concurrency == nil {
		w.Concurrency = number(conInName, 1)
	}
	return w
}

// measured reports whether the mean length in tokens is the requested one, within 10 %.
func measured(p *schema.Point, metric string, asked float64) bool {
	got, ok := p.Value(metric, "mean")
	return ok && math.Abs(got-asked) <= .1*asked
}

// label returns a label for a workload without stated lengths: the file's stem, or the folder's name if the tool
// gives every file the same name, without what the key states already: a sweep whose files are named after their load
// is one workload at several loads. A folder that names the release, the model, the device or a build is not the
// workload's: the same measurement of the next one is in another folder. Without the name of a build, measured lengths
// keep two workloads apart.
func (r *result) label(p *schema.Point) string {
	s, k, lengths := r.source, &p.Key, ""
	dir, base := path.Dir(s.shown()), path.Base(s.rel)
	if sweepRun.MatchString(base) || base == "summary.json" && perFolder.MatchString(path.Base(dir)) {
		// the key has the varied parameters
		return cmp.Or(plainLabel(path.Base(sweepRoot(path.Dir(dir)))), "sweep")
	}
	if stem := plainLabel(withoutCount(repeat.WithoutLoad(s.stem(), k), k)); stem != "" && !s.hasOwnFolder() {
		return stem
	}
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if r.isIdentity(path.Base(dir)) {
			continue
		}
		if oneBuild.MatchString(path.Base(dir)) {
			lengths = lengthsOf(p)
			continue
		}
		if name := plainLabel(repeat.WithoutLoad(path.Base(dir), k)); name != "" {
			return name + lengths
		}
	}
	return s.stem() + lengths
}

// lengthsOf is how long the requests of a point were, as a part of its label: prompts to two digits, and answers where
// all are equally long, since others vary from run to run.
func lengthsOf(p *schema.Point) (out string) {
	if isl, ok := p.Value("isl", "mean"); ok && isl > 0 {
		out = " in " + strconv.FormatFloat(latency.Round(isl, 2), 'f', -1, 64)
	}
	if osl, ok := p.Value("osl", "mean"); ok && osl > 0 && osl == math.Trunc(osl) {
		out += " out " + strconv.FormatFloat(osl, 'f', -1, 64)
	}
	return out
}

// isIdentity reports the name of a folder that says what was measured, and not how.
func (r *result) isIdentity(name string) bool {
	for _, fact := range []string{r.facts.Release, r.facts.Model.Name, r.facts.Device.Name} {
		if fact != "" && strings.EqualFold(fact, name) {
			return true
		}
	}
	return false
}

// withoutCount is a name without a number at its end that is the concurrency: bench_16.json.
func withoutCount(stem string, k *schema.Key) string {
	i := strings.LastIndexAny(stem, "-_")
	if i > 0 && k.Concurrency != nil && stem[i+1:] == strconv.FormatFloat(*k.Concurrency, 'f', -1, 64) {
		return stem[:i]
	}
	return stem
}

var (
	perFolder = regexp.MustCompile(`-?(BENCH|SERVE|WL)--|^BENCH|^SERVE`)
	loadPart  = regexp.MustCompile(`(?i)(?:^|[-_])(?:(?:inf|[\d.]+)qps(?:-concurrency\d+)?|stage_\d+)(?:$|[-_])`)
	// oneBuild is the name of a folder that says which build it is of: its day, number, version or commit.
	oneBuild = regexp.MustCompile(`(?i)^(?:(?:[a-z]+[-_])?\d{4}-?\d\d-?\d\d|` +
		`(?:build|nightly|weekly|ci|job|pr|release|run|rep|repeat|attempt)[-_#]?\d+|` +
		`(?:(?:release|version)[-_]|v)?\d+\.\d+\.\d+(?:[-_.+]?[a-z]+\d*)?|v\d+\.\d+|[0-9a-f]{7,40})$`)
	// stamps are times in names.
	stamps  = regexp.MustCompile(`\d{4}-?\d\d-?\d\d[T_-]?\d\d[-:]?\d\d[-:]?\d\d(?:\.\d+)?Z?|\d{8}-\d{6}`)
	generic = regexp.MustCompile(`(?i)^(results?|out|outputs?|raw|raw_data|data|benchmarks?|summary|report|run|runs|` +
		`lifecycle_metrics|summary_lifecycle_metrics|profile_export(_aiperf)?|logs?|[-_.\d]*)$`)
)

// plainLabel returns a name without the time stamps and loads that tools write into it, so that two measurements of
// one workload have the same label; "" when nothing is left.
func plainLabel(stem string) string {
	s := stamps.ReplaceAllString(stem, "")
	s = loadPart.ReplaceAllString(s, "-")
	s = strings.Trim(strings.ReplaceAll(s, "--", "-"), "-_. ")
	if generic.MatchString(s) {
		return ""
	}
	return s
}

// origins holds which source states each fact of a result. It is a list because a tree has tens of thousands of
// results, and a map of ten fields takes twice the memory.
type origins []factOrigin

type factOrigin struct {
	field string
	schema.Origin
}

// get returns the origin of a field, zero where nothing states it.
func (o origins) get(field string) schema.Origin {
	if i := o.at(field); i >= 0 {
		return o[i].Origin
	}
	return schema.Origin{}
}

// set states the origin of a field.
func (o *origins) set(field string, origin schema.Origin) {
	if i := o.at(field); i >= 0 {
		(*o)[i].Origin = origin
		return
	}
	*o = append(*o, factOrigin{field, origin})
}

func (o origins) at(field string) int {
	return slices.IndexFunc(o, func(f factOrigin) bool { return f.field == field })
}

// provenance returns the origins as a run has them.
func (r *result) provenance() map[string]schema.Origin {
	out := make(map[string]schema.Origin, len(r.origin))
	for _, f := range r.origin {
		if f.field == "start" && r.startNote != "" && f.Where == r.shown() {
			f.Where += " (" + r.startNote + ")"
		}
		out[f.field] = f.Origin
	}
	return out
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
// name from its id, a start from the file's name, a label where lengths are unknown.
func (r *result) complete() {
	manifest.EachText(&r.facts, name)
	for i := range r.reading.Points {
		cleanPoint(&r.reading.Points[i])
	}
	for i := range r.reading.Scores {
		cleanScore(&r.reading.Scores[i])
	}
	f := &r.facts
	if m := hubFolder.FindStringSubmatch(f.Model.ID); m != nil {
		f.Model.ID = strings.ReplaceAll(m[1], "--", "/")
		r.derive("model.id", "the hub's cache folder in "+r.origin.get("model.id").Where)
	}
	if id := strings.ReplaceAll(f.Model.ID, "___", "."); id != f.Model.ID {
		f.Model.ID = id
		r.derive("model.id", "ModelScope's folder in "+r.origin.get("model.id").Where+", where ___ stands for a point")
	}
	if name := strings.ReplaceAll(f.Model.Name, "___", "."); name != f.Model.Name {
		f.Model.Name = name
	}
	if f.Model.Name == "" && f.Model.ID != "" {
		f.Model.Name = lastPart(f.Model.ID)
		r.derive("model.name", "last part of model.id")
	}
	if f.Start.IsZero() {
		r.startByName()
	}
	if t := f.Start; t.After(tomorrow()) && (len(r.reading.Points) > 0 || len(r.reading.Scores) > 0) {
		r.report(schema.Problem{
			Severity: schema.SevWarning, Path: r.shown(), Code: "future-date",
			Found:    "a start on " + t.Format("2006-01-02") + ", by the " + string(r.origin.get("start").From),
			Expected: "a time that has passed", Used: "the time as stated: the result counts as the newest until then",
			Hint: "set the clock of the machine that measured, and correct the date",
		})
	}
	if r.journal == nil && !r.sidecar {
		r.report(repeat.AddedNames(r.reading.Scores, f.Model.Name)...)
	}
	r.completeWorkloads()
}

// lastPart is the name at the end of a model's id: all of it where that is no path and no hub's name.
func lastPart(id string) string {
	trimmed := strings.TrimRight(id, "/")
	if trimmed == "" || strings.ContainsAny(id, "<>") {
		return id
	}
	return path.Base(trimmed)
}

// startByName takes the start of what nothing else dates from the names of its file and folders.
func (r *result) startByName() {
	if t, note, ok := dateInName(r.shown(), tomorrow(), r.ownNumbers()); ok {
		r.facts.Start, r.facts.StartNote = t, note
		r.origin.set("start", schema.Origin{From: schema.FromPath, Where: r.shown() + " (" + note + ")"})
	}
}

// derive records that a field follows from others.
func (r *result) derive(field, where string) {
	r.origin.set(field, schema.Origin{From: schema.FromDerived, Where: where})
}

// hubFolder matches a path into the hub's cache: …/models--org--name/snapshots/<commit>.
var hubFolder = regexp.MustCompile(`(?:^|/)models--([^/]+)/snapshots/`)

func cleanScore(s *schema.Score) {
	s.Source.Path = redact.Text(s.Source.Path)
	s.Task, s.Metric, s.Filter, s.Version = name(s.Task), name(s.Metric), name(s.Filter), name(s.Version)
	if why := s.Value.Why(); redact.Text(why) != why {
		s.Value = schema.Missing(redact.Text(why))
	}
}

// cleanReasons removes secrets from the reasons of metrics without numbers.
func cleanReasons(p *schema.Point) {
	for metric, m := range p.Metrics {
		if why := redact.Text(m.Why); why != m.Why {
			m.Why = why
			p.Metrics[metric] = m
		}
	}
}

func cleanPoint(p *schema.Point) {
	p.Source.Path = redact.Text(p.Source.Path)
	p.Conditions, p.Client = cleanTexts(p.Conditions), cleanTexts(p.Client)
	k := &p.Key
	k.Dataset, k.Tool, k.Task = name(k.Dataset), name(k.Tool), name(k.Task)
	for dim, v := range k.Dims {
		short := redact.Field(dim, name(v))
		if short == v && len(dim) <= longestName {
			continue
		}
		k.Dims = with(k.Dims, dim, short)
		if len(dim) > longestName {
			delete(k.Dims, dim)
			k.Dims[name(dim)] = short
		}
	}
}

// cleanTexts returns a map without secrets.
func cleanTexts(m map[string]string) map[string]string {
	for k, v := range m {
		if clean := redact.Field(k, name(v)); clean != v {
			m = with(m, k, clean)
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

// dateName matches a day, and perhaps a time of it, as people and tools write them into names: 2026-03-16_15-33-00,
// 20260316-153300, 2026-03-16T15:33:00.
var dateName = regexp.MustCompile(`(?:^|[^\d])(` + repeat.Day + `)` +
	`(?:[T_ -]+([012]\d)[-:_h.]?([0-5]\d)(?:[-:_m.]?([0-5]\d))?)?(?:[^\d]|$)`)

// dateInName reads when something was measured out of the name of its file, or of the nearest folder that has a date.
// A file's own time says when it was copied, and is not asked. What lies after the latest time is no date,
// nor is what begins with a number of the result itself, such as its ISL.
func dateInName(shown string, latest time.Time, own map[int]bool) (t time.Time, note string, ok bool) {
	for ; shown != "." && shown != "/" && shown != ".." && shown != ""; shown = path.Dir(shown) {
		m := dateName.FindStringSubmatch(path.Base(shown))
		if m == nil {
			continue
		}
		day := strings.NewReplacer("-", "", "_", "", ".", "").Replace(m[1])
		layout, text, note := "20060102", day, "by a name, the day alone"
		if m[2] != "" {
			layout, text, note = layout+"1504", text+m[2]+m[3], "by a name, zone not stated"
		}
		if m[4] != "" {
			layout, text = layout+"05", text+m[4]
		}
		t, err := time.Parse(layout, text)
		if err == nil && t.Before(latest) && !(own[t.Year()] && len(m[1]) > len(day)) {
			return t, note, true
		}
	}
	return time.Time{}, "", false
}

// ownNumbers are the numbers of a result's workloads that people write into names: lengths, loads and requests.
func (r *result) ownNumbers() map[int]bool {
	out := map[int]bool{}
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		for _, x := range []*float64{p.Key.ISL, p.Key.OSL, p.Key.Concurrency} {
			if x != nil {
				out[int(*x)] = true
			}
		}
		for _, metric := range []string{"isl", "osl"} {
			if x, ok := p.Value(metric, "mean"); ok {
				out[int(x)] = true
			}
		}
		if n, err := strconv.Atoi(p.Conditions["num_prompts"]); err == nil {
			out[n] = true
		}
	}
	return out
}

// tomorrow is the latest time that a name can state: clocks of other zones are up to a day ahead.
func tomorrow() time.Time { return time.Now().Add(24 * time.Hour) }
