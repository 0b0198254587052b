package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// Mode is the question that the front page answers.
type Mode string

// The questions.
const (
	ModeAuto    Mode = ""        // what the history holds decides
	ModeRelease Mode = "release" // may it ship?
	ModeNightly Mode = "nightly" // did it get slower, and since when?
	ModeCompare Mode = "compare" // which device, engine or configuration is best?
	ModeEvals   Mode = "evals"   // which model answers best?
)

// ReadMode returns the mode that a configuration names.
func ReadMode(name string) (Mode, error) {
	switch m := Mode(name); m {
	case ModeRelease, ModeNightly, ModeCompare, ModeEvals:
		return m, nil
	case "auto", ModeAuto:
		return ModeAuto, nil
	case "releases": // its name until 1.0
		return ModeRelease, nil
	}
	return "", fmt.Errorf("modes are auto, release, nightly, compare and evals")
}

// chosen is the mode of the site: the configured one, else that of what the history holds. A stated release makes it a
// site about releases; builds that serve as a baseline, or that measured the same again and again, one about nights;
// scores without any measured point one about evals; anything else compares.
func (r *Report) chosen() Mode {
	if r.Mode != ModeAuto {
		return r.Mode
	}
	builds, points, scores := 0, 0, 0
	for i := range r.Releases {
		rel := &r.Releases[i]
		if rel.Label {
			return ModeRelease
		}
		builds += truth(judge.IsBaseline(rel.Channel))
		p, s := r.held(rel.Runs)
		points, scores = points+p, scores+s
	}
	const often = 5
	repeated := func(s *judge.Series) bool {
		n := 0
		for _, at := range r.with[s.Pair()] {
			_, ok := s.At(at)
			n += truth(ok)
		}
		return n >= often
	}
	switch {
	case len(r.Releases) == 0:
		return ModeRelease
	case builds > 1:
		return ModeNightly
	}
	for pair, list := range r.series {
		if len(r.with[pair]) >= often && slices.ContainsFunc(list, repeated) {
			return ModeNightly
		}
	}
	if points == 0 && scores > 0 {
		return ModeEvals
	}
	return ModeCompare
}

// Graded reports whether the site is about releases or builds and the decisions on them: whether pages say what may
// ship, or what got slower; the others only compare.
func (r *Report) Graded() bool { return slices.Contains([]Mode{ModeRelease, ModeNightly}, r.chosen()) }

// noBaseline says why nothing before a release can serve as its baseline, and what would change that; an Empty without
// text where nothing is known to be wrong.
func (r *Report) noBaseline(at int) Empty {
	builds := map[string]int{}
	channel := ""
	for i := range at {
		if c := r.Releases[i].Channel; !judge.IsBaseline(c) {
			if builds[c]++; channel == "" || builds[c] > builds[channel] {
				channel = c
			}
		}
	}
	n := builds[channel]
	if n == 0 || r.Gate.Before(at) >= 0 {
		return Empty{}
	}
	n += truth(r.Releases[at].Channel == channel)
	return Empty{
		What: fmt.Sprintf("%s on channel %s cannot serve as a baseline", words.Plural(n, "build"), channel),
		Why: "Only builds of the channels main and release can. If these are builds of the main branch, read them again " +
			"as such; a build that people get has a release.",
		Cmd: "ttreport build --channel main PATH   or   ttreport build --release NAME PATH",
	}
}

// comparing is the front page where nothing is released: what was measured, side by side.
func (r *Report) comparing(p Page) Page {
	const tasks = 6
	b := r.boardOf(tasks, r.shown)
	board := section("evals", "Evals", b.about()).leading("all scores", "evals/index.html")
	if t := b.table(); t != nil {
		board.Blocks = []Block{t.cut("the page of evals has all").whole(&Link{"All evals", "evals/index.html"})}
	}
	planes, lead := r.planeSections()
	if len(planes) > 0 {
		p.Scripts = []string{planeScript}
	}
	p.Eyebrow, p.Lead = r.contents(), lead
	p.Lead.Text, p.Lead.Paras = cmp.Or(lead.Text, r.heldText()), r.reading()
	if r.chosen() == ModeEvals && len(board.Blocks) > 0 {
		p.Lead.Text = b.headline()
		p.add(board)
		board = Section{}
	}
	p.add(planes...)
	p.add(board)
	p.Description = p.Lead.Text
	p.add(Section{ID: "models", Title: "Models and devices", Intro: "What was measured of each." + r.hiddenNote(),
		Blocks: []Block{r.pairsTable(r.shown, false)}})
	p.shorten()
	return p
}

