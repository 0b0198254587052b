package lint_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// share is failed requests of so many.
type share struct{ failed, of float64 }

// failing is a run of a release with a workload for each share.
func failing(name string, list ...share) release {
	r := release{head: columns.RunHead{ID: name, Release: name}}
	for i, s := range list {
		r.points = append(r.points, point{key("vllm", float64(i+1)), with(values{
			"requests_failed/value": s.failed, "requests_ok/value": s.of - s.failed})})
	}
	return r
}

// moreFailures compares the runs of a release with those of the one before.
func moreFailures(before release, now ...release) *lint.Lint {
	runs := []int{}
	for i := range now {
		runs = append(runs, i+1)
	}
	for _, l := range lint.Release(build(append([]release{before}, now...)...), "v2", runs, slices.Values([][]int{{0}})) {
		if l.ID == "more-failures" {
			return &l
		}
	}
	return nil
}

// Failures that a release has and the one before had not, and those that say nothing.
func TestMoreFailures(t *testing.T) {
	none := share{0, 1000}
	for name, c := range map[string]struct {
		before share
		now    []share // by run
		want   bool
	}{
		"40 of 1,000, and none before":      {none, []share{{40, 1000}}, true},
		"seen twice":                        {none, []share{{40, 1000}, {25, 1000}}, true},
		"a second run has none":             {none, []share{{40, 1000}, none}, false},
		"a second run has few":              {none, []share{{40, 1000}, {5, 1000}}, false},
		"half a percent":                    {none, []share{{5, 1000}}, false},
		"as many as before":                 {share{38, 1000}, []share{{40, 1000}}, false},
		"fewer than before":                 {share{40, 1000}, []share{none}, false},
		"a server beyond its limit":         {share{450, 1000}, []share{{530, 1000}}, false},
		"2 %, then 5 %":                     {share{20, 1000}, []share{{50, 1000}}, true},
		"three of eight, which chance does": {share{0, 8}, []share{{3, 8}}, false},
		"seven of eight":                    {share{0, 8}, []share{{7, 8}}, true},
	} {
		var runs []release
		for i, s := range c.now {
			runs = append(runs, failing(string(rune('a'+i)), s))
		}
		l := moreFailures(failing("v1", c.before), runs...)
		if (l != nil) != c.want {
			t.Errorf("%s: found is %v", name, l != nil)
		}
		if l != nil && (l.Severity != schema.SevError || l.Run != "a" || l.Detail.(lint.MoreFailures).Before != "v1") {
			t.Errorf("%s: %+v", name, *l)
		}
	}
}

// A workload that the release before left out is compared with the last one that measured it.
func TestMoreFailuresThanWhenLastMeasured(t *testing.T) {
	c := build(failing("v1", share{0, 1000}), failing("v2"), failing("v3", share{40, 1000}))
	for _, l := range lint.Release(c, "v3", []int{2}, slices.Values([][]int{{1}, {0}})) {
		if l.ID == "more-failures" {
			if d := l.Detail.(lint.MoreFailures); d.Before != "v1" || d.OfBefore != 1000 {
				t.Errorf("%+v", d)
			}
			return
		}
	}
	t.Error("not found")
}

// A release that fails as the one before, with two hundred workloads of one failure in fifty: one in a hundred such
// releases has a finding at most.
func TestMoreFailuresByChance(t *testing.T) {
	const releases, workloads, requests, rate = 300, 200, 100, .02
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(name string) release {
		list := make([]share, workloads)
		for i := range list {
			list[i].of = requests
			for range requests {
				if rng.Float64() < rate {
					list[i].failed++
				}
			}
		}
		return failing(name, list...)
	}
	found := 0
	for range releases {
		if moreFailures(draw("v1"), draw("v2")) != nil {
			found++
		}
	}
	if found > 3 {
		t.Errorf("%d of %d releases", found, releases)
	}
}
