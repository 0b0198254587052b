package progress

import (
	"fmt"
	"io"
	"strings"
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

// Display shows what a collection does. It is used by one goroutine.
type Display struct {
	to     Stream
	run    string
	agenda []plan.Item
	each   []time.Duration // estimated, along the agenda
	drawn  int             // lines of the live table that are on the terminal
	open   bool            // a part of GitHub's log
}

// New shows progress on a stream.
func New(to Stream) *Display { return &Display{to: to} }

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
		d.group("run " + e.Run)
		d.line("run       %s", e.Run)
	}
	switch {
	case e.Final:
		d.line("%s", finished(e))
	case d.to.Width != nil:
		d.draw(e)
	}
}

// finished is the line of a step that has ended.
func finished(e collect.Event) string {
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
	return strings.TrimRight(line, " ")
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
	fmt.Fprintf(d.to, format+"\n", args...)
}

// group begins a folded part of GitHub's log.
func (d *Display) group(title string) {
	if d.open {
		fmt.Fprintln(d.to, "::endgroup::")
	}
	if d.open = d.to.GitHub; d.open {
		fmt.Fprintf(d.to, "::group::ttreport %s\n", title)
	}
}

// End clears the live table, and ends the part of the log.
func (d *Display) End() {
	d.clear()
	if d.open {
		fmt.Fprintln(d.to, "::endgroup::")
		d.open = false
	}
}
