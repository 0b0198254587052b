package render

import (
	"fmt"
	"slices"
	"sort"
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
		if judge.IsBaseline(rel.Channel) {
			builds++
		}
		for _, run := range rel.Runs {
			h := &r.Columns.Runs[run]
			points += h.PointsEnd - h.FirstPoint
			scores += h.Scores
		}
	}
	switch {
	case len(r.Releases) == 0:
		return ModeRelease
	case builds > 1, r.repeated():
		return ModeNightly
	case points == 0 && scores > 0:
		return ModeEvals
	}
	return ModeCompare
}

// graded reports whether the site is about releases or builds and the decisions on them.
func (r *Report) graded() bool { return r.chosen() == ModeRelease || r.chosen() == ModeNightly }

// Graded reports whether pages say what may ship, or what got slower; the others only compare.
func (r *Report) Graded() bool { return r.graded() }

// repeated reports whether a number was measured so often that it has a history.
func (r *Report) repeated() bool {
	const often = 5
	for pair, list := range r.series {
		if len(r.with[pair]) < often {
			continue
		}
		for _, s := range list {
			n := 0
			for _, at := range r.with[pair] {
				if _, ok := s.At(at); ok {
					n++
				}
			}
			if n >= often {
				return true
			}
		}
	}
	return false
}

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
	if r.Releases[at].Channel == channel {
		n++
	}
	return Empty{
		What: fmt.Sprintf("%s on channel %s cannot serve as a baseline", words.Plural(n, "build"), channel),
		Why: "Only builds of the channels main and release can. If these are builds of the main branch, read them again " +
			"as such; a build that people get has a release.",
		Cmd: "ttreport build --channel main PATH   or   ttreport build --release NAME PATH",
	}
}

// comparing is the front page where nothing is released: what was measured, side by side.
func (r *Report) comparing() Page {
	p := Page{
		Path: "index.html", Title: r.Title, Nav: "overview", Simulated: r.simulated(-1), Measured: r.measured(),
		Eyebrow: r.contents(),
	}
	p.Lead = Lead{Text: r.held(), Paras: r.reading()}
	const tasks = 6
	b := r.modelBoard(tasks)
	board := Section{ID: "evals", Title: "Evals", Intro: b.about(), End: &Link{"all scores", "evals/index.html"}}
	if t := b.table(); t != nil {
		board.Blocks = []Block{t.cut("the page of evals has all").whole(&Link{"All evals", "evals/index.html"})}
	}
	planes, headline := r.planeSections()
	if len(planes) > 0 {
		p.Scripts = []string{planeScript}
	}
	switch {
	case r.chosen() == ModeEvals && len(board.Blocks) > 0:
		p.Lead.Text = b.headline()
		p.add(board)
		p.add(planes...)
	default:
		if headline != "" {
			p.Lead.Text = headline
		}
		p.add(planes...)
		p.add(board)
	}
	p.Description = p.Lead.Text
	pairs, _ := r.listed()
	p.add(Section{ID: "models", Title: "Models and devices", Intro: "What was measured of each." + r.hiddenNote(),
		Blocks: []Block{r.pairsTable(pairs)}})
	p.shorten()
	return p
}

// contents counts what was measured, and when.
func (r *Report) contents() string {
	models, devices, engines := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var first, last time.Time
	for i := range r.Columns.Runs {
		h := &r.Columns.Runs[i]
		for set, name := range map[*map[string]bool]string{&models: h.Model.Name, &devices: h.Device, &engines: h.Engine} {
			if name != "" {
				(*set)[name] = true
			}
		}
		if h.Start.IsZero() {
			continue
		}
		if first.IsZero() || h.Start.Before(first) {
			first = h.Start
		}
		if h.Start.After(last) {
			last = h.Start
		}
	}
	var parts []string
	for _, x := range []struct {
		n    int
		noun string
	}{{len(models), "model"}, {len(devices), "device"}, {len(engines), "engine"}, {len(r.Columns.Runs), "run"}} {
		if x.n > 0 {
			parts = append(parts, words.Plural(x.n, x.noun))
		}
	}
	text := strings.Join(parts, ", ") + "; " + r.unjudged() + "."
	if first.IsZero() {
		return text
	}
	if day(first) == day(last) {
		return text + " Measured " + day(first) + "."
	}
	return text + " Measured from " + day(first) + " to " + day(last) + "."
}

// unjudged says why a site that only compares judges nothing.
func (r *Report) unjudged() string {
	if slices.ContainsFunc(r.Releases, func(x judge.Release) bool { return x.Label }) {
		return "nothing is judged here"
	}
	return "no release is stated, so nothing is judged"
}

// held is the front page's sentence where no number is more telling.
func (r *Report) held() string {
	var runs []int
	for _, rel := range r.Releases {
		runs = append(runs, rel.Runs...)
	}
	pairs, _ := r.listed()
	return strings.TrimSuffix(r.heldIn(runs), ".") + " of " + modelsOnDevices(pairs) + "."
}

