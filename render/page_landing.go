package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// Landing answers the question of the site's mode; of a history of releases: can the newest one ship?
func (r *Report) Landing() Page {
	at := r.Newest()
	if at < 0 {
		return r.emptyLanding()
	}
	if !r.graded() {
		return r.comparing()
	}
	rel := r.Releases[at]
	f := r.Gate.Findings(at)
	d := words.Decide(r.Gate.Results(at).Whole)
	review := r.Gate.Review(at, "", "")
	p := Page{
		Path: "index.html", Title: r.Title, Nav: "overview", Simulated: r.simulated(-1), Measured: r.measured(),
		Eyebrow:     fmt.Sprintf("%s: %s, %s.", r.releaseWord(rel, "Newest "), rel.Name, day(rel.Date)),
		Description: fmt.Sprintf("%s: %s: %s", rel.Name, d.Word, d.Detail),
		Lead: Lead{Tone: d.Tone, Mark: toneMark(d.Tone), Word: d.Word, Text: words.Headline(&review),
			Paras: append(words.Inventory(&review), r.landingParas(f)...)},
	}
	if r.chosen() == ModeNightly {
		p.Lead = r.nightly(p.Lead, &review, at)
	}
	p.add(Section{ID: "decision", Blocks: []Block{r.Card(&review)}}, Section{ID: "counts", Blocks: []Block{r.counts(at)}},
		Section{ID: "changed", Title: "What changed, worst first", Intro: above(r.comparedWith(at), topChanges(f.History)),
			End: &Link{
				"all of " + rel.Name,
				ReleasePath(rel.Name),
			}, Blocks: r.changedBlocks(topChanges(f.History), at)})
	if len(required(f.Targets)) > 0 {
		p.add(r.requiredSection(at, f.Targets))
	}
	p.add(Section{ID: "models", Title: "Models and devices", Blocks: r.matrixBlocks(),
		Intro: "Each model and device with its newest " + r.unit() + ": the decision, the level of targets that is " +
			"reached, and what changed against history. A tinted cell keeps its " + r.unit() + " from passing; a cell " +
			"without a verdict is not a pass." + r.hiddenNote()},
		Section{ID: "releases", Title: r.releasesTitle(), Intro: "Newest first. " + barMeans,
			Blocks: []Block{r.releaseTable()}})
	p.shorten()
	return p
}

// emptyLanding is the landing page before anything was measured.
func (r *Report) emptyLanding() Page {
	p := Page{
		Path: "index.html", Title: r.Title, Nav: "overview", Simulated: r.simulated(-1),
		Description: "No results yet.",
		Lead:        Lead{Text: "No results yet.", Paras: []string{"Nothing has been measured or read into this workspace."}},
	}
	if lost := r.lostText(); lost != "" {
		p.Description = "No results can be shown."
		p.Lead = Lead{Tone: words.ToneBad, Mark: schema.Fail, Text: p.Description,
			Paras: []string{lost + " and counts for nothing here: see Problems."}}
	}
	p.add(Section{ID: "start", Title: "What to do", Blocks: []Block{Empty{
		What: "Nothing to show", Why: "The history folder holds no run.",
		Cmd: "ttreport build PATH   or   ttreport collect --model MODEL --device DEVICE --server URL   or   ttreport demo",
	}}})
	return p
}

// hiddenNote says how many models on devices the configuration keeps out of lists.
func (r *Report) hiddenNote() string {
	if _, n := r.listed(); n > 0 {
		return fmt.Sprintf(" Hidden by ttreport.yaml: %d; their part in the decision stays.", n)
	}
	return ""
}

