package lint

import (
	"iter"
	"math"
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Lint is something that makes numbers of a release untrustworthy, whatever their values.
type Lint struct {
	ID       ID
	Severity schema.Severity // error (fails a gate that fails on invalid), warning or note
	Release  string
	Run      string
	Model    string
	Device   string
	Subject  string // the workload, task, image … that it is about
	Count    int    // number of cases
	Detail   Detail
	Decision *schema.Decision
}

// New returns a lint of one case, with the severity of its check.
func New(release, subject string, d Detail) Lint {
	id, severity := d.ID(), schema.SevNote
	for _, c := range Checks() {
		if c.ID == id {
			severity = c.Severity
		}
	}
	return Lint{ID: id, Severity: severity, Release: release, Subject: subject, Count: 1, Detail: d}
}

// Pair is the model and device that a lint is about; empty for one of a release as a whole.
func (l *Lint) Pair() schema.Pair { return schema.Pair{Model: l.Model, Device: l.Device} }

// Of returns the lint as one about a run.
func (l Lint) Of(h *columns.RunHead) Lint {
	l.Run, l.Model, l.Device = h.ID, h.Model.Name, h.Device
	return l
}

// Check is one kind of fault.
type Check struct {
	ID       ID
	Severity schema.Severity
	inspect  func(*inspection)
}

// Checks lists all of them, the most serious first of those about numbers, then of those about runs. What package gate
// finds has no function.
func Checks() []Check {
	return []Check{
		{IDEmptyResponses, schema.SevError, problems(emptyResponses)},
		{IDImpossibleScore, schema.SevError, scores(impossibleScore)},
		{IDImpossibleError, schema.SevError, impossibleError},
		{IDOtherUnit, schema.SevError, otherUnit},
		{IDMoreFailures, schema.SevError, moreFailures},
		{IDZeroScore, schema.SevWarning, scores(zeroScore)},
		{IDFewItems, schema.SevWarning, scores(fewItems)},
		{IDSubsampled, schema.SevNote, scores(subsampled)},
		{IDZeroStderr, schema.SevNote, scores(zeroStderr)},
		{IDFailedShare, schema.SevWarning, points(failedShare)},
		{IDSaturated, schema.SevWarning, points(saturated)},
		{IDShortAnswers, schema.SevWarning, points(shortAnswers)},
		{IDOtherLengths, schema.SevWarning, points(otherLengths)},
		{IDColdStart, schema.SevWarning, points(coldStart)},
		{IDSecondTokenStall, schema.SevWarning, points(secondTokenStall)},
		{IDPrefixCache, schema.SevWarning, prefixCache},
		{IDFewRequests, schema.SevNote, points(fewRequests)},
		{IDFewForTail, schema.SevNote, points(fewForTail)},
		{IDUnsettled, schema.SevWarning, points(unsettled)},
		{IDOpenSearch, schema.SevWarning, points(openSearch)},
		{IDOverload, schema.SevWarning, points(overload)},
		{IDImprecise, schema.SevNote, points(imprecise)},
		{IDNoCommits, schema.SevWarning, runs(noCommits)},
		{IDLatestImage, schema.SevWarning, runs(latestImage)},
		{IDDirtyBuild, schema.SevWarning, runs(dirtyBuild)},
		{IDMixedTools, schema.SevWarning, mixedTools},
		{IDNothingGraded, schema.SevWarning, nil},
		{IDStaleTargets, schema.SevWarning, runs(staleTargets)},
		{IDNoStart, schema.SevWarning, runs(noStart)},
		{IDChannel, schema.SevError, nil},
		{IDReleaseOrder, schema.SevError, nil},
		{IDReleaseList, schema.SevWarning, nil},
		{IDBadTimestamps, schema.SevWarning, runs(badTimestamps)},
		{IDDuplicateRun, schema.SevWarning, problems(copies)},
		{IDNoPair, schema.SevWarning, nil},
		{IDUnread, schema.SevWarning, problems(unread)},
		{IDLostDocument, schema.SevError, nil},
		{IDReportRejects, schema.SevError, nil},
		{IDDrift, schema.SevWarning, nil},
		{IDNotPositive, schema.SevError, nil},
		{IDUnusedDecision, schema.SevWarning, nil},
	}
}

// IDs lists the ids of all checks.
func IDs() []ID {
	var out []ID
	for _, c := range Checks() {
		out = append(out, c.ID)
	}
	return out
}

// inspection is the check of one release.
type inspection struct {
	c       *columns.Columns
	runs    []int           // of the release
	earlier iter.Seq[[]int] // those of the releases before it, the newest first
	check   Check
	found   map[place]*Lint
	order   []place
	weight  map[place]float64
}

// place identifies the cases that become one lint: a check and a run.
type place struct {
	id  ID
	run string
}

// Release checks the runs of a release; earlier are the runs of each release that it may be compared with, the newest
// first.
func Release(c *columns.Columns, release string, runs []int, earlier iter.Seq[[]int]) []Lint {
	l := &inspection{c: c, runs: runs, earlier: earlier, found: map[place]*Lint{}, weight: map[place]float64{}}
	for _, check := range Checks() {
		if check.inspect != nil {
			l.check = check
			check.inspect(l)
		}
	}
	out := make([]Lint, 0, len(l.order))
	for _, id := range l.order {
		x := *l.found[id]
		x.Release = release
		out = append(out, x)
	}
	rank := map[schema.Severity]int{schema.SevError: 0, schema.SevWarning: 1, schema.SevNote: 2}
	sort.SliceStable(out, func(i, j int) bool { return rank[out[i].Severity] < rank[out[j].Severity] })
	return out
}

// add notes one case; cases of one run are one lint, with the numbers of the worst, by weight.
func (l *inspection) add(run int, subject string, weight float64, d Detail) {
	h := &l.c.Runs[run]
	at := place{l.check.ID, h.ID}
	x := l.found[at]
	if x == nil {
		x = &Lint{ID: l.check.ID, Severity: l.check.Severity, Run: h.ID, Model: h.Model.Name, Device: h.Device}
		l.found[at] = x
		l.order = append(l.order, at)
	}
	x.Count++
	if x.Count == 1 || weight > l.weight[at] {
		l.weight[at] = weight
		x.Subject, x.Detail = subject, d
	}
}

// before are the runs of the release that it is compared with.
func (l *inspection) before() []int {
	for runs := range l.earlier {
		return runs
	}
	return nil
}

// point is a workload that a run measured, with numbers.
type point struct {
	*inspection
	schema.Key
	run int
	row *columns.PointRow
}

// points makes a check of one that looks at each point by itself.
func points(check func(point)) func(*inspection) {
	return func(l *inspection) {
		for p := range l.points(l.runs) {
			check(p)
		}
	}
}

// points yields every point of some runs that has numbers.
func (l *inspection) points(runs []int) iter.Seq[point] {
	return func(yield func(point) bool) {
		for _, run := range runs {
			h := &l.c.Runs[run]
			for i := h.FirstPoint; i < h.PointsEnd; i++ {
				row := &l.c.Points[i]
				w := row.StatusWord()
				if w != schema.StatusFailed && w != schema.StatusInvalid && !yield(point{l, l.c.Keys[row.Key], run, row}) {
					return
				}
			}
		}
	}
}

func (p point) add(weight float64, d Detail) { p.inspection.add(p.run, p.Workload(), weight, d) }

// get returns a statistic of a point; ok is false without one.
func (p point) get(metric, stat string) (float64, bool) {
	n, _ := p.c.Value(p.row, metric, stat)
	return n.Get()
}

// client returns what the load client states of a point.
func (p point) client(stat string) (float64, bool) { return p.get(columns.ClientMetric, stat) }

// requests returns the number of requests behind a point's latencies.
func (p point) requests() (float64, bool) {
	if n, ok := p.get("ttft", "n"); ok && n > 0 {
		return n, true
	}
	return p.get("requests_ok", "value")
}

// measured is the workload and the system that a point is of.
func (p point) measured() measured {
	h := &p.c.Runs[p.run]
	return measured{h.System(), p.row.Key}
}

// untilMetrics are those whose means a measurement with --until makes exact.
var untilMetrics = [...]string{"ttft", "tpot", "e2el"}

// unsettled finds measurements with --until that did not become steady. What drifts most is named.
func unsettled(p point) {
	if steady, ok := p.client(schema.ClientSteady); !ok || steady != 0 {
		return
	}
	var worst Unsettled
	for _, m := range untilMetrics {
		if d, ok := p.client(schema.ClientDrift + m); ok && math.Abs(d) > math.Abs(worst.Drift) {
			worst = Unsettled{m, d}
		}
	}
	p.add(math.Abs(worst.Drift), worst)
}

// imprecise finds means that --until did not make as exact as asked before its time was over.
func imprecise(p point) {
	asked, ok := p.client(schema.ClientCIAsked)
	if !ok {
		return
	}
	worst := Imprecise{Asked: asked}
	for _, m := range untilMetrics {
		if reached, ok := p.client(schema.ClientCI + m); ok && reached > worst.Reached {
			worst.Metric, worst.Reached = m, reached
		}
	}
	if worst.Reached > asked {
		p.add(worst.Reached/asked, worst)
	}
}

// openSearch finds searches for the largest load that ended while measurements of the answer contradicted each other.
func openSearch(p point) {
	if settled, ok := p.client(schema.ClientSettled); !ok || settled != 0 {
		return
	}
	d := OpenSearch{Rate: p.Dims[schema.DimFind] != ""}
	d.Holds, _ = p.client(schema.ClientHolds)
	d.Fails, _ = p.client(schema.ClientFails)
	p.add(d.Fails/d.Holds, d)
}

// overload finds open loops that ended because requests arrived faster than they left.
func overload(p point) {
	if n, ok := p.client(schema.ClientOverload); ok {
		p.add(1, Overload{n})
	}
}