// heldIn counts what some runs hold.
func (r *Report) heldIn(runs []int) string {
	points, scores := 0, 0
	for _, run := range runs {
		h := &r.Columns.Runs[run]
		points += h.PointsEnd - h.FirstPoint
		scores += h.Scores
	}
	var parts []string
	if points > 0 {
		parts = append(parts, words.Plural(points, "point"))
	}
	if scores > 0 {
		parts = append(parts, words.Plural(scores, "eval score"))
	}
	if len(parts) == 0 {
		return "No number."
	}
	return strings.Join(parts, " and ") + "."
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

func modelsOnDevices(pairs []Pair) string {
	models, devices := map[string]bool{}, map[string]bool{}
	for _, p := range pairs {
		models[p.Model], devices[p.Device] = true, true
	}
	if len(devices) == 1 {
		return words.Plural(len(models), "model") + " on a device"
	}
	return words.Plural(len(models), "model") + " on " + words.Plural(len(devices), "device")
}

// reading says what went wrong when files were read; nothing when nothing did.
func (r *Report) reading() []string {
	var paras []string
	if n := graver(r.allProblems()); n > 0 {
		paras = append(paras, words.Plural(n, "problem")+" found while reading the files: see Problems.")
	}
	if lost := r.lostText(); lost != "" {
		paras = append(paras, lost+" and counts for nothing here: see Problems.")
	}
	return paras
}

// leading is the first task of the board of which it is known what is better, and the row that leads in it; without any
// the first, and a row that has it.
func (b *board) leading() (c boardColumn, best int, known bool) {
	for _, c := range b.columns {
		if best := b.best(c); best >= 0 && knowsBetter(b.rows[best].at(c)) {
			return c, best, true
		}
	}
	c = b.columns[0]
	return c, slices.IndexFunc(b.rows, func(r boardRow) bool { return r.at(c) != nil }), false
}

// headline is who leads in the first task of the board.
func (b *board) headline() string {
	c, best, known := b.leading()
	n := 0
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
	if n > 1 && known {
		text += fmt.Sprintf(", the best of %d models", n)
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

// pairsTable lists what was measured of each model and device.
func (r *Report) pairsTable(pairs []Pair) *Table {
	t := &Table{Caption: "Models and devices", Layout: List, Cols: []Col{
		{Head: "Model"}, {Head: "Device"}, {Head: "Engine"}, {Head: "Runs", Num: true, Sort: true, Length: Short},
		{Head: "Points", Num: true, Sort: true, Length: Short}, {Head: "Scores", Num: true, Sort: true, Length: Short},
		{Head: "Newest", Length: Medium},
	}}
	total := func(n int) Cell { return counted(schema.Num(float64(n))) }
	for _, p := range pairs {
		runs, points, scores := 0, 0, 0
		var engines []string
		var newest time.Time
		for _, at := range r.with[p.Pair] {
			for _, run := range r.runs[p.Pair][at] {
				h := &r.Columns.Runs[run]
				runs++
				points += h.PointsEnd - h.FirstPoint
				scores += h.Scores
				if e := strings.TrimSpace(h.Engine + " " + h.Version); e != "" && !slices.Contains(engines, e) {
					engines = append(engines, e)
				}
				if h.Start.After(newest) {
					newest = h.Start
				}
			}
		}
		device := Cell{Text: words.OrUnknown(p.Device)}
		if p.Device == schema.Simulated {
			device.Tag = "simulated"
		}
		t.row(Cell{Text: words.OrUnknown(p.Model), Head: true, Href: PairPath(p.Model, p.Device)}, device,
			text(words.OrUnknown(nameSome(engines))), total(runs), total(points), total(scores), text(moment(newest)))
	}
	for i := 2; i > 0; i-- { // what nobody stated has no column
		if !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[i].Text != words.OrUnknown("") }) {
			t.dropColumn(i)
		}
	}
	return t.cut("Explore has all").whole(exploring("All in Explore"))
}

// newest are the releases that are the newest of some model and device: the site's newest first, then by age. They
// end at so many points that judging them would be most of a build; left counts the models on devices whose newest
// release is older than that.
func (r *Report) newest() (releases []int, left int) {
	const most = 8000
	pairs := map[int]int{}
	for _, p := range r.Pairs {
		pairs[p.Newest]++
	}
	first, order := r.Newest(), []int{}
	for at := range pairs {
		order = append(order, at)
	}
	sort.Slice(order, func(i, j int) bool {
		if a, b := order[i] == first, order[j] == first; a != b {
			return a
		}
		return order[i] > order[j]
	})
	points := 0
	for i, at := range order {
		for _, run := range r.Releases[at].Runs {
			points += r.Columns.Runs[run].PointsEnd - r.Columns.Runs[run].FirstPoint
		}
		if i > 0 && points > most {
			left += pairs[at]
			continue
		}
		releases = append(releases, at)
	}
	return releases, left
}

// leftOut says how many models on devices are not listed because they were last measured long ago; "" when all are.
func (r *Report) leftOut() string {
	if _, left := r.newest(); left > 0 {
		return fmt.Sprintf(" Not listed here, since last measured in older releases: %d models on devices, which have "+
			"their own pages.", left)
	}
	return ""
}

// today collects verdicts of every model and device in its newest release.
func (r *Report) today(list func(int, schema.Pair) []schema.Verdict, keep func(*schema.Verdict) bool) []schema.Verdict {
	byPair := make([][]schema.Verdict, len(r.Pairs))
	releases, _ := r.newest()
	for _, at := range releases { // release by release: only the last few are kept
		for i, p := range r.Pairs {
			if p.Newest != at {
				continue
			}
			for _, v := range list(at, p.Pair) {
				if keep(&v) {
					byPair[i] = append(byPair[i], v)
				}
			}
		}
	}
	return slices.Concat(byPair...)
}
