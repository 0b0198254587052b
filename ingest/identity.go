package ingest

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/schema/redact"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// beside indexes what stands near results: sidecars by the result they describe, manifests by folder, runtime specs by
// the folder of their tree.
type beside struct {
	sidecars  map[string]manifest.Sidecar
	manifests map[string]manifest.Manifest
	journals  map[string]*item // by run folder
	specs     []*item
	reports   []*item          // data of reports, which say who was measured where no runtime spec does
	commands  map[string]*item // .commands files by the stem of the result they describe
}

func indexBeside(items []*item) beside {
	b := beside{sidecars: map[string]manifest.Sidecar{}, manifests: map[string]manifest.Manifest{}, journals: map[string]*item{}, commands: map[string]*item{}}
	for _, it := range items {
		switch {
		case it.isRole == "sidecar" && it.file.SHA256 != "":
			s, problem := manifest.ReadSidecar(it.shown(), it.file.Data)
			if problem != nil {
				it.reading.Problems = append(it.reading.Problems, *problem)
				break
			}
			b.sidecars[strings.TrimSuffix(it.shown(), manifest.SidecarSuffix)] = s
			it.reading.Detail = "of " + s.Result
		case it.isRole == "manifest" && it.file.SHA256 != "":
			m, problem := manifest.Read(it.shown(), it.file.Data)
			if problem != nil {
				it.reading.Problems = append(it.reading.Problems, *problem)
				break
			}
			b.manifests[path.Dir(it.shown())] = m
			it.reading.Detail = "speaks for " + path.Dir(it.shown())
		case it.isRole == "journal" && it.file.SHA256 != "":
			b.journals[path.Dir(it.shown())] = it
		case it.reading.Format == ttis.Spec:
			b.specs = append(b.specs, it)
		case it.reading.Format == ttis.ReportData:
			b.reports = append(b.reports, it)
		case it.beside != nil:
			b.commands[strings.TrimSuffix(it.shown(), vllm.CommandsSuffix)] = it
		}
	}
	return b
}

// manifestFor returns the nearest manifest at or above a file, and its folder.
func (b beside) manifestFor(shown string) (manifest.Manifest, string, bool) {
	for dir := path.Dir(shown); ; dir = path.Dir(dir) {
		if m, ok := b.manifests[dir]; ok {
			return m, dir, true
		}
		if dir == "." || dir == "/" {
			return manifest.Manifest{}, "", false
		}
	}
}

// specFor returns the newest runtime spec of the same tree and model id that is not younger than the result, or the oldest
// when all are younger; a tree with one spec needs no model id. Both times are the host's local ones.
func (b beside) specFor(it *item, modelID string) *item {
	var best, oldest *item
	inTree, start := 0, it.reading.Facts.Start
	for _, s := range b.specs {
		tree := path.Dir(path.Dir(s.shown()))
		if tree != "." && !strings.HasPrefix(it.shown(), tree+"/") {
			continue
		}
		inTree++
		id := strings.Trim(string(s.reading.Extra["ttis_model_id"]), `"`)
		if modelID != "" && id != modelID {
			continue
		}
		if oldest == nil || s.reading.Facts.Start.Before(oldest.reading.Facts.Start) {
			oldest = s
		}
		if !start.IsZero() && s.reading.Facts.Start.After(start) {
			continue
		}
		if best == nil || s.reading.Facts.Start.After(best.reading.Facts.Start) {
			best = s
		}
	}
	switch {
	case modelID == "" && inTree != 1:
		return nil
	case best == nil:
		return oldest
	}
	return best
}

// reportFor returns the report of the tree that a result lies in, when there is one alone and it is of the same model.
func (b beside) reportFor(it *item) *item {
	var own *item
	for _, r := range b.reports {
		if !strings.HasPrefix(it.shown(), reportTree(r.shown())+"/") || it == r {
			continue
		}
		model := r.reading.Facts.Model
		if known := it.facts.Model.ID; own != nil || known != "" && model.ID != "" && path.Base(known) != path.Base(model.ID) {
			return nil
		}
		own = r
	}
	return own
}

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

