package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
)

// writePlan prints the table of what is measured before anything runs.
func writePlan(sh *shell, p plan.Plan, e plan.Estimate) {
	what := plural(len(p.Workloads), "workload") + fmt.Sprintf(" x %d", max(1, p.Repeat))
	once := p.RunOnce()
	if once != "" {
		what, e = once+", once", plan.Estimate{}
	}
	switch {
	case len(p.Evals) > 0:
		what += ", " + plural(len(p.Evals), "eval")
	case p.EvalItems > 0:
		what += ", " + plural(p.EvalItems, "eval question")
	}
	sh.say("%s on %s: %s", p.Model.Name, p.Device, what)
	if once == "" && len(p.Workloads) > 0 {
		writeWorkloads(sh.err, p.Workloads, e)
	}
	for _, x := range p.Evals {
		limit := "all questions"
		if x.Limit > 0 {
			limit = "at most " + plural(x.Limit, "question")
		}
		sh.say("eval      %s: %s, %s", x.Tool.Name, x.Task, limit)
	}
	if len(e.Each) > 0 {
		writeEstimate(sh, e)
	}
}

func writeEstimate(sh *shell, e plan.Estimate) {
	from := fmt.Sprintf("none was measured before; assumed are %g tok/s per user", plan.AssumedDecode)
	if e.Measured > 0 {
		from = fmt.Sprintf("%d of %s measured before", e.Measured, plural(len(e.Each), "workload"))
	}
	if e.Starts > 0 {
		from += "; " + age(e.Starts) + " of it for tools to start"
	}
	sh.say("estimate  %s without starting the server and evals (%s)", age(e.Total), from)
}

// writeWorkloads prints a table of workloads, with how long each may take.
func writeWorkloads(w io.Writer, list []plan.Workload, e plan.Estimate) {
	tw := tabwriter.NewWriter(w, 2, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "#\tISL\tOSL\tconcurrency\treq/s\tN\t")
	if len(e.Each) > 0 {
		fmt.Fprint(tw, "about\t")
	}
	fmt.Fprintln(tw)
	for i, w := range list {
		rate := "-"
		if w.Rate > 0 {
			rate = fmt.Sprintf("%g", w.Rate)
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%d\t", i+1, dash(w.ISL), dash(w.OSL), dash(w.Concurrency), rate, w.Requests)
		if i < len(e.Each) {
			fmt.Fprintf(tw, "%s\t", age(e.Each[i]))
		}
		if w.Dataset != "" {
			fmt.Fprintf(tw, "   %s", w.Dataset)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

// progress shows what a collection does: a live table on a terminal, one line a finished step otherwise, folded by run
// in GitHub's log.
type progress struct {
	sh     *shell
	tty    bool
	github bool
	run    string
	agenda []plan.Item
	each   []time.Duration // estimated, along the agenda
	drawn  int             // lines of the live table that are on the terminal
	open   bool            // a group of GitHub's log
}

func newProgress(sh *shell) *progress {
	return &progress{sh: sh, tty: isTerminal(sh.err), github: os.Getenv("GITHUB_ACTIONS") == "true"}
}

// expect states what is to come, for the rows of the live table and the time that is left.
func (p *progress) expect(of plan.Plan, e plan.Estimate) {
	p.agenda = of.Items()
	for _, it := range p.agenda {
		d := time.Duration(0)
		if it.Index >= 0 && it.Index < len(e.Each) {
			d = e.Each[it.Index]
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

// waiting prints why a server is waited for: when the reason changes, and once a minute, because weights take long.
func (p *progress) waiting(address string) func(error) {
	last, began, next := "", time.Now(), time.Time{}
	return func(err error) {
		const usual = 2 * time.Second // nothing takes less to start
		if now := time.Now(); (err.Error() != last || now.After(next)) && now.Sub(began) > usual {
			last, next = err.Error(), now.Add(time.Minute)
			reason := strings.TrimPrefix(last, fmt.Sprintf("Get %q: ", address+"/v1/models"))
			p.line("waiting   %s: %s", age(time.Since(began)), reason)
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
	const row = "%7s  %-38s %9s %9s %9s %9s  %s"
	number := func(i int) string { return fmt.Sprintf("%3d/%-3d", i, e.Count) }
	rows := []string{
		fmt.Sprintf(row, "", "", "state", "elapsed", "TTFT ms", "TPOT ms", ""),
		fmt.Sprintf(row, number(e.Index), middle(e.Text, 38), state,
			age(e.Took), dashFloat(e.TTFT), dashFloat(e.TPOT), e.Err),
	}
	for i := e.Index; i < min(len(p.agenda), e.Index+ahead); i++ {
		rows = append(rows, fmt.Sprintf(row, number(i+1), middle(p.agenda[i].String(), 38), "waits", "", "", "", ""))
	}
	if left, ok := p.left(e); ok {
		rows = append(rows, fmt.Sprintf("%9sabout %s left", "", age(left)))
	}
	for _, r := range rows {
		fmt.Fprintf(p.sh.err, "%s\n", cutTo(strings.TrimRight(r, " "), widthOf(p.sh.err)-1)) // a row that wraps would be two
	}
	p.drawn = len(rows)
}

// dashFloat is a mean of requests that have completed; a dash for none.
func dashFloat(ms float64) string {
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

// end clears the live table, and ends the part of the log.
func (p *progress) end() {
	p.clear()
	if p.open {
		p.sh.say("::endgroup::")
		p.open = false
	}
}
