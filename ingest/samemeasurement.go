package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// dropCopies keeps one of several forms of a measurement: vLLM's result and its .pytorch.json, a sweep's run=N.json and
// its summary.json, AIPerf's summary and tt-inference-server's flat copy, a tool's file and the report it was converted
// to.
func dropCopies(sources []*source, side *sideFiles, opt Options) {
	type place struct {
		src   *source
		point int
	}
	var places []place
	var points []*schema.Point
	for _, s := range sources {
		if f := s.reading.Format; f == ttis.ReportData || f == ttis.Statistics { // rounded, and identified by their rows
			continue
		}
		for i := range s.reading.Points {
			places, points = append(places, place{s, i}), append(points, &s.reading.Points[i])
		}
	}
	standsIn := map[*source]map[int]*source{}
	who := measuredOn{side: side, opt: opt, known: map[*source]*schema.Facts{}}
	needed := func(a, b int) duplicate.Agreement {
		enough := who.needed(places[a].src, places[b].src)
		if enough.Statistics > 0 && !sameSettings(points[a], points[b]) {
			return duplicate.Agreement{}
		}
		return enough
	}
	duplicate.Copies(points, needed, func(p duplicate.Pair) {
		keep, drop := places[p.Keep], places[p.Drop]
		learn(keep.src, points[p.Keep], drop.src, points[p.Drop])
		if standsIn[drop.src] == nil {
			standsIn[drop.src] = map[int]*source{}
		}
		standsIn[drop.src][drop.point] = keep.src
	})
	for s, others := range standsIn {
		remove(s, others)
	}
}

// How much two points of two files must agree in to be one measurement: less for x.json and x.pytorch.json, which
// belong together. Two runs of one load agree in two or three digits of a number; twelve digits are more than chance.
const (
	neededStatistics = 3
	neededDigits     = 12
	neededOfOneName  = 6 // digits
)

// measuredOn knows what sources state about who was measured, in their files, beside them and in their paths.
type measuredOn struct {
	side  *sideFiles
	opt   Options
	known map[*source]*schema.Facts
}

// facts is who was measured by a source.
func (m *measuredOn) facts(s *source) *schema.Facts {
	f := m.known[s]
	if f == nil {
		bare := *s // its results stay as they are
		bare.reading.Points, bare.reading.Scores, bare.reading.Problems = nil, nil, nil
		f = &identify(&bare, m.side, m.opt).facts
		m.known[s] = f
	}
	return f
}

// needed is how much two points of two files must agree in to be one measurement; nothing when they cannot be one.
func (m *measuredOn) needed(a, b *source) duplicate.Agreement {
	if a.file == b.file || a.file.Content == b.file.Content || !mayBeOne(&a.reading.Facts, &b.reading.Facts) ||
		namedApart(a.shown(), b.shown()) {
		return duplicate.Agreement{} // dropSameContent handles equal bytes, because it knows the identity
	}
	if f, g := m.facts(a), m.facts(b); !mayBeOne(f, g) || !mayBeOneSystem(f, g) {
		return duplicate.Agreement{}
	}
	stem := func(s *source) string { return strings.TrimSuffix(s.stem(), ".pytorch") }
	if path.Dir(a.shown()) == path.Dir(b.shown()) && stem(a) == stem(b) {
		return duplicate.Agreement{Statistics: 1, Digits: neededOfOneName}
	}
	return duplicate.Agreement{Statistics: neededStatistics, Digits: neededDigits}
}

// sameSettings reports that two points do not say that they were set up differently.
func sameSettings(p, q *schema.Point) bool {
	theirs := repeat.Settings(q)
	for name, v := range repeat.Settings(p) {
		if w, has := theirs[name]; has && v != w {
			return false
		}
	}
	return true
}

// mayBeOneSystem reports that two files do not state different devices, releases or builds.
func mayBeOneSystem(a, b *schema.Facts) bool {
	same := func(x, y string) bool { return x == "" || y == "" || strings.EqualFold(x, y) }
	x, y := a.Device.Name, b.Device.Name
	if !same(x, y) && !schema.IsDeviceWithin(x, y) && !schema.SameDevice(x, y) {
		return false
	}
	for name, commit := range a.Stack.Commits {
		if other := b.Stack.Commits[name]; !strings.HasPrefix(commit, other) && !strings.HasPrefix(other, commit) {
			return false
		}
	}
	version := func(s string) string { return strings.TrimPrefix(s, "v") }
	return same(a.Release, b.Release) && same(a.Impl, b.Impl) && same(a.Stack.Engine, b.Stack.Engine) &&
		same(version(a.Stack.Version), version(b.Stack.Version)) && same(a.Stack.Image, b.Stack.Image)
}

