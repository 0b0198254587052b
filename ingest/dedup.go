package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/table"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// mayBeOne reports that two files do not state different models, days, devices, releases or builds.
func mayBeOne(a, b *result) bool {
	return isOneDay(a.reading.Facts.Start, b.reading.Facts.Start) && isOneDay(a.facts.Start, b.facts.Start) &&
		mayBeOneSystem(a, b)
}

// mayBeOneAt is [mayBeOne] of points, whose own times count where both have one: a table has rows of a whole day.
func mayBeOneAt(x, y placed) bool {
	p, q := x.point().Start, y.point().Start
	if p.IsZero() || q.IsZero() {
		return mayBeOne(x.r, y.r)
	}
	return isOneDay(p, q) && mayBeOneSystem(x.r, y.r)
}

// isOneDay reports times that may be one, or of which one is unknown: they may be in two zones.
func isOneDay(a, b time.Time) bool { return a.IsZero() || b.IsZero() || a.Sub(b).Abs() < 15*time.Hour }

// mayBeOneSystem reports that two files do not state different models, devices, releases or builds. What
// tt-inference-server names apart is of two models or devices, which may well give some equal numbers.
func mayBeOneSystem(a, b *result) bool {
	first, _ := ttis.NameFacts(a.shown())
	second, _ := ttis.NameFacts(b.shown())
	if !mayBeEqual(first.ModelID, second.ModelID) || !mayAgree(&a.reading.Facts, &b.reading.Facts) {
		return false
	}
	if mayAgree(&a.facts, &b.facts) {
		return true
	}
	// What a person, or another file of its run, states of one of them is not what the other's file calls it.
	isOwn := func(r *result, field string) bool {
		o := *r.origin.of(field)
		return !isStated(r.kind(o)) && (r.doc != nil || o.Where == r.shown())
	}
	isOfBoth := func(field string) bool { return field != "model.id" || isOwn(a, field) == isOwn(b, field) }
	x, y := a.facts, b.facts
	manifest.Keep(&x, isOfBoth)
	manifest.Keep(&y, isOfBoth)
	return mayAgree(&x, &y)
}

func mayBeEqual(a, b string) bool { return a == "" || b == "" || strings.EqualFold(a, b) }

func mayAgree(a, b *schema.Facts) bool {
	for name, commit := range a.Stack.Commits { // which may be shortened
		other := b.Stack.Commits[name]
		if n := min(len(commit), len(other)); commit[:n] != other[:n] {
			return false
		}
	}
	x, y := strings.Split(a.Model.ID, "/"), strings.Split(b.Model.ID, "/")
	return mayBeEqual(x[len(x)-1], y[len(y)-1]) &&
		(mayBeEqual(a.Device.Name, b.Device.Name) || schema.IsDeviceWithin(a.Device.Name, b.Device.Name)) &&
		mayBeEqual(a.Release, b.Release) && mayBeEqual(a.Impl, b.Impl) && mayBeEqual(a.Stack.Engine, b.Stack.Engine) &&
		mayBeEqual(strings.TrimPrefix(a.Stack.Version, "v"), strings.TrimPrefix(b.Stack.Version, "v")) &&
		mayBeEqual(a.Stack.Image, b.Stack.Image)
}

// derived are the formats of reports and of the tables that they are made of, which have more statistics.
var derived = []string{ttis.Statistics, ttis.ReportData}

// isDerived reports the format of a report, or of the table that it is made of.
func isDerived(format string) bool { return slices.Contains(derived, format) }

// isPrinted reports the format of what a tool printed, or of a table that somebody made and mapped: of a measurement
// whose file is there, they are another form, which may be rounded.
func isPrinted(format string) bool {
	return slices.Contains([]string{
		console.Serving, console.TRTLLM, aiperf.Console, table.Printed.Name, lmeval.Table, table.Format,
	}, format)
}

// placed is a measurement of a result: one of its points or scores, by its index.
type placed struct {
	r       *result
	i       int
	isScore bool
}

// raw is the file that a row of a report, or what a script gathered of several files, says it is of; "" for none.
func (p placed) raw() string {
	if p.isScore {
		return p.score().Unknown.Text(ttis.RawFile)
	}
	return p.point().Conditions[ttis.RawFile]
}

func (p placed) point() *schema.Point { return &p.r.reading.Points[p.i] }
func (p placed) score() *schema.Score { return &p.r.reading.Scores[p.i] }

// isCut reports a load test of which a log has no number.
func (p placed) isCut() bool { return !p.isScore && duplicate.IsCut(p.point()) }

