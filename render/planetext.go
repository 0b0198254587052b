package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/render/words"
)

// chipsDiffer reports whether a device was measured with other numbers of chips, too.
func (p *Plane) chipsDiffer(l *PlaneLine) bool {
	return l.Chips > 0 && slices.ContainsFunc(p.Lines, func(o PlaneLine) bool {
		return o.Device == l.Device && o.Chips != l.Chips
	})
}

// name gives each line the parts of its configuration in which lines differ.
func (p *Plane) name() {
	differs := func(of func(*PlaneLine) string) bool {
		return slices.ContainsFunc(p.Lines, func(l PlaneLine) bool { return of(&l) != of(&p.Lines[0]) })
	}
	parts := []func(*PlaneLine) string{
		func(l *PlaneLine) string { return l.Impl }, func(l *PlaneLine) string { return l.Engine },
		func(l *PlaneLine) string { return l.Precision }, func(l *PlaneLine) string { return l.Parallel },
		func(l *PlaneLine) string { return l.Tool },
	}
	var used []func(*PlaneLine) string
	for _, of := range parts {
		if differs(of) {
			used = append(used, of)
		}
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		list := []string{l.Device}
		for _, of := range used {
			if s := of(l); s != "" {
				list = append(list, s)
			}
		}
		if p.chipsDiffer(l) {
			list = append(list, words.Plural(l.Chips, "chip"))
		}
		l.Name = strings.Join(list, ", ")
	}
}

// headline says which device serves a model best within the limit that is drawn first.
func (p *Plane) headline() string {
	best := p.ranked()
	if len(best) == 0 {
		return p.most()
	}
	text := fmt.Sprintf("%s on %s: %s serves %s", p.Limits[p.Limit].Text, p.Model, best[0].line.Name,
		best[0].serves(" tok/s"))
	for _, b := range best[1:] { // another device says more than another setting of the same one
		if b.line.Device != best[0].line.Device {
			return text + fmt.Sprintf(" and %s %s.", b.line.Name, b.serves(""))
		}
	}
	if len(best) > 1 {
		return text + fmt.Sprintf(" and %s %s.", best[1].line.Name, best[1].serves(""))
	}
	return text + "."
}

// most names the highest output that was measured, where no limit lies between two points.
func (p *Plane) most() string {
	var top *PlaneLine
	var at PlanePoint
	for i := range p.Lines {
		for _, x := range p.Lines[i].Points {
			if top == nil || *x.Values[planeOutput] > *at.Values[planeOutput] {
				top, at = &p.Lines[i], x
			}
		}
	}
	return fmt.Sprintf("%s: the highest output is %s tok/s, on %s at %s.", p.Model, words.Number(*at.Values[planeOutput]),
		top.Name, loadText(at.Load))
}

// loadsText names two loads: "concurrency 32 and 64", "10 and 20 req/s".
func loadsText(loads *[2]string) string {
	if strings.HasSuffix(loads[0], perSecond) {
		return strings.TrimSuffix(loads[0], perSecond) + " and " + loadText(loads[1])
	}
	return loadText(loads[0]) + " and " + loads[1]
}

func loadText(load string) string {
	if strings.HasSuffix(load, "/s") {
		return strings.TrimSuffix(load, "/s") + " req/s"
	}
	return "concurrency " + load
}
