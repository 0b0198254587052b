package lint

import (
	"iter"
	"math"
	"slices"

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
	id, severity := idOf(d), schema.SevNote
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
	of := func(d Detail, s schema.Severity, inspect func(*inspection)) Check { return Check{idOf(d), s, inspect} }
	return []Check{
		of(EmptyResponses{}, schema.SevError, problems("hollow-success", func(p *schema.Problem) Detail {
			return EmptyResponses{p.Found}
		})),
		of(ImpossibleScore{}, schema.SevError, scores(impossibleScore)),
		of(ImpossibleError{}, schema.SevError, impossibleError),
		of(OtherUnit{}, schema.SevError, otherUnit),
		of(MoreFailures{}, schema.SevError, moreFailures),
		of(ZeroScore{}, schema.SevWarning, scores(zeroScore)),
		of(FewItems{}, schema.SevWarning, scores(fewItems)),
		of(Subsampled{}, schema.SevNote, scores(subsampled)),
		of(ZeroStderr{}, schema.SevNote, scores(zeroStderr)),
		of(FailedShare{}, schema.SevWarning, points(failedShare)),
		of(Saturated{}, schema.SevWarning, points(saturated)),
		of(ShortAnswers{}, schema.SevWarning, points(shortAnswers)),
		of(OtherLengths{}, schema.SevWarning, points(otherLengths)),
		of(ColdStart{}, schema.SevWarning, points(coldStart)),
		of(SecondTokenStall{}, schema.SevWarning, points(secondTokenStall)),
		of(PrefixCache{}, schema.SevWarning, prefixCache),
		of(FewRequests{}, schema.SevNote, points(fewRequests)),
		of(FewForTail{}, schema.SevNote, points(fewForTail)),
		of(Unsettled{}, schema.SevWarning, points(unsettled)),
		of(OpenSearch{}, schema.SevWarning, points(openSearch)),
		of(Overload{}, schema.SevWarning, points(overload)),
		of(Imprecise{}, schema.SevNote, points(imprecise)),
		of(NoCommits{}, schema.SevWarning, runs(noCommits)),
		of(LatestImage{}, schema.SevWarning, runs(latestImage)),
		of(DirtyBuild{}, schema.SevWarning, runs(dirtyBuild)),
		of(MixedTools{}, schema.SevWarning, mixedTools),
		of(NothingGraded{}, schema.SevWarning, nil),
		of(StaleTargets{}, schema.SevWarning, runs(staleTargets)),
		of(NoStart{}, schema.SevWarning, runs(noStart)),
		of(UnknownChannel{}, schema.SevError, nil),
		of(ReleaseOrder{}, schema.SevError, nil),
		of(CutOff{}, schema.SevWarning, nil),
		of(BadTimestamps{}, schema.SevWarning, runs(badTimestamps)),
		of(DuplicateRun{}, schema.SevWarning, problems(schema.CodeCopy, func(p *schema.Problem) Detail {
			return DuplicateRun{Path: p.Path, Same: true, Copy: p.Found} // of files; runs of copies alone are not inspected
		})),
		of(NoPair{}, schema.SevWarning, nil),
		of(Unread{}, schema.SevWarning, problems(schema.CodeUnread, func(p *schema.Problem) Detail {
			return Unread{p.Found} // what such a file of the run's folder holds is not in the release
		})),
		of(LostDocument{}, schema.SevError, nil),
		of(ReportRejects{}, schema.SevError, nil),
		of(Drift{}, schema.SevWarning, nil),
		of(NotPositive{}, schema.SevError, nil),
		of(UnusedDecision{}, schema.SevWarning, nil),
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
	release string
	runs    []int           // of it
	earlier iter.Seq[[]int] // those of the releases before it, the newest first
	check   Check
	found   []Lint
	weight  []float64      // of the worst case of each
	at      map[string]int // those of the check, by run
}

// Release checks the runs of a release; earlier are the runs of each release that it may be compared with, the newest
// first.
func Release(c *columns.Columns, release string, runs []int, earlier iter.Seq[[]int]) []Lint {
	l := &inspection{c: c, release: release, runs: runs, earlier: earlier}
	for _, check := range Checks() {
		if check.inspect != nil {
			l.check, l.at = check, map[string]int{}
			check.inspect(l)
		}
	}
	slices.SortStableFunc(l.found, func(a, b Lint) int {
		return slices.Index(schema.Severities(), a.Severity) - slices.Index(schema.Severities(), b.Severity)
	})
	return l.found
}

// add notes one case; cases of one run are one lint, with the numbers of the worst, by weight.
func (l *inspection) add(run int, subject string, weight float64, d Detail) {
	h := &l.c.Runs[run]
	at, again := l.at[h.ID]
	if !again {
		at = len(l.found)
		l.at[h.ID], l.weight = at, append(l.weight, weight)
		l.found = append(l.found, New(l.release, subject, d).Of(h))
		return
	}
	x := &l.found[at]
	if x.Count++; weight > l.weight[at] {
		l.weight[at], x.Subject, x.Detail = weight, subject, d
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
