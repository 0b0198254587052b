package progress

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
)

// two is a plan of two workloads, of which a minute and two were estimated.
func two() (plan.Plan, plan.Estimate) {
	p := plan.Plan{Device: "n150", Workloads: []plan.Workload{
		{ISL: 128, OSL: 128, Concurrency: 1, Requests: 8}, {ISL: 128, OSL: 64, Rate: 2.5, Requests: 8},
	}}
	p.Model.Name = "m"
	return p, plan.Estimate{Each: []time.Duration{time.Minute, 2 * time.Minute}, Total: 3 * time.Minute}
}

func TestWritePlan(t *testing.T) {
	var out strings.Builder
	p, e := two()
	WritePlan(&out, p, e)
	const want = `m on n150: 2 workloads x 1
   #   ISL   OSL   concurrency   req/s   N          about
   1   128   128             1       -   8   1 min 00 s
   2   128    64             -     2.5   8   2 min 00 s
estimate  3 min 00 s without starting the server and evals (nothing was measured before; 20 tok/s per user is assumed)
`
	if got := out.String(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%s", got)
	}
}

// Starts of servers that history knows are part of the estimate, and it says so.
func TestWritePlanWithStarts(t *testing.T) {
	var out strings.Builder
	p, e := two()
	e.Measured, e.Servers, e.Total = 2, time.Minute, e.Total+time.Minute
	WritePlan(&out, p, e)
	const want = "estimate  4 min 00 s without evals (2 of 2 workloads measured before; 1 min 00 s of it to start the " +
		"server)\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s", out.String())
	}
}

// The time that is left follows the measurement under way, and the estimate for the rest.
func TestLeft(t *testing.T) {
	d := New(Stream{})
	d.Expect(two())
	for _, c := range []struct {
		e    collect.Event
		want time.Duration
		ok   bool
	}{
		{collect.Event{Index: 1, Took: 20 * time.Second}, 160 * time.Second, true},
		{collect.Event{Index: 1, Took: 20 * time.Second, Done: 1, Total: 4}, 180 * time.Second, true},
		{collect.Event{Index: 2, Took: 5 * time.Minute}, 0, true},
		{collect.Event{Index: 0}, 0, false},
		{collect.Event{Index: 3}, 0, false},
	} {
		if got, ok := d.left(c.e); got != c.want || ok != c.ok {
			t.Errorf("%+v: %v %v, want %v %v", c.e, got, ok, c.want, c.ok)
		}
	}
}

// A log has one line a finished step, in a part a run; a terminal has a table that is taken away again, in its width.
func TestEvents(t *testing.T) {
	events := []collect.Event{
		{Run: "r1", Step: "point", Text: "128/128/1", Index: 1, Count: 2, Took: time.Second, Done: 1, Total: 8},
		{Run: "r1", Step: "point", Text: "128/128/1", Index: 1, Count: 2, Took: time.Second, Final: true, TTFT: 10},
		{Run: "r1", Step: "point", Text: "128/64", Index: 2, Count: 2, Final: true, Err: "reset"},
	}
	show := func(to Stream) string {
		var out strings.Builder
		to.Writer = &out
		d := New(to)
		d.Expect(two())
		for _, e := range events {
			d.Event(e)
		}
		d.End()
		return out.String()
	}
	const first, second = "point     1/2  128/128/1", "point     2/2  128/64"
	log := show(Stream{GitHub: true})
	if n := strings.Count(log, "\n"); n != 5 ||
		!strings.HasPrefix(log, "::group::ttreport run r1\nrun       r1\n"+first) ||
		!strings.HasSuffix(log, "failed: reset\n::endgroup::\n") || !strings.Contains(log, "TTFT   10.00 ms") {
		t.Errorf("%d lines:\n%s", n, log)
	}
	live := show(Stream{Width: func() int { return 40 }})
	table, after, found := strings.Cut(live, "\033[4A\033[J")
	if !found || !strings.Contains(table, "1/2") || !strings.HasPrefix(after, first) || !strings.Contains(after, second) {
		t.Errorf("%q", live)
	}
	for line := range strings.Lines(table) {
		if len([]rune(line)) > 40 {
			t.Errorf("a row is wider than the terminal: %q", line)
		}
	}
}

// A server that is there at once is not waited for in words.
func TestWaitingIsQuietAtFirst(t *testing.T) {
	var out strings.Builder
	waits := New(Stream{Writer: &out}).Waiting()
	waits(time.Second, errors.New("refused"))
	if out.Len() > 0 {
		t.Error(out.String())
	}
	waits(5*time.Second, errors.New("refused"))
	waits(10*time.Second, errors.New("refused"))
	if got := out.String(); got != "waiting   5.0 s: refused\n" {
		t.Errorf("%q", got)
	}
	waits(time.Second, errors.New("loads")) // the next server, which has just been started
	if got := out.String(); strings.Contains(got, "loads") {
		t.Errorf("%q", got)
	}
}

// What a server answers is shown without its escapes, in a line and in the table.
func TestEscapesAreShown(t *testing.T) {
	const nasty = "\x1b]0;owned\x07\x1b[2Jgone"
	var out strings.Builder
	d := New(Stream{Writer: &out, Width: func() int { return 80 }})
	d.Expect(two())
	d.Event(collect.Event{Run: "r", Step: "point", Text: nasty, Index: 1, Count: 2, Took: time.Second, Done: 1, Total: 8})
	d.Event(collect.Event{Run: "r", Step: "point", Text: "128/128/1", Index: 1, Count: 2, Final: true, Err: nasty})
	d.Waiting()(time.Minute, errors.New(nasty))
	d.End()
	text := strings.ReplaceAll(out.String(), "\033[4A\033[J", "") // its own, which take the table away
	if strings.ContainsAny(text, "\x1b\x07") || strings.Count(text, "gone") < 3 {
		t.Errorf("%q", text)
	}
}
