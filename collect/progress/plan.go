package progress

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

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
		writeBatches(w, p.Workloads)
	case once == "" && len(p.Workloads) > 0:
		writeWorkloads(w, p, e)
	}
	writeUntil(w, p)
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

// writeUntil states when measurements end that no number of requests ends.
func writeUntil(w io.Writer, p plan.Plan) {
	if !p.Until.Set() {
		return
	}
	fmt.Fprintf(w, "until     means are known to ±%g%% (95 %% interval), at most %s each", 100*p.Until.CI,
		plaintext.Duration(p.Until.Limit()))
	if p.Budget > 0 {
		fmt.Fprintf(w, " and %s in all", plaintext.Duration(p.Budget))
	}
	fmt.Fprintln(w)
}

func writeEstimate(w io.Writer, e plan.Estimate) {
	from := fmt.Sprintf("none was measured before; assumed are %g tok/s per user", plan.AssumedDecode)
	if e.Measured > 0 {
		from = fmt.Sprintf("%d of %s measured before", e.Measured, plaintext.Plural(len(e.Each), "workload"))
	}
	if e.Starts > 0 {
		from += "; " + plaintext.Duration(e.Starts) + " of it for tools to start"
	}
	without := "starting the server and evals"
	if e.Servers > 0 {
		from += "; " + plaintext.Duration(e.Servers) + " of it for the server to start"
		without = "evals"
	}
	fmt.Fprintf(w, "estimate  %s without %s (%s)\n", plaintext.Duration(e.Total), without, from)
}

// writeBatches writes a table of what reaches the command line of a tool that is told lists of batches.
func writeBatches(w io.Writer, list []plan.Workload) {
	tw := tabwriter.NewWriter(w, 2, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "#\tinput length\toutput length\tbatch size\t")
	for i, x := range list {
		fmt.Fprintf(tw, "%d\t%d\t%d\t%d\t\n", i+1, x.ISL, x.OSL, x.Concurrency)
	}
	tw.Flush()
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
