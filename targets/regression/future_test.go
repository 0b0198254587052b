package regression_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// What is said of a release does not depend on later ones: rows but for their follow-up, findings and levels. The
// history has steps that stay, steps that go, re-runs that agree and that do not, and hosts that change.
func TestHistoryUpToARelease(t *testing.T) {
	whole := eventful(5, 160, 26)
	all, err := regression.Judge(context.Background(), whole, regression.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	for upTo := 4; upTo < 26; upTo++ {
		tab := upToRelease(whole, int32(upTo))
		j, err := regression.Judge(context.Background(), tab, regression.DefaultRules())
		if err != nil {
			t.Fatal(err)
		}
		for c := range tab.Cells {
			for i := range tab.Cells[c].End - tab.Cells[c].First {
				a, b := tab.Cells[c].First+i, whole.Cells[c].First+i
				if x, y := said(&j.Rows[a]), said(&all.Rows[b]); x != y {
					t.Fatalf("cell %d, release %d of %d: %+v, later %+v", c, i, upTo, x, y)
				}
				if x, y := j.Excluded(tab, a, int32(upTo)), all.Excluded(whole, b, int32(upTo)); x != y {
					t.Fatalf("cell %d, release %d: excluded in %d %v, later %v", c, i, upTo, x, y)
				}
			}
		}
	}
}

// said is what a page shows of a row, without its follow-up.
func said(r *regression.Row) [6]any {
	return [6]any{r.Word, r.Evidence, r.Why, r.N, r.First, !math.IsNaN(r.D) && r.D > 0}
}

// eventful is a history in which most of what can happen does.
func eventful(seed uint64, cells, releases int) *regression.Table {
	r := rand.New(rand.NewPCG(seed, 7))
	tab := &regression.Table{Strata: 2}
	for k := range releases {
		tab.Releases = append(tab.Releases, regression.Release{Joins: k%9 != 8})
	}
	for c := range cells {
		level := 0.
		cell := regression.Cell{
			Stratum: int32(c % 2), System: int32(c % 4), Point: int32(c / 2), First: int32(len(tab.Obs)), Delta: .05,
		}
		for k := range releases {
			if r.Float64() < .06 {
				level += .08 * r.NormFloat64()
			}
			z := level + .01*r.NormFloat64()
			if r.Float64() < .05 {
				z += .1
			}
			o := regression.Obs{Release: int32(k), Z: z, K: 1, Host: int16(1 + k%5/4)}
			if r.Float64() < .2 {
				o.Z2, o.K2, o.Host2 = level+.01*r.NormFloat64(), 1, 1
			}
			tab.Obs = append(tab.Obs, o)
		}
		cell.End = int32(len(tab.Obs))
		tab.Cells = append(tab.Cells, cell)
	}
	return tab
}

// upToRelease is a history without its later releases.
func upToRelease(of *regression.Table, last int32) *regression.Table {
	out := &regression.Table{Strata: of.Strata, Releases: of.Releases[:last+1]}
	for _, c := range of.Cells {
		first := int32(len(out.Obs))
		for i := c.First; i < c.End && of.Obs[i].Release <= last; i++ {
			out.Obs = append(out.Obs, of.Obs[i])
		}
		c.First, c.End = first, int32(len(out.Obs))
		out.Cells = append(out.Cells, c)
	}
	return out
}
