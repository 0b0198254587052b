package rows

import (
	"bytes"
	"fmt"
	"time"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// evalResults writes a file for each run with scores as model repositories on the Hub state them (Hub documentation,
// eval results): a list of a dataset, a value, a date. A dataset is called as the task is here; the Hub asks for its id
// there, which no result file states.
func evalResults(r *render.Report, release int) (out []Written, err error) {
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		var b bytes.Buffer
		for _, s := range r.Columns.ScoresOf(run) {
			value, ok := s.Value.Get()
			if !ok || s.Task == "" {
				continue
			}
			fmt.Fprintf(&b, "- dataset:\n    id: %s\n    task_id: default\n", quoted(s.Task))
			if s.Version != "" {
				fmt.Fprintf(&b, "    revision: %s\n", quoted(s.Version))
			}
			fmt.Fprintf(&b, "  value: %v\n", value)
			if !h.Start.IsZero() {
				fmt.Fprintf(&b, "  date: %s\n", quoted(h.Start.UTC().Format(time.RFC3339)))
			}
			notes := s.Metric
			if s.Filter != "" {
				notes += ", " + s.Filter
			}
			fmt.Fprintf(&b, "  notes: %s\n", quoted(notes+", on "+words.Device(h.Device)))
		}
		if b.Len() > 0 {
			out = append(out, Written{render.RunName(h.ID) + "/.eval_results/ttreport.yaml", b.Bytes()})
		}
	}
	return out, nil
}
