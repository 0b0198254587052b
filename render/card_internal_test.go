package render

import (
	"fmt"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// The card names the first verdicts that decide, also those whose number has no interval.
func TestCardNamesWhatDecides(t *testing.T) {
	r := emptyReport()
	counts := []gate.Tally{{Kind: gate.FailTarget, N: 4, Fails: true}}
	g := gate.Review{Result: gate.Result{Word: gate.Fail, Counts: counts}}
	for i := range 4 {
		g.Targets = append(g.Targets, schema.Verdict{ID: fmt.Sprint("id", i), Against: schema.AgainstTarget,
			Outcome: schema.Fail, Required: true, Metric: "ttft", Effect: schema.Num(float64(4 - i))})
	}
	if got := fmt.Sprint(r.Card(&g).Decisive); got != "[id0 id1 id2]" {
		t.Error(got)
	}
}

// The newest of all is perhaps only what nothing dates: the card says what put it there.
func TestOrderOfWhatHasNoDate(t *testing.T) {
	dated := judge.Release{Name: "v1", Label: true, Date: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	a, b := judge.Release{Name: "a"}, judge.Release{Name: "b"}
	const how = ". releases: in ttreport.yaml states the order"
	for _, c := range []struct {
		releases []judge.Release
		listed   []judge.Configured
		want     string
	}{
		{[]judge.Release{dated}, nil, ""},
		{[]judge.Release{dated, b}, nil, "nothing dates b: it stands after what is dated" + how},
		{[]judge.Release{dated, a, b}, nil, "nothing dates b: it stands after what is dated; the 2 without a date stand in " +
			"the order of their names, builds in that of their files" + how},
		{[]judge.Release{a, b}, nil, "nothing dates b; the 2 without a date stand in the order of their names, builds in " +
			"that of their files" + how},
		{[]judge.Release{b}, nil, ""},
		{[]judge.Release{dated, b}, []judge.Configured{{Name: "b"}}, ""},
	} {
		r := &Report{Input: Input{Gate: &gate.Gate{Listed: c.listed}}, Releases: c.releases}
		if got := r.orderText(len(c.releases) - 1); got != c.want {
			t.Errorf("%+v: %q, want %q", c.releases, got, c.want)
		}
	}
}