// places lists the points and the scores of a result.
func (r *result) places() (list []placed) {
	for i := range r.reading.Points {
		list = append(list, placed{r, i, false})
	}
	for i := range r.reading.Scores {
		list = append(list, placed{r, i, true})
	}
	return list
}

// arrange puts the points of a file into one order, whether they are read from it or from a document: copies are known
// by their places, too. What tells repeats apart is found anew with each reading.
func (r *result) arrange() {
	type named struct {
		name string
		schema.Point
	}
	list := make([]named, len(r.reading.Points))
	for i, p := range r.reading.Points {
		bare := p
		repeat.Bare(&bare)
		list[i] = named{bare.Key.String(), p}
	}
	slices.SortStableFunc(list, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.name, b.name), a.Start.Compare(b.Start))
	})
	r.reading.Points = make([]schema.Point, len(list))
	for i := range list {
		r.reading.Points[i] = list[i].Point
	}
}

// sameness is why two measurements are one.
type sameness int

const (
	notOne sameness = iota
	oneForm
	oneCopy
	oneRow
)

// loss is a measurement that a result gives up: who has it, and why it is the same.
type loss struct {
	to  *result
	why sameness
}

// dropCopies keeps one of all copies of each measurement, with what the others state:
//
//   - of its forms: vLLM's result and its .pytorch.json, a sweep's run=N.json and its summary.json, AIPerf's summary
//     and tt-inference-server's flat copy, a tool's file, the report it was converted to and what was printed of it, a
//     score in files for one task, for a group and for a whole suite;
//   - of files with the same content, in whatever envelope, or with the same numbers in another form: a reformatted
//     copy, a log and the archive it was converted from;
//   - of rows of reports, and of the tables that reports are made of, whose results were read.
func dropCopies(results []*result) {
	for _, r := range results {
		isOfFile := func(p placed) bool { return p.raw() != "" }
		r.isGathered = !isDerived(r.reading.Format) && slices.ContainsFunc(r.places(), isOfFile)
	}
	rank := func(r *result) int {
		if r.isGathered {
			return len(derived)
		}
		return slices.Index(derived, r.reading.Format)
	}
	order := slices.SortedStableFunc(slices.Values(results), func(a, b *result) int { return rank(a) - rank(b) })
	fullNames(order)
	var list []placed
	among := forms{folders: map[string]bool{}, scores: sync.OnceValue(func() map[string][]schema.Score {
		return scoresByFolder(results)
	})}
	having := map[string]int{} // how many have a content
	for _, r := range order {
		r.arrange()
		if hash, isEnough := duplicate.Content(&r.reading); isEnough {
			r.content = hash
		} else if r.origin.of("start").From == schema.FromFile { // few numbers, of workloads at one time to the second
			r.content = hash + r.facts.Start.String()
		}
		having[r.content]++
		having[r.file.Content]++
		list = append(list, r.places()...)
		among.rows = among.rows || rank(r) >= 0
		among.add(r)
	}
	marks := func(i int) (seek, found []duplicate.Mark) { return list[i].marks(among, having) }
	lost := map[placed]loss{}
	duplicate.Once(len(list), marks, func(a, b int) int {
		why := isOne(list[a], list[b])
		if why == notOne {
			return -1
		}
		keep, drop := list[a], list[b]
		if isBetter(keep, drop, why) {
			keep, drop = drop, keep
		}
		keep.takes(drop, why)
		lost[drop] = loss{keep.r, why}
		if drop == list[a] {
			return a
		}
		return b
	})
	loseCutLogs(list, lost)
	settleCopies(results, lost)
}

// takes gives a measurement what its copy states and it does not.
func (p placed) takes(drop placed, why sameness) {
	r, from := p.r, drop.r
	if from.doc != nil {
		r.same = append(r.same, from)
	}
	if r.doc != nil {
		r.doc.isMet = true
	}
	if why == oneRow || drop.isCut() {
		return
	}
	isPoint := why == oneForm && !p.isScore
	if isPoint {
		r.learn(p.point(), from, drop.point())
	}
	if !ofTwoReleases(r, from) && mayBeOneSystem(r, from) {
		r.takeFacts(from, isPoint && (r.doc == nil) != (from.doc == nil)) // what was read of both learned the time
	}
}

// takeFacts takes the facts that only a copy knows, as by a manifest beside it. A stored result may become one of
// another run by that.
func (r *result) takeFacts(from *result, withTime bool) {
	facts := from.facts
	if facts.RunID = ""; modelOf(&r.facts) != "." && modelOf(&r.facts) != modelOf(&facts) {
		facts.Model = schema.Model{}
	}
	if !withTime {
		facts.Start, facts.End = time.Time{}, time.Time{}
	}
	taken, _ := manifest.Take(&r.facts, &facts, nil)
	for _, field := range taken {
		*r.origin.of(field) = *from.origin.of(field)
	}
	r.isCorrected = r.isCorrected || r.doc != nil && len(taken) > 0
}

