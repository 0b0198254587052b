package judge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
)

// fourReleases are v0 to v3; v2 has two runs, of which r2 is on n150 and r4 on n300.
func fourReleases() (*columns.Columns, []judge.Release) {
	c := &columns.Columns{}
	for i := range 5 {
		h := columns.RunHead{ID: fmt.Sprintf("r%d", i), Device: "n150", Model: schema.Model{Name: "M"}}
		if i == 4 {
			h.Device = "n300"
		}
		c.Runs = append(c.Runs, h)
	}
	return c, []judge.Release{
		{Name: "v0", Runs: []int{0}}, {Name: "v1", Runs: []int{1}}, {Name: "v2", Runs: []int{2, 4}},
		{Name: "v3", Runs: []int{3}},
	}
}

func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		view judge.View
		want string
	}{
		{judge.View{}, "v0[0] v1[1] v2[2 4] v3[3]"},
		{judge.View{Run: "r4"}, "v0[0] v1[1] v2[4] v3[3]"},
		{judge.View{Run: "none"}, "v0[0] v1[1] v2[2 4] v3[3]"},
		{judge.View{Baseline: "v0"}, "v0[0] v3[3]"},
		{judge.View{Baseline: "v1", Release: "v2"}, "v0[0] v1[1] v2[2 4]"},
		{judge.View{Baseline: "v0", Run: "r2"}, "v0[0] v2[2]"},
		{judge.View{Baseline: "v3", Release: "v1"}, "v0[0] v1[1] v2[2 4] v3[3]"},
	} {
		cols, list := fourReleases()
		out, err := judge.Narrow(cols, list, c.view)
		var got []string
		for _, r := range out {
			got = append(got, fmt.Sprint(r.Name, r.Runs))
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, %v; want %s", c.view, got, err, c.want)
		}
	}
	cols, list := fourReleases()
	_, err := judge.Narrow(cols, list, judge.View{Baseline: "v9"})
	var unknown *judge.UnknownRelease
	if !errors.As(err, &unknown) || unknown.Name != "v9" || strings.Join(unknown.Newest, " ") != "v3 v2 v1 v0" {
		t.Errorf("%v", err)
	}
}

func TestNewestWith(t *testing.T) {
	cols, list := fourReleases()
	for _, c := range []struct {
		model, device string
		want          int
	}{{"", "", 3}, {"M", "N300", 2}, {"", "n150", 3}, {"other", "", -1}} {
		if got := judge.NewestWith(cols, list, c.model, c.device); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if judge.Named(list, "v1") != 1 || judge.Named(list, "v9") != -1 || judge.WithRun(cols, list, "r4") != 2 {
		t.Error("a release is not found by its name or run")
	}
}
