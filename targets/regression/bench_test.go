package regression

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

func big(cells, releases int) *Table {
	r := rand.New(rand.NewPCG(1, 2))
	t := &Table{Strata: 20}
	for range releases {
		t.Releases = append(t.Releases, Release{Joins: true})
	}
	for c := range cells {
		first := int32(len(t.Obs))
		for rel := range releases {
			t.Obs = append(t.Obs, Obs{Release: int32(rel), Z: 3 + .01*r.NormFloat64(), K: 1})
		}
		t.Cells = append(t.Cells, Cell{Stratum: int32(c % 20), Point: int32(c / 4), First: first, End: int32(len(t.Obs)), Delta: math.Log(1.05)})
	}
	return t
}
func BenchmarkJudge50(b *testing.B) {
	t := big(10000, 50)
	for b.Loop() {
		Judge(context.Background(), t, DefaultRules())
	}
}
func BenchmarkJudge10(b *testing.B) {
	t := big(100000, 10)
	for b.Loop() {
		Judge(context.Background(), t, DefaultRules())
	}
}