// nightly answers the question of builds: did it get slower, since when, by which commits? Everything else that fails
// is still shown.
func (r *Report) nightly(l Lead, g *gate.Review, at int) Lead {
	d := r.Gate.Results(at).Whole
	for _, c := range d.Counts {
		switch c.Kind {
		case gate.FailConfirmed:
			l.Word, l.Tone, l.Mark = "Slower", words.ToneBad, schema.Fail
			if kind, list := g.Decisive(); kind == c.Kind && len(list) > 0 {
				began := judge.Named(r.Releases, cmp.Or(list[0].First, list[0].Release))
				l.Word, l.Paras = "Slower since "+r.nameOf(began), append(r.broughtBy(began), l.Paras...)
			}
			return l
		case gate.FailSuspected:
			l.Word, l.Tone, l.Mark = "Perhaps slower", words.ToneWarning, schema.Warning
			return l
		}
	}
	if d.Word == gate.Pass || d.Word == gate.PassWithWarnings {
		l.Word = "Not slower"
		if before := r.Gate.Before(at); before >= 0 {
			l.Word += " than the builds up to " + r.Releases[before].Name
		}
	}
	return l
}

// broughtBy says which commits a build has that the one before it has not; nothing where they are not stated.
func (r *Report) broughtBy(release int) []string {
	c := r.commitRange(release)
	if c.Text == "" {
		return nil
	}
	out := fmt.Sprintf("Between %s and %s: %s", r.nameOf(r.Gate.Before(release)), r.nameOf(release), c.Text)
	if c.Sub != "" {
		out += "; " + c.Sub
	}
	return []string{out + "."}
}

// measured is when the newest run was; "" when nobody knows.
func (r *Report) measured() string {
	var newest time.Time
	for i := range r.Columns.Runs {
		if s := r.Columns.Runs[i].Start; s.After(newest) {
			newest = s
		}
	}
	if newest.IsZero() {
		return ""
	}
	return newest.UTC().Format(time.RFC3339)
}

// baselineIntro says what a release is compared with, and how sure that is.
func (r *Report) baselineIntro(at int) string {
	if r.Gate.Before(at) < 0 {
		return r.comparedWith(at)
	}
	return r.comparedWith(at) + " " + fitText(r.Gate.Fit(at))
}

// comparedWith says what a release is compared with. The front page says no more: its card has the rest.
func (r *Report) comparedWith(at int) string {
	before := r.Gate.Before(at)
	if before < 0 {
		return "Nothing before it can serve as a baseline."
	}
	return fmt.Sprintf("Compared with the releases up to %s; a change counts when it is rare among all that was "+
		"measured and beyond the limit.", r.Releases[before].Name)
}

// unit is what the site calls what it judges: a night's build is no release, whatever its label.
func (r *Report) unit() string {
	if r.chosen() == ModeNightly {
		return "build"
	}
	return "release"
}

func (r *Report) releaseWord(rel judge.Release, before string) string {
	if unit := r.unit(); rel.Label || unit == "build" {
		return before + unit
	}
	return before + "build (no release is stated)"
}

func toneMark(tone words.Tone) schema.Outcome {
	switch tone {
	case words.ToneBad:
		return schema.Fail
	case words.ToneGood:
		return schema.Pass
	}
	return schema.Warning
}

func (r *Report) landingParas(f gate.Findings) []string {
	return append(ShiftTexts(f.Shifts), r.reading()...)
}

// requiredSection lists the workloads and scores with required targets that are not met; met ones are a sentence.
func (r *Report) requiredSection(at int, all []schema.Verdict) Section {
	rel, req := r.Releases[at], required(all)
	s := Section{
		ID: "targets", Title: "Required targets",
		Intro: "Required by their own priority, else by the model's declared status.",
		End:   &Link{"all targets of " + rel.Name, ReleasePath(rel.Name) + "#targets"},
	}
	met := metIn(req)
	if met == len(req) {
		s.Blocks = []Block{Prose{"All " + words.Count(len(req)) + " are met."}}
		return s
	}
	if met > 0 {
		s.Blocks = []Block{Prose{words.Of(met, len(req)) + " are met. The others:"}}
	}
	open := withOpen(all)
	if t := r.targetGrid(open, true); len(t.Rows) > 0 {
		s.Intro += " " + gridIntro
		s.Blocks = append(s.Blocks, t.cut(r.allVerdicts(at)))
	}
	if t := r.referenceTable(required(open), true); len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t.cut(r.allVerdicts(at)))
	}
	return s
}

