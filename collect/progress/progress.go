package progress

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

// Stream is where progress is written, and what it can show.
type Stream struct {
	io.Writer
	Width  func() int // of a terminal, in characters; nil for a stream that is none, where nothing is drawn in place
	GitHub bool       // GitHub's log, which folds parts
}

// live is rows that are drawn in place on a terminal.
type live struct {
	to    Stream
	drawn int // rows that are on the terminal
}

// draw writes rows; one that is wider than the terminal would be two.
func (l *live) draw(rows []string) {
	width := l.to.Width() - 1
	for _, r := range rows {
		fmt.Fprintf(l.to, "%s\n", plaintext.Cut(plaintext.Printable(strings.TrimRight(r, " ")), width))
	}
	l.drawn = len(rows)
}

// clear takes them away.
func (l *live) clear() {
	if l.drawn > 0 {
		fmt.Fprintf(l.to, "\033[%dA\033[J", l.drawn)
		l.drawn = 0
	}
}

// Display shows what a collection does. It is used by one goroutine.
type Display struct {
	live
	run    string
	agenda []plan.Item
	each   []time.Duration // estimated, along the agenda
	open   bool            // a part of GitHub's log
}

// New shows progress on a stream.
func New(to Stream) *Display { return &Display{live: live{to: to}} }

// Expect states what will be measured, for the rows of the live table and the time that is left.
func (d *Display) Expect(of plan.Plan, e plan.Estimate) {
	d.agenda = of.Items()
	for _, it := range d.agenda {
		took := time.Duration(0)
		if it.Index >= 0 && it.Index < len(e.Each) {
			took = e.Each[it.Index]
		}
		d.each = append(d.each, took)
	}
}

