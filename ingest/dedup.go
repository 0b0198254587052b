package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
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
func isPrinted(format string) bool { return format == console.Serving || format == console.TRTLLM }

// placed is a point or a score of a result, by its index.
type placed struct {
	r *result
	i int
}

// held is by index of a result's points or scores: the result that has the same.
type held map[int]*result

// gone are the points or scores that results give up.
type gone map[*result]held

func (g gone) drop(drop, keep placed) {
	if keep.r.met(); drop.r.doc != nil {
		keep.r.same = append(keep.r.same, drop.r)
	}
	if g[drop.r] == nil {
		g[drop.r] = held{}
	}
	g[drop.r][drop.i] = keep.r
}

// dropCopies keeps one of several forms of a measurement, with what the others state: vLLM's result and its
// .pytorch.json, a sweep's run=N.json and its summary.json, AIPerf's summary and tt-inference-server's flat copy, a
// tool's file, the report it was converted to and what was printed of it. It returns the results that have any left.
func dropCopies(results []*result) []*result {
	var places []placed
	var points []*schema.Point
	for _, r := range results {
		for i := range r.reading.Points {
			places, points = append(places, placed{r, i}), append(points, &r.reading.Points[i])
		}
	}
	isPrintedAt := func(i int) bool { return isPrinted(places[i].r.reading.Format) }
	same := func(i, j int) bool { return isOneForm(places[i].r, places[j].r, points[i], points[j]) }
	copies := gone{}
	duplicate.Copies(points, isPrintedAt, same, func(keep, drop int) {
		if places[keep].r.doc == nil {
			places[keep].r.learn(points[keep], places[drop].r, points[drop])
		}
		copies.drop(places[drop], places[keep])
	})
	for r, others := range copies {
		n := map[string]int{} // by file
		for _, of := range others {
			n[of.shown()]++
		}
		r.copies += len(others)
		r.reading.Points = without(r.reading.Points, others)
		files := slices.Sorted(maps.Keys(n))
		r.reading.PartOf = files[0]
		if len(r.reading.Points) == 0 { // problems of its points are reported with the source that keeps them
			r.reading.Problems = slices.DeleteFunc(r.reading.Problems, func(p schema.Problem) bool {
				return p.Severity != schema.SevError
			})
		}
		for _, of := range files {
			r.report(schema.Problem{
				Severity: schema.SevNote, Path: r.shown(), Code: "duplicate",
				Found: fmt.Sprintf("%s that %s has, equal in every statistic that both state",
					plaintext.Plural(n[of], "point"), of),
				Used: "each measurement once",
				Hint: "if they are two measurements, state what was different in a manifest or with --pattern",
			})
		}
	}
	return slices.DeleteFunc(results, func(r *result) bool { return !r.counts() })
}

