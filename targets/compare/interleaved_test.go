package compare_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/compare"
)

// turnsOf makes two runs that took turns on a machine that becomes slower by a share in every turn: the candidate is
// slower by step at the first point.
func turnsOf(seed uint64, points, blocks int, drift, noise, step float64) (baseline, candidate schema.Run) {
	r := rand.New(rand.NewPCG(seed, 1))
	system := func(id, with, side string) schema.Run {
		return schema.Run{
			ID: id, Start: time.Unix(1e9, 0), Model: schema.Model{Name: "m"}, Device: schema.Device{Name: "d"},
			Interleaved: schema.Interleaved{With: with, Side: side},
		}
	}
	a, b := system("a", "b", schema.SideBaseline), system("b", "a", schema.SideCandidate)
	now := 0.
	for block := 1; block <= blocks; block++ {
		order := []*schema.Run{&a, &b}
		if block%2 == 0 {
			order = []*schema.Run{&b, &a}
		}
		for _, run := range order {
			now += drift
			for i := range points {
				c := float64(i + 1)
				v := 100 * c * math.Exp(now+noise*r.NormFloat64())
				if run == &b && i == 0 {
					v *= 1 + step
				}
				run.Points = append(run.Points, schema.Point{
					Key: schema.Key{Task: "text", Tool: "t", Concurrency: &c}, Block: block, Status: schema.StatusOK,
					Metrics: schema.MetricList{schema.Of("ttft", "mean", v)},
				})
			}
		}
	}
	return a, b
}

func sides(a, b schema.Run) *compare.Result {
	return compare.Sides(compare.Side{Name: "a", Runs: []schema.Run{a}}, compare.Side{Name: "b", Runs: []schema.Run{b}})
}

// A machine that drifts by 5 % a turn hides a step of 5 % from every test of separate runs; taken in turns it is the
// only change that is found, and its interval holds the truth.
func TestDriftCancels(t *testing.T) {
	found, covered, alone, wrong := 0, 0, 0, 0
	const trials = 60
	for seed := range uint64(trials) {
		a, b := turnsOf(seed, 10, 4, .05, .005, .05)
		r := sides(a, b)
		for _, row := range r.Rows {
			switch {
			case row.Test != compare.Interleaved || row.NA != 4:
				t.Fatalf("%+v", row)
			case *row.Key.Concurrency == 1:
				if row.Outcome() == schema.Regressed {
					found++
				}
				if row.Lo <= .05 && .05 <= row.Hi {
					covered++
				}
			case row.Outcome() != schema.Inconclusive:
				wrong++
			}
		}
		a.Interleaved, b.Interleaved = schema.Interleaved{}, schema.Interleaved{}
		for _, row := range sides(a, b).Rows {
			if row.Outcome() == schema.Regressed {
				alone++
			}
		}
	}
	if found < 58 || covered < 53 || wrong > trials/2 || alone > 0 {
		t.Errorf("of %d: found %d, covered %d, %d of %d unchanged called changed; as separate runs %d", trials, found,
			covered, wrong, 9*trials, alone)
	}
}

// One block is no verdict; a run that names another partner, and points that failed, are no part of a pair.
func TestNotInterleaved(t *testing.T) {
	a, b := turnsOf(1, 3, 1, 0, .001, .5)
	for _, row := range sides(a, b).Rows {
		if row.Outcome() != schema.Inconclusive || row.NeededEach != 2 || !math.IsNaN(row.Lo) {
			t.Errorf("one block: %+v", row)
		}
	}
	a, b = turnsOf(1, 3, 4, 0, .001, .5)
	a.Interleaved.With = "another"
	for _, row := range sides(a, b).Rows {
		if row.Test == compare.Interleaved {
			t.Errorf("of another pair: %+v", row)
		}
	}
	a, b = turnsOf(1, 3, 4, 0, .001, .5)
	for i := range b.Points {
		if b.Points[i].Block == 2 {
			b.Points[i].Status = schema.StatusFailed
		}
	}
	for _, row := range sides(a, b).Rows {
		if row.Test != compare.Interleaved || row.NA != 3 {
			t.Errorf("a block failed: %+v", row)
		}
	}
}

