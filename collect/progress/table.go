package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

// Of the live table.
const (
	ahead     = 3  // rows of what comes next
	itemWidth = 38 // of what is measured, in characters
)

// draw writes the live table: the measurement under way, what comes next, and the time that is left.
func (d *Display) draw(e collect.Event) {
	d.clear()
	state := "running"
	if e.Total > 0 {
		state = fmt.Sprintf("%d/%d", e.Done, e.Total)
	}
	const format = "%7s  %-38s %9s %9s %9s %9s  %s"
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
	width := d.to.Width() - 1
	for _, r := range rows { // a row that wraps would be two
		fmt.Fprintf(d.to, "%s\n", plaintext.Cut(strings.TrimRight(r, " "), width))
	}
	d.drawn = len(rows)
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

// clear takes the live table away.
func (d *Display) clear() {
	if d.drawn > 0 {
		fmt.Fprintf(d.to, "\033[%dA\033[J", d.drawn)
		d.drawn = 0
	}
}