// namedApart reports that tt-inference-server named two files after different models or devices: two devices may well
// give some equal numbers.
func namedApart(a, b string) bool {
	first, ok1 := ttis.NameFacts(a)
	second, ok2 := ttis.NameFacts(b)
	return ok1 && ok2 && first.ModelID != "" && second.ModelID != "" && first.ModelID != second.ModelID
}

// mayBeOne reports that two files do not state different models or days. Their times may be in two zones.
func mayBeOne(a, b *schema.Facts) bool {
	if a.Model.ID != "" && b.Model.ID != "" && path.Base(a.Model.ID) != path.Base(b.Model.ID) {
		return false
	}
	return a.Start.IsZero() || b.Start.IsZero() || a.Start.Sub(b.Start).Abs() < 15*time.Hour
}

// learn takes from a copy what only the copy states: identity, and parts of the workload.
func learn(to *source, p *schema.Point, from *source, q *schema.Point) {
	to.reading.Facts = manifest.Merge(to.reading.Facts, from.reading.Facts)
	w := manifest.Workload{
		ISL: q.Key.ISL, OSL: q.Key.OSL, Concurrency: q.Key.Concurrency, Rate: q.Key.Rate, Dataset: q.Key.Dataset,
	}
	fillKey(p, w, "copy in "+path.Base(from.rel))
	p.Conditions = withMissing(p.Conditions, q.Conditions)
}

// remove drops the points of a source that other sources have, and says so.
func remove(s *source, others map[int]*source) {
	var kept []schema.Point
	copied := map[string]int{}
	for i, p := range s.reading.Points {
		if others[i] == nil {
			kept = append(kept, p)
		} else {
			copied[others[i].shown()]++
		}
	}
	s.copies += len(s.reading.Points) - len(kept)
	s.reading.Points = kept
	files := slices.Sorted(maps.Keys(copied))
	s.reading.PartOf = files[0]
	if len(kept) == 0 { // problems of its points are reported with the source that keeps them
		s.reading.Problems = slices.DeleteFunc(s.reading.Problems, func(p schema.Problem) bool {
			return p.Severity != schema.SevError
		})
	}
	for _, of := range files {
		s.report(schema.Problem{
			Severity: schema.SevNote, Path: s.shown(), Code: "duplicate",
			Found: fmt.Sprintf("%s that %s has, equal in every statistic that both state",
				plaintext.Plural(copied[of], "point"), of),
			Used: "each measurement once",
			Hint: "if they are two measurements, state what was different in a manifest or with --pattern",
		})
	}
}

// dropSameContent keeps the first of several files with the same content, in whatever envelope, or with the same
// numbers in another form: a reformatted copy, a log and the archive it was converted from. Of files of two releases
// it keeps that of the earlier one by name.
func dropSameContent(results []*result) {
	seen := map[string]*result{}
	var copies []releaseCopy
	for _, r := range results {
		if !r.counts() || r.file.Content == "" {
			continue
		}
		keys := []string{r.file.Content}
		if hash, ok := duplicate.Content(&r.reading); ok {
			keys = append(keys, hash)
		}
		for i, key := range keys {
			first, dup := seen[key]
			if !dup || first.file == r.file || measuredApart(first, r) || i > 0 && !mayBeOneForm(first, r) {
				seen[key] = r
				continue
			}
			if !ofTwoReleases(first, r) {
				r.dropCopyOf(first)
				break
			}
			if schema.NaturalCompare(r.facts.Release, first.facts.Release) < 0 {
				first, r = r, first
				seen[key] = first
			}
			copies = append(copies, releaseCopy{r, first})
			break
		}
	}
	settleCopies(results, copies)
}

// mayBeOneForm reports that two results with the same numbers do not state different models, systems or times.
func mayBeOneForm(a, b *result) bool {
	x, y := a.facts.Start, b.facts.Start
	return mayBeOne(&a.facts, &b.facts) && mayBeOneSystem(&a.facts, &b.facts) && !namedApart(a.shown(), b.shown()) &&
		(x.IsZero() || y.IsZero() || x.Equal(y))
}

