package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// TargetsPage is what is required today: how it is met, what contradicts itself, and what changed over time.
func (r *Report) TargetsPage() Page {
	all := r.today(r.Gate.PairTargets, func(v *schema.Verdict) bool { return v.Metric != "" || v.Key.IsEval() })
	p := r.page("targets/index.html", "targets", "Targets", "The targets in force, and how they are met.")
	p.Scripts = []string{filterScript}
	req := required(all)
	met := metIn(req)
	switch {
	case len(all) == 0:
		p.Lead = Lead{Text: "No target is in force.", Cmd: "ttreport targets propose",
			Paras: []string{"Nothing is graded by target, which is not a pass."}}
	case met == len(req):
		p.Lead = Lead{Tone: words.ToneGood, Text: fmt.Sprintf("All %s required targets are met, and %s informational ones.",
			words.Count(len(req)), words.Of(metIn(all)-met, len(all)-len(req)))}
	default:
		p.Lead = Lead{Tone: words.ToneBad, Text: shortOf(req)}
	}
	p.add(section("force", "In force", r.gridIntro(all)+" Stored with each run when it was first read; later edits of "+
		"target files do not reach it.", r.targetGrid(all, true).filtered("data/ has all, by release")))
	p.add(section("lint", "Contradictions", "Targets that their own neighbours rule out, or that no tool measures.",
		r.contradictions().cut("ttreport targets lint has all")),
		section("changes", "Changes over time", "A verdict that turned may have turned because its target did.",
			r.targetHistory().cut("the pages of the releases have all")))
	return p
}

// gridIntro says how a table of targets reads, and when a number misses its limit by the rule in force.
func (r *Report) gridIntro(list []schema.Verdict) string {
	out := "One row per number. Limit: the level that decides, with its tolerance. Grey: not required. " +
		"Picture: right is better, dashed is required."
	if slices.ContainsFunc(list, func(v schema.Verdict) bool { return v.Key.IsEval() }) {
		out += " Of scores the limit is the published one, and the gap is in percentage points."
	}
	if r.Gate.Policy.MissesByInterval() {
		return out + " Pass or fail: the whole 95 % interval meets or misses the limit. Else: inconclusive."
	}
	return out + " Pass: the whole 95 % interval meets the limit. Fail: the number misses it; " + mayBeChance +
		" where its interval reaches the limit (inconclusive with judge: targets: interval)."
}

// mayBeChance marks a miss whose interval reaches the limit.
const mayBeChance = "may be chance"

// shortOf counts the required targets that are not met, by verdict, and then those that are.
func shortOf(req []schema.Verdict) string {
	called := map[schema.Outcome]string{schema.Fail: "missed", schema.NotMeasured: "missing", schema.Pass: "met",
		schema.NoTarget: "without a verdict"}
	parts := tally(req, called, schema.Fail, schema.NotMeasured, schema.Unattainable, schema.Inconclusive, schema.NoTarget,
		schema.Pass)
	n, are, _ := strings.Cut(strings.Join(parts, ", "), " ")
	return n + " of " + words.Count(len(req)) + " required targets are " + are + "."
}

// tally counts verdicts by outcome, in the order of the outcomes and by the words that they have, else their own: "3
// missed", "2 inconclusive".
func tally(list []schema.Verdict, called map[schema.Outcome]string, order ...schema.Outcome) (out []string) {
	for _, is := range order {
		if n := outcomes(list, is); n > 0 {
			out = append(out, words.Count(n)+" "+cmp.Or(called[is], is.String()))
		}
	}
	return out
}

// outcomes counts the verdicts with an outcome, metIn the targets that are met.
func outcomes(list []schema.Verdict, is schema.Outcome) (n int) {
	for i := range list {
		n += truth(list[i].Outcome == is)
	}
	return n
}

func metIn(list []schema.Verdict) int { return outcomes(list, schema.Pass) }

// contradictions are the lint findings of the targets that the newest runs carry. One about a metric of a workload is
// listed once: its levels are shares of one value.
func (r *Report) contradictions() *Table {
	type about struct {
		of                schema.Pair
		code, key, metric string
	}
	type found struct {
		of schema.Pair
		judge.Contradiction
	}
	var list groups[about, found]
	for _, pair := range r.Pairs {
		runs := r.runs[pair.Pair][pair.Newest]
		e := judge.TargetEntry{Model: pair.Model, Device: pair.Device}
		for _, row := range r.Columns.TargetsOf(runs[len(runs)-1]) {
			e.Targets = append(e.Targets, row.Target)
		}
		for _, c := range judge.Contradictions(e) {
			if x, known := list.of(about{pair.Pair, c.Code, c.Target.Key.String(), c.Target.Metric}); !known {
				*x = found{pair.Pair, c}
			}
		}
	}
	slices.SortStableFunc(list.list, func(a, b found) int {
		return strings.Compare(string(a.Severity), string(b.Severity))
	})
	return tableOf("Contradictions", List, list.list, []Column[found]{
		{medium("Severity"), func(x found) Cell { return text(string(x.Severity)) }},
		{col("Where").in(loadUnit), func(x found) Cell {
			c := pairHead(x.of)
			c.Sub = words.Workload(x.Target.Key)
			return c
		}},
		{col("Level"), func(x found) Cell { return text(x.Target.Level) }},
		{col("What"), func(x found) Cell { return sentence(x.Text) }},
	})
}

