package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// estimate is how long the items of a plan may take.
type estimate struct {
	each     []time.Duration // by workload, of one measurement
	measured int             // workloads of which history tells
	total    time.Duration
	starts   time.Duration // of foreign tools, part of the total
}

// speed that is assumed of a server that nobody measured: tokens a second that one user sees, and of a prompt.
const (
	assumedDecode  = 20.
	assumedPrefill = 2000.
)

// estimate reckons how long a plan takes: from what history has of the same workload on the same pair, else from an assumed speed.
func (o collectOptions) estimate(ctx context.Context, ws *workspace.Workspace, p collect.Plan) estimate {
	var e estimate
	cols, _, err := history.Load(ctx, ws.Cache(), ws.History())
	if err != nil {
		cols = nil
	}
	for _, w := range p.Workloads {
		one := float64(w.ISL)/assumedPrefill + float64(w.OSL)/assumedDecode
		if ms, ok := e2elOf(cols, p, w.ISL, w.OSL, w.Concurrency); ok {
			one = ms / 1000
			e.measured++
		}
		took := one * max(1, float64(w.Requests)/float64(max(1, w.Concurrency)))
		if w.Rate > 0 {
			took = float64(w.Requests)/w.Rate + one
		}
		e.each = append(e.each, time.Duration(took*float64(time.Second)))
	}
	for _, d := range e.each {
		e.total += d
	}
	starts := time.Duration(0)
	for _, t := range p.Tools {
		if t.Program != "" {
			starts += 30 * time.Second * time.Duration(len(p.Workloads)) // Python's imports and a tokenizer
		}
	}
	e.starts = time.Duration(max(1, p.Repeat)) * starts
	e.total = time.Duration(max(1, p.Repeat))*e.total*time.Duration(max(1, len(p.Tools))) + e.starts
	return e
}

// e2elOf is the newest E2EL of a workload of a pair, ms.
func e2elOf(c *columns.Columns, p collect.Plan, isl, osl, concurrency int) (float64, bool) {
	if c == nil {
		return 0, false
	}
	found, newest := 0., time.Time{}
	is := func(a *float64, b int) bool { return a != nil && *a == float64(b) }
	for i := range c.Runs {
		h := &c.Runs[i]
		if h.Model.Name != p.Model.Name || h.Device != p.Device || h.Start.Before(newest) {
			continue
		}
		for at := h.FirstPoint; at < h.PointsEnd; at++ {
			pt := &c.Points[at]
			if k := c.Keys[pt.Key]; !is(k.ISL, isl) || !is(k.OSL, osl) || !is(k.Concurrency, concurrency) {
				continue
			}
			n, _ := c.Value(pt, "e2el", "mean")
			if v, ok := n.Get(); ok {
				found, newest = v, h.Start
			}
		}
	}
	return found, found > 0
}

// writePlan prints the table of parameters before anything runs.
func writePlan(sh *shell, p collect.Plan, e estimate) {
	what := plural(len(p.Workloads), "workload") + fmt.Sprintf(" x %d", max(1, p.Repeat))
	once := onceOnly(p)
	if once != "" {
		what, e = once+", once", estimate{}
	}
	switch {
	case len(p.Evals) > 0:
		what += ", " + plural(len(p.Evals), "eval")
	case p.EvalItems > 0:
		what += ", " + plural(p.EvalItems, "eval question")
	}
	sh.say("%s on %s: %s", p.Model.Name, p.Device, what)
	if once == "" && len(p.Workloads) > 0 {
		writeWorkloads(sh, p.Workloads, e)
	}
	for _, x := range p.Evals {
		limit := "all questions"
		if x.Limit > 0 {
			limit = "at most " + plural(x.Limit, "question")
		}
		sh.say("eval      %s: %s, %s", x.Tool.Name, x.Task, limit)
	}
	if len(e.each) > 0 {
		from := fmt.Sprintf("none was measured before; assumed are %g tok/s and user", assumedDecode)
		if e.measured > 0 {
			from = fmt.Sprintf("%d of %s measured before", e.measured, plural(len(e.each), "workload"))
		}
		if e.starts > 0 {
			from += "; " + age(e.starts) + " of it for tools to start"
		}
		sh.say("estimate  %s without starting the server and evals (%s)", age(e.total), from)
	}
}

