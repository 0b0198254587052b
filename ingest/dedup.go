package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/table"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// mayBeOne reports that two files do not state different models, days, devices, releases or builds. Their times may be
// in two zones. What tt-inference-server names apart is of two models or devices, which may well give some equal
// numbers.
func mayBeOne(a, b *result) bool {
	first, _ := ttis.NameFacts(a.shown())
	second, _ := ttis.NameFacts(b.shown())
	return mayBeEqual(first.ModelID, second.ModelID) && mayAgree(&a.reading.Facts, &b.reading.Facts) &&
		mayAgree(&a.facts, &b.facts)
}

func mayBeEqual(a, b string) bool { return a == "" || b == "" || strings.EqualFold(a, b) }

func mayAgree(a, b *schema.Facts) bool {
	for name, commit := range a.Stack.Commits { // which may be shortened
		other := b.Stack.Commits[name]
		if n := min(len(commit), len(other)); commit[:n] != other[:n] {
			return false
		}
	}
	isOneTime := a.Start.IsZero() || b.Start.IsZero() || a.Start.Sub(b.Start).Abs() < 15*time.Hour
	x, y := strings.Split(a.Model.ID, "/"), strings.Split(b.Model.ID, "/")
	return isOneTime && mayBeEqual(x[len(x)-1], y[len(y)-1]) &&
		(mayBeEqual(a.Device.Name, b.Device.Name) || schema.IsDeviceWithin(a.Device.Name, b.Device.Name)) &&
		mayBeEqual(a.Release, b.Release) && mayBeEqual(a.Impl, b.Impl) && mayBeEqual(a.Stack.Engine, b.Stack.Engine) &&
		mayBeEqual(strings.TrimPrefix(a.Stack.Version, "v"), strings.TrimPrefix(b.Stack.Version, "v")) &&
		mayBeEqual(a.Stack.Image, b.Stack.Image)
}

// isDerived reports the format of a report, or of the table that it is made of.
func isDerived(format string) bool { return format == ttis.Statistics || format == ttis.ReportData }

// isPrinted reports the format of what a tool printed.
func isPrinted(format string) bool {
	return format == console.Serving || format == console.TRTLLM || format == table.LlamaBenchyPrinted
}

// placed is a measurement of a result: one of its points or scores, by its index.
type placed struct {
	r       *result
	i       int
	isScore bool
}

func (p placed) point() *schema.Point { return &p.r.reading.Points[p.i] }
func (p placed) score() *schema.Score { return &p.r.reading.Scores[p.i] }

// placesOf lists the points and the scores of results.
func placesOf(results []*result) (points, scores []placed) {
	for _, r := range results {
		for i := range r.reading.Points {
			points = append(points, placed{r, i, false})
		}
		for i := range r.reading.Scores {
			scores = append(scores, placed{r, i, true})
		}
	}
	return points, scores
}

// gone are the measurements that results give up, and the results that have the same.
type gone map[*result]map[placed]*result

// sameness says how copies are found among measurements, and which of two stays.
type sameness struct {
	last  int                   // how many before it with one mark are compared with one
	marks func(placed) []string // under which it is found
	seek  func(placed) []string // under which it is looked for; nil for the same
	isOne func(a, b placed) bool
	// isBetter reports that the second of two stays; nil for never.
	isBetter func(first, second placed) bool
	learn    func(keep, drop placed) // takes what only the copy states; nil for nothing
}

// keepOne finds the copies among measurements.
func keepOne(list []placed, s sameness) gone {
	lost := gone{}
	found := func(i int) []string { return s.marks(list[i]) }
	seek := found
	if s.seek != nil {
		seek = func(i int) []string { return s.seek(list[i]) }
	}
	duplicate.Once(len(list), s.last, seek, found, func(a, b int) int {
		keep, drop, dropped := list[a], list[b], b
		if areStored(keep.r, drop.r) || keep.r.file == drop.r.file || !s.isOne(keep, drop) {
			return -1 // history has settled what its documents have in common, and its reader what a file has
		}
		if s.isBetter != nil && s.isBetter(keep, drop) {
			keep, drop, dropped = drop, keep, a
		}
		if s.learn != nil && keep.r.doc == nil {
			s.learn(keep, drop)
		}
		if keep.r.met(); drop.r.doc != nil {
			keep.r.same = append(keep.r.same, drop.r)
		}
		if lost[drop.r] == nil {
			lost[drop.r] = map[placed]*result{}
		}
		lost[drop.r][drop] = keep.r
		return dropped
	})
	return lost
}