// loseCutLogs drops the copies, in a clone of a folder, of logs that gave way to the file beside them: in the clone,
// that file is a copy itself.
func loseCutLogs(list []placed, lost map[placed]loss) {
	type log struct {
		content string
		i       int
	}
	to := map[log]loss{}
	for _, p := range list {
		if of, isLost := lost[p]; isLost && p.isCut() {
			to[log{p.r.file.Content, p.i}] = of
		}
	}
	for _, p := range list {
		if of, has := to[log{p.r.file.Content, p.i}]; has && p.isCut() {
			lost[p] = of
		}
	}
}

// forms says which kinds of copies there are: numbers that a tool printed, tables that somebody made, rows of reports;
// and the folders with printed scores of no stated model, which may be of what lies below.
type forms struct {
	printed, tables, rows bool
	folders               map[string]bool
	scores                func() map[string][]schema.Score // see [scoresByFolder]
}

// add notes what a result has that was printed.
func (f *forms) add(r *result) {
	isOne := isPrinted(r.reading.Format)
	f.printed, f.tables = f.printed || isOne, f.tables || r.reading.Format == table.Format
	if isOne && len(r.reading.Scores) > 0 && modelOf(&r.facts) == "." {
		f.folders[path.Dir(r.shown())] = true
		r.printed = &printedScores{all: f.scores, of: map[string]bool{}}
	}
}

// ofScore are the marks of a score: its name with its value, which tables have rounded, or with the folder of a table
// that states no model.
func (f *forms) ofScore(p placed) (out []string) {
	s := p.score()
	if x, ok := s.Value.Get(); ok {
		for _, x := range []float64{math.Floor(x * 5e3), math.Ceil(x * 5e3)} {
			out = append(out, fmt.Sprintln(modelOf(&p.r.facts), keyOf(s), x))
		}
	}
	for dir := path.Dir(p.r.shown()); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if f.folders[dir] {
			out = append(out, fmt.Sprintln(keyOf(s), "in "+dir))
		}
	}
	return out
}

// marks are those under which copies of a measurement are looked for and found. Comparing each with each would take
// minutes where thousands print one number; evals at other times give the same scores.
func (p placed) marks(among forms, having map[string]int) (seek, found []duplicate.Mark) {
	add := func(last int, texts ...string) {
		for _, text := range texts {
			found = append(found, duplicate.Mark{Text: text, Last: last})
		}
	}
	if p.isScore {
		add(100, among.ofScore(p)...)
	} else {
		add(20, duplicate.Marks(p.point(), among.printed, among.tables)...)
	}
	for _, content := range []string{p.r.content, p.r.file.Content} {
		if content != "" && having[content] > 1 {
			add(20, fmt.Sprint(content, p.i, p.isScore))
		}
	}
	if seek = found; among.rows {
		add(math.MaxInt, p.rows()...)
		if isDerived(p.r.reading.Format) || p.r.isGathered {
			seek = found
		}
		add(math.MaxInt, path.Base(p.r.rel))
	}
	if among.printed && !p.isScore { // files and cut logs of one folder, whichever comes first
		const most = 1000
		in := p.point().Key.Tool + " in " + path.Dir(p.r.shown())
		file, cut := duplicate.Mark{Text: "file of " + in, Last: most}, duplicate.Mark{Text: "log of " + in, Last: most}
		if duplicate.IsCut(p.point()) {
			seek, found = append(slices.Clip(seek), file), append(slices.Clip(found), cut)
		} else if !isPrinted(p.r.reading.Format) {
			seek, found = append(slices.Clip(seek), cut), append(slices.Clip(found), file)
		}
	}
	return seek, found
}

// isOne says why two measurements with a mark in common are one. History has settled what its documents have in common,
// and its reader what a file has.
func isOne(a, b placed) sameness {
	switch {
	case a.r.doc != nil && b.r.doc != nil || a.r.file == b.r.file || a.isScore != b.isScore:
	case a.isScore && sameValue(a.score(), b.score()) && sameEval(a.r, b.r), !a.isScore && isOneForm(a, b):
		return oneForm
	case a.i == b.i && isCopy(a, b):
		return oneCopy
	case isDerived(b.r.reading.Format) && isRowOf(b, a), b.r.isGathered && isGatheredFrom(a, b):
		return oneRow
	}
	return notOne
}

