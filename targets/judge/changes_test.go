package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// stepped is a history of 24 workloads with a noise of 1 %, of which some are slower by a share from one release to
// before another.
func stepped(seed uint64, releases, slower, from, to int, by float64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	var out [][]float64
	for rel := range releases {
		row := make([]float64, 24)
		for w := range row {
			row[w] = 20 * float64(w+1) * math.Exp(.01*r.NormFloat64())
			if w < slower && rel >= from && rel < to {
				row[w] *= 1 + by
			}
		}
		out = append(out, row)
	}
	return out
}

// One step is one change in every release that sees it: of one id, one beginning, one size within its interval.
func TestAChangeStaysOne(t *testing.T) {
	for seed := range uint64(10) {
		const at = 12
		j := judged(t, judgetest.History{TTFT: stepped(seed, 20, 24, at, 99, .09)}.Columns(), nil)
		id := ""
		for r := at; r < 20; r++ {
			list := j.Changes(r)
			if len(list) != 1 {
				t.Fatalf("seed %d, v%d: %d changes, want 1: %+v", seed, r, len(list), list)
			}
			c := &list[0]
			if id == "" {
				id = c.ID
			}
			want := schema.Confirmed
			if r == at {
				want = schema.Suspected
			}
			if c.ID != id || c.Since != fmt.Sprintf("v%d", at) || c.Evidence != want || c.State != judge.StateOpen ||
				!c.Worse || len(c.Numbers) != 24 || c.Scope.Of != 24 {
				t.Errorf("seed %d, v%d: %+v", seed, r, c)
			}
			if math.Abs(c.Effect-.09) > .01 || c.Interval[0] > .095 || c.Interval[1] < .085 || c.Interval[0] <= 0 {
				t.Errorf("seed %d, v%d: %.3f (%.3f to %.3f)", seed, r, c.Effect, c.Interval[0], c.Interval[1])
			}
			if c.Votes[0].Release != c.Since || c.Votes[0].Numbers < 20 {
				t.Errorf("seed %d, v%d: votes %+v", seed, r, c.Votes)
			}
			if earlier := r > at+1; c.Earlier != earlier {
				t.Errorf("seed %d, v%d: found earlier is %v", seed, r, c.Earlier)
			}
		}
	}
}

// What noise lets releases find one before or after the others is part of the change, which began where most say.
func TestOneStepBeginsOnce(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		history := stepped(seed, 20, 24, 12, 99, .12)
		for _, row := range history {
			for w := range row {
				row[w] *= math.Exp(.035 * r.NormFloat64())
			}
		}
		j := judged(t, judgetest.History{TTFT: history}.Columns(), nil)
		since := map[string]int{}
		for _, c := range j.Changes(19) {
			if c.Worse && c.Evidence == schema.Confirmed {
				since[c.Since]++
			}
		}
		if since["v12"] != 1 || since["v11"]+since["v13"] > 0 {
			t.Errorf("seed %d: %v", seed, since)
		}
	}
}

// The course of a change is flat before it and at its size since.
func TestTheCourseOfAChange(t *testing.T) {
	j := judged(t, judgetest.History{TTFT: stepped(1, 20, 24, 12, 99, .09)}.Columns(), nil)
	c := &j.Changes(19)[0]
	course := j.Course(c, 19)
	for r, middle := range course.Middle {
		want := 0.
		if r >= 12 {
			want = c.Effect
		}
		if math.Abs(middle-want) > .01 || course.Low[r] >= middle || course.High[r] <= middle {
			t.Errorf("v%d: %.3f to %.3f to %.3f, want about %.3f", r, course.Low[r], middle, course.High[r], want)
		}
	}
	if sizes := j.SizesOn(c); len(sizes) != 1 || sizes[c.Numbers[0].Pair()] != c.Effect {
		t.Errorf("%v, of a change of %.3f", sizes, c.Effect)
	}
}

// Half of a model is found as half: the other half is no part of the change.
func TestAChangeOfHalf(t *testing.T) {
	found := 0
	for seed := range uint64(10) {
		j := judged(t, judgetest.History{TTFT: stepped(seed, 18, 12, 12, 99, .09)}.Columns(), nil)
		for _, c := range j.Changes(16) {
			if c.Since == "v12" && len(c.Numbers) >= 10 && len(c.Numbers) <= 13 && math.Abs(c.Effect-.09) < .02 {
				found++
			}
		}
	}
	if found < 9 {
		t.Errorf("found in %d of 10 histories", found)
	}
}

// What goes away again is fixed, and that is no improvement: its numbers are back at the level before.
func TestAChangeThatIsFixed(t *testing.T) {
	j := judged(t, judgetest.History{TTFT: stepped(3, 24, 24, 10, 16, .12)}.Columns(), nil)
	states := map[string]judge.State{}
	for _, c := range j.Changes(22) {
		states[c.Since] = c.State
	}
	if states["v10"] != judge.StateFixed || states["v16"] != judge.StateRecovered {
		t.Errorf("%+v", states)
	}
	for _, v := range j.History(17) {
		if v.Outcome == schema.Improved {
			t.Errorf("%s improved: it recovered", v.Key.Workload())
		}
	}
}

// An improvement that does not last says so.
func TestAnImprovementThatIsLost(t *testing.T) {
	j := judged(t, judgetest.History{TTFT: stepped(4, 24, 24, 10, 16, -.12)}.Columns(), nil)
	for _, c := range j.Changes(22) {
		if c.Since == "v10" && (c.Worse || c.State != judge.StateLost || c.Ended != "v16") {
			t.Errorf("%+v", c)
		}
	}
}

// Nothing changes: no release of ten quiet histories sees a change.
func TestQuietHistoriesHaveNoChange(t *testing.T) {
	for seed := range uint64(10) {
		j := judged(t, judgetest.History{TTFT: stepped(seed, 20, 0, 0, 0, 0)}.Columns(), nil)
		for r := range 20 {
			for _, c := range j.Changes(r) {
				t.Errorf("seed %d, v%d: %+v", seed, r, c)
			}
		}
	}
}

// A run of fewer releases sees the same change as a longer one did at that time.
func TestLaterReleasesRewriteNoChange(t *testing.T) {
	values := stepped(5, 20, 24, 10, 99, .1)
	long, short := judged(t, judgetest.History{TTFT: values}.Columns(), nil),
		judged(t, judgetest.History{TTFT: values[:13]}.Columns(), nil)
	a, b := long.Changes(12), short.Changes(12)
	if len(a) != 1 || len(b) != 1 || a[0].ID != b[0].ID || a[0].Effect != b[0].Effect || a[0].Interval != b[0].Interval ||
		a[0].Found != b[0].Found || !slices.Equal(a[0].Votes, b[0].Votes) || len(a[0].Numbers) != len(b[0].Numbers) {
		t.Errorf("with later releases %+v\nwithout %+v", a, b)
	}
}