// settle takes the measurements out of the results that give them up, and says how many of which file; tell is nil
// where nobody needs to know.
func (g gone) settle(tell func(n int, of string) schema.Problem) {
	for r, others := range g {
		n := map[string]int{} // by file
		for _, of := range others {
			n[of.shown()]++
		}
		r.reading.Points = without(r.reading.Points, func(i int) bool { return others[placed{r, i, false}] != nil })
		r.reading.Scores = without(r.reading.Scores, func(i int) bool { return others[placed{r, i, true}] != nil })
		files := slices.Sorted(maps.Keys(n))
		r.reading.PartOf = files[0]
		if tell == nil {
			r.reading.PartOf = path.Dir(files[0])
			continue
		}
		for _, of := range files {
			p := tell(n[of], of)
			p.Severity, p.Path, p.Code = schema.SevNote, r.shown(), "duplicate"
			r.report(p)
		}
	}
}

// without returns a list less what is gone of it.
func without[T any](list []T, isGone func(i int) bool) (kept []T) {
	for i, x := range list {
		if !isGone(i) {
			kept = append(kept, x)
		}
	}
	return kept
}

// dropCopies keeps one of several forms of a measurement, with what the others state: vLLM's result and its
// .pytorch.json, a sweep's run=N.json and its summary.json, AIPerf's summary and tt-inference-server's flat copy, a
// tool's file, the report it was converted to and what was printed of it. It returns the results that have any left.
func dropCopies(results []*result) []*result {
	hasPrinted := slices.ContainsFunc(results, func(r *result) bool { return isPrinted(r.reading.Format) })
	points, _ := placesOf(results)
	copies := keepOne(points, sameness{
		last:  20, // comparing each with each would take minutes where thousands print one number
		marks: func(p placed) []string { return duplicate.Marks(p.point(), hasPrinted) },
		isOne: func(a, b placed) bool { return isOneForm(a.r, b.r, a.point(), b.point()) },
		isBetter: func(a, b placed) bool {
			first, second := isPrinted(a.r.reading.Format), isPrinted(b.r.reading.Format)
			return first && !second || first == second && duplicate.Richness(b.point()) > duplicate.Richness(a.point())
		},
		learn: func(keep, drop placed) { keep.r.learn(keep.point(), drop.r, drop.point()) },
	})
	for r, others := range copies {
		r.copies += len(others)
		if len(others) == len(r.reading.Points) { // problems of its points are reported with the source that keeps them
			r.reading.Problems = slices.DeleteFunc(r.reading.Problems, func(p schema.Problem) bool {
				return p.Severity != schema.SevError
			})
		}
	}
	copies.settle(func(n int, of string) schema.Problem {
		return schema.Problem{
			Found: plaintext.Plural(n, "point") + " that " + of + " has, equal in every statistic that both state",
			Used:  "each measurement once",
			Hint:  "if they are two measurements, state what was different in a manifest or with --pattern",
		}
	})
	return slices.DeleteFunc(results, func(r *result) bool { return !r.counts() })
}

// isOneForm reports that points of two files are one measurement.
func isOneForm(a, b *result, p, q *schema.Point) bool {
	if isPrinted(a.reading.Format) && !isPrinted(b.reading.Format) {
		a, b, p, q = b, a, q, p
	}
	switch {
	case a.file.Content == b.file.Content: // dropSameContent knows equal bytes
		return false
	case isPrinted(b.reading.Format) && !isPrinted(a.reading.Format):
		return duplicate.Printed(p, q) && mayBeOne(a, b)
	case isDerived(a.reading.Format) || isDerived(b.reading.Format): // rounded, and identified by their rows
		return false
	}
	// Two runs of one load agree in two or three digits of a number; twelve digits are more than chance, and for x.json
	// and x.pytorch.json, which belong together, six.
	needed := duplicate.Agreement{Statistics: 3, Digits: 12}
	if path.Dir(a.shown()) == path.Dir(b.shown()) &&
		strings.TrimSuffix(a.stem(), ".pytorch") == strings.TrimSuffix(b.stem(), ".pytorch") {
		needed = duplicate.Agreement{Statistics: 1, Digits: 6}
	}
	return duplicate.Agree(p, q, needed) && mayBeOne(a, b) &&
		duplicate.SameWhereStated(repeat.Settings(p), repeat.Settings(q))
}