// withOpen keeps the verdicts on workloads and scores of which a required one is not met.
func withOpen(all []schema.Verdict) []schema.Verdict {
	of := func(v *schema.Verdict) string {
		id := v.Model + "\x00" + v.Device + "\x00" + v.Impl + "\x00" + v.Key.String()
		if v.Key.IsEval() {
			id += "\x00" + v.Metric
		}
		return id
	}
	open := map[string]bool{}
	for i := range all {
		if v := &all[i]; v.Required && v.Outcome != schema.Pass {
			open[of(v)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(v schema.Verdict) bool { return !open[of(&v)] })
}

// lostText says how many history documents could not be read; "" when all were.
func (r *Report) lostText() string {
	n := len(r.Gate.Lost)
	if n == 0 {
		return ""
	}
	return words.Plural(n, "history document") + " could not be read"
}

func required(list []schema.Verdict) []schema.Verdict {
	var out []schema.Verdict
	for _, v := range list {
		if v.Required {
			out = append(out, v)
		}
	}
	return out
}

// releasesTitle calls things by their names: a build that nobody released is no release.
func (r *Report) releasesTitle() string {
	labelled := 0
	for _, rel := range r.Releases {
		if rel.Label {
			labelled++
		}
	}
	switch {
	case labelled == 0 || r.unit() == "build":
		return "Builds"
	case labelled == len(r.Releases):
		return "Releases"
	}
	return "Releases and builds"
}

// topChanges keeps what needs a decision and what improved, for the landing page.
func topChanges(list []schema.Verdict) []schema.Verdict {
	var out []schema.Verdict
	for _, v := range list {
		switch v.Outcome {
		case schema.Regressed, schema.Inconclusive, schema.Improved, schema.Recovered, schema.Excluded:
			out = append(out, v)
		case schema.NotMeasured:
			out = append(out, v)
		}
	}
	return out
}

func (r *Report) changedBlocks(list []schema.Verdict, at int) []Block {
	if len(list) > 0 {
		return []Block{r.changeTable(list, at, true, "Changes, worst first").cut(r.allVerdicts(at)).
			whole(r.inExplore(at, schema.Pair{}))}
	}
	compared := 0
	for _, v := range r.Gate.Findings(at).History {
		if _, ok := v.Effect.Get(); ok {
			compared++
		}
	}
	if e := r.noBaseline(at); e.What != "" && compared == 0 {
		return []Block{e}
	}
	e := Empty{
		What: "Nothing to compare",
		Why:  "No earlier release of its line has the same measurements. The next one will have a baseline.",
	}
	switch {
	case compared == 0 && r.Gate.Before(at) >= 0:
		e = Empty{
			What: "Nothing to compare",
			Why: "Earlier releases exist, and nothing of this one can be compared with them: " +
				"it measured something else, or has no number that counts.",
		}
	case compared > 0:
		e = Empty{
			What: "Nothing changed",
			Why: fmt.Sprintf(
				"%s compared with history: none regressed or improved by more than the limit.",
				words.Plural(compared, "number"),
			),
		}
	}
	return []Block{e}
}

// Headline is what a build came to, for one line on a terminal: the decision on the newest release with its counts, or
// what was measured where nothing is judged.
func (r *Report) Headline() string {
	at, lost := r.Newest(), r.lostText()
	if at < 0 {
		if lost != "" {
			return "no results can be shown; " + lost
		}
		return "no results yet"
	}
	out := strings.TrimSuffix(r.held(), ".") + "; " + r.unjudged()
	if r.graded() {
		d := words.Decide(r.Gate.Results(at).Whole)
		out = fmt.Sprintf("%s: %s; %s", r.Releases[at].Name, d.Word, strings.TrimSuffix(d.Detail, "."))
	}
	if lost != "" {
		out += "; " + lost
	}
	return out
}