// isCopy reports that two measurements stand at one place of files with the same content.
func isCopy(a, b placed) bool {
	x, y := a.r.measuredAt(), b.r.measuredAt()
	areTimed := !x.IsZero() && !y.IsZero()
	switch {
	case measuredApart(a.r, b.r):
		return false
	case a.r.file.Content == b.r.file.Content: // 16 questions have one answer in two releases
		return !a.isScore || a.r.content != "" || !ofTwoReleases(a.r, b.r)
	case a.r.content != b.r.content || a.r.content == "" || areTimed && !areOneSecond(x, y) || !mayBeOne(a.r, b.r):
		return false
	case a.isScore: // two that guess have a score in common, but not at one time
		m, n := modelOf(&a.r.facts), modelOf(&b.r.facts)
		return m == n || areTimed && (m == "." || n == ".")
	}
	return duplicate.SameWorkload(a.point(), b.point())
}

// isBetter reports that the second of two that are one stays. Of equal ones in a folder the first by name does, which
// is read first when all are.
func isBetter(a, b placed, why sameness) bool {
	first, second := isPrinted(a.r.reading.Format), isPrinted(b.r.reading.Format)
	less := 0 // of the first
	switch {
	case why == oneRow:
		return false
	case why == oneCopy && !ofTwoReleases(a.r, b.r): // MLPerf's console says what its summary does, and not of what
		return a.r.facts.Device.Name == "" && b.r.facts.Device.Name != ""
	case why == oneCopy: // the earlier release by name measured it
		return schema.NaturalCompare(b.r.facts.Release, a.r.facts.Release) < 0
	case first != second:
		return first
	case isLogOf(a.r, b.r), isLogOf(b.r, a.r):
		return isLogOf(a.r, b.r)
	case a.isScore:
		less = known(b.score()) - known(a.score())
	case first: // both were printed, with more and with fewer decimals
		less = cmp.Or(duplicate.Richness(b.point())-duplicate.Richness(a.point()),
			duplicate.Digits(b.point())-duplicate.Digits(a.point()))
	default:
		less = duplicate.Richness(b.point()) - duplicate.Richness(a.point())
	}
	return less > 0 || less == 0 && path.Dir(a.r.shown()) == path.Dir(b.r.shown()) && b.r.shown() < a.r.shown()
}

// settleCopies takes the measurements out of the results that give them up. Where all that a release has of a model and
// device are copies of another release's files, they stay with an error: the release would else be gone, and the one
// before pass for it.
func settleCopies(results []*result, lost map[placed]loss) {
	type inRelease struct{ release, model, device string }
	in := func(r *result) inRelease {
		return inRelease{r.facts.Release, modelOf(&r.facts), schema.FoldDevice(r.facts.Device.Name)}
	}
	copyOf := map[*result]*result{} // whole files
	own := map[inRelease]bool{}
	for _, r := range results {
		places := r.places()
		isKept := func(p placed) bool { return lost[p].to == nil }
		isCopy := func(p placed) bool { return lost[p].why == oneCopy }
		if at := slices.IndexFunc(places, isCopy); at >= 0 && !slices.ContainsFunc(places, isKept) {
			copyOf[r] = lost[places[at]].to
		}
		own[in(r)] = own[in(r)] || r.counts() && copyOf[r] == nil
	}
	for _, r := range results {
		r.dateRest(lost)
	}
	for _, r := range results {
		at, of := in(r), copyOf[r]
		switch {
		case of == nil:
			r.giveUp(lost)
		case !ofTwoReleases(of, r) || own[at] || at.model == "" || at.device == "":
			r.dropCopyOf(of)
		default:
			r.report(schema.Problem{
				Severity: schema.SevError, Path: r.shown(), Code: schema.CodeCopy,
				Found:    "the same content as " + of.shown() + " of " + of.facts.Release,
				Expected: "one release for one measurement", Used: "no number of it: the release is not measured",
				Hint: "put the results of " + r.facts.Release + " in its place; ttreport history drop --release " +
					r.facts.Release + " --write forgets it",
			})
		}
	}
}

// dateRest dates what else a log has, beside benchmarks whose files are of one night.
func (r *result) dateRest(lost map[placed]loss) {
	if r.doc != nil || !isPrinted(r.reading.Format) || !r.facts.Start.IsZero() {
		return
	}
	var first, last time.Time
	var of *result
	for i := range r.reading.Points {
		l := lost[placed{r, i, false}]
		if l.why != oneForm || l.to.facts.Start.IsZero() {
			continue
		}
		at := l.to.facts.Start
		if of == nil || at.Before(first) || at.Equal(first) && l.to.shown() < of.shown() {
			first, of = at, l.to
		}
		last = later(last, at)
	}
	if of == nil || last.Sub(first) > longestPause {
		return
	}
	r.facts.Start, r.facts.StartNote = first, of.facts.StartNote
	*r.origin.of("start") = schema.Origin{From: schema.FromDerived, Where: of.shown()}
}