// dropCopyOf takes the numbers out of a result, since another has them all.
func (r *result) dropCopyOf(first *result) {
	r.copies += len(r.reading.Points)
	r.drop(first.shown())
	p := schema.Problem{
		Severity: schema.SevNote, Path: r.shown(), Code: "duplicate",
		Found: "the same content as " + first.shown(), Used: "the first, once",
	}
	if systemOf(&first.facts) != systemOf(&r.facts) {
		p.Severity = schema.SevWarning
		p.Expected = "one release and system for one measurement; here the two differ"
		p.Hint = "remove the copy that is wrong"
	}
	if ofTwoReleases(first, r) {
		p.Code, p.Found = schema.CodeCopy, p.Found+" of "+first.facts.Release
	}
	r.report(p)
}

// measuredApart reports that the sidecars of two files state different times: a script may well find the same numbers
// twice.
func measuredApart(a, b *result) bool {
	if len(a.reading.Points) == 0 || len(b.reading.Points) == 0 {
		return false
	}
	x, y := a.reading.Points[0].Start, b.reading.Points[0].Start
	return a.sidecar && b.sidecar && !x.IsZero() && !y.IsZero() && !x.Equal(y)
}

// releaseCopy is a result with the content of another release's.
type releaseCopy struct{ copy, of *result }

// ofTwoReleases reports that two results state different releases.
func ofTwoReleases(a, b *result) bool {
	x, y := a.facts.Release, b.facts.Release
	return x != "" && y != "" && x != y
}

// inRelease is what a release measured.
type inRelease struct{ release, model, device string }

func measuredInOf(r *result) inRelease {
	return inRelease{r.facts.Release, modelOf(&r.facts), schema.FoldDevice(r.facts.Device.Name)}
}

// settleCopies leaves out the copies in a release that measured others of its results itself. Where all that it has of
// a model and device are copies, they stay with an error: the release would else be gone, and the one before pass for
// it.
func settleCopies(results []*result, copies []releaseCopy) {
	if len(copies) == 0 {
		return
	}
	copied, own := map[*result]bool{}, map[inRelease]bool{}
	for _, c := range copies {
		copied[c.copy] = true
	}
	for _, r := range results {
		if r.counts() && !copied[r] {
			own[measuredInOf(r)] = true
		}
	}
	for _, c := range copies {
		if at := measuredInOf(c.copy); own[at] || at.model == "" || at.device == "" {
			c.copy.dropCopyOf(c.of)
			continue
		}
		c.copy.report(schema.Problem{
			Severity: schema.SevError, Path: c.copy.shown(), Code: schema.CodeCopy,
			Found:    "the same content as " + c.of.shown() + " of " + c.of.facts.Release,
			Expected: "one release for one measurement", Used: "no number of it: the release is not measured",
			Hint: "put the results of " + c.copy.facts.Release + " in its place, and delete its document from the history",
		})
	}
}

// onlyCopies reports that all files of a run are copies of another release's, which has their measurements.
func onlyCopies(r *schema.Run) bool {
	return slices.ContainsFunc(r.Problems, func(p schema.Problem) bool {
		return p.Code == schema.CodeCopy && p.Severity == schema.SevError
	})
}

// tellOfCopies gives runs the problems of the copies that were left out of them.
func (g *grouping) tellOfCopies(results []*result) {
	for _, r := range results {
		if r.counts() || g.runOf[r.source] != "" {
			continue
		}
		for _, p := range r.reading.Problems {
			if p.Code == schema.CodeCopy {
				g.tell(r, p)
			}
		}
	}
}

// tell gives a problem to the first run of what a result states.
func (g *grouping) tell(r *result, p schema.Problem) {
	for i := range g.runs {
		run := &g.runs[i]
		of := schema.Facts{Model: run.Model}
		if run.Release == r.facts.Release && modelOf(&of) == modelOf(&r.facts) &&
			schema.SameDevice(run.Device.Name, r.facts.Device.Name) {
			run.Problems = append(run.Problems, p)
			return
		}
	}
}

// scoreKey names what an eval measured of a model.
type scoreKey struct{ model, task, metric, filter string }

// placedScore is a score and the result that has it.
type placedScore struct {
	r *result
	i int
}

func (p placedScore) score() *schema.Score { return &p.r.reading.Scores[p.i] }

