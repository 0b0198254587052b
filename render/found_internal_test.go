package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// What is not stated of points is named, with the flag that states it.
func TestUnnamedPoints(t *testing.T) {
	for _, x := range []struct {
		n             int
		model, device bool
		want          string
	}{
		{1, false, true, "which device 1 point is of. … --device NAME PATH"},
		{1, true, false, "which model 1 point is of. … --model NAME PATH"},
		{3, true, true, "which model and device 3 points are of. … --model NAME --device NAME PATH"},
	} {
		e := unnamedPoints(x.n, x.model, x.device)
		if got := e.What + ". … " + e.Cmd; got != strings.Replace("Nothing states "+x.want, "… ", "… ttreport build ", 1) {
			t.Errorf("%+v: %s", x, got)
		}
	}
}

// A run has a row a point, with pictures of what happened by time beside its numbers; what all points share is said
// once, and each source of what is known once.
func TestPointsOfARun(t *testing.T) {
	run := &schema.Run{Release: "v1", Impl: "x", Provenance: map[string]schema.Origin{
		"release": {From: "manifest", Where: "a.yaml"}, "impl": {From: "manifest", Where: "a.yaml"},
		"model.id": {From: "file", Where: "b.json"},
	}}
	run.Model.ID = "acme/m"
	for i := range 60 {
		p := schema.Point{Status: schema.StatusOK, Slices: schema.Slices{Step: 2},
			Conditions: map[string]string{"seed": fmt.Sprint(i), "endpoint": "chat"}}
		for _, name := range []string{schema.GaugeWaiting, "ttft"} {
			p.Slices.Series = append(p.Slices.Series, schema.SliceOf{Name: name, Values: []float64{1, 2}})
		}
		run.Points = append(run.Points, p)
	}
	s := pointSection(run)
	tab := s.Blocks[0].(*Table)
	var heads []string
	for _, c := range tab.Cols[2:] {
		heads = append(heads, c.Head)
	}
	if got := strings.Join(heads, ", "); got != "Over, TTFT by time, Queue by time, Conditions" {
		t.Errorf("columns %s", got)
	}
	last := tab.Rows[59].Cells
	if len(tab.Rows) != 60 || last[2].Text != "4.00" || last[3].Spark == nil || last[3].Sub != "1.00 to 2.00" ||
		last[5].Text != "seed 59" {
		t.Errorf("the last of %d rows is %+v", len(tab.Rows), last)
	}
	if !strings.HasSuffix(s.Intro, allPoints+"endpoint chat.") {
		t.Errorf("of all points: %s", s.Intro)
	}
	var groups []string
	for _, r := range identityTable(run, CommitLinks{}, false).Rows {
		if r.Group != "" {
			groups = append(groups, r.Group)
		}
	}
	want := "Known from manifest: a.yaml, Known, and nothing says from where, Known from file: b.json, " + notStated
	if got := strings.Join(groups, ", "); got != want {
		t.Errorf("sources\n%s\nwant\n%s", got, want)
	}
}