// targetHistory counts how targets changed, newest release first.
func (r *Report) targetHistory() *Table {
	type changed struct {
		release, since        string
		changed, new, removed int
	}
	var list []changed
	for _, at := range newestFirst(r.Releases) {
		changes, since := r.Gate.TargetChanges(at)
		if len(changes) == 0 {
			continue
		}
		x := changed{release: r.Releases[at].Name, since: since}
		for _, c := range changes {
			was, is := present(c.Was), present(c.Is)
			x.changed += truth(was && is)
			x.new += truth(is && !was)
			x.removed += truth(!is)
		}
		if list = append(list, x); len(list) == rowsShown {
			break
		}
	}
	return tableOf("Targets that changed, by release", List, list, []Column[changed]{
		{col("Release"), func(x changed) Cell { return head(x.release, ReleasePath(x.release)+"#target-changes") }},
		{col("Since"), func(x changed) Cell { return text(x.since) }},
		{num("Changed"), func(x changed) Cell { return count(x.changed) }},
		{num("New"), func(x changed) Cell { return count(x.new) }},
		{num("Removed"), func(x changed) Cell { return count(x.removed) }},
	})
}

// targetGrid has a row for each number or score with targets: what was measured beside the limit that decides, how far
// it lies from it, its interval, and all levels as a picture. The verdict is that of the required levels; a missed
// informational one is grey.
func (r *Report) targetGrid(list []schema.Verdict, withPair bool) *Table {
	type row = *graded
	rows := gradedOf(list)
	implOf := words.Impls(len(list), func(i int) *schema.Verdict { return &list[i] })
	columns := []Column[row]{
		{medium("Verdict").filtered(), row.verdict},
		{col("Where").in(loadUnit).filtered(), func(n row) Cell { return whereCell(n.Verdict, withPair, implOf(n.Verdict)) }},
		{medium("Metric").filtered(), func(n row) Cell {
			if parts := schema.PartsOfMean(n.Metric); parts != nil {
				return text(words.Plural(len(parts), "metric") + ", mean")
			}
			return metricCell(n.Metric, n.Stat)
		}},
		{num("Measured"), func(n row) Cell {
			c := r.numberIn(n.Verdict)
			if schema.ReasonIs[schema.MetricNotMeasured](n.Reason) {
				c.Sub = "no tool measures it"
			}
			return c
		}},
		{num("Limit"), row.limitCell},
		{Col{Head: "Gap", Unit: "measured − limit", Num: true, Sort: true, Length: Medium}, row.gap},
		{medium("95 % interval"), row.interval},
		{num("n").in("of scores"), func(n row) Cell {
			if !n.Key.IsEval() {
				return text("")
			}
			return stated(n.N)
		}},
		{medium("Among the levels"), row.picture},
	}
	if slices.ContainsFunc(rows, func(n row) bool { return n.Key.IsEval() }) {
		columns[1].Unit = "workload or task"
	} else {
		columns = slices.Delete(columns, 7, 8)
	}
	return tableOf("Targets by workload, worst first", List, rows, columns)
}

// graded is a number or a score with the verdicts against all levels of its targets.
type graded struct {
	*schema.Verdict // that decides: of the required levels, else of the informational ones
	limit
	value  float64           // NaN for none
	levels []*schema.Verdict // the known levels in their order, then others
	missed int               // informational levels
}

// limit is where a target ends: its level, moved by its tolerance.
type limit struct {
	at, level float64 // NaN for none
	worse     float64 // 1 where larger is worse, else -1
	scale     float64 // of the verdict's effect and interval: the level, or of differences 100 for percent
	unit      string
	points    func(share float64) string // says a difference of scores; nil for other numbers
}

