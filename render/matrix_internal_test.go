package render

import (
	"testing"
)

// Where there are too many models on devices for all that is known of each, a cell has how much slower what is still
// open made it, or the sign of its decision, and both lead to its page; a head leads to the model.
func TestHeat(t *testing.T) {
	t.Parallel()
	r := movedReport(t, "vllm")
	pairs := r.shown
	list := r.heat(pairs, nil)
	if list.Layout != Heat || len(list.Rows) != 1 || len(list.Cols) != 2 {
		t.Fatalf("%+v", list)
	}
	pair := pairs[0]
	cell := list.Rows[0].Cells[1]
	if list.Cols[1].Href != ModelPath(pair.Model) || cell.Href != PairPath(pair.Model, pair.Device) || cell.Text == "" {
		t.Errorf("heads %+v, cell %+v", list.Cols, cell)
	}
}

// Names are cut where they are alike, at whole parts, and never to nothing.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		names         []string
		before, after string
	}{
		{[]string{"model-000-instruct", "model-001-instruct"}, "model-", "-instruct"},
		{[]string{"llama-8b", "llama-70b"}, "llama-", ""},
		{[]string{"a-b", "a-b-a-b"}, "a-", "-b"},
		{[]string{"m1", "m2"}, "", ""},
		{[]string{"org/é-x", "org/è-x"}, "org/", "-x"},
		{[]string{"same"}, "", ""},
		{[]string{"", "x"}, "", ""},
	} {
		if before, after := alike(c.names); before != c.before || after != c.after {
			t.Errorf("%v: %q and %q", c.names, before, after)
		}
	}
}