// FromCopy begins what a copy of a measurement states of it, before the name of the file.
const FromCopy = "copy in "

// learn takes from a copy what only the copy states: identity, and parts of the workload.
func (r *result) learn(p *schema.Point, from *result, q *schema.Point) {
	if !from.reading.Facts.Start.IsZero() && r.origin.of("start").From == schema.FromPath {
		r.facts.Start, r.facts.StartNote = time.Time{}, ""
	}
	r.take(statement{from: schema.FromFile, where: r.shown(), facts: &from.reading.Facts, isQuiet: true})
	r.completeModel()
	r.stateWorkload(p, statement{
		from: schema.From(FromCopy + path.Base(from.rel)), isQuiet: true, conditions: q.Conditions,
		workload: manifest.Workload{
			ISL: q.Key.ISL, OSL: q.Key.OSL, Concurrency: q.Key.Concurrency, Rate: q.Key.Rate, Dataset: q.Key.Dataset,
		},
	})
}

// dropSameContent keeps the first of several files with the same content, in whatever envelope, or with the same
// numbers in another form: a reformatted copy, a log and the archive it was converted from. Of files of two releases
// it keeps that of the earlier one by name.
func dropSameContent(results []*result) {
	var list []placed
	for _, r := range results {
		if r.counts() && r.file.Content != "" {
			list = append(list, placed{r: r})
		}
	}
	copies := keepOne(list, sameness{
		last: 1,
		marks: func(p placed) []string {
			keys := []string{p.r.file.Content}
			switch hash, ok := duplicate.Content(&p.r.reading); {
			case ok:
				keys = append(keys, hash)
			case p.r.origin.of("start").From == schema.FromFile: // few numbers, of workloads at one time to the second
				keys = append(keys, hash+p.r.facts.Start.String())
			}
			return keys
		},
		isOne: func(a, b placed) bool {
			x, y := a.r.facts.Start, b.r.facts.Start
			isOneTime := x.IsZero() || y.IsZero() || areOneSecond(x, y)
			return !measuredApart(a.r, b.r) && (a.r.file.Content == b.r.file.Content || isOneTime && mayBeOne(a.r, b.r))
		},
		isBetter: func(a, b placed) bool {
			return ofTwoReleases(a.r, b.r) && schema.NaturalCompare(b.r.facts.Release, a.r.facts.Release) < 0
		},
	})
	if len(copies) > 0 {
		settleCopies(results, copies)
	}
}

// settleCopies leaves copies out. Where all that a release has of a model and device are copies of another release's,
// they stay with an error: the release would else be gone, and the one before pass for it.
func settleCopies(results []*result, copies gone) {
	type inRelease struct{ release, model, device string }
	in := func(r *result) inRelease {
		return inRelease{r.facts.Release, modelOf(&r.facts), schema.FoldDevice(r.facts.Device.Name)}
	}
	own := map[inRelease]bool{}
	for _, r := range results {
		own[in(r)] = own[in(r)] || r.counts() && copies[r] == nil
	}
	for _, r := range results {
		of := copies[r][placed{r: r}]
		if of == nil {
			continue
		}
		if at := in(r); !ofTwoReleases(of, r) || own[at] || at.model == "" || at.device == "" {
			r.dropCopyOf(of)
			continue
		}
		r.report(schema.Problem{
			Severity: schema.SevError, Path: r.shown(), Code: schema.CodeCopy,
			Found:    "the same content as " + of.shown() + " of " + of.facts.Release,
			Expected: "one release for one measurement", Used: "no number of it: the release is not measured",
			Hint: "put the results of " + r.facts.Release + " in its place; ttreport history drop --release " + r.facts.Release +
				" --write forgets it",
		})
	}
}

// areOneSecond reports that two times are equal as documents keep them.
func areOneSecond(x, y time.Time) bool { return x.Truncate(time.Second).Equal(y.Truncate(time.Second)) }