// dropSameScores keeps one of several copies of a score, which tools write into files for one task, for a group and for
// a whole suite: that with the most beside its value.
func dropSameScores(results []*result) {
	byKey := map[scoreKey][]placedScore{}
	gone := map[*result]map[int]*result{}
	for _, r := range results {
		for i := range r.reading.Scores {
			s := &r.reading.Scores[i]
			key := scoreKey{modelOf(&r.facts), s.Task, s.Metric, strings.TrimPrefix(s.Filter, "none")}
			for at, other := range byKey[key] {
				if !sameValue(other.score(), s) || !sameEval(other.r, r) {
					continue
				}
				keep, drop := other, placedScore{r, i}
				if known(drop.score()) > known(keep.score()) {
					keep, drop = drop, keep
					byKey[key][at] = keep
				}
				if gone[drop.r] == nil {
					gone[drop.r] = map[int]*result{}
				}
				gone[drop.r][drop.i] = keep.r
				break
			}
			if gone[r][i] == nil {
				byKey[key] = append(byKey[key], placedScore{r, i})
			}
		}
	}
	for r, others := range gone {
		r.removeScores(others)
	}
}

func modelOf(f *schema.Facts) string {
	return strings.ToLower(path.Base(cmp.Or(f.Model.ID, f.Model.Name)))
}

func sameValue(a, b *schema.Score) bool {
	x, ok := a.Value.Get()
	y, ok2 := b.Value.Get()
	return ok && ok2 && duplicate.Number(x) == duplicate.Number(y)
}

// enoughScores is how many equal fractions make two evals without a time one.
const enoughScores = 3

// sameEval reports that two files hold the same eval. Two of one time do. Where one states none, all scores that both
// have must agree, and enough of them be fractions: an eval of a small task gives the same score again by chance, and a
// greedy one of the same model does so always, but then states its time.
func sameEval(a, b *result) bool {
	if a.file == b.file || systemOf(&a.facts) != systemOf(&b.facts) {
		return false
	}
	if x, y := a.facts.Start, b.facts.Start; !x.IsZero() && !y.IsZero() {
		return x.Equal(y)
	}
	if modelOf(&a.facts) == "." { // no model is known
		return false
	}
	have, fractions := map[scoreKey]*schema.Score{}, 0
	for i := range a.reading.Scores {
		s := &a.reading.Scores[i]
		have[scoreKey{"", s.Task, s.Metric, s.Filter}] = s
	}
	for i := range b.reading.Scores {
		s := &b.reading.Scores[i]
		other := have[scoreKey{"", s.Task, s.Metric, s.Filter}]
		if other == nil {
			continue
		}
		if !sameValue(other, s) {
			return false
		}
		if x, _ := s.Value.Get(); duplicate.IsFraction(x) {
			fractions++
		}
	}
	return fractions >= enoughScores
}

// known counts what a score states beside its value.
func known(s *schema.Score) int {
	n := 0
	if _, ok := s.Stderr.Get(); ok {
		n++
	}
	if s.N > 0 {
		n++
	}
	if s.Outcomes != nil {
		n += 2
	}
	return n
}

// removeScores takes scores that other results have out of a result.
func (r *result) removeScores(others map[int]*result) {
	var kept []schema.Score
	for i, s := range r.reading.Scores {
		if others[i] == nil {
			kept = append(kept, s)
			continue
		}
		r.reading.PartOf = others[i].shown()
	}
	r.reading.Scores = kept
	r.report(schema.Problem{
		Severity: schema.SevNote, Path: r.shown(), Code: "duplicate",
		Found: fmt.Sprintf("%d scores that %s has", len(others), r.reading.PartOf), Used: "each once",
	})
}

// rowKey is what a row of a report and its result have in common: the name of the raw file, the workload of a model
// on a device, or the task of a model.
type rowKey struct {
	rawFile       string
	model, device string
	workload      string
	task, metric  string
}

// workloadRow returns the key of a workload without what a report does not state.
func workloadRow(f *schema.Facts, k *schema.Key) rowKey {
	short := schema.Key{Tool: k.Tool, ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency}
	return rowKey{model: f.Model.Name, device: schema.FoldDevice(f.Device.Name), workload: short.String()}
}

// rawFileRow returns the key of a row that names its raw file. A row without one gets a key that no file has:
// path.Base makes "." of "".
func rawFileRow(name string) rowKey { return rowKey{rawFile: path.Base(name)} }

// named reports a row that states a file; those that state none are not one another.
func (k rowKey) named() bool { return k.rawFile != "." }

// taskRow returns the key of a score. A report's score under a metric that no result has is a number of its own.
func taskRow(f *schema.Facts, s *schema.Score) rowKey {
	return rowKey{model: f.Model.Name, task: s.Task, metric: s.Metric}
}

