package render

import (
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
	p := Page{Path: "index.html", Title: r.Title, Nav: "overview", Simulated: r.simulated(-1)}
	newest := time.Time{} // start of a run
	for i := range r.Columns.Runs {
		if s := r.Columns.Runs[i].Start; s.After(newest) {
			newest = s
		}
	}
	if !newest.IsZero() {
		p.Measured = newest.UTC().Format(time.RFC3339)
	}
	switch {
	case at < 0: // nothing was measured yet
		p.Description = "No results yet."
		p.Lead = Lead{Text: p.Description, Paras: []string{"Nothing has been measured or read into this workspace."}}
		if lost := r.lostText(); lost != "" {
			p.Description = "No results can be shown."
			p.Lead = Lead{Tone: words.ToneBad, Mark: schema.Fail, Text: p.Description,
				Paras: []string{lost + " and is ignored here: see Problems."}}
		}
		p.add(section("start", "What to do", "", Empty{
			What: "Nothing to show", Why: "The history folder holds no run.",
			Cmd: "ttreport build PATH   or   ttreport collect --model MODEL --device DEVICE --server URL   or   ttreport demo",
		}))
		return p
	case !r.Graded():
		return r.comparing(p)
	}
	rel := r.Releases[at]
	f, review := r.Gate.Findings(at), r.Gate.Review(at, "", "")
	review.Unmeasured = slices.DeleteFunc(slices.Clone(r.Planned), func(p schema.Pair) bool {
		return r.Models.hides(p.Model) || r.Devices.hides(p.Device)
	})
	d := words.Decide(r.Gate.Results(at).Whole)
	p.Eyebrow = fmt.Sprintf("%s: %s, %s.", r.releaseWord(rel, "Newest "), rel.Name, day(rel.Date))
	p.Description = fmt.Sprintf("%s: %s: %s", rel.Name, d.Word, d.Detail)
	if r.chosen() == ModeNightly { // the question of builds: did it get slower, and since when?
		since := ""
		news := func(x judge.Change) bool { return x.Worse && x.Found == rel.Name }
		if i := slices.IndexFunc(review.Changes, news); i >= 0 {
			since = r.nameOf(judge.Named(r.Releases, review.Changes[i].Since))
		}
		d.Word, d.Tone = words.Slower(d, r.Gate.Results(at).Whole, since, r.before(at))
	}
	p.Lead = decisionLead(d, review)
	p.Lead.Paras = append(p.Lead.Paras, r.reading()...)
	// What needs a decision, and what improved; the page of coverage has what was not measured again.
	p.add(r.verdictSections(&review, at, verdictsThat(f.History, func(v *schema.Verdict) bool {
		return slices.Contains([]schema.Outcome{schema.Regressed, schema.Improved, schema.Recovered, schema.Excluded,
			schema.NotMeasured}, v.Outcome) && !schema.ReasonIs[schema.NotRemeasured](v.Reason)
	}), words.Sensitivity(r.Gate.Fit(at).Shown), Link{"all of " + rel.Name, ReleasePath(rel.Name)})...)
	if len(required(f.Targets)) > 0 {
		p.add(r.requiredSection(at, f.Targets))
	}
	p.add(r.modelsSection(f.Changes), r.releasesSection())
	p.shorten()
	return p
}