func limitOf(v *schema.Verdict) limit {
	level, ok := v.Ref.Get()
	if !ok {
		level = math.NaN()
	}
	x := limit{level: level, worse: -1, scale: math.Abs(level), unit: schema.Unit(v.Metric)}
	why, _ := v.Reason.(schema.Limit)
	tolerance := why.Tolerance
	switch why, _ := v.Reason.(schema.EvalLimit); {
	case v.Key.IsEval(): // the effect of the verdict says which way is worse
		tolerance, x.worse, x.points = why.Tolerance, words.Rise(v, 1), words.Change
		if value, _ := v.Value.Get(); !why.Relative {
			x.points, x.scale = words.Points, 1
			if max(level, value) > 1 {
				x.scale = 100
			}
		}
	case !judge.Higher(v.Metric):
		x.worse = 1
	}
	x.at = level * (1 + x.worse*tolerance)
	return x
}

// miss is how far a number is beyond the limit, as a share of it; negative within, NaN without one.
func (x limit) miss(value float64) float64 { return x.worse * (value - x.at) / math.Abs(x.at) }

// gradedOf groups verdicts by number: required ones first, of one verdict the largest miss.
func gradedOf(list []schema.Verdict) []*graded {
	type id struct{ model, device, impl, key, metric, stat string }
	var by groups[id, *graded]
	for i := range list {
		v := &list[i]
		if v.Metric == "" && !v.Key.IsEval() || v.Key.IsEval() && v.Outcome == schema.NoTarget {
			continue
		}
		n, known := by.of(id{v.Model, v.Device, v.Impl, v.Key.String(), v.Metric, v.Stat})
		if !known {
			*n = &graded{}
		}
		at := slices.IndexFunc((*n).levels, func(x *schema.Verdict) bool { return x.Level == v.Level })
		switch {
		case at < 0:
			(*n).levels = append((*n).levels, v)
		case standing(v) <= standing((*n).levels[at]):
			(*n).levels[at] = v
		}
	}
	for _, n := range by.list {
		n.decide()
	}
	slices.SortStableFunc(by.list, func(a, b *graded) int {
		miss := cmp.Compare(b.miss(b.value), a.miss(a.value))
		if a.Outcome == schema.Pass {
			miss = cmp.Or(truth(b.missed > 0)-truth(a.missed > 0), miss)
		}
		return cmp.Or(standing(a.Verdict)-standing(b.Verdict), miss)
	})
	return by.list
}

// decide puts the levels of a number in their order and finds the verdict that decides.
func (n *graded) decide() {
	place := func(level string) int {
		if at := slices.Index(schema.Levels(), level); at >= 0 {
			return at
		}
		return len(schema.Levels())
	}
	slices.SortFunc(n.levels, func(a, b *schema.Verdict) int {
		return cmp.Or(place(a.Level)-place(b.Level), strings.Compare(a.Level, b.Level))
	})
	n.value = math.NaN()
	if v, ok := n.levels[0].Value.Get(); ok {
		n.value = v
	}
	for _, v := range n.levels {
		n.missed += truth(!v.Required && v.Outcome == schema.Fail)
		at := limitOf(v)
		if n.Verdict == nil || standing(v) < standing(n.Verdict) || v.Outcome == schema.Pass &&
			standing(v) == standing(n.Verdict) && at.miss(n.value) > n.miss(n.value) { // of those that are met the nearest
			n.Verdict, n.limit = v, at
		}
	}
}

// Bullet is a measured value among the levels of its targets, as a picture: right is better, on a logarithmic scale.
type Bullet struct {
	Label    string
	Measured float64 // NaN for none
	Ticks    []BulletTick
}

// BulletTick is a level.
type BulletTick struct {
	Value    float64 // larger is better, as Measured
	Required bool
}

// verdict is that of the required levels, with what changes how it must be read; else what the informational ones came
// to, in grey.
func (n *graded) verdict() Cell {
	c := Cell{Outcome: n.Outcome}
	limit, _ := n.Reason.(schema.Limit)
	score, _ := n.Reason.(schema.EvalLimit)
	switch {
	case !n.Required && n.Outcome == schema.Fail:
		c = Cell{Text: "below " + words.Plural(n.missed, "level"), Sub: "informational"}
	case !n.Required:
		c.Sub = "informational"
	case n.Decision.Excuses() && n.Decision.Kind == schema.Accept:
		c.Sub = "accepted"
	case n.Decision.Excuses():
		c.Sub = "waived"
	case n.Outcome == schema.Fail && (limit.Chance || score.Chance):
		c.Sub = mayBeChance
	case n.Outcome == schema.Pass && n.missed > 0:
		c.Sub = "misses an informational target"
	}
	return c
}