// dropReportRows drops the rows of reports, and of the tables that reports are made of, whose results are among the
// files of the same tree. A table has more statistics than its report.
func dropReportRows(results []*result) {
	raw := map[rowKey][]*result{}
	for _, derived := range []string{"", ttis.Statistics, ttis.ReportData} {
		for _, r := range results {
			format := derivedFormat(r)
			if format != derived {
				continue
			}
			if derived != "" {
				r.dropRows(raw)
			}
			r.addRows(raw)
		}
	}
}

// derivedFormat is the format of a report or its table, "" for results.
func derivedFormat(r *result) string {
	if f := r.reading.Format; isDerived(f) {
		return f
	}
	return ""
}

// addRows adds the rows that the result stands for.
func (r *result) addRows(raw map[rowKey][]*result) {
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		for _, k := range []rowKey{
			workloadRow(&r.facts, &p.Key), rawFileRow(r.rel), rawFileRow(p.Conditions[ttis.RawFile]),
		} {
			raw[k] = append(raw[k], r)
		}
	}
	for i := range r.reading.Scores {
		k := taskRow(&r.facts, &r.reading.Scores[i])
		raw[k] = append(raw[k], r)
	}
}

// dropRows drops the rows of one report that results of its tree have.
func (r *result) dropRows(raw map[rowKey][]*result) {
	tree := reportTree(r.shown()) + "/"
	isRead := func(key rowKey) bool {
		if !key.named() {
			return false
		}
		for _, other := range raw[key] {
			if other != r && other.file != r.file && strings.HasPrefix(other.shown(), tree) {
				r.reading.PartOf = path.Dir(other.shown())
				return true
			}
		}
		return false
	}
	r.reading.Points = slices.DeleteFunc(r.reading.Points, func(p schema.Point) bool {
		return isRead(workloadRow(&r.facts, &p.Key)) || isRead(rawFileRow(p.Conditions[ttis.RawFile]))
	})
	r.reading.Scores = slices.DeleteFunc(r.reading.Scores, func(s schema.Score) bool {
		for _, part := range schema.PartsOfMean(s.Metric) {
			s.Metric = part
		}
		return isRead(taskRow(&r.facts, &s))
	})
}

// workflowTree is the folder above those in which tt-inference-server keeps results of each kind: they are one run.
// "" for any other path.
func workflowTree(shown string) string {
	for _, kind := range []string{
		"/benchmarks_output/", "/benchmarks_aiperf_output/", "/benchmarks_genai_output/", "/benchmarks_guidellm_output/",
		"/evals_output/", "/stress_tests_output/",
	} {
		if i := strings.LastIndex(shown, kind); i >= 0 {
			return shown[:i]
		}
	}
	return ""
}

// reportTree returns the folder with a report's results: above reports_output, else above its data folder, else its
// own.
func reportTree(shown string) string {
	if i := strings.Index(shown, "/reports_output/"); i >= 0 {
		return shown[:i]
	}
	dir := path.Dir(shown)
	if path.Base(dir) == "data" {
		return path.Dir(dir)
	}
	return dir
}

// dropConsole drops what a tool printed where its own file of the same run is among the sources, and takes from the
// arguments that were printed before it what the file does not state: lengths above all.
func dropConsole(sources []*source) {
	type place struct {
		src   *source
		point int
	}
	files := map[string][]place{} // by what both must have, rounded as it is printed
	for _, s := range sources {
		for i := range s.reading.Points {
			if key := printedKey(&s.reading.Points[i]); key != "" && !isPrinted(s) {
				files[key] = append(files[key], place{s, i})
			}
		}
	}
	for _, s := range sources {
		if !isPrinted(s) {
			continue
		}
		others := map[int]*source{}
		for i := range s.reading.Points {
			q := &s.reading.Points[i]
			for _, at := range files[printedKey(q)] {
				p := &at.src.reading.Points[at.point]
				if printedAgrees(p, q) && mayBeOne(&at.src.reading.Facts, &s.reading.Facts) {
					learn(at.src, p, s, q)
					others[i] = at.src
					break
				}
			}
		}
		if len(others) > 0 {
			remove(s, others)
		}
	}
}

func isPrinted(s *source) bool { return isConsole(s.reading.Format) }

