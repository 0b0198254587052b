package render

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// emptyReport has no runs: no number has an address in it.
func emptyReport() *Report {
	return New(Input{Gate: &gate.Gate{Judgement: &judge.Judgement{Columns: &columns.Columns{}}}})
}

func levelVerdict(
	concurrency float64, level string, ref, value float64, o schema.Outcome, required bool,
) schema.Verdict {
	return schema.Verdict{
		Model: "m", Device: "n150", Metric: "ttft", Stat: "mean", Key: schema.Key{Concurrency: &concurrency},
		Level: level, Ref: schema.Num(ref), Value: schema.Num(value), Outcome: o, Required: required,
	}
}

// A workload has one row, with what each level came to and its metrics side by side; what misses only an informational
// level is no red word, and the largest miss stands first.
func TestTargetGrid(t *testing.T) {
	slow := levelVerdict(8, "functional", 10, 9, schema.Pass, true)
	slow.Metric, slow.Stat = "tput_user", ""
	tab := emptyReport().targetGrid([]schema.Verdict{
		levelVerdict(1, "functional", 200, 110, schema.Pass, true), levelVerdict(1, "target", 100, 110, schema.Fail, false),
		levelVerdict(8, "functional", 200, 250, schema.Fail, true), levelVerdict(8, "target", 100, 250, schema.Fail, false),
		slow, levelVerdict(32, "functional", 200, 400, schema.Fail, true),
		levelVerdict(64, "target", 100, 80, schema.Pass, false),
	}, false)
	got := gridRows(tab)
	want := []string{
		"fail TTFT mean | -/-/8 | fail 200 · 10.0 | missed 100 · – | 250 40.0 % | 9.00 90.0 % | 40.0",
		"fail | -/-/32 | fail 200 · – | – | 400 | – | 50.0",
		"pass misses an informational target | -/-/1 | pass 200 · – | missed 100 · – | 110 | – | 90.9",
		"pass informational | -/-/64 | – | met 100 · – | 80.0 | – | 125",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := tab.Rows[0].Cells; c[7].Bullet == nil || c[7].Bullet.Label != "250 among functional 200, target 100" {
		t.Errorf("the picture is %+v", c[7])
	} else if c[3].Outcome != schema.NoOutcome || c[3].Missing == "" {
		t.Errorf("a missed informational level is not grey: %+v", c[3])
	}
	only := emptyReport().targetGrid([]schema.Verdict{levelVerdict(1, "target", 100, 110, schema.Fail, false)}, false)
	if c := only.Rows[0].Cells[0]; c.Outcome != schema.NoOutcome || c.Sub != "informational" {
		t.Errorf("a missed informational level alone: %+v", c)
	}
}

// gridRows are the rows of a grid without their pictures.
func gridRows(t *Table) []string {
	var out []string
	for _, r := range t.Rows {
		var row []string
		for _, c := range r.Cells[:len(r.Cells)-1] {
			row = append(row, strings.Join(strings.Fields(c.Outcome.String()+" "+c.Text+" "+c.Sub), " "))
		}
		out = append(out, strings.Join(row, " | "))
	}
	return out
}

// A target has its own priority, so that a level has required and informational targets. The required ones decide, in
// whatever order they stand; an informational one heads a row only where nothing of the workload is required.
func TestTargetGridOfPriorities(t *testing.T) {
	tpot := func(concurrency, ref, value float64, o schema.Outcome, required bool) schema.Verdict {
		v := levelVerdict(concurrency, "target", ref, value, o, required)
		v.Metric = "tpot"
		return v
	}
	should := func(concurrency float64) schema.Verdict {
		return levelVerdict(concurrency, "target", 50, 100, schema.Fail, false)
	}
	missing := tpot(2, 5, 0, schema.NotMeasured, true)
	missing.Value = schema.Number{}
	unmeasurable := tpot(16, 5, 0, schema.NoTarget, true)
	unmeasurable.Value, unmeasurable.Reason = schema.Number{}, schema.MetricNotMeasured{Metric: "tpot"}
	tab := emptyReport().targetGrid([]schema.Verdict{
		should(1), tpot(1, 5, 10, schema.Fail, true), should(2), missing, should(4), tpot(4, 20, 10, schema.Pass, true),
		should(8), tpot(8, 5, 10, schema.Fail, false), should(16), unmeasurable,
		levelVerdict(32, "target", 200, 100, schema.Pass, true), levelVerdict(32, "target", 50, 100, schema.Fail, false),
	}, false)
	want := []string{
		"fail TPOT mean | -/-/1 | fail 50.0 · 5.00 | 100 50.0 % | 10.0 50.0 % | 50.0",
		"missing TPOT mean | -/-/2 | missing 50.0 · 5.00 | 100 50.0 % | – | –",
		"no-target TPOT mean | -/-/16 | no-target 50.0 · 5.00 | 100 50.0 % | – no tool measures it | –",
		"below 1 level TTFT mean, informational | -/-/8 | missed 50.0 · 5.00 | 100 50.0 % | 10.0 50.0 % | 50.0",
		"pass misses an informational target | -/-/4 | pass 50.0 · 20.0 | 100 50.0 % | 10.0 200 % | 200",
		"pass | -/-/32 | pass 200 · – | 100 | – | 200",
	}
	if got := gridRows(tab); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if b := tab.Rows[len(tab.Rows)-2].Cells[6].Bullet; b == nil || !strings.HasPrefix(b.Label, "10.0 among") {
		t.Errorf("the picture is not of the required metric: %+v", b)
	}
}

// A decision about a target is beside it with its reason, and what nobody excused is before what somebody did. A miss
// that chance could explain says so.
func TestTargetGridShowsDecisions(t *testing.T) {
	waiver := &schema.Decision{ID: "D-1", Kind: schema.Waive, Owner: "jana", Expires: "2027-01-31", Reason: "ticket 412"}
	expired := *waiver
	expired.Expired = true
	decided := func(concurrency float64, d *schema.Decision, o schema.Outcome) schema.Verdict {
		v := levelVerdict(concurrency, "target", 50, 500, o, true)
		v.Decision = d
		return v
	}
	open := levelVerdict(2, "target", 5, 10, schema.Fail, true)
	open.Metric, open.Reason = "tpot", schema.Limit{Chance: true}
	tab := emptyReport().targetGrid([]schema.Verdict{
		decided(1, waiver, schema.Fail), decided(2, waiver, schema.Fail), open, decided(4, &expired, schema.Fail),
		decided(8, waiver, schema.NotMeasured),
	}, false)
	const note = "Waived by jana until 2027-01-31 (D-1): ticket 412."
	want := []string{ // an expired decision excuses nothing
		"-/-/4 fail  " + note + " This decision has expired.",
		"-/-/2 fail TPOT mean, chance could explain it TTFT mean target: " + note,
		"-/-/1 fail waived " + note, "-/-/8 missing waived " + note,
	}
	var got []string
	for _, r := range tab.Rows {
		last := r.Cells[len(r.Cells)-1]
		got = append(got, strings.Join([]string{r.Cells[1].Text, r.Cells[0].Outcome.String(), r.Cells[0].Sub,
			strings.TrimSpace(last.Text + last.Sub)}, " "))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
