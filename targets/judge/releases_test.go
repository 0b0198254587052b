package judge_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// names are those of releases in order; "build" for one without a label.
func names(list []judge.Release) string {
	var out []string
	for _, r := range list {
		if r.Label {
			out = append(out, r.Name)
		} else {
			out = append(out, "build")
		}
	}
	return strings.Join(out, " ")
}

// threeReleases are v0.9.0, v0.10.0 and v0.11.0, and a build without a release.
func threeReleases() *columns.Columns {
	return build(
		run{release: "v0.10.0", start: judgetest.Day(5), key: judgetest.Key(1), ttft: []float64{11}},
		run{release: "v0.9.0", start: judgetest.Day(5), key: judgetest.Key(1), ttft: []float64{10}},
		run{release: "v0.11.0", start: judgetest.Day(1), key: judgetest.Key(1), ttft: []float64{12}},
		run{start: judgetest.Day(3), key: judgetest.Key(1), ttft: []float64{50}},
	)
}

func listedReleases() []judge.Configured {
	return []judge.Configured{
		{Name: "v0.9.0", Date: judgetest.Day(1)}, {Name: "v0.10.0", Date: judgetest.Day(2)},
		{Name: "v0.11.0", Date: judgetest.Day(4)},
	}
}

func TestReleaseOrder(t *testing.T) {
	c := threeReleases()
	if got := names(judge.Releases(c, nil)); got != "v0.11.0 build v0.9.0 v0.10.0" {
		t.Error(got)
	}
	rel := judge.Releases(c, listedReleases())
	if got := names(rel); got != "v0.9.0 v0.10.0 build v0.11.0" {
		t.Error(got)
	}
	if rel[2].Channel != schema.ChannelDev || rel[1].Channel != schema.ChannelRelease {
		t.Errorf("channels %+v", rel)
	}
}

// A build without a release serves no release as a baseline.
func TestBuildsAreNoBaseline(t *testing.T) {
	c := threeReleases()
	j, err := judge.New(context.Background(), c, judge.Releases(c, listedReleases()), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, v := range j.History(3) {
		if v.Metric != "ttft" {
			continue
		}
		found++
		if ref, _ := v.Ref.Get(); math.Abs(ref-math.Sqrt(110)) > 1e-9 || v.Baseline != "v0.10.0" {
			t.Errorf("a build served as a release's baseline: %+v", v)
		}
		if e, _ := v.Effect.Get(); math.Abs(e-(12/math.Sqrt(110)-1)) > 1e-9 {
			t.Errorf("effect %v: positive is worse", e)
		}
	}
	for _, v := range j.History(0) {
		if v.Metric == "ttft" {
			found++
			if v.Outcome != schema.NoBaseline || change(t, v).Why != schema.WhyNoBaseline {
				t.Errorf("%+v", v)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d verdicts on TTFT", found)
	}
}

// Listed releases stand as listed, and the others follow those that are older, in one order for all, every time.
func TestPartOfTheReleasesListed(t *testing.T) {
	c := judgetest.History{TTFT: judgetest.Steady(5)}.Columns()
	for _, x := range []struct{ listed, want string }{
		{"v2 v0", "v2 v0 v1 v3 v4"},
		{"v0 v2", "v0 v1 v2 v3 v4"},
		{"v4 v1", "v0 v4 v1 v2 v3"}, // the date of v4 is wrong: only its own place is by the list
		{"v3 v1 v2", "v0 v3 v1 v2 v4"},
		{"v4", "v0 v1 v2 v3 v4"},
	} {
		var listed []judge.Configured
		for _, name := range strings.Fields(x.listed) {
			listed = append(listed, judge.Configured{Name: name})
		}
		for range 20 {
			if got := names(judge.Releases(c, listed)); got != x.want {
				t.Fatalf("%s listed: %s, want %s", x.listed, got, x.want)
			}
		}
	}
}

// A release without a date is last of those that nobody listed, and puts no other one before an older one.
func TestReleasesWithoutADate(t *testing.T) {
	c := judgetest.History{TTFT: judgetest.Steady(3)}.Columns()
	c.Runs[0].Start = time.Time{}
	if got := names(judge.Releases(c, []judge.Configured{{Name: "v0"}, {Name: "v1"}})); got != "v0 v1 v2" {
		t.Errorf("v0 has no date and is listed before v1: %s", got)
	}
	c = judgetest.History{TTFT: judgetest.Steady(3)}.Columns()
	c.Runs[2].Start = time.Time{}
	if rel := judge.Releases(c, nil); rel[2].Name != "v2" {
		t.Errorf("a run without a start stands before those that have one: %s", rel[2].Name)
	}
	c.Runs[2].Start, c.Runs[0].Start = c.Runs[0].Start, time.Time{}
	if rel := judge.Releases(c, nil); names(rel) != "v2 v1 v0" {
		t.Errorf("a run without a start stands before those that have one: %s", names(rel))
	}
}

func TestNaturalOrder(t *testing.T) {
	for _, c := range [][2]string{{"v0.9.0", "v0.10.0"}, {"a2", "a10"}, {"a", "b"}, {"v1", "v1.1"}} {
		if schema.NaturalCompare(c[0], c[1]) >= 0 || schema.NaturalCompare(c[1], c[0]) < 0 {
			t.Errorf("%s is not before %s", c[0], c[1])
		}
	}
	if schema.NaturalCompare("v01", "v1") == 0 || schema.NaturalCompare("v1", "v1") != 0 {
		t.Error("only equal names are equal")
	}
}

// Several models of one file without a date are one build; a file that has the same model twice was written again, and
// its folder says nothing of builds.
func TestBuildsOfFoldersWithoutDates(t *testing.T) {
	run := func(id, model, file string) columns.RunHead {
		return columns.RunHead{ID: id, First: file, Model: schema.Model{Name: model}, Device: "n150"}
	}
	for name, c := range map[string]struct {
		runs []columns.RunHead
		want int
	}{
		"one file of two models": {[]columns.RunHead{run("1", "a", "x/t.csv"), run("2", "b", "x/t.csv")}, 1},
		"two files of a folder":  {[]columns.RunHead{run("1", "a", "x/a.json"), run("2", "b", "x/b.json")}, 1},
		"two files of one model": {[]columns.RunHead{run("1", "a", "x/a-1.json"), run("2", "a", "x/a-2.json")}, 2},
		"two folders":            {[]columns.RunHead{run("1", "a", "x/a.json"), run("2", "b", "y/b.json")}, 2},
		"a file that was written again": {[]columns.RunHead{
			run("1", "a", "x/a.json"), run("2", "a", "x/a.json"), run("3", "b", "x/b.json"),
		}, 3},
		"nothing says where a result is": {[]columns.RunHead{run("1", "a", ""), run("2", "b", "")}, 2},
	} {
		if got := judge.Releases(&columns.Columns{Runs: c.runs}, nil); len(got) != c.want {
			t.Errorf("%s: %d builds, want %d", name, len(got), c.want)
		}
	}
}
