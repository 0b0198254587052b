package regression_test

import (
	"context"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// Budget: 10^5 cells over 10 releases in a second on two cores.
func BenchmarkJudge(b *testing.B) {
	sizes := map[string][2]int{"cells=1e4,releases=50": {10000, 50}, "cells=1e5,releases=10": {100000, 10}}
	for name, size := range sizes {
		b.Run(name, func(b *testing.B) {
			tab := history(.05, quiet(1, size[0], size[1], .01)...)
			tab.Strata = 20
			for i := range tab.Cells {
				tab.Cells[i].Stratum, tab.Cells[i].Point = int32(i%20), int32(i/4)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := regression.Judge(context.Background(), tab, regression.DefaultRules()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
