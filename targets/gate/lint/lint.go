package lint

import (
	"iter"
	"math"
	"slices"
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
	return Lint{ID: d.ID(), Severity: severity(d.ID()), Release: release, Subject: subject, Count: 1, Detail: d}
}

// Pairs are the models and devices that a lint is about; those of a release as a whole are empty.
func (l *Lint) Pairs() []schema.Pair {
	d, ok := l.Detail.(OpenRegression)
	if !ok || len(d.Worst) == 0 {
		return []schema.Pair{{Model: l.Model, Device: l.Device}}
	}
	out := make([]schema.Pair, len(d.Worst))
	for i := range d.Worst {
		out[i] = d.Worst[i].Pair
	}
	return out
}

// Only returns the lint as it concerns some models and devices; false for one that concerns none of them.
func (l Lint) Only(of func(schema.Pair) bool) (Lint, bool) {
	if l.Model == "" && l.Device == "" {
		return l, true
	}
	if d, ok := l.Detail.(OpenRegression); ok && len(d.Worst) > 0 {
		d.Worst = slices.DeleteFunc(slices.Clone(d.Worst), func(n OpenNumber) bool { return !of(n.Pair) })
		l.Detail = d
		return l, len(d.Worst) > 0
	}
	return l, slices.ContainsFunc(l.Pairs(), of)
}

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

// Checks lists all of them, most serious first.
func Checks() []Check {
	return append(numberChecks(), runChecks()...)
}

func numberChecks() []Check {
	return []Check{
		{IDEmptyResponses, schema.SevError, emptyResponses},
		{IDImpossibleScore, schema.SevError, impossibleScore},
		{IDImpossibleError, schema.SevError, impossibleError},
		{IDOtherUnit, schema.SevError, otherUnit},
		{IDMoreFailures, schema.SevError, moreFailures},
		{IDZeroScore, schema.SevWarning, zeroScore},
		{IDFewItems, schema.SevWarning, fewItems},
		{IDSubsampled, schema.SevNote, subsampled},
		{IDZeroStderr, schema.SevNote, zeroStderr},
		{IDFailedShare, schema.SevWarning, failedShare},
		{IDSaturated, schema.SevWarning, saturated},
		{IDShortAnswers, schema.SevWarning, shortAnswers},
		{IDOtherLengths, schema.SevWarning, otherLengths},
		{IDColdStart, schema.SevWarning, coldStart},
		{IDSecondTokenStall, schema.SevWarning, secondTokenStall},
		{IDPrefixCache, schema.SevWarning, prefixCache},
		{IDFewRequests, schema.SevNote, fewRequests},
		{IDFewForTail, schema.SevNote, fewForTail},
		{IDUnsettled, schema.SevWarning, unsettled},
		{IDOpenSearch, schema.SevWarning, openSearch},
		{IDOverload, schema.SevWarning, overload},
		{IDImprecise, schema.SevNote, imprecise},
	}
}

func runChecks() []Check {
	return []Check{
		{IDNoCommits, schema.SevWarning, noCommits},
		{IDLatestImage, schema.SevWarning, latestImage},
		{IDDirtyBuild, schema.SevWarning, dirtyBuild},
		{IDMixedTools, schema.SevWarning, mixedTools},
		{IDNothingGraded, schema.SevWarning, nil},
		{IDStaleTargets, schema.SevWarning, staleTargets},
		{IDNoStart, schema.SevWarning, noStart},
		{IDChannel, schema.SevError, nil},
		{IDReleaseOrder, schema.SevError, nil},
		{IDReleaseList, schema.SevWarning, nil},
		{IDBadTimestamps, schema.SevWarning, badTimestamps},
		{IDDuplicateRun, schema.SevWarning, copies},
		{IDNoPair, schema.SevWarning, nil},
		{IDUnread, schema.SevWarning, unread},
		{IDLostDocument, schema.SevError, nil},
		{IDReportRejects, schema.SevError, nil},
		{IDOpenRegression, schema.SevWarning, nil},
		{IDLateChangePoint, schema.SevWarning, nil},
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

// severity of a check by id.
func severity(id ID) schema.Severity {
	for _, c := range Checks() {
		if c.ID == id {
			return c.Severity
		}
	}
	return schema.SevNote
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

// points calls each for every point with numbers.
func (l *inspection) points(runs []int, each func(run int, p *columns.PointRow, k schema.Key)) {
	for _, run := range runs {
		h := &l.c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &l.c.Points[i]
			if w := p.StatusWord(); w != schema.StatusFailed && w != schema.StatusInvalid {
				each(run, p, l.c.Keys[p.Key])
			}
		}
	}
}

// get returns a statistic of a point; ok is false without one.
func (l *inspection) get(p *columns.PointRow, metric, stat string) (float64, bool) {
	n, _ := l.c.Value(p, metric, stat)
	return n.Get()
}

// requests returns the number of requests behind a point's latencies.
func (l *inspection) requests(p *columns.PointRow) (float64, bool) {
	if n, ok := l.get(p, "ttft", "n"); ok && n > 0 {
		return n, true
	}
	return l.get(p, "requests_ok", "value")
}

// untilMetrics are those whose means a measurement with --until makes exact.
var untilMetrics = [...]string{"ttft", "tpot", "e2el"}

// unsettled finds measurements with --until that did not become steady. What drifts most is named.
func unsettled(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if steady, ok := l.get(p, columns.ClientMetric, schema.ClientSteady); !ok || steady != 0 {
			return
		}
		var worst Unsettled
		for _, m := range untilMetrics {
			if d, ok := l.get(p, columns.ClientMetric, schema.ClientDrift+m); ok && math.Abs(d) > math.Abs(worst.Drift) {
				worst = Unsettled{m, d}
			}
		}
		l.add(run, k.Workload(), math.Abs(worst.Drift), worst)
	})
}

// imprecise finds means that --until did not make as exact as asked before its time was over.
func imprecise(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		asked, ok := l.get(p, columns.ClientMetric, schema.ClientCIAsked)
		if !ok {
			return
		}
		worst := Imprecise{Asked: asked}
		for _, m := range untilMetrics {
			if reached, ok := l.get(p, columns.ClientMetric, schema.ClientCI+m); ok && reached > worst.Reached {
				worst.Metric, worst.Reached = m, reached
			}
		}
		if worst.Reached > asked {
			l.add(run, k.Workload(), worst.Reached/asked, worst)
		}
	})
}

// openSearch finds searches for the largest load that ended while measurements of the answer contradicted each other.
func openSearch(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if settled, ok := l.get(p, columns.ClientMetric, schema.ClientSettled); !ok || settled != 0 {
			return
		}
		d := OpenSearch{Rate: k.Dims[schema.DimFind] != ""}
		d.Holds, _ = l.get(p, columns.ClientMetric, schema.ClientHolds)
		d.Fails, _ = l.get(p, columns.ClientMetric, schema.ClientFails)
		l.add(run, k.Workload(), d.Fails/d.Holds, d)
	})
}

// overload finds open loops that ended because requests arrived faster than they left.
func overload(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if n, ok := l.get(p, columns.ClientMetric, schema.ClientOverload); ok {
			l.add(run, k.Workload(), 1, Overload{n})
		}
	})
}