// applyManifest takes what the nearest manifest says of the file: facts, workload, targets, and the plan it was part of.
func applyManifest(it *item, b beside, sideTool string, add func(f schema.Facts, from, where string)) {
	m, dir, ok := b.manifestFor(it.shown())
	if !ok {
		return
	}
	facts, tool, w := m.Facts(strings.TrimPrefix(it.shown(), dir+"/"))
	add(facts, "manifest", path.Join(dir, manifest.FileName))
	if sideTool != "" {
		tool = ""
	}
	applyWorkload(it, tool, w, nil, "manifest")
	if rows := m.SchemaTargets(); len(rows) > 0 {
		it.targets = rows
	}
	it.runRoot = dir
	it.journal = b.journals[dir]
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
	}
	for i := range it.reading.Points {
		p := &it.reading.Points[i]
		p.Conditions, p.Client = cleaned(p.Conditions), cleaned(p.Client)
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

var (
	islInName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])isl[-_=]?(\d+)`)
	oslInName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])osl[-_=]?(\d+)`)
	conInName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:conc|concurrency|maxcon|max_concurrency)[-_=]?(\d+)`)
	inOut     = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])in[-_]?(\d+)[-_]out[-_]?(\d+)`)
)

// lengthsInName reads lengths out of a file's name where they cannot be meant otherwise: isl1024_osl128; or in128_out2048
// where the measured lengths, within a tenth, say the same.
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
	if in, out := number(inOut, 1), number(inOut, 2); in != nil && out != nil && confirmed(p, "isl", *in) && confirmed(p, "osl", *out) {
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

func confirmed(p *schema.Point, metric string, asked float64) bool {
	got, ok := p.Metrics[metric].Stats.Get("mean")
	return ok && math.Abs(got-asked) <= .1*asked
}

// label stands in for lengths that nobody states: the file's stem, or the folder's name where the tool gives every file the
// same one, without what the key says already.
func (it *item) label() string {
	dir := path.Dir(it.shown())
	perPoint := false
	switch it.reading.Format {
	case aiperf.Format, aiperf.Records, aiperf.CSV, aiperf.GenAI, aiperf.GenAICSV:
		perPoint = true
	}
	if sweepRun.MatchString(path.Base(it.rel)) || path.Base(it.rel) == "summary.json" && perFolder.MatchString(path.Base(dir)) {
		return cmp.Or(plainLabel(path.Base(path.Dir(dir))), "sweep") // the key has what was varied
	}
	if stem := plainLabel(it.file.Stem()); stem != "" && !perPoint {
		return stem
	}
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if name := plainLabel(path.Base(dir)); name != "" {
			return name
		}
	}
	return it.file.Stem()
}

var (
	perFolder = regexp.MustCompile(`-?(BENCH|SERVE|WL)--|^BENCH|^SERVE`)
	loadPart  = regexp.MustCompile(`(?i)(?:^|[-_])(?:(?:inf|[\d.]+)qps(?:-concurrency\d+)?|stage_\d+)(?:$|[-_])`)
	generic   = regexp.MustCompile(`(?i)^(results?|out|outputs?|raw|raw_data|data|benchmarks?|summary|report|run|runs|lifecycle_metrics|summary_lifecycle_metrics|profile_export(_aiperf)?|logs?|[-_.\d]*)$`)
)

// plainLabel is a name without the time stamps and loads that tools write into it, so that two measurements of one thing
// agree; "" when nothing is left that tells one workload from another.
func plainLabel(stem string) string {
	s := stamps.ReplaceAllString(stem, "")
	s = loadPart.ReplaceAllString(s, "-")
	s = strings.Trim(strings.ReplaceAll(s, "--", "-"), "-_. ")
	if generic.MatchString(s) {
		return ""
	}
	return s
}
