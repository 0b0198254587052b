package terminal

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// Targets writes a table with one row a target.
func Targets(w io.Writer, list []judge.TargetEntry) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MODEL\tDEVICE\tWORKLOAD\tMETRIC\tLEVEL\tTARGET\tTOLERANCE\tPRIORITY\tSOURCE")
	for _, e := range list {
		for _, t := range e.Targets {
			info, _ := schema.MetricByName(t.Metric)
			name := info.Label
			if t.Key.IsEval() {
				name = cmp.Or(t.Metric, "eval")
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%g %%\t%s\t%s\n", e.Model, e.Device, words.Workload(t.Key), name,
				t.Level, words.Quantity(t.Value, t.Unit), 100*t.Tolerance, cmp.Or(t.Priority, "by status"), t.Source)
		}
	}
	return tw.Flush()
}

// Contradictions writes one line a contradiction.
func Contradictions(w io.Writer, list []judge.Contradiction) {
	for _, c := range list {
		fmt.Fprintf(w, "%-8s %-18s %s on %s %s, %s: %s\n",
			c.Severity, c.Code, c.Model, c.Device, c.Target.Key.Workload(), c.Target.Level, c.Text)
	}
}