// standing orders verdicts on the targets of a workload by how much they decide: required ones before informational
// ones; of these what is open, what a decision excuses, what is met, what no tool measures.
func standing(v *schema.Verdict) int {
	const excused, met, unmeasurable, informational = 10, 20, 30, 100
	open := []schema.Outcome{schema.Fail, schema.NotMeasured, schema.Inconclusive, schema.Unattainable}
	at := slices.Index(open, v.Outcome)
	switch {
	case v.Outcome == schema.Pass:
		at = met
	case at < 0:
		at = unmeasurable
	case v.Decision.Excuses():
		at += excused
	}
	if !v.Required {
		at += informational
	}
	return at
}

// limitCell is the limit that decides, with its level.
func (n *graded) limitCell() Cell {
	if n.at == n.level || math.IsNaN(n.at) {
		c := number(n.Ref)
		c.Sub = n.Level
		return c
	}
	return Cell{Text: words.Number(n.at), Sort: &n.at,
		Sub: fmt.Sprintf("%s %s %s", n.Level, words.Number(n.level), n.apart(n.at, n.level))}
}

// gap is how far the number lies from the limit that decides, in the unit of the limit, and from the lowest
// informational level that it misses beside.
func (n *graded) gap() Cell {
	if math.IsNaN(n.value) || n.value <= 0 && !n.Key.IsEval() {
		return missing("not measured")
	}
	miss := n.miss(n.value)
	if math.IsNaN(miss) {
		return missing("no limit")
	}
	c := Cell{Text: n.apart(n.value, n.at), Sort: &miss}
	if !n.Key.IsEval() {
		c.Sub = words.Change(n.value/n.at - 1)
	}
	for _, v := range n.levels {
		if v != n.Verdict && !v.Required && v.Outcome == schema.Fail {
			x := limitOf(v)
			c.Sub = fmt.Sprintf("%s to %s %s", x.apart(n.value, x.at), v.Level, words.Number(x.at))
			break
		}
	}
	return c
}

// apart is how far a value lies from another: of scores in percentage points, else with the digits behind the point
// that the value is shown with, so that the three fit: "+52.0 ms". A difference that these do not show has its own.
func (x limit) apart(v, from float64) string {
	if x.points != nil {
		return x.points((v - from) / x.scale)
	}
	d, sign := v-from, "+"
	switch {
	case d == 0:
		sign = "±"
	case d < 0:
		sign = "−"
	}
	d = math.Abs(d)
	_, behind, _ := strings.Cut(words.Number(v), ".")
	said := strconv.FormatFloat(d, 'f', len(behind), 64)
	if strings.Trim(said, "0.") == "" || d >= 100 {
		said = words.Number(d)
	}
	return strings.TrimSuffix(sign+said+words.Thin+x.unit, words.Thin)
}

// interval is that of the number, which its verdicts have around their levels.
func (n *graded) interval() Cell {
	switch {
	case n.Interval == nil && n.Key.IsEval():
		return missing("nothing is known of its questions")
	case n.Interval == nil:
		return missing("one measurement, and no noise is known")
	}
	a, b := n.level+n.worse*n.Interval[0]*n.scale, n.level+n.worse*n.Interval[1]*n.scale
	return text(words.Number(min(a, b)) + " to " + words.Number(max(a, b)))
}

// picture is the number among the limits of its levels; of what was not measured, or can be met by nothing, the reason.
// Decisions on its targets stand with it: that on the verdict of the row, and those on other levels, which they name.
func (n *graded) picture() Cell {
	var notes []string
	for _, v := range n.levels {
		if v.Decision != nil && (n.Decision == nil || *v.Decision != *n.Decision) {
			notes = append(notes, v.Level+": "+words.DecisionNote(*v.Decision))
		}
	}
	if slices.Contains([]schema.Outcome{schema.NotMeasured, schema.Unattainable, schema.NoTarget}, n.Outcome) {
		return sentence(strings.Join(append([]string{words.Why(*n.Verdict)}, notes...), " "))
	}
	if n.Decision != nil {
		notes = append([]string{words.DecisionNote(*n.Decision)}, notes...)
	}
	c := Cell{Sub: strings.Join(notes, " ")}
	better := func(v float64) float64 { return math.Pow(v, -n.worse) }
	b, measured := &Bullet{Measured: math.NaN()}, "not measured"
	if !math.IsNaN(n.value) {
		if measured = words.Number(n.value); n.value > 0 {
			b.Measured = better(n.value)
		}
	}
	var names []string
	for _, v := range n.levels {
		if x := limitOf(v); x.at > 0 {
			b.Ticks = append(b.Ticks, BulletTick{better(x.at), v.Required})
			names = append(names, v.Level+" "+words.Number(x.at))
		}
	}
	if len(b.Ticks) == 0 {
		c.Text, c.Missing = words.Absent, "no limit"
		return c
	}
	b.Label = fmt.Sprintf("%s among %s", measured, strings.Join(names, ", "))
	c.Bullet = b
	return c
}
