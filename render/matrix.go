package render

import (
	"fmt"
	"slices"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// matrix is one row a model, one column a device; a cell is the decision on its newest release.
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
	t := &Table{Caption: "Models by device", Layout: Matrix,
		Cols: []Col{{Head: "Model"}}}
	for _, d := range devices {
		t.Cols = append(t.Cols, Col{Head: words.OrUnknown(d)})
	}
	rows := map[string]*Row{}
	var order []string
	for _, p := range pairs {
		if rows[p.Model] == nil {
			rows[p.Model] = &Row{Cells: make([]Cell, len(devices)+1)}
			rows[p.Model].Cells[0] = Cell{Text: words.OrUnknown(p.Model), Head: true, Href: ModelPath(p.Model)}
			for i, d := range devices {
				rows[p.Model].Cells[i+1] = r.emptyCell(p.Model, d)
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
	return t.cut("each release lists all of its own").whole(exploring("All in Explore"))
}

func (r *Report) matrixBlocks() []Block {
	blocks := []Block{r.matrix()}
	if text := r.awaited(); text != nil {
		blocks = append(blocks, text)
	}
	return blocks
}

// emptyCell is a model and device without a run: one that has targets, or one that nobody asked for.
func (r *Report) emptyCell(model, device string) Cell {
	if slices.Contains(r.Planned, schema.Pair{Model: model, Device: device}) {
		return Cell{Text: "not measured yet", Outcome: schema.NotMeasured}
	}
	return Cell{Text: "not planned", Missing: "no run of this model and device, and no target"}
}

// awaited says how many models on devices have targets, no run, and no place in the matrix.
func (r *Report) awaited() Prose {
	var names []string
	pairs, _ := r.listed()
	has := func(is func(Pair) bool) bool { return slices.ContainsFunc(pairs, is) }
	for _, p := range r.Planned {
		if r.Models.hides(p.Model) || r.Devices.hides(p.Device) {
			continue
		}
		if !has(func(o Pair) bool { return o.Model == p.Model }) ||
			!has(func(o Pair) bool { return o.Device == p.Device }) {
			names = append(names, p.Model+" on "+p.Device)
		}
	}
	if len(names) == 0 {
		return nil
	}
	text := fmt.Sprintf("In the target files without any run (%d): ", len(names)) + words.Few(names, 5)
	return Prose{text + "."}
}

// pairCell is the decision on a model and device in the newest release, the level of targets that it reached, and what
// changed against history. A decision on an earlier release is not carried over.
func (r *Report) pairCell(p Pair) Cell {
	if newest := r.Gate.Newest(p.Newest); newest != p.Newest {
		return Cell{
			Text: words.NotMeasuredAgain, Outcome: schema.NotMeasured, Href: PairPath(p.Model, p.Device),
			Sub: "in " + r.nameOf(newest) + "; last in " + r.nameOf(p.Newest),
		}
	}
	decided := r.Gate.PairResult(p.Newest, p.Pair)
	d := words.Decide(decided)
	c := Cell{
		Text: d.Word, Outcome: toneMark(d.Tone), Sub: r.nameOf(p.Newest), Href: PairPath(p.Model, p.Device),
		Decisive: decided.Exit == 1,
	}
	if decided.Word == gate.NotGraded {
		c.Outcome = schema.NoTarget
	}
	if p.Device == schema.Simulated {
		c.Tag = "simulated"
	}
	switch decided.Level {
	case "":
		c.Sub = "no targets, " + c.Sub
	case gate.NoLevel:
		c.Sub = "no level reached, " + c.Sub
	default:
		c.Sub = decided.Level + " reached, " + c.Sub
	}
	for _, n := range decided.Counts {
		if m, ok := markOf(n.Kind); ok {
			m.N = n.N
			c.Marks = append(c.Marks, m)
		}
	}
	if len(c.Marks) == 0 && decided.Compared > 0 {
		c.Marks = append(c.Marks, unchangedMark(&decided))
	}
	return c
}

// unchangedMark is the sign of a model and device of which nothing is listed: how much of it is known to be unchanged.
func unchangedMark(d *gate.Result) Mark {
	m := Mark{Outcome: schema.Unchanged, Text: "unchanged"}
	if d.Unchanged < d.Compared {
		m.Text = fmt.Sprintf("%s of %s unchanged", words.Count(d.Unchanged), words.Count(d.Compared))
	}
	return m
}

// nameOf is the name of a release; of a build that nobody released, its day.
func (r *Report) nameOf(release int) string {
	if rel := &r.Releases[release]; !rel.Label && !rel.Date.IsZero() {
		return "build of " + rel.Date.UTC().Format(time.DateOnly)
	}
	return r.Releases[release].Name
}

// markOf is the sign of a kind of finding that history brought.
func markOf(kind gate.Kind) (Mark, bool) {
	switch kind {
	case gate.FailConfirmed:
		return Mark{Outcome: schema.Regressed, Evidence: schema.Confirmed, Text: "confirmed regressions"}, true
	case gate.FailSuspected:
		return Mark{Outcome: schema.Regressed, Evidence: schema.Suspected, Text: "suspected regressions"}, true
	case gate.FailInconclusive:
		return Mark{Outcome: schema.Inconclusive, Text: "inconclusive"}, true
	case gate.FailTarget:
		return Mark{Outcome: schema.Fail, Text: "targets missed"}, true
	case gate.FailInvalid:
		return Mark{Outcome: schema.Excluded, Text: "excluded"}, true
	case gate.NoteImproved:
		return Mark{Outcome: schema.Improved, Evidence: schema.Confirmed, Text: "improved"}, true
	case gate.FailRunWide:
		return Mark{Outcome: schema.Regressed, Evidence: schema.Suspected, Text: "regressed with most workloads"}, true
	case gate.FailOpen:
		return Mark{Outcome: schema.Regressed, Evidence: schema.Confirmed, Text: "regressed earlier, still there"}, true
	case gate.FailMissing:
		return Mark{Outcome: schema.NotMeasured, Text: "missing"}, true
	case gate.FailNotRemeasured:
		return Mark{Outcome: schema.NotMeasured, Text: words.NotMeasuredAgain}, true
	case gate.FailUngraded:
		return Mark{Outcome: schema.NoTarget, Text: "models on devices without a verdict"}, true
	case gate.FailAbsent:
		return Mark{Outcome: schema.NotMeasured, Text: "models on devices not measured for several releases"}, true
	case gate.NoteNotComparable:
		return Mark{Outcome: schema.NotComparable, Text: "not comparable"}, true
	}
	return Mark{}, false
}

func (r *Report) pairList() *Table {
	t := &Table{
		Caption: "Models on devices", Layout: List, Cols: []Col{{Head: "Model"}, {Head: "Device"}, {Head: "Newest"}},
	}
	pairs, _ := r.listed()
	for _, p := range pairs {
		cell := r.pairCell(p)
		t.row(
			Cell{Text: words.OrUnknown(p.Model), Head: true, Href: ModelPath(p.Model)},
			text(words.OrUnknown(p.Device)),
			cell,
		)
	}
	return t.cut("the pages of the releases have the rest")
}
