package render

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
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

// A number has one row: what was measured, the limit that decides, and the gap between them in the limit's unit; what
// misses only an informational level is no red word, and the largest miss stands first.
func TestTargetGrid(t *testing.T) {
	fast := levelVerdict(8, "functional", 10, 12, schema.Pass, true)
	fast.Metric, fast.Stat = "tps_user", ""
	tab := emptyReport().targetGrid([]schema.Verdict{
		levelVerdict(1, "functional", 200, 110, schema.Pass, true), levelVerdict(1, "target", 100, 110, schema.Fail, false),
		levelVerdict(8, "functional", 200, 250, schema.Fail, true), levelVerdict(8, "target", 100, 250, schema.Fail, false),
		fast, levelVerdict(32, "functional", 200, 400, schema.Fail, true),
		levelVerdict(64, "target", 100, 80, schema.Pass, false),
	}, false)
	got := gridRows(tab)
	const ttft = "TTFT mean ms, lower is better"
	want := []string{
		"fail | -/-/32 | " + ttft + " | 400 | 200 functional | +200 ms +100.0 % | –",
		"fail | -/-/8 | " + ttft + " | 250 | 200 functional | +50 ms +150 ms to target 100 | –",
		"pass misses an informational target | -/-/1 | " + ttft + " | 110 | 200 functional | " +
			"−90 ms +10 ms to target 100 | –",
		"pass | -/-/8 | Tok/s/user tok/s, higher is better | 12.0 | 10.0 functional | +2.0 tok/s +20.0 % | –",
		"pass informational | -/-/64 | " + ttft + " | 80.0 | 100 target | −20.0 ms −20.0 % | –",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := tab.Rows[1].Cells; c[7].Bullet == nil || c[7].Bullet.Label != "250 among functional 200, target 100" {
		t.Errorf("the picture is %+v", c[7])
	}
	known := levelVerdict(1, "functional", 200, 210, schema.Fail, true)
	known.Interval, known.Reason = &[2]float64{-.01, .11}, schema.Limit{Tolerance: .02, Chance: true}
	c := emptyReport().targetGrid([]schema.Verdict{known}, false).Rows[0].Cells
	if c[0].Sub != mayBeChance || c[4].Text != "204" || c[4].Sub != "functional 200 +4"+words.Thin+"ms" ||
		c[5].Text != "+6"+words.Thin+"ms" || c[6].Text != "198 to 222" {
		t.Errorf("a tolerance of 2 %%: %+v", c)
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

// A target has its own priority, so that a workload has required and informational targets. The required ones stand
// first, in whatever order they are given, and decide among the levels of a number.
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
	const ttft, tpotText = "TTFT mean ms, lower is better", "TPOT mean ms, lower is better"
	should100 := "below 1 level informational | -/-/N | " + ttft + " | 100 | 50.0 target | +50 ms +100.0 % | –"
	want := []string{
		"fail | -/-/1 | " + tpotText + " | 10.0 | 5.00 target | +5.0 ms +100.0 % | –",
		"missing | -/-/2 | " + tpotText + " | – | 5.00 target | – | –",
		"pass | -/-/4 | " + tpotText + " | 10.0 | 20.0 target | −10.0 ms −50.0 % | –",
		"pass | -/-/32 | " + ttft + " | 100 | 200 target | −100 ms −50.0 % | –",
		"no-target | -/-/16 | " + tpotText + " | – no tool measures it | 5.00 target | – | –",
		strings.Replace(should100, "N", "1", 1), strings.Replace(should100, "N", "2", 1),
		strings.Replace(should100, "N", "4", 1), strings.Replace(should100, "N", "8", 1),
		"below 1 level informational | -/-/8 | " + tpotText + " | 10.0 | 5.00 target | +5.0 ms +100.0 % | –",
		strings.Replace(should100, "N", "16", 1),
	}
	if got := gridRows(tab); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
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
		"-/-/2 fail may be chance ", "-/-/1 fail waived " + note, "-/-/2 fail waived " + note,
		"-/-/8 missing waived " + note,
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

// The sentence on required targets counts each of them once, also what no tool measures.
func TestShortOfRequired(t *testing.T) {
	list := []schema.Verdict{{Outcome: schema.NoTarget}, {Outcome: schema.Fail}, {Outcome: schema.Pass}}
	if got := shortOf(list); got != "1 of 3 required targets are missed, 1 without a verdict, 1 met." {
		t.Error(got)
	}
}