// Event shows what happened.
func (d *Display) Event(e collect.Event) {
	if e.Run != d.run {
		d.run = e.Run
		if d.open {
			fmt.Fprintln(d.to, "::endgroup::")
		}
		if d.open = d.to.GitHub; d.open {
			fmt.Fprintf(d.to, "::group::ttreport run %s\n", e.Run)
		}
		d.line("run       %s", e.Run)
	}
	switch {
	case e.Final:
		what := e.Text
		if e.Count > 0 {
			what = fmt.Sprintf("%d/%d  %-36s", e.Index, e.Count, e.Text)
		}
		line := fmt.Sprintf("%-9s %s", e.Step, what)
		if e.Took >= time.Second/20 {
			line += fmt.Sprintf("  %6s", plaintext.Duration(e.Took))
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
		d.line("%s", strings.TrimRight(line, " "))
	case d.to.Width != nil:
		d.clear()
		d.draw(d.table(e))
	}
}

// Waiting returns what shows why a server is waited for: when the reason changes, and once a minute, because weights
// take long.
func (d *Display) Waiting() func(waited time.Duration, why error) {
	last, next := "", time.Time{}
	return func(waited time.Duration, why error) {
		const usual = 2 * time.Second // nothing takes less to start
		if now := time.Now(); (why.Error() != last || now.After(next)) && waited > usual {
			last, next = why.Error(), now.Add(time.Minute)
			d.line("waiting   %s: %s", plaintext.Duration(waited), last)
		}
	}
}

func (d *Display) line(format string, args ...any) {
	d.clear()
	fmt.Fprintln(d.to, plaintext.Printable(fmt.Sprintf(format, args...))) // a server's answer may be in it
}

// End clears the live table, and ends the part of the log.
func (d *Display) End() {
	d.clear()
	if d.open {
		fmt.Fprintln(d.to, "::endgroup::")
		d.open = false
	}
}

// WritePlan writes the table of what is measured, before anything runs.
func WritePlan(w io.Writer, p plan.Plan, e plan.Estimate) {
	what := plaintext.Plural(len(p.Workloads), "workload") + fmt.Sprintf(" x %d", max(1, p.Repeat))
	if t := p.Turns; t.Blocks > 0 {
		what += fmt.Sprintf(" x %d blocks x 2 servers", t.Blocks)
	}
	once := p.RunOnce()
	if once != "" {
		what, e = once+", once", plan.Estimate{}
	}
	switch {
	case len(p.Evals) > 0:
		what += ", " + plaintext.Plural(len(p.Evals), "eval")
	case p.EvalItems > 0:
		what += ", " + plaintext.Plural(p.EvalItems, "eval question")
	}
	fmt.Fprintf(w, "%s on %s: %s\n", p.Model.Name, p.Device, what)
	switch {
	case p.Batches() && len(p.Workloads) > 0:
		e = plan.Estimate{} // it repeats each batch as often as it likes, after building an engine
		tw := tabwriter.NewWriter(w, 2, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintln(tw, "#\tinput length\toutput length\tbatch size\t")
		for i, x := range p.Workloads {
			fmt.Fprintf(tw, "%d\t%d\t%s\t%d\t\n", i+1, x.ISL, plaintext.Dash(x.OSL), x.Concurrency)
		}
		tw.Flush()
	case once == "" && len(p.Workloads) > 0:
		writeWorkloads(w, p, e)
	}
	if p.Until.Set() { // no number of requests ends measurements
		all := ""
		if p.Budget > 0 {
			all = " and " + plaintext.Duration(p.Budget) + " in all"
		}
		fmt.Fprintf(w, "until     the 95 %% interval of each mean is within ±%g%%, at most %s each%s\n", 100*p.Until.CI,
			plaintext.Duration(p.Until.Limit()), all)
	}
	for _, x := range p.Evals {
		limit := "all questions"
		if x.Limit > 0 {
			limit = "at most " + plaintext.Plural(x.Limit, "question")
		}
		fmt.Fprintf(w, "eval      %s: %s, %s\n", x.Tool.Name, x.Task, limit)
	}
	if len(e.Each) > 0 {
		writeEstimate(w, e)
	}
}

func writeEstimate(w io.Writer, e plan.Estimate) {
	from := fmt.Sprintf("nothing was measured before; %g tok/s per user is assumed", plan.AssumedDecode)
	if e.Measured > 0 {
		from = fmt.Sprintf("%d of %s measured before", e.Measured, plaintext.Plural(len(e.Each), "workload"))
	}
	if e.Starts > 0 {
		from += "; " + plaintext.Duration(e.Starts) + " of it to start tools"
	}
	without := "starting the server and evals"
	if e.Servers > 0 {
		from += "; " + plaintext.Duration(e.Servers) + " of it to start the server"
		without = "evals"
	}
	fmt.Fprintf(w, "estimate  %s without %s (%s)\n", plaintext.Duration(e.Total), without, from)
}

// writeWorkloads writes a table of workloads, with how long each may take.
func writeWorkloads(w io.Writer, p plan.Plan, e plan.Estimate) {
	tw := tabwriter.NewWriter(w, 2, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "#\tISL\tOSL\tconcurrency\treq/s\tN\t")
	if len(e.Each) > 0 {
		fmt.Fprint(tw, "about\t")
	}
	fmt.Fprintln(tw)
	for i, w := range p.Workloads {
		if p.Until.Set() {
			w.Requests = 0 // nobody knows
		}
		rate := "-"
		if w.Rate > 0 {
			rate = fmt.Sprintf("%.4g", w.Rate)
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%s\t", i+1, plaintext.Dash(w.ISL), plaintext.Dash(w.OSL),
			plaintext.Dash(w.Concurrency), rate, plaintext.Dash(w.Requests))
		if i < len(e.Each) {
			fmt.Fprintf(tw, "%s\t", plaintext.Duration(e.Each[i]))
		}
		if varies := w.Varies(); varies != "" {
			fmt.Fprintf(tw, "   %s", varies)
		}
		if w.Speed > 0 && w.Speed != 1 {
			fmt.Fprintf(tw, ", %g times as fast", w.Speed)
		}
		if share, ok := p.DrawnHit(i); ok {
			fmt.Fprintf(tw, " (%.1f%% drawn)", 100*share)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

// table is the live table: the measurement under way, what comes next, and the time that is left.
func (d *Display) table(e collect.Event) []string {
	state := "running"
	if e.Total > 0 {
		state = fmt.Sprintf("%d/%d", e.Done, e.Total)
	}
	const format = "%7s  %-38s %9s %9s %9s %9s  %s"
	const ahead, itemWidth = 3, 38 // rows of what comes next; of what is measured, in characters
	number := func(i int) string { return fmt.Sprintf("%3d/%-3d", i, e.Count) }
	rows := []string{
		fmt.Sprintf(format, "", "", "state", "elapsed", "TTFT ms", "TPOT ms", ""),
		fmt.Sprintf(format, number(e.Index), plaintext.Middle(e.Text, itemWidth), state,
			plaintext.Duration(e.Took), milliseconds(e.TTFT), milliseconds(e.TPOT), e.Err),
	}
	for i := e.Index; i < min(len(d.agenda), e.Index+ahead); i++ {
		name := plaintext.Middle(d.agenda[i].String(), itemWidth)
		rows = append(rows, fmt.Sprintf(format, number(i+1), name, "waits", "", "", "", ""))
	}
	if left, ok := d.left(e); ok {
		rows = append(rows, fmt.Sprintf("%9sabout %s left", "", plaintext.Duration(left)))
	}
	return rows
}

// milliseconds is a mean of requests that have completed; a dash for none.
func milliseconds(ms float64) string {
	if ms == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ms)
}

// left is the time that is left: of the measurement under way by how far it has come, of the rest by the estimate.
func (d *Display) left(e collect.Event) (time.Duration, bool) {
	if e.Index < 1 || e.Index > len(d.each) {
		return 0, false
	}
	now := d.each[e.Index-1]
	if e.Done > 0 && e.Total > 0 {
		now = time.Duration(float64(e.Took) * float64(e.Total) / float64(e.Done))
	}
	left := max(0, now-e.Took)
	for _, took := range d.each[e.Index:] {
		left += took
	}
	return left, true
}
