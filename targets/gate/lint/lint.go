package lint

import (
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Lint is something that makes numbers of a release untrustworthy, whatever they are.
type Lint struct {
	ID       ID
	Severity schema.Severity // error (fails a gate that asks for valid numbers), warning or note
	Release  string
	Run      string
	Model    string
	Device   string
	Subject  string // the workload, task, image … that it is about
	Count    int    // how many alike it stands for, itself included
	Detail   Detail
	Decision *schema.Decision
}

// New is a lint of one case, with the severity of its check.
func New(release, subject string, d Detail) Lint {
	return Lint{ID: d.ID(), Severity: severity(d.ID()), Release: release, Subject: subject, Count: 1, Detail: d}
}

// Of returns the lint as one about a run.
func (l Lint) Of(h *columns.RunHead) Lint {
	l.Run, l.Model, l.Device = h.ID, h.Model.Name, h.Device
	return l
}

// Check is one thing that can be wrong.
type Check struct {
	ID       ID
	Severity schema.Severity
	Means    string // half a sentence for a list
	inspect  func(*inspection)
}

// Checks lists all of them, most serious first.
func Checks() []Check {
	return append(numberChecks(), runChecks()...)
}

func numberChecks() []Check {
	return []Check{
		{IDEmptyResponses, schema.SevError, "requests that count as completed and produced nothing", emptyResponses},
		{IDImpossibleScore, schema.SevError, "a share of right answers below 0 or above 1", impossibleScore},
		{IDZeroScore, schema.SevWarning,
			"an eval score of exactly zero: more often a failure of the harness than of the model", zeroScore},
		{IDFewItems, schema.SevWarning, "an eval score of fewer than ten questions", fewItems},
		{IDSubsampled, schema.SevNote, "an eval over the first questions of a task, which are no random sample",
			subsampled},
		{IDZeroStderr, schema.SevNote, "a score of 1 with a standard error of 0, which is no certainty", zeroStderr},
		{IDFailedShare, schema.SevWarning,
			"statistics over the requests that survived, when more than one in a hundred failed", failedShare},
		{IDSaturated, schema.SevWarning,
			"a client or server that did not reach the concurrency or rate that was asked", saturated},
		{IDShortAnswers, schema.SevWarning, "answers much shorter than asked", shortAnswers},
		{IDOtherLengths, schema.SevWarning, "prompts or answers of another length than asked", otherLengths},
		{IDColdStart, schema.SevWarning, "a mean far above the median: the first requests paid for a cold server",
			coldStart},
		{IDSecondTokenStall, schema.SevWarning, "one long gap a request, hidden in the mean", secondTokenStall},
		{IDPrefixCache, schema.SevWarning, "repeats that get faster because their prompts are cached", prefixCache},
		{IDFewRequests, schema.SevNote, "a latency of one or two requests", fewRequests},
		{IDFewForTail, schema.SevNote, "a P99 of fewer than 100 requests, which is not shown", fewForTail},
	}
}

func runChecks() []Check {
	return []Check{
		{IDNoCommits, schema.SevWarning,
			"a container image without digest or commits: nobody can build it again", noCommits},
		{IDLatestImage, schema.SevWarning, "an image tag that moves", latestImage},
		{IDDirtyBuild, schema.SevWarning, "software with uncommitted changes", dirtyBuild},
		{IDMixedTools, schema.SevWarning,
			"workloads measured with one tool now and with another before: nothing of them is compared", mixedTools},
		{IDNothingGraded, schema.SevWarning,
			"a model on a device of which no number was graded, by target or by history", nil},
		{IDStaleTargets, schema.SevWarning, "targets in force that are older than half a year", staleTargets},
		{IDNoStart, schema.SevWarning,
			"a run that does not say when it was measured: its place in the history is a guess", noStart},
		{IDChannel, schema.SevWarning, "a run of an unknown channel: it serves as no baseline", nil},
		{IDReleaseList, schema.SevWarning,
			"a release that the list in ttreport.yaml cuts off from its history", nil},
		{IDBadTimestamps, schema.SevWarning, "a run that ends before it starts, or long after it started",
			badTimestamps},
		{IDDuplicateRun, schema.SevWarning, "a run that is in the history twice; an error when its numbers differ",
			nil},
		{IDLostDocument, schema.SevError,
			"a document of the history that cannot be read: what it holds is in no decision", nil},
		{IDLateChangePoint, schema.SevWarning,
			"a regression that began in an earlier release and was found over those after it", nil},
		{IDDrift, schema.SevWarning,
			"a number that gets a little worse with every release, by now more than matters", nil},
		{IDNotPositive, schema.SevError, "a latency or rate of zero or below, or beyond a hundred decades of one", nil},
		{IDUnusedDecision, schema.SevWarning, "a decision that selects nothing that exists", nil},
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

// inspection is one release under inspection.
type inspection struct {
	c      *columns.Columns
	runs   []int // of the release
	before []int // of the release it is compared with
	check  Check
	found  map[place]*Lint
	order  []place
	weight map[place]float64
}

// place is where cases are one lint: a check and a run.
type place struct {
	id  ID
	run string
}

// Release inspects the runs of a release; before are those of the release it is compared with.
func Release(c *columns.Columns, release string, runs, before []int) []Lint {
	l := &inspection{c: c, runs: runs, before: before, found: map[place]*Lint{}, weight: map[place]float64{}}
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

// points calls each for every point that has numbers.
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

// get is a statistic of a point, or ok false.
func (l *inspection) get(p *columns.PointRow, metric, stat string) (float64, bool) {
	n, _ := l.c.Value(p, metric, stat)
	return n.Get()
}

// requests is how many requests a point's latencies are of.
func (l *inspection) requests(p *columns.PointRow) (float64, bool) {
	if n, ok := l.get(p, "ttft", "n"); ok && n > 0 {
		return n, true
	}
	return l.get(p, "requests_ok", "value")
}