// giveUp takes measurements out of a result that others have, and says how many of which file; of rows of reports
// nobody needs to know.
func (r *result) giveUp(lost map[placed]loss) {
	if len(lost) == 0 {
		return
	}
	n, files := map[told]int{}, map[string]bool{}
	var points []schema.Point
	var scores []schema.Score
	for _, p := range r.places() {
		l, isLost := lost[p]
		switch {
		case !isLost && p.isScore:
			scores = append(scores, *p.score())
		case !isLost:
			points = append(points, *p.point())
		default:
			if files[l.to.shown()] = true; l.why != oneRow {
				n[told{l.to.shown(), p.isScore, p.isCut()}]++
			}
		}
	}
	if len(files) == 0 {
		return
	}
	list := slices.Sorted(maps.Keys(files))
	for _, of := range list {
		r.copies += n[told{of, false, false}] + n[told{of, false, true}]
	}
	if all := len(r.reading.Points); all > 0 && all == r.copies { // who keeps its points reports their problems
		r.reading.Problems = slices.DeleteFunc(r.reading.Problems, func(p schema.Problem) bool {
			return p.Severity != schema.SevError
		})
	}
	r.reading.Points, r.reading.Scores = points, scores
	if r.reading.PartOf = list[0]; len(n) == 0 {
		r.reading.PartOf = path.Dir(list[0])
	}
	for _, of := range list {
		for _, kind := range []told{{of, false, true}, {of, false, false}, {of, true, false}} {
			if n := n[kind]; n > 0 {
				r.report(kind.note(n, r.shown()))
			}
		}
	}
}

// told is what is said at once of the measurements that a result gives up to a file.
type told struct {
	of             string
	isScore, isCut bool
}

func (t told) note(n int, path string) schema.Problem {
	p := schema.Problem{
		Severity: schema.SevNote, Path: path, Code: "duplicate", Used: "each measurement once",
		Found: plaintext.Plural(n, "point") + " that " + t.of + " has, equal in every statistic that both state",
		Hint:  "if they are two measurements, state what was different in a manifest or with --pattern",
	}
	switch {
	case t.isScore:
		p.Found, p.Used, p.Hint = plaintext.Plural(n, "score")+" that "+t.of+" has", "each once", ""
	case t.isCut:
		p.Found = plaintext.Plural(n, "load test") + " that ended without a number, of a load of which " + t.of +
			" has the result"
		p.Used, p.Hint = "the result", "if they are two loads, state what was different in a manifest or with --pattern"
	}
	return p
}

// isOneForm reports that points of two files are one measurement.
func isOneForm(x, y placed) bool {
	isOther := duplicate.Printed
	switch {
	case !isPrinted(x.r.reading.Format):
	case isPrinted(y.r.reading.Format):
		isOther = duplicate.Rounded
	default:
		x, y = y, x
	}
	a, b, p, q := x.r, y.r, x.point(), y.point()
	switch {
	case a.file.Content == b.file.Content: // a copy, or two measurements that a sidecar tells apart
		return false
	case isPrinted(b.reading.Format) && isOther(p, q):
		return mayBeOneAt(x, y)
	case isDerived(a.reading.Format) || isDerived(b.reading.Format): // rounded, and identified by their rows
		return false
	case a.reading.Format == b.reading.Format && ofTwoTimes(x, y):
		return false
	}
	return duplicate.Agree(p, q, agreement(x, y)) && mayBeOneAt(x, y) &&
		duplicate.SameWhereStated(repeat.Settings(p), repeat.Settings(q))
}

// agreement is how much two points have to agree in to be one measurement. Two runs of one load agree in two or three
// digits of a number; twelve digits are more than chance, and for x.json and x.pytorch.json, which belong together,
// six; for rows that began in one second, four. Of a table and a file below it two numbers do. MLPerf prints one rate
// of a scenario without limits: six are enough for a log and a file below it.
func agreement(a, b placed) duplicate.Agreement {
	isOneName := path.Dir(a.r.shown()) == path.Dir(b.r.shown()) &&
		strings.TrimSuffix(a.r.stem(), ".pytorch") == strings.TrimSuffix(b.r.stem(), ".pytorch")
	p, q := a.point().Start, b.point().Start
	switch {
	case !p.IsZero() && p.Equal(q):
		return duplicate.Agreement{Statistics: 1, Digits: 4}
	case isOneName, isLogOf(a.r, b.r), isLogOf(b.r, a.r):
		return duplicate.Agreement{Statistics: 1, Digits: 6}
	}
	isTable := func(x, y placed) bool { return x.r.reading.Format == table.Format && isBeside(x.r, y.r) }
	if isTable(a, b) || isTable(b, a) {
		return duplicate.Agreement{Statistics: 2, Digits: 10}
	}
	return duplicate.Agreement{Statistics: 3, Digits: 12}
}