// verdictSections are the sections that a decision rests on: what is known of it, a card for each of the worst changes,
// a table of the others, the numbers that are given, and folded those that show nothing; fit says how small a change
// would have been named. Where nothing is decided, they are the numbers alone.
func (r *Report) verdictSections(
	g *gate.Review, at int, numbers []schema.Verdict, fit string, more Link,
) (out []Section) {
	about, one := words.ComparedWith(r.before(at)), len(g.Pairs) < 2
	if slices.ContainsFunc(numbers, func(v schema.Verdict) bool { return v.Evidence != 0 && v.Q.Ptr() != nil }) {
		about += " q is the share of such findings that chance makes."
	}
	if !r.Graded() {
		if len(numbers) == 0 {
			return nil
		}
		return []Section{section("changed", "Against history", about, r.changedBlocks(g, numbers, at)...)}
	}
	told := slices.DeleteFunc(slices.Clone(g.Changes), func(c judge.Change) bool { return !r.seenIn(&c, at) })
	cards, others := r.changeCards(told, at)
	card := r.Card(g)
	var blocks []Block
	for i := range cards {
		card.Ways = slices.DeleteFunc(card.Ways, cards[i].has)
		blocks = append(blocks, cards[i])
	}
	out = append(out, section("decision", "", "", card))
	if len(told) > 0 {
		out = append(out, section("changes", "Changes", "What is new, and what is still there.",
			append(blocks, r.changesTable(others, at).cut("the page Changes has all"))...).leading("all changes", ChangesPath))
	}
	if len(told) == 0 || len(numbers) > 0 {
		title := "Numbers that changed, worst first"
		if len(numbers) == 0 {
			title = "Numbers against history"
		}
		out = append(out, section("changed", title, about,
			r.changedBlocks(g, numbers, at)...).leading(more.Text, more.Href))
	}
	// the numbers that show nothing, those that look worst, and how small a change would have been named
	const most = 15
	var list []schema.Verdict
	open := 0
	for i := range g.History {
		if g.History[i].Outcome != schema.Inconclusive {
			continue
		}
		if open++; open <= most {
			list = append(list, g.History[i])
		}
	}
	switch b := g.Result.Basis; {
	case open > 0:
		t := r.changeTable(list, at, !one, "Too noisy to tell").elsewhere(r.allVerdicts(at))
		t.dropColumn(len(t.Cols) - 1) // why a number is inconclusive stands in its drawer; the rows stay short
		t.Total = open
		t.keep(most)
		s := section("noisy", "Too noisy to tell", words.TooNoisy(b, open, fit), t)
		s.Fold = words.Plural(len(t.Rows), "number")
		out = append(out, s)
	case fit != "":
		out = append(out, section("noisy", "What could be seen", "", Prose{fit}))
	}
	return out
}

// NamesIn are links of the names in the headline of a page: of models on devices, their workloads, models, releases; on
// pages about the newest release also of its changes.
func (r *Report) NamesIn(p *Page) (out Links) {
	text := p.Lead.Text
	add := func(name string, to Address) {
		if name != "" && to != p.Path && strings.Contains(text, name) {
			out = append(out, Link{name, to})
		}
	}
	for _, pair := range r.Pairs {
		add(pair.Model, ModelPath(pair.Model))
		if name := words.OnDevice(pair.Model, pair.Device); strings.Contains(text, name) {
			add(name, PairPath(pair.Model, pair.Device))
			for _, s := range r.series[pair.Pair] {
				if strings.Contains(text, words.Metric(s.Metric, s.Stat)) || s.Metric == "ttft" {
					add(words.WorkloadInHeadline(s.Key), r.SeriesPath(s))
				}
			}
		}
	}
	for i := range r.Releases {
		add(r.nameOf(i), ReleasePath(r.Releases[i].Name))
	}
	for _, c := range r.changesOn(p.Path) {
		if _, one := c.System(); !one {
			add(words.ChangeOf(&c), ChangesPath+"#"+Address(changeAnchor(c.ID)))
		}
	}
	if slices.ContainsFunc(p.Lead.Paras, func(t string) bool { return strings.HasSuffix(t, "see Problems.") }) {
		out = append(out, Link{"Problems", ProblemsPath})
	}
	return out
}

// changesOn are the changes of the newest release for the pages about it and about the models on devices that it
// measured; nil for others, which do not change when the next release comes.
func (r *Report) changesOn(page Address) []judge.Change {
	newest := r.Newest()
	if newest < 0 {
		return nil
	}
	about := []Address{"index.html", ChangesPath, ReleasePath(r.Releases[newest].Name)}
	if slices.Contains(about, page) || strings.HasPrefix(string(page), "models/") && slices.ContainsFunc(r.Pairs,
		func(p Pair) bool { return p.Newest == newest && page == PairPath(p.Model, p.Device) }) {
		return r.Gate.Findings(newest).Changes
	}
	return nil
}

// releasesSection has the decisions on all releases, oldest first, and a table of the newest ones.
func (r *Report) releasesSection() Section {
	s := section("releases", r.releasesTitle(), "Newest first.", r.releaseTable())
	if len(r.Releases) > newestShown && r.Graded() { // else the table has all
		const most = 100 // stand beside each other on a page
		var strip Decisions
		for i := max(0, len(r.Releases)-most); i < len(r.Releases); i++ {
			d := words.Decide(r.Gate.Results(i).Whole)
			strip = append(strip, Decided{r.nameOf(i), d.Word, d.Tone, ReleasePath(r.Releases[i].Name)})
		}
		s.Intro = "Bars, oldest first: tall for FAIL, half for a warning or nothing graded, low for PASS. Below, newest " +
			"first."
		s.Blocks = append([]Block{strip}, s.Blocks...)
	}
	return s
}

// hiddenNote says how many models on devices the configuration keeps out of lists.
func (r *Report) hiddenNote() string {
	if n := len(r.Pairs) - len(r.shown); n > 0 {
		return fmt.Sprintf(" Hidden by ttreport.yaml: %d; their part in the decision stays.", n)
	}
	return ""
}

