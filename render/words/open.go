package words

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// openRegression says that a regression of an earlier release is still there, by its worst number: "TTFT mean of llama
// on n150 at 128/128/8 is still +12 % …".
func openRegression(l *lint.Lint, d lint.OpenRegression) string {
	if len(d.Worst) == 0 {
		return "A regression of an earlier release is still there and not accepted"
	}
	w := &d.Worst[0]
	out := fmt.Sprintf("%s is still %s against the level before %s, confirmed ", openNumber(w, 0),
		Signed(w.Metric, w.Change), d.Before)
	if w.Largest != "" {
		out = strings.TrimSuffix(out, ", confirmed ") + ", most of it since " + w.Largest + "; confirmed "
	}
	if d.Confirmed == d.Before {
		out += "there"
	} else {
		out += "in " + d.Confirmed
	}
	out += " and not accepted"
	more := -1
	for i := range d.Worst {
		more += d.Worst[i].Points
	}
	switch {
	case len(d.Worst) > 1:
		out += fmt.Sprintf("; %s of %d models on %s with it", Plural(more, "more point"), len(d.Worst), l.Device)
	case more > 0:
		out += "; " + Plural(more, "more point") + " with it"
	}
	return out
}

// openNumber names a number: a metric, where, and the workload, in up to most letters unless that is 0.
func openNumber(n *lint.OpenNumber, most int) string {
	load := n.Workload
	if most > 0 {
		load = Short(load, most)
	}
	return fmt.Sprintf("%s of %s at %s", Metric(n.Metric, n.Stat), OnDevice(n.Model, n.Device), load)
}

// stillOpen is the worst regression of an earlier release that is still there, short enough for a headline: where, how
// much, since when, and how many models and devices have one as well; "" for none. Its lint has the rest.
func stillOpen(g *gate.Review) string {
	list := g.OpenRegressions()
	more := -1
	for i := range list {
		more += len(list[i].Detail.(lint.OpenRegression).Worst)
	}
	if more < 0 {
		return ""
	}
	d := list[0].Detail.(lint.OpenRegression)
	w := &d.Worst[0]
	out := fmt.Sprintf("%s is still %s since %s", openNumber(w, inHeadline), Signed(w.Metric, w.Change), d.Before)
	if w.Largest != "" {
		out += ", most of it since " + w.Largest
	}
	if more > 0 {
		out += fmt.Sprintf("; %d more like it", more)
	}
	return out + "."
}
