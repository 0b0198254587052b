package ingest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/table"
)

// longestPause is how long a run may pause before what follows is another run.
const longestPause = 6 * time.Hour

// systemOf identifies what was measured, with its build. device is its name, as written or folded. Ids are hashes of
// it: the order must not change.
func systemOf(f *schema.Facts, device string) string {
	var commits []string
	for name, c := range f.Stack.Commits {
		commits = append(commits, name+"="+c)
	}
	slices.Sort(commits)
	parts := append([]string{f.Model.ID, f.Model.Name, f.Impl, device, f.Device.Mesh, f.Stack.Engine}, commits...)
	parts = append(parts, f.Release, f.Stack.Version, f.Stack.Digest, f.Stack.Image)
	return strings.Join(parts, idSeparator)
}

// isOneSystem reports that results state the same of who was measured, and of its build.
func isOneSystem(a, b *schema.Facts) bool {
	return systemOf(a, schema.FoldDevice(a.Device.Name)) == systemOf(b, schema.FoldDevice(b.Device.Name))
}

// bucket is what results of one run have in common: their stated id, else folder, system and build.
type bucket struct{ id, folder, system string }

// bucketOf returns the bucket of a result, and settles its folder.
func bucketOf(r *result) bucket {
	if r.facts.RunID != "" {
		return bucket{id: r.facts.RunID, folder: r.runFolder}
	}
	if r.runFolder == "" {
		r.runFolder = folderOfRun(r.source)
	}
	return bucket{folder: r.runFolder, system: systemOf(&r.facts, schema.FoldDevice(r.facts.Device.Name))}
}

// served divides a bucket without a stated id by precision and number of accelerators, where results state several:
// rows of one file at fp8 and at fp4 would be repeats of one point. Results that state neither stay with the first.
func served(results []*result) [][]*result {
	key := func(r *result) string {
		return fmt.Sprint(strings.ToLower(r.facts.Model.Precision), idSeparator, r.facts.Device.Chips)
	}
	statesNone := func(r *result) bool { return r.facts.Model.Precision == "" && r.facts.Device.Chips == 0 }
	parts := schema.Alike(slices.DeleteFunc(slices.Clone(results), statesNone), key)
	if len(parts) < 2 || results[0].facts.RunID != "" {
		return [][]*result{results}
	}
	for _, r := range results {
		if statesNone(r) {
			parts[0] = append(parts[0], r)
		}
	}
	return parts
}

// split divides a bucket where nothing started for longer than the longest pause. Results with a stated id are never
// split.
func split(results []*result) [][]*result {
	asWalked := strings.NewReplacer("/", "\x00")
	slices.SortStableFunc(results, func(a, b *result) int { // an archive has them in any order
		if c := a.facts.Start.Compare(b.facts.Start); c != 0 {
			return c
		}
		return strings.Compare(asWalked.Replace(a.rel), asWalked.Replace(b.rel))
	})
	if results[0].facts.RunID != "" {
		return [][]*result{results}
	}
	var out [][]*result
	start, last := 0, time.Time{}
	for i, r := range results {
		if i > start && r.facts.Start.Sub(last) > longestPause {
			out = append(out, results[start:i])
			start = i
		}
		if i == start {
			last = r.facts.Start
		}
		last = later(last, later(r.facts.Start, r.facts.End))
	}
	return append(out, results[start:])
}

