package words

import (
	"fmt"

	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// openRegression says that a regression of an earlier release is still there: "TTFT mean of llama on n150 at 128/128/8
// is still +12 % …".
func openRegression(l *lint.Lint, d lint.OpenRegression) string {
	where := l.Device
	if l.Model != "" {
		where = OnDevice(l.Model, l.Device) + " at " + l.Subject
	}
	out := fmt.Sprintf("%s of %s is still %s against the level before %s, confirmed ", Metric(d.Metric, d.Stat), where,
		Signed(d.Metric, d.Change), d.Before)
	if d.Confirmed == d.Before {
		out += "there"
	} else {
		out += "in " + d.Confirmed
	}
	out += " and not accepted"
	switch more := d.Points - 1; {
	case len(d.Pairs) > 1:
		out += fmt.Sprintf("; %s of %d models with it", Plural(more, "more point"), len(d.Pairs))
	case more > 0:
		out += "; " + Plural(more, "more point") + " with it"
	}
	return out
}

// stillOpen is the worst regression of an earlier release that is still there, short enough for a headline: where, how
// much, since when; "" for none. Its lint has the rest.
func stillOpen(g *gate.Review) string {
	list := g.OpenRegressions()
	if len(list) == 0 {
		return ""
	}
	l, d := &list[0], list[0].Detail.(lint.OpenRegression)
	where := l.Device
	if l.Model != "" {
		where = OnDevice(l.Model, l.Device) + " at " + Short(l.Subject, inHeadline)
	}
	out := fmt.Sprintf("%s of %s is still %s since %s", Metric(d.Metric, d.Stat), where, Signed(d.Metric, d.Change),
		d.Before)
	if more := len(list) - 1; more > 0 {
		out += fmt.Sprintf("; %d more like it", more)
	}
	return out + "."
}