// Swapped sides have the inverse change.
func TestInterleavedSwapped(t *testing.T) {
	a, b := turnsOf(3, 4, 3, .02, .01, .1)
	x, y := sides(a, b), sides(b, a)
	by := map[float64]compare.Row{}
	for _, row := range y.Rows {
		by[*row.Key.Concurrency] = row
	}
	for _, row := range x.Rows {
		other := by[*row.Key.Concurrency]
		if math.Abs((1+row.Change)*(1+other.Change)-1) > 1e-9 || math.Abs(row.P-other.P) > 1e-9 ||
			math.Abs((1+row.Lo)*(1+other.Hi)-1) > 1e-9 {
			t.Errorf("%+v\n%+v", row, other)
		}
	}
	if len(x.All) != 1 || x.All[0].Points != 4 || x.All[0].Blocks != 3 {
		t.Errorf("%+v", x.All)
	}
}

// What is worse is one family, whichever way a metric counts: a rate that falls with three latencies is called
// as they are. Alone in a family of its own it would not be: p of .013 among four.
func TestRatesAreOfTheFamilyOfLatencies(t *testing.T) {
	a, b := turnsOf(1, 1, 2, 0, 0, 0)
	for side, run := range []*schema.Run{&a, &b} {
		for block := range run.Points {
			m := &run.Points[block].Metrics
			for k, name := range []string{"ttft", "tpot", "e2el", "output_tps"} {
				v := 100 * (1 + .01*float64(k+1)*float64(block))
				if worse := 1 + float64(side)*(.5+.06*float64(block)); name == "output_tps" {
					m.Put(schema.Of(name, "mean", v/worse))
				} else {
					m.Put(schema.Of(name, "mean", v*worse))
				}
			}
		}
	}
	for _, row := range sides(a, b).Rows {
		if row.P < .02 || row.P > .1 || row.Outcome() != schema.Regressed {
			t.Errorf("%s: %s, p %g", row.Metric, row.Outcome(), row.P)
		}
	}
}

// Runs that name each other and that were not measured at one time on one machine are compared as runs by themselves,
// and that is said.
func TestNoPairs(t *testing.T) {
	for name, c := range map[string]struct {
		state func(a, b *schema.Run)
		kind  schema.MismatchKind
	}{
		"": {func(a, b *schema.Run) { a.End, b.End = a.Start.Add(time.Hour), b.Start.Add(time.Hour) }, ""},
		"one after the other": {func(a, b *schema.Run) {
			a.End, b.Start = a.Start.Add(time.Hour), b.Start.Add(2*time.Hour)
			b.End = b.Start.Add(time.Hour)
		}, schema.MismatchTimes},
		"two machines": {func(a, b *schema.Run) {
			a.Extra = schema.Unknown{"setting": []byte(`{"host":"lab-1"}`)}
			b.Extra = schema.Unknown{"setting": []byte(`{"host":"lab-2"}`)}
		}, schema.MismatchPlace},
		"one build": {
			func(a, b *schema.Run) { a.Stack.Digest, b.Stack.Digest = "sha256:a", "sha256:a" }, schema.MismatchSame,
		},
	} {
		a, b := turnsOf(1, 10, 4, .05, .005, .05)
		c.state(&a, &b)
		r := sides(a, b)
		if paired := len(r.All) > 0; paired != (c.kind == "") {
			t.Errorf("%s: in turns %v", name, paired)
		}
		if c.kind != "" && (len(r.NoPairs) != 1 || r.NoPairs[0].Kind != c.kind) || c.kind == "" && len(r.NoPairs) > 0 {
			t.Errorf("%s: %+v", name, r.NoPairs)
		}
	}
}