// earlier returns the earlier of two times that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// assemble makes one run of results that belong together, and returns the reason.
func assemble(results []*result) (schema.Run, string) {
	first := results[0]
	f := first.facts
	run := schema.Run{
		ID: f.RunID, Start: f.Start, Release: f.Release, Channel: f.Channel, Line: f.Line, Model: f.Model, Impl: f.Impl,
		Device: f.Device, Stack: f.Stack, Provenance: first.provenance(), Plan: plannedAsMeasured(first.plan, results),
		Interleaved: first.reading.Interleaved,
	}
	points := 0
	for _, r := range results {
		points += len(r.reading.Points)
	}
	run.Points = make([]schema.Point, 0, points)
	for _, r := range results {
		run.Targets = schema.MergeTargets(run.Targets, r.targets)
		run.Acceptance = run.Acceptance.With(r.accepted)
		for _, p := range r.reading.Points {
			if p.Start.IsZero() {
				p.Start, p.End = r.facts.Start, r.facts.End
			}
			run.Points = append(run.Points, p)
		}
		for _, s := range r.reading.Scores {
			s.Start = r.facts.Start
			run.Scores = append(run.Scores, s)
		}
		for _, p := range r.reading.Problems {
			if p.Code != table.Unmapped { // which each of hundreds of files says again
				run.Problems = append(run.Problems, p)
			}
		}
		run.Extra = withUnknown(run.Extra, r.reading.Extra)
		run.Start = earlier(run.Start, r.facts.Start)
		run.End = later(run.End, later(r.facts.End, r.facts.Start))
		r.given = r.measured() // memory should hold each of tens of thousands of results once
		r.reading.Points, r.reading.Scores = nil, nil
	}
	stated := statedOf(results, run.Provenance)
	for src := range run.Sources() {
		src.Stated = stated[src.Path]
	}
	from := map[string]bool{}
	for _, r := range results {
		from[r.shown()] = true
	}
	files := plaintext.Plural(len(from), "file")
	if run.ID != "" {
		return run, fmt.Sprintf("%s under id %s", files, run.ID)
	}
	run.ID = derivedID(&run)
	return run, fmt.Sprintf("%s in %s, one system and build, no pause over 6 h", files, first.runFolder)
}

// statedOf are the facts that a person stated of some files of a run, by their paths, and that the provenance of the
// run has of another file: the next reading must know them. What was stated of one of several results of the first file
// stands in the provenance.
func statedOf(results []*result, provenance map[string]schema.Origin) map[string][]string {
	out := map[string][]string{}
	for _, r := range results {
		for _, f := range r.origin {
			switch {
			case f.From == "" || !isStated(r.kind(f.Origin)) || isStated(r.kind(provenance[f.field])):
			case r.shown() == results[0].shown():
				provenance[f.field] = f.Origin
			case !slices.Contains(out[r.shown()], f.field):
				out[r.shown()] = append(out[r.shown()], f.field)
			}
		}
		slices.Sort(out[r.shown()])
	}
	return out
}

// plannedAsMeasured returns a plan in which a workload with a result has the key of that result: readers tell workloads
// apart by what a plan does not state, as by the number of requests of an offline engine.
func plannedAsMeasured(plan []schema.Key, results []*result) []schema.Key {
	measured := map[string]schema.Key{}
	for _, r := range results {
		if r.sidecar && len(r.reading.Points) == 1 {
			measured[r.asked.String()] = r.reading.Points[0].Key
		}
	}
	plan = slices.Clone(plan)
	for i, k := range plan {
		if m, ok := measured[k.String()]; ok {
			plan[i] = m
		}
	}
	return plan
}

// idSeparator separates the parts that are hashed into an id. It must not change, because ids would change.
const idSeparator = "\x00"

// derivedID is the id of a run that nothing names: when it began, and a hash of who was measured and of the numbers
// that were measured first. It follows from the document alone. Neither the folder is in it, which has another name
// where a file is read by itself, or from an archive or a clone, nor the bytes of a file, to which the next night is
// appended; but what nothing dates stands by itself.
func derivedID(run *schema.Run) string {
	var first time.Time
	least := ""
	add := func(start time.Time, numbers, sha256 string) {
		if start.IsZero() { // a document leaves it out where it is that of the run
			start = run.Start
		}
		if start.IsZero() {
			numbers += sha256
		}
		switch start = start.Truncate(time.Second); {
		case least == "" || start.Before(first):
			first, least = start, numbers
		case start.Equal(first):
			least = min(least, numbers)
		}
	}
	for i := range run.Points {
		add(run.Points[i].Start, duplicate.Numbers(&run.Points[i]), run.Points[i].Source.SHA256)
	}
	for _, s := range run.DatedScores() {
		x, _ := s.Value.Get()
		add(s.Start, s.Task+" "+s.Metric+" "+duplicate.Number(x), s.Source.SHA256)
	}
	facts := run.Facts()
	began := run.Start.UTC().Truncate(time.Second)
	parts := []string{systemOf(&facts, run.Device.Name), least, began.Format(time.RFC3339)}
	sum := sha256.Sum256([]byte(strings.Join(parts, idSeparator)))
	if began.IsZero() {
		return history.Undated + hex.EncodeToString(sum[:4])
	}
	return began.Format(history.StartInID) + hex.EncodeToString(sum[:4])
}