// printedKey is the throughput of a point to the two decimals that tools print, or that it failed; "" where there is
// none.
func printedKey(p *schema.Point) string {
	tps, ok := p.Value("output_tps", "value")
	switch {
	case ok:
		return fmt.Sprintf("%s %.2f", p.Key.Tool, tps)
	case p.Status == schema.StatusFailed:
		return p.Key.Tool + " failed"
	}
	return ""
}

// printedAgrees reports that every number that was printed is the file's, rounded.
func printedAgrees(file, printed *schema.Point) bool {
	if !sameLoadOf(&file.Key, &printed.Key) {
		return false
	}
	if printed.Status == schema.StatusFailed { // there is nothing else to know it by
		return strings.HasPrefix(file.Source.Path, path.Dir(printed.Source.Path)+"/")
	}
	n := 0
	for name, m := range printed.EachMetric() {
		if _, has := file.Definition(name); !has || m.From != "" || name == "tps_user" { // which follows from a rounded TPOT
			continue
		}
		for _, s := range m.Stats {
			x, ok := file.Value(name, s.Name)
			if !ok || s.Name != "mean" && s.Name != "value" { // tools compute percentiles in several ways
				continue
			}
			if math.Abs(x-s.Value) > .006+1e-4*math.Abs(x) {
				return false
			}
			n++
		}
	}
	return n >= 4
}

func sameLoadOf(a, b *schema.Key) bool {
	same := func(x, y *float64) bool { return x == nil || y == nil || *x == *y }
	return same(a.Concurrency, b.Concurrency) && same(a.Rate, b.Rate) && same(a.ISL, b.ISL) && same(a.OSL, b.OSL)
}

// storedFiles finds stored points by what a tool printed of them: a log that is read by itself, after the folder
// with the tool's file was read, has no time and other bytes. Documents are read when the first log is met.
type storedFiles struct {
	dirs   []string
	points map[string][]storedPoint // by what both must have, rounded as it is printed
	files  map[storedFile]bool
	scores map[storedFile][]float64 // by the name of their task
}

// storedFile is the name of a file with results of a model, as a row of a report names it, or of a task.
type storedFile struct{ model, name string }

type storedPoint struct {
	model string
	point schema.Point
}

// withoutPrinted leaves out of a run what a tool printed, and rows of reports, where history has the numbers of their
// files.
func (f *storedFiles) withoutPrinted(r schema.Run, w *writes) (schema.Run, error) {
	if hasPrinted(&r) {
		if err := w.finish(""); err != nil {
			return r, err
		}
	}
	isStored := func(q schema.Point) bool {
		if !isConsole(q.Source.Format) && !isDerived(q.Source.Format) {
			return false
		}
		f.load()
		raw := q.Conditions[ttis.RawFile]
		return raw != "" && f.files[storedFile{r.Model.Name, path.Base(raw)}] ||
			slices.ContainsFunc(f.points[printedKey(&q)], func(p storedPoint) bool {
				return (p.model == r.Model.Name || p.model == "" || r.Model.Name == "") && printedAgrees(&p.point, &q)
			})
	}
	if slices.ContainsFunc(r.Points, isStored) {
		r.Points = slices.DeleteFunc(slices.Clone(r.Points), isStored)
	}
	if slices.ContainsFunc(r.Scores, func(s schema.Score) bool { return isDerived(s.Source.Format) }) {
		f.load()
		r.Scores = slices.DeleteFunc(slices.Clone(r.Scores), func(s schema.Score) bool {
			x, ok := s.Value.Get()
			return ok && isDerived(s.Source.Format) &&
				slices.ContainsFunc(f.scores[storedFile{r.Model.Name, s.Task}], func(y float64) bool {
					return math.Abs(x-y) <= rounding
				})
		})
	}
	return r, nil
}

// hasPrinted reports that stored documents decide about a part of the run.
func hasPrinted(r *schema.Run) bool {
	return slices.ContainsFunc(r.Points, func(p schema.Point) bool {
		return isConsole(p.Source.Format) || isDerived(p.Source.Format)
	}) || slices.ContainsFunc(r.Scores, func(s schema.Score) bool { return isDerived(s.Source.Format) })
}

// rounding is how much a report's score, in per cent with two decimals, differs from that of the eval.
const rounding = 6e-5

