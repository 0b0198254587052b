package regression

import (
	"context"
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A device that moves together by a little less than what matters has a name of its own, and is not called unchanged.
func TestBelowLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	tab := &Table{Strata: 1}
	const releases, cells = 9, 60
	for range releases {
		tab.Releases = append(tab.Releases, Release{Joins: true})
	}
	for c := range cells {
		cell := Cell{System: int32(c / 20), Point: int32(c), First: int32(len(tab.Obs)), Delta: math.Log1p(.05)}
		for rel := range releases {
			z := .01 * r.NormFloat64()
			if rel == releases-1 {
				z += math.Log1p(.042)
			}
			tab.Obs = append(tab.Obs, Obs{Release: int32(rel), Z: z, K: 1})
		}
		cell.End = int32(len(tab.Obs))
		tab.Cells = append(tab.Cells, cell)
	}
	j, err := Judge(context.Background(), tab, DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range j.Findings {
		if f.Release == releases-1 && f.Kind == OfDeviceMetric {
			found = true
			if f.Word != schema.BelowLimit ||
				f.Evidence != schema.Suspected || math.Abs(f.D-math.Log1p(.042)) > .01 {
				t.Errorf("shift: %+v", f)
			}
		}
	}
	if !found {
		t.Error("no finding of the shift")
	}
}

// The median by selection is that of the sorted values, with ties, infinities and every length.
func TestMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for n := range 200 {
		v := make([]float64, n)
		for i := range v {
			if v[i] = float64(r.IntN(20)); r.IntN(10) == 0 {
				v[i] = math.Inf(1)
			}
		}
		want := math.NaN()
		if s := slices.Sorted(slices.Values(v)); len(s) > 0 {
			want = (s[(len(s)-1)/2] + s[len(s)/2]) / 2
		}
		if got := Median(v); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%d values: %v, want %v", n, got, want)
		}
	}
}