// before is the newest release that one is compared with; "" for none.
func (r *Report) before(at int) string {
	if i := r.Gate.Before(at); i >= 0 {
		return r.Releases[i].Name
	}
	return ""
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

// requiredSection lists the workloads and scores with required targets that are not met; met ones are a sentence.
func (r *Report) requiredSection(at int, all []schema.Verdict) Section {
	rel, req := r.Releases[at], required(all)
	met := metIn(req)
	s := section("targets", "Required targets", "Required where the target file or the model's status says so.").
		leading("all targets of "+rel.Name, ReleasePath(rel.Name)+"#targets")
	if met == len(req) {
		s.Blocks = []Block{Prose{"All " + words.Count(len(req)) + " are met."}}
		return s
	}
	if met > 0 {
		s.Blocks = []Block{Prose{words.Of(met, len(req)) + " are met. The others:"}}
	}
	of := func(v *schema.Verdict) string {
		id := v.Model + "\x00" + v.Device + "\x00" + v.Impl + "\x00" + v.Key.String()
		if v.Key.IsEval() {
			id += "\x00" + v.Metric
		}
		return id
	}
	unmet := map[string]bool{}
	for i := range req {
		unmet[of(&req[i])] = unmet[of(&req[i])] || req[i].Outcome != schema.Pass
	}
	open := verdictsThat(all, func(v *schema.Verdict) bool { return unmet[of(v)] })
	s.Blocks = append(s.Blocks, r.targetSection(at, open).Blocks...)
	return s
}

// lostText says how many history documents could not be read; "" when all were.
func (r *Report) lostText() string {
	if n := len(r.Gate.Lost); n > 0 {
		return words.Plural(n, "history document") + " could not be read"
	}
	return ""
}

func required(list []schema.Verdict) []schema.Verdict {
	return verdictsThat(list, func(v *schema.Verdict) bool { return v.Required })
}

// verdictsThat are some of a long list, which are counted first: verdicts are large.
func verdictsThat(list []schema.Verdict, keep func(*schema.Verdict) bool) (out []schema.Verdict) {
	n := 0
	for i := range list {
		n += truth(keep(&list[i]))
	}
	out = slices.Grow(out, n)
	for i := range list {
		if keep(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

// releasesTitle calls things by their names: a build that nobody released is no release.
func (r *Report) releasesTitle() string {
	labelled := 0
	for _, rel := range r.Releases {
		labelled += truth(rel.Label)
	}
	switch {
	case labelled == 0 || r.unit() == "build":
		return "Builds"
	case labelled == len(r.Releases):
		return "Releases"
	}
	return "Releases and builds"
}

// changedBlocks are changes of a review against history; where there are none, why.
func (r *Report) changedBlocks(g *gate.Review, list []schema.Verdict, at int) []Block {
	if len(list) > 0 {
		return []Block{r.changeTable(list, at, len(g.Pairs) > 1, "Changes, worst first").cut(r.allVerdicts(at)).
			whole(r.inExplore(at, schema.Pair{}))}
	}
	compared := 0
	for i := range g.History {
		compared += truth(present(g.History[i].Effect))
	}
	if compared > 0 {
		return []Block{Empty{What: "Nothing changed", Why: words.Plural(compared, "number") +
			" compared with history: none regressed or improved by more than the limit."}}
	}
	if e := r.noBaseline(at); e.What != "" {
		return []Block{e}
	}
	if r.Gate.Before(at) >= 0 {
		return []Block{Empty{What: "Nothing to compare", Why: "Earlier releases exist, and nothing of this one can be " +
			"compared with them: it measured something else, or has no number that counts."}}
	}
	return []Block{Empty{What: "Nothing to compare",
		Why: "No earlier release of its line has the same measurements. The next one will have a baseline."}}
}

// Headline is what a build came to, for one line on a terminal: the decision on the newest release with its counts, or
// what was measured where nothing is judged.
func (r *Report) Headline() string {
	at, lost := r.Newest(), r.lostText()
	var out string
	switch {
	case at < 0 && lost != "":
		out = "no results can be shown"
	case at < 0:
		out = "no results yet"
	case r.Graded():
		d := words.Decide(r.Gate.Results(at).Whole)
		out = fmt.Sprintf("%s: %s; %s", r.Releases[at].Name, d.Word, strings.TrimSuffix(d.Detail, "."))
	default:
		out = strings.TrimSuffix(r.heldText(), ".") + "; " + r.unjudged()
	}
	if lost != "" {
		out += "; " + lost
	}
	return out
}