// contents counts what was measured, and when.
func (r *Report) contents() string {
	models, devices, engines := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var first, last time.Time
	for i := range r.Columns.Runs {
		h := &r.Columns.Runs[i]
		models[h.Model.Name], devices[h.Device], engines[h.Engine] = true, true, true
		if !h.Start.IsZero() && (first.IsZero() || h.Start.Before(first)) {
			first = h.Start
		}
		if h.Start.After(last) {
			last = h.Start
		}
	}
	var parts []string
	for _, x := range []struct {
		names map[string]bool
		noun  string
	}{{models, "model"}, {devices, "device"}, {engines, "engine"}} {
		if x.noun == "engine" || len(x.names) == 1 {
			delete(x.names, "")
		}
		if len(x.names) > 0 {
			parts = append(parts, named(x.names, x.noun))
		}
	}
	if n := len(r.Columns.Runs); n > 0 {
		parts = append(parts, words.Plural(n, "run"))
	}
	text := strings.Join(parts, ", ") + "; " + r.unjudged() + "."
	switch {
	case first.IsZero():
		return text
	case day(first) == day(last):
		return text + " Measured " + day(first) + "."
	}
	return text + " Measured from " + day(first) + " to " + day(last) + "."
}

// named counts what has a name; all without one are one: "7 models and an unknown one".
func named(names map[string]bool, noun string) string {
	n := len(names) - truth(names[""])
	switch {
	case !names[""]:
		return words.Plural(n, noun)
	case n == 0:
		return "an unknown " + noun
	}
	return words.Plural(n, noun) + " and an unknown one"
}

// unjudged says why a site that only compares judges nothing.
func (r *Report) unjudged() string {
	if slices.ContainsFunc(r.Releases, func(x judge.Release) bool { return x.Label }) {
		return "nothing is judged here"
	}
	return "no release is stated, so nothing is judged"
}

// heldText is the front page's sentence where no number is more telling.
func (r *Report) heldText() string {
	var runs []int
	for _, rel := range r.Releases {
		runs = append(runs, rel.Runs...)
	}
	models, devices := map[string]bool{}, map[string]bool{}
	for _, p := range r.shown {
		models[p.Model], devices[p.Device] = true, true
	}
	on := named(devices, "device")
	if len(devices) == 1 {
		on = words.Device(r.shown[0].Device)
	}
	return numbersOf(r.held(runs)) + " of " + named(models, "model") + " on " + on + "."
}

// held counts the points and scores of some runs.
func (r *Report) held(runs []int) (points, scores int) {
	for _, run := range runs {
		h := &r.Columns.Runs[run]
		points += h.PointsEnd - h.FirstPoint
		scores += h.Scores
	}
	return points, scores
}

// heldIn says what some runs hold.
func (r *Report) heldIn(runs []int) string { return numbersOf(r.held(runs)) + "." }

// numbersOf are so many points and scores: "12 points and 1 eval score".
func numbersOf(points, scores int) string {
	switch {
	case points+scores == 0:
		return "No number"
	case scores == 0:
		return words.Plural(points, "point")
	case points == 0:
		return words.Plural(scores, "eval score")
	}
	return words.Plural(points, "point") + " and " + words.Plural(scores, "eval score")
}

// ungraded takes every word of a decision off the top of a page.
func (p *Page) ungraded(title, held string) {
	p.Title, p.Description = title, held
	p.Lead = Lead{Text: held}
	p.Crumbs = slices.DeleteFunc(p.Crumbs, func(l Link) bool { return strings.HasSuffix(string(l.Href), "#releases") })
	if p.Nav == "releases" {
		p.Nav = "models"
	}
}

// reading says what went wrong when files were read; nothing when nothing did.
func (r *Report) reading() []string {
	var paras []string
	if n := graver(r.allProblems()); n > 0 {
		paras = append(paras, words.Plural(n, "problem")+" found while reading the files: see Problems.")
	}
	if lost := r.lostText(); lost != "" {
		paras = append(paras, lost+" and is ignored here: see Problems.")
	}
	return paras
}

