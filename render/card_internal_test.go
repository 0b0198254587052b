package render

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// Whiskers of two models or devices say which each is of; those of one leave it to the sentence above.
func TestWhiskersNameTheirSystem(t *testing.T) {
	one := []Whisker{{Of: "a on n150"}, {Of: "a on n150"}}
	two := []Whisker{{Of: "a on n150"}, {Of: "a on t3k"}, {Of: "a on n150"}}
	nameSystems(nil)
	nameSystems(one)
	nameSystems(two)
	if one[0].Of != "" || one[1].Of != "" {
		t.Errorf("one system is named at each: %+v", one)
	}
	if two[0].Of != "a on n150" || two[1].Of != "a on t3k" || two[2].Of == "" {
		t.Errorf("two systems are not told apart: %+v", two)
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
