package render

import "testing"

// What the card of a change offers is not offered again beside the decision; the acceptance of a target is.
func TestWaysOfAChangeAreSaidOnce(t *testing.T) {
	t.Parallel()
	c := ChangeCard{ID: changeAnchor("e272c83ee2a5"), Ways: []Way{{What: findCommit, Cmd: "ttreport bisect"}}}
	for _, x := range []struct {
		way Way
		has bool
	}{
		{Way{What: acceptIt, Cmd: accepting("v2", "--change", "e272c83ee2a5")}, true},
		{Way{What: acceptIt, Cmd: accepting("v2", "--change", "33d7dc207432")}, false},
		{Way{What: acceptIt, Cmd: accepting("v2", "--verdict", "b1", "--until", "YYYY-MM-DD")}, false},
		{Way{What: findCommit, Cmd: "ttreport bisect b1"}, true},
		{Way{What: measureAgain, Cmd: "ttreport collect"}, false},
	} {
		if c.has(x.way) != x.has {
			t.Errorf("%s: %v, want %v", x.way.Cmd, !x.has, x.has)
		}
	}
}