// load reads the documents, once.
func (f *storedFiles) load() {
	if f.points != nil {
		return
	}
	f.points, f.files, f.scores = map[string][]storedPoint{}, map[storedFile]bool{}, map[storedFile][]float64{}
	for _, dir := range f.dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.json"))
		if err != nil || dir == "" {
			continue // a malformed pattern is the only error
		}
		for _, name := range names {
			run, problem := history.Read(name)
			if problem != nil {
				continue // it is reported when history is loaded
			}
			for i := range run.Scores {
				s := &run.Scores[i]
				if x, ok := s.Value.Get(); ok && !isDerived(s.Source.Format) {
					at := storedFile{run.Model.Name, s.Task}
					f.scores[at] = append(f.scores[at], x)
				}
			}
			for i := range run.Points {
				p := &run.Points[i]
				if isConsole(p.Source.Format) || isDerived(p.Source.Format) {
					continue
				}
				f.files[storedFile{run.Model.Name, path.Base(p.Source.Path)}] = true
				if key := printedKey(p); key != "" {
					f.points[key] = append(f.points[key], storedPoint{run.Model.Name, *p})
				}
			}
		}
	}
}

// isDerived reports the format of a report, or of the table that it is made of.
func isDerived(format string) bool { return format == ttis.Statistics || format == ttis.ReportData }

// isConsole reports the format of what a tool printed.
func isConsole(format string) bool { return format == console.Serving || format == console.TRTLLM }

// settled is a run after a comparison with stored documents of the same measurements under other ids.
type settled struct {
	run      schema.Run       // what remains to be stored
	replaces []string         // documents that run contains completely; to be deleted when it is stored
	problems []schema.Problem // measurements that stay in their document
}

// nothingLeft reports whether all of the run is in history already.
func (s *settled) nothingLeft() bool { return len(s.run.Points) == 0 && len(s.run.Scores) == 0 }

// settle keeps a measurement from being in history twice. The same files read again under another identity (a device
// or a release stated later, by a flag or a manifest) give another id. If the new identity only adds to what was
// unknown, and all of the old document was read again, the new document replaces it and keeps its stamped targets.
// Otherwise the old one stays, and its measurements are left out of the run: a flag must not move history from one
// device to another.
//
// Documents in the folders others count too, and are never replaced. Those of runs that were read together with this
// one are of other measurements, even of the same file: a table has rows of several devices.
func settle(dir string, r schema.Run, b batch, others ...string) settled {
	s := settled{run: r}
	for _, in := range append([]string{dir}, others...) {
		for _, name := range b.writes.candidates(in, &r) {
			if name == filepath.Join(in, history.PathOf(&r)) {
				continue // its own document, which history.Put updates
			}
			old, problem := history.Read(name)
			isOther := b.together[old.ID] && old.ID != r.ID
			if problem != nil || isOther || onlyCopies(&old) || !(field{"model", old.Model.Name}).compatible(r.Model.Name) {
				continue // a damaged document is reported when history is loaded; another model has other measurements
			}
			held := duplicate.In(&old)
			rest, shared := duplicate.Without(s.run, held)
			if shared == 0 {
				continue
			}
			clash := clashes(&old, &r)
			if in == dir && len(clash) == 0 && shared == held.Len() && knowsMore(&r, &old) {
				if derived(&old) && derived(&r) && old.Start.Equal(r.Start) && sameIdentity(&old, &r) {
					s.run.ID = old.ID // read from another folder or envelope: the document stays the one it is
					if history.PathOf(&s.run) == history.PathOf(&old) {
						continue
					}
				}
				s.run = history.Update(old, s.run)
				s.replaces = append(s.replaces, name)
				continue
			}
			s.run = rest
			s.problems = append(s.problems, stays(name, clash, shared, firstFile(&r)))
		}
	}
	return s
}

// addsNothing reports that all of a run is in its stored document, and reading it again would not say more: it is a
// part of it, one file of a folder that was read before; or a copy of it in other bytes.
func addsNothing(dir string, r *schema.Run) bool {
	old, ok := history.Peek(dir, r)
	if !ok || !knowsMore(&old, r) || len(clashes(&old, r)) > 0 {
		return false
	}
	rest, _ := duplicate.Without(*r, duplicate.In(&old))
	isPart := len(r.Points)+len(r.Scores) < len(old.Points)+len(old.Scores)
	return len(rest.Points)+len(rest.Scores) == 0 && (isPart || !sharesBytes(&old, r) || saysLess(r, &old))
}

