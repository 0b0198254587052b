package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// hall is a history of twelve workloads whose device changes by a step in every release, and whose numbers vary by 1 %.
func hall(seed uint64, releases int, step func(r *rand.Rand) float64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 5))
	level := 0.
	var out [][]float64
	for range releases {
		var row []float64
		for w := range 12 {
			row = append(row, 100*float64(w+1)*math.Exp(level+.01*r.NormFloat64()))
		}
		out = append(out, row)
		level += step(r)
	}
	return out
}

// A device that becomes .5 % slower with every release is one drift, by the median of its numbers.
func TestCreepIsOneDrift(t *testing.T) {
	for seed := range uint64(5) {
		values := hall(seed, 20, func(*rand.Rand) float64 { return .005 })
		j := judged(t, judgetest.History{TTFT: values}.Columns(), nil)
		list := j.LargeDrifts(19)
		if len(list) != 1 || list[0].Cells != 12 || math.Abs(list[0].Effect-.005) > .0015 {
			t.Errorf("seed %d: %+v", seed, list)
		}
	}
}

// A device that wanders by 1 % from week to week has no drift in most weeks.
func TestWanderingIsNoDrift(t *testing.T) {
	weeks := 0
	for seed := range uint64(5) {
		values := hall(seed, 52, func(r *rand.Rand) float64 { return .01 * r.NormFloat64() })
		j := judged(t, judgetest.History{TTFT: values}.Columns(), nil)
		for r := range values {
			if len(j.LargeDrifts(r)) > 0 {
				weeks++
			}
		}
	}
	if weeks > 5*5 {
		t.Errorf("drifts in %d of 5 x 52 weeks", weeks)
	}
	t.Logf("%d of 260 weeks", weeks)
}
