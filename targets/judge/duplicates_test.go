package judge_test

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// A copy of a run confirms nothing, under its own id or another.
func TestDuplicatesConfirmNothing(t *testing.T) {
	values := judgetest.Steady(7)
	values[5][2] *= 1.3
	copy(values[6], values[5])
	for name, id := range map[string]string{
		"same id": "run-5", "another id": "other", "renamed by the load": "run-5~2", "undated": "undated",
		"another id and day": "other",
	} {
		c := judgetest.History{TTFT: values}.Columns()
		h := &c.Runs[6]
		h.ID, h.Release, h.Start = id, "v5", c.Runs[5].Start
		switch name {
		case "renamed by the load":
			h.Stated, h.Start = "run-5", h.Start.AddDate(0, 0, 1)
		case "another id and day":
			h.Start = h.Start.AddDate(0, 0, 1)
		case "undated":
			c.Runs[5].Start, h.Start = time.Time{}, time.Time{}
		}
		j := judged(t, c, nil)
		v := judgetest.Find(j.History(5), judgetest.Workload(3))
		if v.Outcome != schema.Regressed || v.Evidence != schema.Suspected {
			t.Errorf("%s: %s %s", name, v.Outcome, v.Evidence)
		}
		// Which of the two counts depends on their paths and ids.
		first, isFirst := j.Duplicate(&c.Runs[5])
		second, isSecond := j.Duplicate(h)
		if isFirst == isSecond || !(first.Same || second.Same) {
			t.Errorf("%s: %+v %v, %+v %v", name, first, isFirst, second, isSecond)
		}
		if n := len(j.Counted(5)); n != 1 {
			t.Errorf("%s: %d runs count", name, n)
		}
	}
}

// Other numbers under one id are not the same run, and only one of the two counts.
func TestOtherNumbersUnderOneID(t *testing.T) {
	c := judgetest.History{TTFT: judgetest.Steady(7)}.Columns()
	c.Runs[6].ID, c.Runs[6].Release, c.Runs[6].Start = "run-5", "v5", c.Runs[5].Start
	j := judged(t, c, nil)
	n := 0
	for _, i := range []int{5, 6} {
		if d, twice := j.Duplicate(&c.Runs[i]); twice {
			n++
			if (d != judge.Duplicate{Of: "run-5"}) {
				t.Errorf("%+v", d)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d duplicates", n)
	}
}