// saysLess reports that stored points state more of their workloads than the same points do now: the log or the
// arguments that stated it were beside the file when the folder was read, and the file was read alone now.
func saysLess(now, old *schema.Run) bool {
	stored := map[string]*schema.Point{}
	for i := range old.Points {
		stored[old.Points[i].Source.SHA256] = &old.Points[i]
	}
	less := false
	for i := range now.Points {
		p := &now.Points[i]
		q := stored[p.Source.SHA256]
		if q == nil || !statesAll(q, p) {
			return false
		}
		less = less || !statesAll(p, q)
	}
	return less
}

// statesAll reports that a point states every length, load and condition that the other states.
func statesAll(p, other *schema.Point) bool {
	has := func(mine, theirs *float64) bool { return theirs == nil || mine != nil && *mine == *theirs }
	k, o := &p.Key, &other.Key
	for name, v := range other.Conditions {
		if p.Conditions[name] != v {
			return false
		}
	}
	return has(k.ISL, o.ISL) && has(k.OSL, o.OSL) && has(k.Concurrency, o.Concurrency) && has(k.Rate, o.Rate) &&
		(o.Dataset == "" || k.Dataset == o.Dataset)
}

// sharesBytes reports that two runs have results of the same bytes.
func sharesBytes(a, b *schema.Run) bool {
	hashes := map[string]bool{}
	for i := range a.Points {
		hashes[a.Points[i].Source.SHA256] = true
	}
	for i := range a.Scores {
		hashes[a.Scores[i].Source.SHA256] = true
	}
	return slices.ContainsFunc(b.Points, func(p schema.Point) bool { return hashes[p.Source.SHA256] }) ||
		slices.ContainsFunc(b.Scores, func(s schema.Score) bool { return hashes[s.Source.SHA256] })
}

// derived reports an id that follows from the results, and is stated by nothing.
func derived(r *schema.Run) bool {
	return strings.HasPrefix(r.ID, history.Undated) || strings.HasPrefix(r.ID, r.Start.UTC().Format(history.StartInID))
}

// sameIdentity reports that two runs state the same of who was measured.
func sameIdentity(a, b *schema.Run) bool {
	is := identityOf(b)
	for i, was := range identityOf(a) {
		if was.value != is[i].value && (was.name != deviceField || !schema.SameDevice(was.value, is[i].value)) {
			return false
		}
	}
	return true
}

// field is a part of a run's identity that a later reading may state otherwise.
type field struct{ name, value string }

// compatible reports whether two values of a field do not contradict: they are equal, or one is missing.
func (f field) compatible(value string) bool {
	if f.name == deviceField && schema.SameDevice(f.value, value) {
		return true
	}
	return f.value == "" || value == "" || f.value == value
}

const deviceField = "device"

func identityOf(r *schema.Run) []field {
	return []field{
		{"model", r.Model.Name}, {deviceField, r.Device.Name}, {"release", r.Release}, {"implementation", r.Impl},
	}
}

// clashes lists the contradictions of two identities.
func clashes(old, now *schema.Run) []string {
	var out []string
	is := identityOf(now)
	for i, was := range identityOf(old) {
		if !was.compatible(is[i].value) {
			out = append(out, fmt.Sprintf("%s %s, now %s", was.name, was.value, is[i].value))
		}
	}
	return out
}

// knowsMore reports whether now states everything that old states.
func knowsMore(now, old *schema.Run) bool {
	if now.Start.IsZero() && !old.Start.IsZero() && old.Provenance["start"].From != schema.FromDerived {
		return false // but the times of files, which earlier versions took, are no knowledge
	}
	is := identityOf(now)
	for i, was := range identityOf(old) {
		if was.value != "" && is[i].value == "" {
			return false
		}
	}
	return true
}

// firstFile returns a file of the run, for the path of a problem.
func firstFile(r *schema.Run) string {
	if len(r.Points) > 0 {
		return r.Points[0].Source.Path
	}
	if len(r.Scores) > 0 {
		return r.Scores[0].Source.Path
	}
	return ""
}

// stays returns the problem about measurements that are in a stored document and stay there.
func stays(name string, clash []string, shared int, path string) schema.Problem {
	p := schema.Problem{
		Severity: schema.SevNote, Path: path, Code: "in-history", Expected: "one identity of a measurement",
		Found: fmt.Sprintf("results that are in history already, %d of them in %s", shared, filepath.ToSlash(name)),
		Used:  "what is stored",
		Hint:  "if the stored identity is the wrong one, delete the document and read all of its files again",
	}
	if len(clash) > 0 {
		p.Severity, p.Code = schema.SevError, "other-identity"
		p.Found += ": " + strings.Join(clash, "; ")
	}
	return p
}
