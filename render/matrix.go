package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// axes are the devices of some pairs in their order, and their models.
func (r *Report) axes(pairs []Pair) (devices, models []string) {
	for _, p := range pairs {
		if !slices.Contains(devices, p.Device) {
			devices = append(devices, p.Device)
		}
		if !slices.Contains(models, p.Model) {
			models = append(models, p.Model)
		}
	}
	slices.SortStableFunc(devices, func(a, b string) int { return r.Devices.place(a) - r.Devices.place(b) })
	return devices, models
}

// cellOf is the cell of a model on a device, where no run measured it what is known of that.
func (r *Report) cellOf(pairs []Pair, of schema.Pair) Cell {
	if at := slices.IndexFunc(pairs, func(p Pair) bool { return p.Pair == of }); at >= 0 {
		return r.pairCell(pairs[at])
	}
	if slices.Contains(r.Planned, of) {
		return Cell{Text: "not measured yet", Outcome: schema.NotMeasured}
	}
	return Cell{Text: "not planned", Missing: "no run of this model and device, and no target"}
}

// richest is how many models on devices have all that is known of them in the matrix of the front page.
const richest = 24

// heat says of each model on a device how much slower the changes that are still there made it, the largest; else the
// sign of the decision.
func (r *Report) heat(pairs []Pair, changes []judge.Change) *Table {
	sizes := map[schema.Pair]float64{}
	for i := range changes {
		if !gate.Open(&changes[i]) {
			continue
		}
		for p, size := range r.Gate.SizesOn(&changes[i]) {
			sizes[p] = max(sizes[p], size)
		}
	}
	return r.grid(pairs, Heat, func(of schema.Pair) Cell {
		c := r.cellOf(pairs, of)
		switch size := sizes[of]; {
		case c.Missing != "":
			return Cell{Missing: c.Missing}
		case size > 0:
			return Cell{Text: fmt.Sprintf("%+.0f", 100*size), Strong: true, Href: c.Href, Decisive: c.Decisive}
		}
		return Cell{Text: c.Text, Outcome: c.Outcome, Href: c.Href, Decisive: c.Decisive}
	})
}

// grid is models by devices, a row a model. A heat map has a row a device where there are no more of them than models,
// and its columns say what tells them apart.
func (r *Report) grid(pairs []Pair, layout Layout, cell func(schema.Pair) Cell) *Table {
	devices, models := r.axes(pairs)
	byModel := layout != Heat || len(devices) > len(models)
	rows, cols, what, before, after := models, devices, "Model", "", ""
	if !byModel {
		rows, cols, what = devices, models, "Device"
	}
	if layout == Heat {
		before, after = alike(cols)
	}
	page := func(name string, isModel bool) Address {
		if !isModel {
			return "" // a device has none
		}
		return ModelPath(name)
	}
	all := []Column[string]{{col(what), func(row string) Cell { return head(words.OrUnknown(row), page(row, byModel)) }}}
	for _, name := range cols {
		top := col(words.OrUnknown(strings.TrimSuffix(strings.TrimPrefix(name, before), after)))
		top.Href = page(name, !byModel)
		all = append(all, Column[string]{top, func(row string) Cell {
			if byModel {
				return cell(schema.Pair{Model: row, Device: name})
			}
			return cell(schema.Pair{Model: name, Device: row})
		}})
	}
	t := tableOf("Models by device", layout, rows, all)
	if before+after != "" {
		t.Caption, t.Titled = "Columns: "+before+"…"+after, true
	}
	return t
}

// alike are the whole parts that several names all begin and end with: "model-" and "-instruct".
func alike(names []string) (before, after string) {
	const ends = "-_/. "
	if len(names) < 2 || slices.Contains(names, "") {
		return "", ""
	}
	before, after = names[0], names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, before) || len(before) == len(name) {
			before = before[:len(before)-1]
		}
		for !strings.HasSuffix(name, after) || len(after) == len(name) {
			after = after[1:]
		}
	}
	before = before[:strings.LastIndexAny(before, ends)+1]
	if at := strings.IndexAny(after, ends); at >= 0 {
		return before, after[at:]
	}
	return before, ""
}

