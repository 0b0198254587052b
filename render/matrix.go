package render

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
)

// matrix is one row a model, one column a device; a cell says the decision on its newest release.
func (r *Report) matrix() *Table {
	var devices []string
	pairs, _ := r.listed()
	for _, p := range pairs {
		if !slices.Contains(devices, p.Device) {
			devices = append(devices, p.Device)
		}
	}
	slices.SortStableFunc(devices, func(a, b string) int { return r.Devices.place(a) - r.Devices.place(b) })
	const most = 12 // more devices than this make a list instead of a matrix
	if len(devices) > most {
		return r.pairList()
	}
	t := &Table{Caption: "Models by device", Class: "matrix", Cols: []Col{{Head: "Model"}}}
	for _, d := range devices {
		t.Cols = append(t.Cols, Col{Head: nameOr(d)})
	}
	rows := map[string]*Row{}
	var order []string
	for _, p := range pairs {
		if rows[p.Model] == nil {
			rows[p.Model] = &Row{Cells: make([]Cell, len(devices)+1)}
			rows[p.Model].Cells[0] = Cell{Text: nameOr(p.Model), Head: true, Href: PairPath(p.Model, p.Device)}
			for i := range devices {
				rows[p.Model].Cells[i+1] = Cell{Text: "not planned", Missing: "no run of this pair"}
			}
			order = append(order, p.Model)
		}
		for i, d := range devices {
			if d == p.Device {
				rows[p.Model].Cells[i+1] = r.pairCell(p)
			}
		}
	}
	for _, m := range order {
		t.Rows = append(t.Rows, *rows[m])
	}
	return t.cut("open a release for all pairs")
}

// pairCell says of a pair's newest release what was decided, which tier of targets it reached, and what history says.
func (r *Report) pairCell(p Pair) Cell {
	decided := r.PairDecided(p, p.Newest)
	d := words.Decide(decided)
	c := Cell{Text: d.Word, Word: toneMark(d.Tone), Sub: r.Releases[p.Newest].Name, Href: PairPath(p.Model, p.Device), Tint: decided.Exit == 1}
	if d.Word == "Not graded" {
		c.Word = schema.Ungraded
	}
	if p.Device == schema.Simulated {
		c.Tag = "simulated"
	}
	switch decided.Tier {
	case "":
		c.Marks = append(c.Marks, Mark{Word: schema.Ungraded, Says: "no targets"})
	case targets.NoTier:
		c.Marks = append(c.Marks, Mark{Word: schema.Fail, Says: "no tier"})
	default:
		c.Marks = append(c.Marks, Mark{Word: schema.Pass, Says: decided.Tier})
	}
	history := len(c.Marks)
	for _, n := range decided.Counts {
		if m, ok := markOf(n.Kind); ok {
			m.N = n.N
			c.Marks = append(c.Marks, m)
		}
	}
	if len(c.Marks) == history && decided.Compared > 0 {
		c.Marks = append(c.Marks, Mark{Word: schema.Same, Says: "nothing changed"})
	}
	return c
}

// markOf is the sign of a kind of finding that history brought.
func markOf(kind string) (Mark, bool) {
	switch kind {
	case targets.FailConfirmed:
		return Mark{Word: schema.Worse, Evidence: "confirmed", Says: "confirmed worse"}, true
	case targets.FailProbable:
		return Mark{Word: schema.Worse, Evidence: "probable", Says: "probably worse"}, true
	case targets.FailWatch:
		return Mark{Word: schema.Watch, Says: "watched"}, true
	case "better":
		return Mark{Word: schema.BetterWord, Evidence: "confirmed", Says: "better"}, true
	case targets.FailMissing, targets.FailGone:
		return Mark{Word: schema.MissingWord, Says: "missing"}, true
	case "not-comparable":
		return Mark{Word: schema.NotComparable, Says: "not comparable"}, true
	}
	return Mark{}, false
}

func (r *Report) pairList() *Table {
	t := &Table{Caption: "Models on devices", Class: "flow", Cols: []Col{{Head: "Model"}, {Head: "Device"}, {Head: "Newest"}}}
	pairs, _ := r.listed()
	for _, p := range pairs {
		cell := r.pairCell(p)
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: nameOr(p.Model), Head: true, Href: PairPath(p.Model, p.Device)}, text(nameOr(p.Device)), cell}})
	}
	return t.cut("the release pages list the rest")
}