// measuredApart reports two results whose sidecars state different times: a script may well find the same numbers
// twice.
func measuredApart(a, b *result) bool {
	if !a.sidecar || !b.sidecar || len(a.reading.Points) == 0 || len(b.reading.Points) == 0 {
		return false
	}
	x, y := a.reading.Points[0].Start, b.reading.Points[0].Start
	if x.Nanosecond() != 0 && y.Nanosecond() != 0 { // history keeps seconds
		return !x.Equal(y)
	}
	return !x.IsZero() && !y.IsZero() && !areOneSecond(x, y)
}

// ofTwoReleases reports that two results state different releases.
func ofTwoReleases(a, b *result) bool {
	x, y := a.facts.Release, b.facts.Release
	return x != "" && y != "" && x != y
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

// tellOfCopies gives runs the problems of the copies that were left out of them: to the first run of what they state.
func (g *grouping) tellOfCopies(results []*result) {
	for _, r := range results {
		isCopy := func(p schema.Problem) bool { return p.Code == schema.CodeCopy }
		at := slices.IndexFunc(r.reading.Problems, isCopy)
		if at < 0 || r.counts() || g.runOf[r.source] != "" {
			continue
		}
		of := slices.IndexFunc(g.runs, func(run schema.Run) bool {
			return run.Release == r.facts.Release && modelOf(&schema.Facts{Model: run.Model}) == modelOf(&r.facts) &&
				schema.SameDevice(run.Device.Name, r.facts.Device.Name)
		})
		if of >= 0 {
			g.runs[of].Problems = append(g.runs[of].Problems, r.reading.Problems[at])
		}
	}
}

func modelOf(f *schema.Facts) string {
	return strings.ToLower(path.Base(cmp.Or(f.Model.ID, f.Model.Name)))
}

// scoreKey names what an eval measured.
type scoreKey struct{ task, metric, filter string }

// dropSameScores keeps one of several copies of a score, which tools write into files for one task, for a group and for
// a whole suite: that with the most beside its value.
func dropSameScores(results []*result) {
	_, list := placesOf(results)
	keepOne(list, sameness{
		last: 100, // evals at other times that gave the same
		marks: func(p placed) (out []string) {
			s := p.score()
			if x, ok := s.Value.Get(); ok { // a table has it rounded
				for _, x := range []float64{math.Floor(x * 5e3), math.Ceil(x * 5e3)} {
					out = append(out, fmt.Sprintln(modelOf(&p.r.facts), s.Task, s.Metric, strings.TrimPrefix(s.Filter, "none"), x))
				}
			}
			return out
		},
		isOne: func(a, b placed) bool { return sameValue(a.score(), b.score()) && sameEval(a.r, b.r) },
		isBetter: func(a, b placed) bool {
			first, second := a.r.reading.Format == lmeval.Table, b.r.reading.Format == lmeval.Table
			return first && !second || first == second && known(b.score()) > known(a.score())
		},
	}).settle(func(n int, of string) schema.Problem {
		return schema.Problem{Found: fmt.Sprintf("%d scores that %s has", n, of), Used: "each once"}
	})
}

func sameValue(a, b *schema.Score) bool {
	x, ok := a.Value.Get()
	y, ok2 := b.Value.Get()
	isPrinted := a.Source.Format == lmeval.Table || b.Source.Format == lmeval.Table // to four decimals
	return ok && ok2 && (duplicate.Number(x) == duplicate.Number(y) || isPrinted && math.Abs(x-y) < 5.01e-5)
}

// sameEval reports that two files hold the same eval. Two of one time do. Where one states none, all scores that both
// have must agree, and three of them be fractions: an eval of a small task gives the same score again by chance, and a
// greedy one of the same model does so always, but then states its time. A table that was printed beside the file of
// its scores, or in a folder above, is of them.
func sameEval(a, b *result) bool {
	if systemOf(&a.facts) != systemOf(&b.facts) {
		return false
	}
	if b.reading.Format == lmeval.Table {
		a, b = b, a
	}
	isPrinted := a.reading.Format == lmeval.Table && b.reading.Format != lmeval.Table
	if x, y := a.facts.Start, b.facts.Start; !isPrinted && !x.IsZero() && !y.IsZero() {
		return areOneSecond(x, y)
	}
	dir := path.Dir(a.shown())
	isBeside := isPrinted && (dir == "." || strings.HasPrefix(b.shown(), dir+"/"))
	fractions, agree := fractionsOfBoth(a, b)
	return agree && (fractions >= 3 || isBeside) && modelOf(&a.facts) != "." // which is no model
}

// fractionsOfBoth counts the scores of two results that are equal fractions; agree is false where two differ.
func fractionsOfBoth(a, b *result) (fractions int, agree bool) {
	have := map[scoreKey]*schema.Score{}
	for i := range a.reading.Scores {
		s := &a.reading.Scores[i]
		have[scoreKey{s.Task, s.Metric, s.Filter}] = s
	}
	for i := range b.reading.Scores {
		s := &b.reading.Scores[i]
		other := have[scoreKey{s.Task, s.Metric, s.Filter}]
		if other != nil && !sameValue(other, s) {
			return 0, false
		}
		if x, _ := s.Value.Get(); other != nil && duplicate.IsFraction(x) {
			fractions++
		}
	}
	return fractions, true
}

// known counts what a score states beside its value.
func known(s *schema.Score) (n int) {
	_, hasError := s.Stderr.Get()
	for _, x := range []bool{hasError, s.N > 0, s.Outcomes != nil, s.Outcomes != nil} {
		if x {
			n++
		}
	}
	return n
}

// dropReportRows drops the rows of reports, and of the tables that reports are made of, whose results are among the
// files of the same tree: of the file that a row names, of a workload of its model and device, of a task of its model.
// A table has more statistics than its report.
func dropReportRows(results []*result) {
	rank := func(r *result) int { return slices.Index([]string{ttis.Statistics, ttis.ReportData}, r.reading.Format) }
	order := slices.SortedStableFunc(slices.Values(results), func(a, b *result) int { return rank(a) - rank(b) })
	if len(order) == 0 || rank(order[len(order)-1]) < 0 {
		return
	}
	points, scores := placesOf(order)
	list := append(points, scores...)
	keepOne(list, sameness{
		last:  len(list),
		marks: func(p placed) []string { return append(p.rows(), path.Base(p.r.rel)) },
		seek: func(p placed) []string {
			if rank(p.r) < 0 {
				return nil
			}
			return p.rows()
		},
		isOne: func(of, row placed) bool { return isRowOf(row, of.r) },
	}).settle(nil)
}

// isRowOf reports that a row of a report is of a result: of one of its tree, or of one of another reading with its
// number.
func isRowOf(row placed, of *result) bool {
	r := row.r
	switch {
	case of.doc == nil && r.doc == nil && strings.HasPrefix(of.shown(), reportTree(r.shown())+"/"):
		return true
	case of.doc == nil && r.doc == nil && len(of.same) == 0:
		return false
	case row.isScore: // per cent with two decimals
		s := row.score()
		x, ok := s.Value.Get()
		return ok && slices.ContainsFunc(of.reading.Scores, func(t schema.Score) bool {
			y, has := t.Value.Get()
			return has && t.Task == s.Task && math.Abs(x-y) <= 6e-5
		})
	}
	raw := row.point().Conditions[ttis.RawFile]
	return slices.ContainsFunc(of.reading.Points, func(q schema.Point) bool {
		return raw != "" && raw == path.Base(q.Source.Path) || duplicate.Printed(&q, row.point())
	})
}

// rows names a measurement as the row of a report would: a point by its workload without what a report does not state,
// and by the file that it says it is of; a score by its task. A report's score under a metric that no result has is a
// number of its own.
func (p placed) rows() []string {
	model := p.r.facts.Model.Name
	if p.isScore {
		metric := p.score().Metric
		for _, part := range schema.PartsOfMean(metric) {
			metric = part
		}
		return []string{fmt.Sprintln(model, p.score().Task, metric)}
	}
	k, raw := p.point().Key, p.point().Conditions[ttis.RawFile]
	k = schema.Key{Tool: k.Tool, ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency}
	rows := []string{fmt.Sprintln(model, schema.FoldDevice(p.r.facts.Device.Name), k.String())}
	if raw != "" {
		rows = append(rows, path.Base(raw))
	}
	return rows
}

// workflowTree is the folder above those in which tt-inference-server keeps results of each kind: they are one run.
// "" for any other path.
func workflowTree(shown string) string {
	for _, kind := range []string{
		"benchmarks", "benchmarks_aiperf", "benchmarks_genai", "benchmarks_guidellm", "evals", "stress_tests",
	} {
		if i := strings.LastIndex(shown, "/"+kind+"_output/"); i >= 0 {
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