// withUnknown adds unknown fields that a file or a run does not have.
func withUnknown(to, more schema.Unknown) schema.Unknown {
	for name, v := range more {
		if to == nil {
			to = schema.Unknown{}
		}
		if _, has := to[name]; !has {
			to[name] = v
		}
	}
	return to
}

// grouping holds the runs that results make.
type grouping struct {
	runs     []schema.Run // by start, then id
	reasons  map[string]string
	runOf    map[*source]string // id of the run that a source belongs to
	problems []schema.Problem

	index  map[string]int         // of a run in runs, by id
	docs   map[string][]*document // by id of a run: the documents that had results of it
	memory *memory
}

// completeModels gives results that know their model by name alone the id that others of the same folder state for
// it, if it is one: the name of an eval's folder has no organisation, and its benchmarks state it.
func completeModels(results []*result) {
	type named struct{ folder, model string }
	at := func(r *result) named { return named{cmp.Or(r.runFolder, folderOfRun(r.source)), r.facts.Model.Name} }
	first, areSeveral := map[named]*result{}, map[named]bool{}
	for _, r := range results {
		if id := r.facts.Model.ID; id != "" {
			first[at(r)] = cmp.Or(first[at(r)], r)
			areSeveral[at(r)] = areSeveral[at(r)] || first[at(r)].facts.Model.ID != id
		}
	}
	for _, r := range results {
		from := first[at(r)]
		if from != nil && !areSeveral[at(r)] && r.facts.Model.ID == "" && r.facts.Model.Name != "" {
			r.facts.Model.ID = from.facts.Model.ID
			where := "the results of the same model in " + from.shown()
			*r.origin.of("model.id") = schema.Origin{From: schema.FromDerived, Where: where}
		}
	}
}

// groupRuns groups results into runs: by the id in a manifest or spec, else by folder, system and build without long
// pauses.
func groupRuns(results []*result) *grouping {
	completeModels(results)
	counting := slices.DeleteFunc(slices.Clone(results), func(r *result) bool { return !r.counts() })
	g := &grouping{
		reasons: map[string]string{}, runOf: map[*source]string{}, index: map[string]int{},
		docs: map[string][]*document{},
	}
	for _, bucket := range schema.Alike(counting, bucketOf) {
		for _, one := range served(bucket) {
			separateScores(one)
			for _, part := range split(one) {
				if slices.ContainsFunc(part, func(r *result) bool { return r.doc == nil || r.isCorrected }) {
					g.add(part) // else it stays where it is
				}
			}
		}
	}
	for i := range g.runs {
		g.report(&g.runs[i], repeat.Separate(g.runs[i].Points)...)
		g.report(&g.runs[i], repeat.SeparateScores(g.runs[i].Scores)...)
		g.runs[i].Arrange()
		g.report(&g.runs[i], repeat.Doubtful(g.runs[i].Points)...)
	}
	slices.SortStableFunc(g.runs, func(a, b schema.Run) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.ID, b.ID))
	})
	return g
}