// isOneForm reports that points of two files are one measurement.
func isOneForm(a, b *result, p, q *schema.Point) bool {
	if isPrinted(a.reading.Format) && !isPrinted(b.reading.Format) {
		a, b, p, q = b, a, q, p
	}
	switch {
	case areStored(a, b) || a.file == b.file || a.file.Content == b.file.Content: // dropSameContent knows equal bytes
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

// without returns a list less what others hold.
func without[T any](list []T, others held) (kept []T) {
	for i, x := range list {
		if others[i] == nil {
			kept = append(kept, x)
		}
	}
	return kept
}

// learn takes from a copy what only the copy states: identity, and parts of the workload.
func (r *result) learn(p *schema.Point, from *result, q *schema.Point) {
	if !from.reading.Facts.Start.IsZero() && r.origin.of("start").From == schema.FromPath {
		r.facts.Start, r.facts.StartNote = time.Time{}, ""
	}
	r.take(statement{from: schema.FromFile, where: r.shown(), facts: &from.reading.Facts, isQuiet: true})
	r.completeModel()
	r.stateWorkload(p, statement{
		from: schema.From("copy in " + path.Base(from.rel)), isQuiet: true, conditions: q.Conditions,
		workload: manifest.Workload{
			ISL: q.Key.ISL, OSL: q.Key.OSL, Concurrency: q.Key.Concurrency, Rate: q.Key.Rate, Dataset: q.Key.Dataset,
		},
	})
}

// dropSameContent keeps the first of several files with the same content, in whatever envelope, or with the same
// numbers in another form: a reformatted copy, a log and the archive it was converted from. Of files of two releases
// it keeps that of the earlier one by name.
func dropSameContent(results []*result) {
	seen := map[string]*result{}
	copies := map[*result]*result{} // of another release's
	for _, r := range results {
		if !r.counts() || r.file.Content == "" {
			continue
		}
		keys := []string{r.file.Content}
		switch hash, ok := duplicate.Content(&r.reading); {
		case ok:
			keys = append(keys, hash)
		case r.origin.of("start").From == schema.FromFile: // few numbers, of workloads at one time to the second
			keys = append(keys, hash+r.facts.Start.String())
		}
		for i, key := range keys {
			first := seen[key]
			if first == nil || areStored(first, r) || measuredApart(first, r) || i > 0 && !mayBeOneForm(first, r) {
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
			copies[r] = first
			break
		}
	}
	if len(copies) > 0 {
		settleCopies(results, copies)
	}
}

// settleCopies leaves out the copies of another release's results. Where all that a release has of a model and device
// are copies, they stay with an error: the release would else be gone, and the one before pass for it.
func settleCopies(results []*result, copies map[*result]*result) {
	type inRelease struct{ release, model, device string }
	in := func(r *result) inRelease {
		return inRelease{r.facts.Release, modelOf(&r.facts), schema.FoldDevice(r.facts.Device.Name)}
	}
	own := map[inRelease]bool{}
	for _, r := range results {
		own[in(r)] = own[in(r)] || r.counts() && copies[r] == nil
	}
	for _, r := range results {
		of := copies[r]
		if of == nil {
			continue
		}
		if at := in(r); own[at] || at.model == "" || at.device == "" {
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

// mayBeOneForm reports that two results with the same numbers may be one measurement.
func mayBeOneForm(a, b *result) bool {
	x, y := a.facts.Start, b.facts.Start
	return mayBeOne(a, b) && (x.IsZero() || y.IsZero() || areOneSecond(x, y))
}

// areOneSecond reports that two times are equal as documents keep them.
func areOneSecond(x, y time.Time) bool { return x.Truncate(time.Second).Equal(y.Truncate(time.Second)) }

// measuredApart reports two results of one file, and two whose sidecars state different times: a script may well find
// the same numbers twice.
func measuredApart(a, b *result) bool {
	if a.file == b.file || !a.sidecar || !b.sidecar || len(a.reading.Points) == 0 || len(b.reading.Points) == 0 {
		return a.file == b.file
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
	first.met()
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

// scoreKey names what an eval measured of a model.
type scoreKey struct{ model, task, metric, filter string }

// dropSameScores keeps one of several copies of a score, which tools write into files for one task, for a group and for
// a whole suite: that with the most beside its value.
func dropSameScores(results []*result) {
	byKey := map[scoreKey][]placed{}
	copies := gone{}
	for _, r := range results {
		for i := range r.reading.Scores {
			s := &r.reading.Scores[i]
			key := scoreKey{modelOf(&r.facts), s.Task, s.Metric, strings.TrimPrefix(s.Filter, "none")}
			list := byKey[key]
			at := slices.IndexFunc(list, func(p placed) bool {
				return sameValue(&p.r.reading.Scores[p.i], s) && sameEval(p.r, r)
			})
			if at < 0 {
				byKey[key] = append(list, placed{r, i})
				continue
			}
			keep, drop := list[at], placed{r, i}
			if known(s) > known(&keep.r.reading.Scores[keep.i]) {
				keep, drop = drop, keep
				list[at] = keep
			}
			copies.drop(drop, keep)
		}
	}
	for r, others := range copies {
		r.reading.Scores = without(r.reading.Scores, others)
		r.reading.PartOf = others[slices.Max(slices.Collect(maps.Keys(others)))].shown()
		r.report(schema.Problem{
			Severity: schema.SevNote, Path: r.shown(), Code: "duplicate",
			Found: fmt.Sprintf("%d scores that %s has", len(others), r.reading.PartOf), Used: "each once",
		})
	}
}

func sameValue(a, b *schema.Score) bool {
	x, ok := a.Value.Get()
	y, ok2 := b.Value.Get()
	return ok && ok2 && duplicate.Number(x) == duplicate.Number(y)
}

// sameEval reports that two files hold the same eval. Two of one time do. Where one states none, all scores that both
// have must agree, and three of them be fractions: an eval of a small task gives the same score again by chance, and a
// greedy one of the same model does so always, but then states its time.
func sameEval(a, b *result) bool {
	if areStored(a, b) || a.file == b.file || systemOf(&a.facts) != systemOf(&b.facts) {
		return false
	}
	if x, y := a.facts.Start, b.facts.Start; !x.IsZero() && !y.IsZero() {
		return areOneSecond(x, y)
	}
	have, fractions := map[scoreKey]*schema.Score{}, 0
	for i := range a.reading.Scores {
		s := &a.reading.Scores[i]
		have[scoreKey{"", s.Task, s.Metric, s.Filter}] = s
	}
	for i := range b.reading.Scores {
		s := &b.reading.Scores[i]
		other := have[scoreKey{"", s.Task, s.Metric, s.Filter}]
		if other != nil && !sameValue(other, s) {
			return false
		}
		if x, _ := s.Value.Get(); other != nil && duplicate.IsFraction(x) {
			fractions++
		}
	}
	return fractions >= 3 && modelOf(&a.facts) != "." // which is no model
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
	if !slices.ContainsFunc(results, func(r *result) bool { return isDerived(r.reading.Format) }) {
		return
	}
	has := map[string][]*result{}
	for _, format := range []string{"", ttis.Statistics, ttis.ReportData} {
		for _, r := range results {
			own := r.reading.Format
			switch {
			case format == "" && isDerived(own), format != "" && own != format:
				continue
			case format != "":
				r.dropRows(has)
			}
			for i := range r.reading.Points {
				for _, row := range append(r.rowsOf(&r.reading.Points[i]), path.Base(r.rel)) {
					has[row] = append(has[row], r)
				}
			}
			for i := range r.reading.Scores {
				row := r.rowOf(&r.reading.Scores[i])
				has[row] = append(has[row], r)
			}
		}
	}
}

// rowsOf names a point as the row of a report would: by its workload without what a report does not state, and by the
// file that it says it is of.
func (r *result) rowsOf(p *schema.Point) []string {
	k := schema.Key{Tool: p.Key.Tool, ISL: p.Key.ISL, OSL: p.Key.OSL, Concurrency: p.Key.Concurrency}
	rows := []string{fmt.Sprintln(r.facts.Model.Name, schema.FoldDevice(r.facts.Device.Name), k.String())}
	if raw := p.Conditions[ttis.RawFile]; raw != "" {
		rows = append(rows, path.Base(raw))
	}
	return rows
}

// rowOf names a score so. A report's score under a metric that no result has is a number of its own.
func (r *result) rowOf(s *schema.Score) string {
	return fmt.Sprintln(r.facts.Model.Name, s.Task, s.Metric)
}

// dropRows drops the rows of one report that results of its tree have.
func (r *result) dropRows(has map[string][]*result) {
	tree := reportTree(r.shown()) + "/"
	isRead := func(row string, p *schema.Point, s *schema.Score) bool {
		i := slices.IndexFunc(has[row], func(o *result) bool {
			areNew := o.doc == nil && r.doc == nil
			wasStored := o.doc != nil || r.doc != nil || len(o.same) > 0
			return o.file != r.file && (areNew && strings.HasPrefix(o.shown(), tree) ||
				wasStored && !areStored(o, r) && agreesWith(o, p, s))
		})
		if i >= 0 {
			has[row][i].met()
			r.reading.PartOf = path.Dir(has[row][i].shown())
		}
		return i >= 0
	}
	r.reading.Points = slices.DeleteFunc(r.reading.Points, func(p schema.Point) bool {
		return slices.ContainsFunc(r.rowsOf(&p), func(row string) bool { return isRead(row, &p, nil) })
	})
	r.reading.Scores = slices.DeleteFunc(r.reading.Scores, func(s schema.Score) bool {
		for _, part := range schema.PartsOfMean(s.Metric) {
			s.Metric = part
		}
		return isRead(r.rowOf(&s), nil, &s)
	})
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