// isLogOf reports a log of MLPerf's load generator that is in the folder of a file of its summary, or above it.
func isLogOf(log, file *result) bool {
	const name = "mlperf_log_summary.txt"
	return log.reading.Format == format.MLPerf.Name && file.reading.Format == format.MLPerf.Name &&
		path.Base(log.rel) != name && path.Base(file.rel) == name && isBeside(log, file)
}

// ofTwoTimes reports two points of one tool whose files state two times, of each of them or of all: in a copy it is the
// same, but for the zone.
func ofTwoTimes(a, b placed) bool {
	const zone = 15 * time.Minute // which zones differ by
	x, y := a.point().Start, b.point().Start
	if x.IsZero() || y.IsZero() {
		x, y = a.r.facts.Start, b.r.facts.Start
	}
	apart := x.Sub(y).Abs() % zone
	return a.r.origin.of("start").From == schema.FromFile && b.r.origin.of("start").From == schema.FromFile &&
		min(apart, zone-apart) > time.Second
}

// FromCopy begins what a copy of a measurement states of it, before the name of the file.
const FromCopy = "copy in "

// learn takes from another form of a measurement what only that file states: identity, and parts of the workload. What
// was printed has the lengths, without which a workload has the name of its file.
func (r *result) learn(p *schema.Point, from *result, q *schema.Point) {
	facts := from.reading.Facts
	if r.doc == nil && !facts.Start.IsZero() && r.origin.of("start").From == schema.FromPath {
		r.facts.Start, r.facts.StartNote = time.Time{}, ""
	}
	if r.facts.Model.ID != "" { // which may be that of its run
		facts.Model.ID = ""
	}
	if r.doc == nil {
		r.take(statement{from: schema.FromFile, where: r.shown(), facts: &facts, isQuiet: true})
		r.completeModel()
	}
	if r.stateWorkload(p, copied(from, q)) == 0 || r.doc == nil {
		return
	}
	r.doc.isChanged = true
	unlabel(p)
	told := len(r.reading.Problems)
	r.checkAnswerLength(p)
	r.doc.run.Problems = append(r.doc.run.Problems, r.reading.Problems[told:]...)
}

// copied is what a copy states of a workload.
func copied(from *result, q *schema.Point) statement {
	return statement{
		from: schema.From(FromCopy + path.Base(from.rel)), isQuiet: true, conditions: q.Conditions,
		workload: manifest.Workload{
			ISL: q.Key.ISL, OSL: q.Key.OSL, Concurrency: q.Key.Concurrency, Rate: q.Key.Rate, Dataset: q.Key.Dataset,
		},
	}
}