// separateRows tells the rows of each table apart, over all runs in it.
func separateRows(results []*result) {
	isOther := func(r *result) bool { return r.doc != nil || r.reading.Format != table.Format }
	tables := slices.DeleteFunc(slices.Clone(results), isOther)
	for _, of := range schema.Alike(tables, func(r *result) *content { return r.file }) {
		var points []*schema.Point
		var systems []string
		for _, r := range of {
			for i := range r.reading.Points {
				p := &r.reading.Points[i]
				if p.Start.IsZero() {
					p.Start, p.End = r.facts.Start, r.facts.End
				}
				points = append(points, p)
				systems = append(systems, fmt.Sprint(modelOf(&r.facts), schema.FoldDevice(r.facts.Device.Name), r.facts.Impl))
			}
		}
		repeat.SeparateRows(points, func(i int) string { return systems[i] })
	}
}

// separateScores tells the scores of one folder, system and build apart by the names of their files, also where a pause
// divides them into runs: eval files of one model that say nothing of its quantisation would become one series. What a
// collector of ours measured is described beside it.
func separateScores(results []*result) {
	var all []*schema.Score
	for _, r := range results {
		if r.journal != nil || r.sidecar {
			continue
		}
		for i := range r.reading.Scores {
			all = append(all, &r.reading.Scores[i])
		}
	}
	for _, p := range repeat.SeparateScoreFiles(all) {
		for _, r := range results {
			if r.shown() == p.Path {
				r.report(p)
				break
			}
		}
	}
}

// add makes a run of results and adds it to the others: to an earlier run of the same id and system, else by itself
// under the first free id.
func (g *grouping) add(part []*result) {
	first := part[0]
	run, reason := assemble(part)
	g.report(&run, incomplete(first.journal)...)
	stated := run.ID
	for n := 2; ; n++ {
		i, isTaken := g.index[run.ID]
		if !isTaken {
			break
		}
		if r := &g.runs[i]; isOneRun(r, &run) {
			r.Points, r.Scores = append(r.Points, run.Points...), append(r.Scores, run.Scores...)
			r.Problems = append(r.Problems, run.Problems...)
			r.Targets, r.Acceptance = schema.MergeTargets(r.Targets, run.Targets), r.Acceptance.With(run.Acceptance)
			r.Start, r.End = earlier(r.Start, run.Start), later(r.End, run.End)
			r.Extra = withUnknown(r.Extra, run.Extra)
			stated = ""
			break
		}
		run.ID = fmt.Sprintf("%s~%d", stated, n)
	}
	if stated != "" {
		if run.ID != stated {
			g.report(&run, schema.Problem{
				Severity: schema.SevError, Path: first.shown(), Code: "run-id-taken",
				Found: fmt.Sprintf("run id %s for %s, which %s has already",
					stated, describe(&run), describe(&g.runs[g.index[stated]])),
				Expected: "one id per run", Used: "both, this one as " + run.ID,
				Hint: "give one of them another id in its manifest",
			})
		}
		g.index[run.ID], g.reasons[run.ID] = len(g.runs), reason
		g.runs = append(g.runs, run)
	}
	for _, r := range part {
		if r.doc == nil {
			g.runOf[r.source] = run.ID
		} else {
			g.docs[run.ID] = append(g.docs[run.ID], r.doc)
		}
		for _, old := range r.same {
			g.docs[run.ID] = append(g.docs[run.ID], old.doc)
		}
		r.identity = identity{}
	}
}

// report adds problems of a run.
func (g *grouping) report(run *schema.Run, problems ...schema.Problem) {
	run.Problems = append(run.Problems, problems...)
	g.problems = append(g.problems, problems...)
}

func isOneRun(a, b *schema.Run) bool {
	return a.Model.Name == b.Model.Name && schema.SameDevice(a.Device.Name, b.Device.Name) && a.Impl == b.Impl &&
		a.Release == b.Release
}

// describe returns a run's system and release for a message.
func describe(r *schema.Run) string {
	model, device := cmp.Or(r.Model.Name, "an unknown model"), cmp.Or(r.Device.Name, "an unknown device")
	return strings.TrimSpace(fmt.Sprintf("%s on %s %s", model, device, r.Release))
}

