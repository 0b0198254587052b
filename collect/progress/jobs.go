package progress

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
)

// Jobs shows the jobs of a submission: a table in place on a terminal, one line a change otherwise.
type Jobs struct {
	live
	last map[int]string
	away bool
}

// NewJobs shows jobs on a stream.
func NewJobs(to Stream) *Jobs { return &Jobs{live: live{to: to}, last: map[int]string{}} }

// Show shows how the jobs stand.
func (j *Jobs) Show(v engine.View) {
	j.clear()
	for _, t := range v.Tasks {
		j.change(t)
	}
	w := v.About
	if away := v.Away > 0; away != j.away {
		j.away = away
		if away {
			fmt.Fprintf(j.to, "%-9s %s does not answer (%s); jobs continue, and ttreport keeps asking\n",
				w.Name, w.Server, v.Why)
		} else {
			fmt.Fprintf(j.to, "%-9s %s answers again\n", w.Name, w.Server)
		}
	}
	if j.to.Width == nil {
		return
	}
	const mostRows = 40 // those of jobs that have ended are left out first
	shown := v
	if len(v.Tasks) > mostRows {
		shown.Tasks = nil
		for _, t := range v.Tasks {
			if !t.Ended && len(shown.Tasks) < mostRows {
				shown.Tasks = append(shown.Tasks, t)
			}
		}
	}
	rows := JobsTable(shown)
	if n := len(v.Tasks) - len(shown.Tasks); n > 0 {
		rows = append(rows, fmt.Sprintf("and %s more", plaintext.Plural(n, "job")))
	}
	j.draw(rows)
}

// End takes the table away.
func (j *Jobs) End() { j.clear() }

// change writes a line when a job has ended or is submitted again, and without a terminal when its state changes.
func (j *Jobs) change(t engine.Task) {
	state := stateOf(t)
	seen := fmt.Sprint(state, t.Ended) // a state may be known before what was measured
	if j.last[t.Entry] == seen {
		return
	}
	j.last[t.Entry] = seen
	if !t.Ended && (j.to.Width != nil || t.State == engine.NotSubmitted) {
		return
	}
	line := fmt.Sprintf("job %3d   %-*s %s", t.Entry, nameWidth, plaintext.Middle(t.Name, nameWidth), state)
	if t.Node != "" {
		line += " on " + t.Node
	}
	if t.Ended {
		line += fmt.Sprintf(", %d of %d measured", t.Done-t.Failed, t.Total)
	}
	fmt.Fprintln(j.to, plaintext.Printable(line))
	for _, l := range t.Log {
		fmt.Fprintf(j.to, "            %s\n", plaintext.Printable(redact.Text(l)))
	}
}

// stateOf is a state with its reason, as squeue writes both: "PENDING (Resources)".
func stateOf(t engine.Task) string {
	if t.Reason == "" || t.Reason == "None" {
		return t.State
	}
	return t.State + " (" + t.Reason + ")"
}

const nameWidth = 32 // of a model and its device, in characters

// JobsTable returns the lines of the table.
func JobsTable(v engine.View) []string {
	const format = "%4s  %-32s %-10s %-34s %-8s %10s %7s  %s"
	rows := []string{fmt.Sprintf(format, "#", "model and device", "job", "state", "node", "time left", "points", "now")}
	counts, order := map[string]int{}, []string{}
	for _, t := range v.Tasks {
		if counts[t.State]++; counts[t.State] == 1 {
			order = append(order, t.State)
		}
		points := fmt.Sprintf("%d/%d", t.Done-t.Failed, t.Total)
		rows = append(rows, fmt.Sprintf(format, fmt.Sprint(t.Entry), plaintext.Middle(t.Name, nameWidth), t.ID,
			plaintext.Middle(stateOf(t), 34), t.Node, t.Left, points, t.Now))
	}
	var sum []string
	for _, s := range order {
		sum = append(sum, fmt.Sprintf("%d %s", counts[s], s))
	}
	last := strings.Join(sum, ", ")
	if v.Away > 0 {
		last += fmt.Sprintf("; %s has not answered for %s", v.About.Server, plaintext.Duration(v.Away))
	}
	rows = append(rows, last)
	for i := range rows {
		rows[i] = strings.TrimRight(plaintext.Printable(rows[i]), " ")
	}
	return rows
}