// modelsSection has each model and device; the card counts what has targets and no run.
func (r *Report) modelsSection(changes []judge.Change) Section {
	pairs := r.shown
	about := "Each model and device with its newest " + r.unit() + ": the decision, the level of targets that is " +
		"reached, and what changed against history."
	var blocks []Block
	if len(pairs) > richest {
		about = "Each model and device: by how many percent what is still open made it slower, or the decision on it: " +
			"✓ passes, ✕ fails, □ was not measured again, – was not graded."
		blocks = append(blocks, r.heat(pairs, changes))
	} else { // a cell is the decision on the newest release
		t := r.grid(pairs, Matrix, func(of schema.Pair) Cell { return r.cellOf(pairs, of) })
		blocks = append(blocks, t.cut("each release lists all of its own").whole(exploring("All in Explore")))
	}
	about += " A tinted cell keeps its " + r.unit() + " from passing; a cell without a verdict is not a pass." +
		r.hiddenNote()
	if len(pairs) == 0 && len(r.Pairs) > 0 {
		blocks = append(blocks, Prose{"All of them are hidden."})
	}
	return section("models", "Models and devices", about, blocks...)
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
	c := Cell{Text: d.Word, Outcome: toneMark(d.Tone), Href: PairPath(p.Model, p.Device), Decisive: decided.Exit == 1}
	if decided.Word == gate.NotGraded {
		c.Outcome = schema.NoTarget
	}
	switch decided.Level {
	case "":
	case gate.NoLevel:
		c.Sub = "no level reached"
	default:
		c.Sub = decided.Level + " reached"
	}
	for _, n := range decided.Counts {
		if m, ok := markOf(n); ok {
			c.Marks = append(c.Marks, m)
		}
	}
	return c
}

// nameOf is the name of a release; of a build that nobody released, its day.
func (r *Report) nameOf(release int) string {
	if rel := &r.Releases[release]; !rel.Label && !rel.Date.IsZero() {
		return words.BuildOf(rel.Date)
	}
	return r.Releases[release].Name
}

// markOf is the sign of a kind of finding that history brought, with its numbers: a change is as many as it has.
func markOf(c gate.Tally) (m Mark, known bool) {
	m, known = map[gate.Kind]Mark{
		gate.FailConfirmed:    {Outcome: schema.Regressed, Evidence: schema.Confirmed, Text: "regressed, confirmed"},
		gate.FailSuspected:    {Outcome: schema.Regressed, Evidence: schema.Suspected, Text: "regressed, suspected"},
		gate.FailInconclusive: {Outcome: schema.Inconclusive, Text: "inconclusive"},
		gate.FailTarget:       {Outcome: schema.Fail, Text: "missed"},
		gate.FailInvalid:      {Outcome: schema.Excluded, Text: "excluded"},
		gate.NoteImproved:     {Outcome: schema.Improved, Evidence: schema.Confirmed, Text: "improved"},
		gate.NoteRecovered:    {Outcome: schema.Recovered, Evidence: schema.Confirmed, Text: "recovered"},
		gate.FailRunWide: {Outcome: schema.Regressed, Evidence: schema.Suspected,
			Text: "regressed with most workloads"},
		gate.FailOpen: {Outcome: schema.Regressed, Evidence: schema.Confirmed,
			Text: "regressed earlier"},
		gate.FailMissing:       {Outcome: schema.NotMeasured, Text: "missing"},
		gate.FailNotRemeasured: {Outcome: schema.NotMeasured, Text: words.NotMeasuredAgain},
		gate.FailUngraded:      {Outcome: schema.NoTarget, Text: "without a verdict"},
		gate.FailAbsent:        {Outcome: schema.NotMeasured, Text: "not measured for several releases"},
		gate.NoteNotComparable: {Outcome: schema.NotComparable, Text: "not comparable"},
	}[c.Kind]
	if m.N = c.N; m.Evidence != 0 {
		m.N = max(c.N, c.Cells)
	}
	return m, known
}
