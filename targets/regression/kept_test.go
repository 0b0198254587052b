package regression_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// judgedOn judges a history, going on from what was kept, and returns everything that came of it as text: every bit of
// a number counts, and no number is unlike itself.
func judgedOn(t *testing.T, tab *regression.Table, k *regression.Keeping) string {
	t.Helper()
	j, err := regression.JudgeOn(context.Background(), tab, regression.DefaultRules(), k)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%v", *j)
}

// A history that grows release by release, each judged from where the last one was, is judged as the history that is
// judged at once.
func TestGoingOnIsJudgingAtOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		whole := eventful(seed, 96, 24)
		if seed > 0 {
			wandering(whole)
		}
		var kept bytes.Buffer
		for upTo := range int32(24) {
			tab := upToRelease(whole, upTo)
			k := &regression.Keeping{From: bytes.Clone(kept.Bytes()), Keep: &kept}
			kept.Reset()
			if got, want := judgedOn(t, tab, k), judgedOn(t, tab, nil); got != want {
				t.Fatalf("seed %d, release %d: going on from %d gives\n%.2000s\nat once\n%.2000s", seed, upTo, k.Began, got,
					want)
			}
			if upTo > 1 && k.Began != int(upTo)-1 {
				t.Fatalf("release %d: it went on from %d", upTo, k.Began)
			}
		}
	}
}

// wandering makes systems and strata move as a whole now and then, and gives people's decisions and other conditions.
func wandering(tab *regression.Table) {
	for c := range tab.Cells {
		cell := &tab.Cells[c]
		for i := cell.First; i < cell.End; i++ {
			o := &tab.Obs[i]
			if o.Release > 12 {
				o.Z += .08 * float64(cell.Stratum)
			}
			if c%6 == 1 && o.Release%4 == 3 { // some cells stray far more often than others
				o.Z += .15
			}
			if o.Release > 18 {
				o.Z += .07 * float64(cell.System%2)
			}
			o.Accept = c%7 == 0 && o.Release == 13
			o.Pin = c%11 == 0 && o.Release == 9
			o.Dismiss = c%5 == 0 && o.Release == 19
			if c%13 == 0 {
				o.Cond = o.Release / 20
			}
		}
	}
}

// What was kept has no effect when anything that was judged is other than it was, and when a byte of it is damaged.
func TestKeptIsNotBelieved(t *testing.T) {
	t.Parallel()
	base := func() *regression.Table { return upToRelease(eventful(3, 80, 16), 15) }
	var first bytes.Buffer
	judgedOn(t, upToRelease(base(), 13), &regression.Keeping{Keep: &first})
	kept := first.Bytes()
	changes := map[string]func(*regression.Table){
		"a value":     func(x *regression.Table) { x.Obs[x.Cells[7].First+3].Z += 1e-9 },
		"a run more":  func(x *regression.Table) { x.Obs[x.Cells[7].First+3].K2++ },
		"a pin":       func(x *regression.Table) { x.Obs[x.Cells[7].First+3].Pin = true },
		"acceptance":  func(x *regression.Table) { x.Obs[x.Cells[7].First+3].Accept = true },
		"a dismissal": func(x *regression.Table) { x.Obs[x.Cells[7].First+3].Dismiss = true },
		"what matters": func(x *regression.Table) {
			x.Cells[7].Delta = .02
		},
		"a channel": func(x *regression.Table) {
			x.Releases = append([]regression.Release(nil), x.Releases...)
			x.Releases[3].Joins = false
		},
		"a host": func(x *regression.Table) {
			x.Hosts[regression.Measured{Release: 2, System: 1}] = regression.Hosts{First: 9}
		},
		"a series less": func(x *regression.Table) {
			x.Cells = x.Cells[:len(x.Cells)-1]
		},
		"a release less": func(x *regression.Table) { *x = *upToRelease(x, 9) },
	}
	for name, change := range changes {
		tab := base()
		change(tab)
		k := &regression.Keeping{From: kept}
		if got, want := judgedOn(t, tab, k), judgedOn(t, tab, nil); got != want || k.Began != 0 {
			t.Errorf("%s: it goes on from %d, same %v", name, k.Began, got == want)
		}
	}
	tab := upToRelease(eventful(3, 16, 10), 9) // it is judged two hundred times
	var small bytes.Buffer
	judgedOn(t, upToRelease(tab, 7), &regression.Keeping{Keep: &small})
	kept = small.Bytes()
	going, want := &regression.Keeping{From: kept}, judgedOn(t, tab, nil)
	if got := judgedOn(t, tab, going); got != want || going.Began == 0 {
		t.Errorf("undamaged: it goes on from %d, same %v", going.Began, got == want)
	}
	for at := 0; at < len(kept); at += 1 + len(kept)/97 {
		bad := append([]byte(nil), kept...)
		bad[at] ^= 4
		for _, from := range [][]byte{bad, kept[:at]} {
			k := &regression.Keeping{From: from}
			if got := judgedOn(t, tab, k); got != want || k.Began != 0 {
				t.Fatalf("damaged at %d of %d: it goes on from %d", at, len(kept), k.Began)
			}
		}
	}
}
