package validity

import (
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Check is one thing that can be wrong.
type Check struct {
	ID       string
	Severity schema.Severity
	Means    string // half a sentence for a list
	look     func(*look)
}

// Checks lists all of them in the order of weight.
func Checks() []Check {
	return []Check{
		{"hollow", schema.SevError, "requests that count as completed and produced nothing", hollow},
		{"impossible-score", schema.SevError, "a share of right answers below nothing or above everything", impossibleScore},
		{"zero-score", schema.SevWarning, "an eval score of exactly zero: more often a failure of the harness than of the model", zeroScore},
		{"few-items", schema.SevWarning, "an eval score of fewer than ten questions", fewItems},
		{"limited", schema.SevNote, "an eval over the first questions of a task, which are no random sample", limited},
		{"perfect", schema.SevNote, "a score of 1 with a standard error of 0, which is no certainty", perfect},
		{"failed-share", schema.SevWarning, "statistics over the requests that survived, when more than one in a hundred failed", failedShare},
		{"saturated", schema.SevWarning, "a client or server that did not reach the concurrency or rate that was asked", saturated},
		{"short-answers", schema.SevWarning, "answers much shorter than asked", shortAnswers},
		{"cold-start", schema.SevWarning, "a mean far above the median: the first requests paid for a cold server", coldStart},
		{"second-token-stall", schema.SevWarning, "one long gap a request, hidden in the mean", secondTokenStall},
		{"prefix-cache", schema.SevWarning, "repeats that get faster because their prompts are cached", prefixCache},
		{"few-requests", schema.SevNote, "a latency of one or two requests", fewRequests},
		{"few-for-tail", schema.SevNote, "a P99 of fewer than 100 requests, which is not shown", fewForTail},
		{"no-commits", schema.SevWarning, "a container image without digest or commits: nobody can build it again", noCommits},
		{"latest-image", schema.SevWarning, "an image tag that moves", latestImage},
		{"dirty-build", schema.SevWarning, "software with uncommitted changes", dirtyBuild},
		{"mixed-tools", schema.SevWarning, "workloads measured with one tool now and with another before: nothing of them is compared", mixedTools},
		{"nothing-graded", schema.SevWarning, "a model on a device of which no number was graded, by target or by history", nil},
		{"stale-targets", schema.SevWarning, "targets in force that are older than half a year", staleTargets},
		{"no-start", schema.SevWarning, "a run that does not say when it was measured: its place in the history is a guess", noStart},
		{"channel", schema.SevWarning, "a run of a channel that nobody knows: it serves as no baseline", nil},
		{"release-list", schema.SevWarning, "a release that the list in ttreport.yaml cuts off from its history", nil},
		{"clock", schema.SevWarning, "a run that ends before it starts, or long after it started", oddClock},
		{"twice", schema.SevWarning, "a run that stands in the history twice; an error when its numbers differ", nil},
		{"lost-document", schema.SevError, "a document of the history that cannot be read: what it holds is in no decision", nil},
		{"late-step", schema.SevWarning, "a step to the worse that began in an earlier release and was found over those after it", nil},
		{"creep", schema.SevWarning, "a number that gets a little worse with every release, by now more than matters", nil},
		{"not-positive", schema.SevError, "a latency or rate of zero or below, or beyond a hundred decades of one", nil},
		{"unused-decision", schema.SevWarning, "a decision that speaks of nothing that exists", nil},
	}
}

// IDs lists the ids of all checks.
func IDs() []string {
	var out []string
	for _, c := range Checks() {
		out = append(out, c.ID)
	}
	return out
}

// Severity of a check by id.
func Severity(id string) schema.Severity {
	for _, c := range Checks() {
		if c.ID == id {
			return c.Severity
		}
	}
	return schema.SevNote
}

// look is one release under inspection.
type look struct {
	c      *columns.Columns
	runs   []int // of the release
	before []int // of the release it is compared with
	check  Check
	found  map[found]*schema.Lint
	order  []found
	weight map[found]float64
}

type found struct{ id, run, subject string }

// Release inspects the runs of a release; before are those of the release it is compared with.
func Release(c *columns.Columns, release string, runs, before []int) []schema.Lint {
	l := &look{c: c, runs: runs, before: before, found: map[found]*schema.Lint{}, weight: map[found]float64{}}
	for _, check := range Checks() {
		if check.look != nil {
			l.check = check
			check.look(l)
		}
	}
	out := make([]schema.Lint, 0, len(l.order))
	for _, id := range l.order {
		x := *l.found[id]
		x.Release = release
		out = append(out, x)
	}
	rank := map[schema.Severity]int{schema.SevError: 0, schema.SevWarning: 1, schema.SevNote: 2}
	sort.SliceStable(out, func(i, j int) bool { return rank[out[i].Severity] < rank[out[j].Severity] })
	return out
}

// add notes one case; cases of one run are one lint, whose numbers are those of the worst, by weight.
func (l *look) add(run int, subject string, weight float64, args map[string]string) {
	h := &l.c.Runs[run]
	id := found{l.check.ID, h.ID, ""}
	x := l.found[id]
	if x == nil {
		x = &schema.Lint{ID: l.check.ID, Severity: l.check.Severity, Run: h.ID, Model: h.Model.Name, Device: h.Device}
		l.found[id] = x
		l.order = append(l.order, id)
	}
	x.Count++
	if x.Count == 1 || weight > l.weight[id] {
		l.weight[id] = weight
		x.Subject, x.Reason = subject, schema.Reason{Code: "lint-" + l.check.ID, Args: args}
	}
}

// points calls each for every point that has numbers.
func (l *look) points(runs []int, each func(run int, p *columns.PointRow, k schema.Key)) {
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
func (l *look) get(p *columns.PointRow, metric, stat string) (float64, bool) {
	n, _ := l.c.Value(p, metric, stat)
	return n.Get()
}

// requests is how many requests stand behind a point's latencies.
func (l *look) requests(p *columns.PointRow) (float64, bool) {
	if n, ok := l.get(p, "ttft", "n"); ok && n > 0 {
		return n, true
	}
	return l.get(p, "requests_ok", "value")
}