// unlabel takes the name of its file from a workload whose lengths are known now.
func unlabel(p *schema.Point) {
	if dims := maps.Clone(p.Key.Dims); p.Stated[schema.DimLabel] == string(schema.FromPath) {
		delete(dims, schema.DimLabel)
		if unlabelled := (schema.Key{ISL: p.Key.ISL, OSL: p.Key.OSL, Dims: dims}); unlabelled.Comparable() {
			p.Key.Dims, p.Stated = dims, maps.Clone(p.Stated)
			delete(p.Stated, schema.DimLabel)
		}
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
	if !isOneSystem(&first.facts, &r.facts) {
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

// keyOf names a score; lm-eval calls no filter "none", and tables have none.
func keyOf(s *schema.Score) scoreKey {
	return scoreKey{s.Task, s.Metric, strings.TrimPrefix(s.Filter, "none")}
}

// sameValue reports that two scores are one number. What was printed may be per cent, and has as many decimals as it
// shows, four at most; of zeros at its end nothing is known, so that two are the least.
func sameValue(a, b *schema.Score) bool {
	x, ok := a.Value.Get()
	y, ok2 := b.Value.Get()
	const apart = .502e-2 // more than any printed number is off, which is cheap to say of each of thousands
	if math.Abs(x-y) > apart && math.Abs(x/100-y) > apart && math.Abs(y/100-x) > apart {
		return false
	}
	if isPrinted(b.Source.Format) {
		a, x, y = b, y, x
	}
	if !ok || !ok2 || x == y || !isPrinted(a.Source.Format) {
		return ok && ok2 && duplicate.Number(x) == duplicate.Number(y)
	}
	_, decimals, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	within := func(apart float64, decimals int) bool {
		return math.Abs(apart) < .501*math.Pow10(-min(4, max(2, decimals)))
	}
	return within(x-y, len(decimals)) || within(x/100-y, len(decimals)+2)
}

// sameEval reports that two files hold the same eval: all scores that both have agree. Two of one time do then; a
// script may begin several in one second. Where one states none, three of them must be fractions: an eval of a small
// task gives the same score again by chance, and a greedy one of the same model does so always, but then states its
// time. A table that was printed or made beside the file of its scores, or in a folder above, is of them.
func sameEval(a, b *result) bool {
	is, known := a.sameEval[b]
	if !known {
		if is = haveOneEval(a, b); a.sameEval == nil {
			a.sameEval = map[*result]bool{}
		}
		a.sameEval[b] = is
	}
	return is
}

// measuredAt is when a result was measured, by its file if that says so: a person may move several to one day.
func (r *result) measuredAt() time.Time {
	if at := r.reading.Facts.Start; !at.IsZero() {
		return at
	}
	return r.facts.Start
}

func haveOneEval(a, b *result) bool {
	if isPrinted(b.reading.Format) {
		a, b = b, a
	}
	if isPrinted(a.reading.Format) && !isPrinted(b.reading.Format) {
		return isTableOf(b, a)
	}
	x, y := a.measuredAt(), b.measuredAt()
	isApart := !x.IsZero() && !y.IsZero() && !areOneSecond(x, y)
	if isApart || !isOneSystem(&a.facts, &b.facts) {
		return false
	}
	fractions, _, agree := equalScores(a.reading.Scores, b.reading.Scores)
	isKnown := fractions >= enoughScores && modelOf(&a.facts) != "." // which is no model
	return agree && (isKnown || a.hasOwnTime() && b.hasOwnTime())
}

// isTableOf reports that a table has the scores of a file: one beside it, or in a folder above, or of the same system.
func isTableOf(file, table *result) bool {
	fractions, _, agree := equalScores(table.reading.Scores, file.reading.Scores)
	hasModel := modelOf(&table.facts) != "."
	if isBeside(table, file) && mayBeOneSystem(table, file) {
		return agree && (hasModel || table.printed.isOf(table, path.Dir(file.shown())))
	}
	return agree && hasModel && fractions >= enoughScores && isOneSystem(&table.facts, &file.facts)
}

// hasOwnTime reports that the file of a result says when it was measured, or its name does. A day alone, the time of a
// folder and what a person states of one are of several evals.
func (r *result) hasOwnTime() bool {
	switch r.origin.of("start").From {
	case schema.FromFile, schema.FromSidecar:
		return r.facts.StartNote != dayAlone
	case schema.FromPath:
		_, text, note, _ := dateIn(path.Base(r.shown()))
		return text != "" && note != dayAlone
	}
	return !r.reading.Facts.Start.IsZero()
}

// equalScores counts the scores that two results have alike, and which of them are equal fractions to four decimals:
// two models often have the same two. agree is false where two scores differ.
func equalScores(a, b []schema.Score) (fractions, equal int, agree bool) {
	have := map[scoreKey][]*schema.Score{} // a task may be in two suites
	for i := range a {
		have[keyOf(&a[i])] = append(have[keyOf(&a[i])], &a[i])
	}
	for i := range b {
		s := &b[i]
		others := have[keyOf(s)]
		at := slices.IndexFunc(others, func(o *schema.Score) bool { return sameValue(o, s) })
		if at < 0 && len(others) > 0 {
			return 0, 0, false
		}
		if at < 0 {
			continue
		}
		equal++
		x, _ := s.Value.Get()
		if y, _ := others[at].Value.Get(); duplicate.IsFraction(x) && math.Abs(x-y) < 5.01e-5 {
			fractions++
		}
	}
	return fractions, equal, true
}

// enoughScores is how many equal scores make two evals one where no time does.
const enoughScores = 3

// scoresByFolder are the scores that were not printed, by the folder of their file.
func scoresByFolder(results []*result) map[string][]schema.Score {
	out := map[string][]schema.Score{}
	for _, r := range results {
		if dir := path.Dir(r.shown()); !isPrinted(r.reading.Format) {
			out[dir] = append(out[dir], r.reading.Scores...)
		}
	}
	return out
}

// printedScores are what is known of a table of scores that states no model.
type printedScores struct {
	all func() map[string][]schema.Score
	of  map[string]bool // whether its scores are those of a folder, where that was asked
}

// isOf reports that the files of a folder have what the table has: a file alone may have too few scores to tell.
func (p *printedScores) isOf(table *result, dir string) bool {
	is, known := p.of[dir]
	if !known {
		_, equal, agree := equalScores(table.reading.Scores, p.all()[dir])
		is = agree && equal >= enoughScores
		p.of[dir] = is
	}
	return is
}

// known counts what a score states beside its value.
func known(s *schema.Score) (n int) {
	_, hasError := s.Stderr.Get()
	for _, x := range []bool{hasError, s.N > 0, s.Outcomes != nil} {
		if x {
			n++
		}
	}
	return n
}

// isRowOf reports that a row of a report is of a result: of one of its tree, or of another one with its number. Scores
// are per cent with two decimals there, which a model often gets again. Two reports are of two nights.
func isRowOf(row, of placed) bool {
	isReport := row.r.reading.Format == of.r.reading.Format
	if !isReport && strings.HasPrefix(of.r.shown(), reportTree(row.r.shown())+"/") {
		return true
	}
	if row.isScore {
		x, ok := row.score().Value.Get()
		y, has := of.score().Value.Get()
		return ok && has && math.Abs(x-y) <= 6e-5 && mayBeOne(row.r, of.r)
	}
	raw := row.raw()
	return raw != "" && raw == path.Base(of.point().Source.Path) || duplicate.Printed(of.point(), row.point())
}

// isGatheredFrom reports that what a script gathered is a measurement of the file that it says it is of.
func isGatheredFrom(of, gathered placed) bool {
	if raw := gathered.raw(); raw == "" || raw != path.Join(path.Base(path.Dir(of.r.shown())), path.Base(of.r.rel)) {
		return false
	}
	if !gathered.isScore {
		return duplicate.Printed(of.point(), gathered.point())
	}
	a, b := of.score(), gathered.score()
	return a.Task == b.Task && a.Metric == b.Metric && a.Filter == b.Filter && sameValue(a, b)
}

// fullNames gives scores that were printed beside their file, or in a folder above it, the names that their tasks have
// there: the harness prints aliases, as " - abstract_algebra" of mmlu_abstract_algebra_generative.
func fullNames(results []*result) {
	files := schema.Alike(results, func(r *result) string { return modelOf(&r.facts) })
	for _, list := range files {
		for _, table := range list {
			if table.reading.Format != lmeval.Table {
				continue
			}
			for _, file := range list {
				if file.reading.Format != lmeval.Table && isBeside(table, file) {
					table.takeNames(file)
				}
			}
		}
	}
}

// isBeside reports that a file lies in the folder of a table or below it.
func isBeside(table, file *result) bool { return file.isBelow(path.Dir(table.shown())) }

// takeNames takes the names of tasks from the file of a printed table, where the two agree.
func (r *result) takeNames(file *result) {
	type printed struct{ metric, filter string }
	of := map[printed][]*schema.Score{}
	for i := range file.reading.Scores {
		s := &file.reading.Scores[i]
		at := printed{s.Metric, s.Filter}
		of[at] = append(of[at], s)
	}
	words := func(task string) string {
		return "_" + strings.Join(strings.FieldsFunc(strings.ToLower(task), func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsDigit(c)
		}), "_") + "_"
	}
	for i := range r.reading.Scores {
		s, name := &r.reading.Scores[i], ""
		for _, t := range of[printed{s.Metric, s.Filter}] {
			if t.Task == s.Task {
				name = ""
				break
			}
			isAlias := strings.Contains(words(t.Task), words(s.Task)) && sameValue(s, t)
			if isAlias && (name == "" || len(t.Task) < len(name)) {
				name = t.Task
			}
		}
		s.Task = cmp.Or(name, s.Task)
	}
}

// rows names a measurement as the row of a report would: a point by its workload without what a report does not state,
// and by the file that it says it is of; a score by its task. A report's score under a metric that no result has is a
// number of its own.
func (p placed) rows() []string {
	model, row := p.r.facts.Model.Name, ""
	if p.isScore {
		metric := p.score().Metric
		for _, part := range schema.PartsOfMean(metric) {
			metric = part
		}
		row = fmt.Sprintln(model, p.score().Task, metric)
	} else {
		k := p.point().Key
		k = schema.Key{Tool: k.Tool, ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency}
		row = fmt.Sprintln(model, schema.FoldDevice(p.r.facts.Device.Name), k.String())
	}
	if raw := p.raw(); raw != "" {
		return []string{row, path.Base(raw)}
	}
	return []string{row}
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