// incomplete returns the problems in a run's journal: measurements that failed, and a missing end.
func incomplete(journal *source) []schema.Problem {
	if journal == nil {
		return nil
	}
	var out []schema.Problem
	ended, last := false, "nothing"
	for _, e := range manifest.ReadJournal(journal.file.Data) {
		ended = ended || e.Event == manifest.EventRunDone
		last = strings.TrimSpace(e.Event + " " + e.Item)
		if strings.HasSuffix(e.Event, "-failed") {
			out = append(out, schema.Problem{
				Severity: schema.SevWarning, Path: journal.shown(), Code: e.Event,
				Found: strings.Trim(e.Item+": "+e.Note, ": "), Expected: "a result", Hint: "measure it again",
			})
		}
	}
	if !ended {
		out = append(out, schema.Problem{
			Severity: schema.SevWarning, Path: journal.shown(), Code: "run-incomplete",
			Found:    "a collection that did not finish; its last entry is " + last,
			Expected: manifest.EventRunDone, Used: "what was measured until then",
			Hint: "what is missing is listed with the release",
		})
	}
	return out
}

var (
	sweepRun  = lazyregexp.New(`^run=\d+\.json`)
	trialPart = lazyregexp.New(`^(profile_runs|aggregate|(run|trial|search_iter)_\d+)$`)
	// pointPart is a folder that a sweep makes for a point: "concurrency_10__isl_512", "variation_0000_concurrency_16".
	pointPart = lazyregexp.New(
		`^variation_\d+|(?:^|__)(concurrency|request_rate|isl|osl|num_users|prefill_concurrency)_?\d`)
	// sweepPart is a folder of vLLM's sweeps: "SERVE--a=1-BENCH--b=2", and below it "request_rate=4".
	sweepPart = lazyregexp.New(`-?(BENCH|SERVE|STARTUP|WL)--|^BENCH|^SERVE|^[a-z_]+=[\w.]+$`)
)

// sweepRoot returns the folder of the experiment that a sweep's folder belongs to.
func sweepRoot(dir string) string {
	for sweepPart.MatchString(path.Base(dir)) {
		dir = path.Dir(dir)
	}
	return dir
}

// folderOfRun returns the folder whose files form a run: the file's own, or the one above if the tool gives every
// point a folder.
func folderOfRun(s *source) string {
	dir := path.Dir(s.shown())
	switch {
	case s.hasOwnFolder():
		own := dir
		for trialPart.MatchString(path.Base(dir)) || pointPart.MatchString(path.Base(dir)) {
			dir = path.Dir(dir)
		}
		if dir == own { // not of a sweep
			dir = path.Dir(dir)
		}
	case sweepRun.MatchString(path.Base(s.rel)) || path.Base(s.rel) == "summary.json":
		dir = sweepRoot(path.Dir(dir))
	case s.reading.Format == format.Inspect.Name && strings.HasSuffix(dir, ".eval"): // an archive that is one log
		dir = path.Dir(dir)
	case s.isLoad(path.Base(dir)):
		dir = path.Dir(dir)
	}
	return dir
}

// isLoad reports that the numbers in the name of a folder, which are two at least, are those of the only point of a
// source: 4-320-i1024-o256.
func (s *source) isLoad(folder string) bool {
	if len(s.reading.Points) != 1 {
		return false
	}
	own, list := s.ownNumbers(), numbersIn.FindAllString(folder, -1)
	isOther := func(text string) bool { n, err := strconv.Atoi(text); return err != nil || !own[n] }
	return len(list) > 1 && !slices.ContainsFunc(list, isOther)
}

var numbersIn = lazyregexp.New(`\d+`)

// hasOwnFolder reports whether the tool gives every point a folder and its files always the same names.
func (s *source) hasOwnFolder() bool {
	return slices.Contains([]string{
		aiperf.Format, aiperf.Records, aiperf.CSV, aiperf.GenAI, aiperf.GenAICSV,
	}, s.reading.Format)
}