// headline is who leads in the first task of the board.
func (b *board) headline() string {
	// the first task of which it is known what is better, and who leads in it; else the first, and a row that has it
	c, known, n := b.columns[0], false, 0
	best := slices.IndexFunc(b.rows, func(r boardRow) bool { return r.at(c) != nil })
	for _, x := range b.columns {
		if leads := b.best(x); !known && leads >= 0 && KnowsBetter(b.rows[leads].at(x)) {
			c, best, known = x, leads, true
		}
	}
	for i := range b.rows {
		if b.rows[i].at(c) != nil {
			n++
		}
	}
	s := b.rows[best].at(c)
	v, _ := s.Value.Get()
	text := fmt.Sprintf("%s: %s has %s", c.task, b.rows[best].head.Text, words.Number(v))
	if x := scoreInterval(s); x != words.Absent {
		text += " (" + x + ")"
	}
	if standing := b.standing(c); known && standing != nil {
		text += standing.lead(best, n)
	}
	more := len(b.columns) - 1
	if more > 0 {
		text += "; " + words.Plural(more, "other task") + " below"
	}
	switch {
	case b.left > 0 && more > 0:
		text += ", " + words.Count(b.left) + " more under Evals"
	case b.left > 0:
		text += "; " + words.Plural(b.left, "other task") + " under Evals"
	}
	return text + "."
}

// pairsTable lists what was measured of each model and device; what nobody stated has no column, nor has the model
// where all rows are of the one that the page is about.
func (r *Report) pairsTable(pairs []Pair, ofModel bool) *Table {
	type total struct {
		Pair
		runs, points, scores int
		engines              []string
		newest               time.Time
	}
	var list []total
	for _, p := range pairs {
		runs := r.runsOfPair(p)
		x := total{Pair: p, runs: len(runs)}
		x.points, x.scores = r.held(runs)
		for _, run := range runs {
			h := &r.Columns.Runs[run]
			if e := strings.TrimSpace(h.Engine + " " + h.Version); e != "" && !slices.Contains(x.engines, e) {
				x.engines = append(x.engines, e)
			}
			if h.Start.After(x.newest) {
				x.newest = h.Start
			}
		}
		list = append(list, x)
	}
	sum := func(name string, of func(total) int) Column[total] {
		return Column[total]{num(name).sorted(), func(x total) Cell { return counted(schema.Num(float64(of(x)))) }}
	}
	t := tableOf("Models and devices", List, list, []Column[total]{
		{col("Model"), func(x total) Cell {
			if x.Device == "" {
				return modelHead(x.Pair.Pair)
			}
			return head(words.OrUnknown(x.Model), ModelPath(x.Model))
		}},
		{col("Device"), func(x total) Cell {
			return Cell{Text: words.OrUnknown(x.Device), Href: PairPath(x.Model, x.Device), Head: ofModel}
		}},
		{col("Engine"), func(x total) Cell { return text(words.OrUnknown(words.Few(x.engines, 3))) }},
		sum("Runs", func(x total) int { return x.runs }), sum("Points", func(x total) int { return x.points }),
		sum("Scores", func(x total) int { return x.scores }),
		{medium("Newest"), func(x total) Cell { return text(moment(x.newest)) }},
	})
	for i := 2; i > 0; i-- {
		if !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[i].Text != words.OrUnknown("") }) {
			t.dropColumn(i)
		}
	}
	if ofModel && t.Cols[1].Head == "Device" {
		t.dropColumn(0)
	}
	return t.cut("Explore has all").whole(exploring("All in Explore"))
}

// today collects verdicts of every model and device in its newest release.
func (r *Report) today(list func(int, schema.Pair) []schema.Verdict, keep func(*schema.Verdict) bool) []schema.Verdict {
	byPair := make([][]schema.Verdict, len(r.Pairs))
	for at := range r.Releases { // release by release: only the last few are kept
		for i, p := range r.Pairs {
			if p.Newest == at {
				byPair[i] = verdictsThat(list(at, p.Pair), keep)
			}
		}
	}
	return slices.Concat(byPair...)
}