// writeWorkloads prints a table of workloads, with how long each may take.
func writeWorkloads(sh *shell, list []sweep.Workload, e estimate) {
	tw := tabwriter.NewWriter(sh.err, 2, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "#\tISL\tOSL\tconcurrency\treq/s\tN\t")
	if len(e.each) > 0 {
		fmt.Fprint(tw, "about\t")
	}
	fmt.Fprintln(tw)
	for i, w := range list {
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%d\t", i+1, dash(w.ISL), dash(w.OSL), dash(w.Concurrency), dashFloat(w.Rate), w.Requests)
		if i < len(e.each) {
			fmt.Fprintf(tw, "%s\t", age(e.each[i]))
		}
		if w.Dataset != "" {
			fmt.Fprintf(tw, "   %s", w.Dataset)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

// onceOnly names the tools of a plan that are run once whatever its workloads are, where there are no others and the workloads are not
// their matrix either; "" otherwise.
func onceOnly(p collect.Plan) string {
	var names []string
	for _, t := range p.Tools {
		if !t.Once || t.Name == "trtllm" {
			return ""
		}
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

func dashFloat(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%g", v)
}

// progress shows what a collection does: a live table on a terminal, one line a finished step otherwise, folded by run where GitHub's
// log is written.
type progress struct {
	sh     *shell
	tty    bool
	github bool
	run    string
	agenda []collect.Agenda
	each   []time.Duration // estimated, along the agenda
	drawn  int             // lines of the live table that stand on the terminal
	open   bool            // a group of GitHub's log
}

func newProgress(sh *shell) *progress {
	return &progress{sh: sh, tty: isTerminal(sh.err), github: os.Getenv("GITHUB_ACTIONS") == "true"}
}

// expect tells what is to come, for the rows of the live table and the time that is left.
func (p *progress) expect(plan collect.Plan, e estimate) {
	p.agenda = plan.Agenda()
	for _, a := range p.agenda {
		d := time.Duration(0)
		if a.Workload >= 0 && a.Workload < len(e.each) {
			d = e.each[a.Workload]
		}
		p.each = append(p.each, d)
	}
}

func (p *progress) event(e collect.Event) {
	if e.Run != p.run {
		p.run = e.Run
		p.group("run " + e.Run)
		p.line("run       %s", e.Run)
	}
	if !e.Final {
		if p.tty {
			p.draw(e)
		}
		return
	}
	what := e.Text
	if e.Count > 0 {
		what = fmt.Sprintf("%d/%d  %-36s", e.Index, e.Count, e.Text)
	}
	line := fmt.Sprintf("%-9s %s", e.Step, what)
	if e.Took >= time.Second/20 {
		line += fmt.Sprintf("  %6s", age(e.Took))
	}
	if e.TTFT > 0 {
		line += fmt.Sprintf("   TTFT %7.2f ms   TPOT %6.2f ms", e.TTFT, e.TPOT)
	}
	if e.Note != "" {
		line += "   " + e.Note
	}
	if e.Err != "" {
		line += "   failed: " + e.Err
	}
	p.line("%s", strings.TrimRight(line, " "))
}

// waiting says why a server is waited for: when the reason changes, and once a minute, because weights take long.
func (p *progress) waiting(address string) func(error) {
	last, began, next := "", time.Now(), time.Time{}
	return func(err error) {
		const usual = 2 * time.Second // nothing takes less to start
		if now := time.Now(); (err.Error() != last || now.After(next)) && now.Sub(began) > usual {
			last, next = err.Error(), now.Add(time.Minute)
			p.line("waiting   %s: %s", age(time.Since(began)), strings.TrimPrefix(last, fmt.Sprintf("Get %q: ", address+"/v1/models")))
		}
	}
}

// ahead is how many rows of what is to come the live table shows.
const ahead = 3

// draw writes the live table: the measurement under way, what comes next, and the time that is left.
func (p *progress) draw(e collect.Event) {
	p.clear()
	state := "running"
	if e.Total > 0 {
		state = fmt.Sprintf("%d/%d", e.Done, e.Total)
	}
	rows := []string{fmt.Sprintf("%7s  %-38s %9s %9s %9s %9s", "", "", "state", "elapsed", "TTFT ms", "TPOT ms"),
		fmt.Sprintf("%3d/%-3d  %-38s %9s %9s %9s %9s  %s", e.Index, e.Count, middle(e.Text, 38), state, age(e.Took), soFar(e.TTFT), soFar(e.TPOT), e.Err)}
	for i := e.Index; i < min(len(p.agenda), e.Index+ahead); i++ {
		rows = append(rows, fmt.Sprintf("%3d/%-3d  %-38s %9s", i+1, e.Count, middle(p.agenda[i].Name, 38), "waits"))
	}
	if left, ok := p.left(e); ok {
		rows = append(rows, fmt.Sprintf("%9sabout %s left", "", age(left)))
	}
	for _, r := range rows {
		fmt.Fprintf(p.sh.err, "%s\n", cutTo(strings.TrimRight(r, " "), widthOf(p.sh.err)-1)) // a row that wraps would be two
	}
	p.drawn = len(rows)
}

// soFar is a mean under way.
func soFar(ms float64) string {
	if ms == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ms)
}

// left is the time that is left: of the measurement under way by how far it has come, of the rest by the estimate.
func (p *progress) left(e collect.Event) (time.Duration, bool) {
	if e.Index < 1 || e.Index > len(p.each) {
		return 0, false
	}
	now := p.each[e.Index-1]
	if e.Done > 0 && e.Total > 0 {
		now = time.Duration(float64(e.Took) * float64(e.Total) / float64(e.Done))
	}
	left := max(0, now-e.Took)
	for _, d := range p.each[e.Index:] {
		left += d
	}
	return left, true
}

func (p *progress) line(format string, args ...any) {
	p.clear()
	p.sh.say(format, args...)
}

// clear takes the live table away.
func (p *progress) clear() {
	if p.drawn > 0 {
		fmt.Fprintf(p.sh.err, "\033[%dA\033[J", p.drawn)
		p.drawn = 0
	}
}

// group begins a folded part of GitHub's log.
func (p *progress) group(title string) {
	if p.open {
		p.sh.say("::endgroup::")
	}
	if p.open = p.github; p.open {
		p.sh.say("::group::ttreport %s", title)
	}
}

// end clears what is being rewritten, and ends the part of the log.
func (p *progress) end() {
	p.clear()
	if p.open {
		p.sh.say("::endgroup::")
		p.open = false
	}
}
