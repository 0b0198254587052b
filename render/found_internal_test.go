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

// The page of a run has the lines by time of more points than a table shows: the drawer of each finds them there.
func TestCourseOfManyPoints(t *testing.T) {
	run := &schema.Run{}
	for range 48 {
		var p schema.Point
		for _, name := range []string{"ttft", schema.GaugeWaiting} {
			p.Slices.Series = append(p.Slices.Series, schema.SliceOf{Name: name, Values: []float64{1, 2}})
		}
		run.Points = append(run.Points, p)
	}
	rows := courseSection(run).Blocks[0].(*Table).Rows
	if last := rows[len(rows)-1].Cells[0].Text; last != fmt.Sprint(len(run.Points)) {
		t.Errorf("the last of %d rows is of point %s", len(rows), last)
	}
}
