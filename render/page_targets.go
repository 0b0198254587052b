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
	const rest = "data/ has all, by release"
	sections := []Section{
		section("force", "In force", gridIntro+r.chanceRule()+" Stored with each run when it was first "+
			"read; later edits of target files do not reach it.", r.targetGrid(all, true).filtered(rest)),
		section("references", "Scores against references", referenceIntro+r.chanceRule(),
			r.referenceTable(all, true).cut(rest)),
	}
	if scoresFirst(all) {
		slices.Reverse(sections)
	}
	if len(sections[0].Blocks) > 0 { // the rule is said once
		sections[1].Intro = strings.Replace(sections[1].Intro, r.chanceRule(), "", 1)
	}
	p.add(sections...)
	p.add(section("lint", "Contradictions", "Targets that their own neighbours rule out, or that no tool measures.",
		r.contradictions().cut("ttreport targets lint has all")),
		section("changes", "Changes over time", "A verdict that turned may have turned because its target did.",
			r.targetHistory().cut("the pages of the releases have all")))
	return p
}

// scoresFirst reports whether all required targets that are missed are references of scores: what is missed is read
// first.
func scoresFirst(all []schema.Verdict) bool {
	missed := func(eval bool) bool {
		return slices.ContainsFunc(all, func(v schema.Verdict) bool {
			return v.Required && v.Outcome == schema.Fail && v.Key.IsEval() == eval
		})
	}
	return missed(true) && !missed(false)
}

// gridIntro says how a table of targets reads.
const gridIntro = "One row per number. Limit: the level that decides, with its tolerance. Grey: not required. " +
	"Picture: right is better, dashed is required."

// shortOf counts the required targets that are not met, by verdict, and then those that are.
func shortOf(req []schema.Verdict) string {
	var parts []string
	for _, x := range []struct {
		outcome schema.Outcome
		are     string
	}{
		{schema.Fail, "missed"}, {schema.NotMeasured, "missing"}, {schema.Unattainable, "unattainable"},
		{schema.Inconclusive, "inconclusive"}, {schema.Pass, "met"},
	} {
		switch n := outcomes(req, x.outcome); {
		case n == 0:
		case len(parts) == 0:
			parts = append(parts, words.Of(n, len(req))+" required targets are "+x.are)
		default:
			parts = append(parts, words.Count(n)+" "+x.are)
		}
	}
	return strings.Join(parts, ", ") + "."
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

// targetGrid has a row for each number with performance targets: what was measured beside the limit that decides, how
// far it lies from it, its interval, and all levels as a picture. The verdict is that of the required levels; a missed
// informational one is grey.
func (r *Report) targetGrid(list []schema.Verdict, withPair bool) *Table {
	type row = *targetNumber
	implOf := words.Impls(len(list), func(i int) *schema.Verdict { return &list[i] })
	return tableOf("Targets by workload, worst first", List, targetNumbers(list), []Column[row]{
		{medium("Verdict").filtered(), row.verdict},
		{col("Where").in(loadUnit).filtered(), func(n row) Cell { return whereCell(n.first, withPair, implOf(n.first)) }},
		{medium("Metric").filtered(), func(n row) Cell { return metricCell(n.first.Metric, n.first.Stat) }},
		{num("Measured"), func(n row) Cell {
			c := r.numberIn(n.first)
			if schema.ReasonIs[schema.MetricNotMeasured](n.first.Reason) {
				c.Sub = "no tool measures it"
			}
			return c
		}},
		{num("Limit"), row.limit},
		{Col{Head: "Gap", Unit: "measured − limit", Num: true, Sort: true, Length: Medium}, row.gap},
		{medium("95 % interval"), row.interval},
		{medium("Among the levels"), row.picture},
	})
}

// targetNumbers groups verdicts by workload and metric: required ones first, of one verdict the largest miss.
func targetNumbers(list []schema.Verdict) []*targetNumber {
	type id struct{ model, device, impl, key, metric, stat string }
	var by groups[id, *targetNumber]
	for i := range list {
		v := &list[i]
		if v.Key.IsEval() || v.Metric == "" {
			continue
		}
		at, known := by.of(id{v.Model, v.Device, v.Impl, v.Key.String(), v.Metric, v.Stat})
		if !known {
			*at = &targetNumber{first: v, levels: map[string]*schema.Verdict{}}
		}
		if old := (*at).levels[v.Level]; old == nil || standing(v) <= standing(old) {
			(*at).levels[v.Level] = v
		}
	}
	slices.SortStableFunc(by.list, func(a, b *targetNumber) int {
		x, y := a.worst(), b.worst()
		by := cmp.Compare(b.miss(y), a.miss(x))
		if x.Outcome == schema.Pass {
			by = cmp.Or(truth(b.missed() > 0)-truth(a.missed() > 0), by)
		}
		return cmp.Or(standing(x)-standing(y), by)
	})
	return by.list
}

// referenceTable lists scores against their references, in percentage points: tasks have heads of their own.
func (r *Report) referenceTable(list []schema.Verdict, withPair bool) *Table {
	var rows []*reference
	for i := range list {
		if v := &list[i]; v.Key.IsEval() && v.Outcome != schema.NoTarget {
			rows = append(rows, referenceOf(v))
		}
	}
	slices.SortStableFunc(rows, func(a, b *reference) int {
		return cmp.Or(outcomeRank(a.Verdict)-outcomeRank(b.Verdict), cmp.Compare(b.short, a.short))
	})
	return tableOf("Scores against references, worst first", List, rows, []Column[*reference]{
		{medium("Verdict"), func(x *reference) Cell {
			c := Cell{Outcome: x.Outcome}
			if !x.Required {
				c.Sub = "informational"
			}
			if x.why.Chance && x.Outcome == schema.Fail {
				c.Sub = strings.Trim(c.Sub+"; "+mayBeChance, "; ")
			}
			return c
		}},
		{col("Task"), func(x *reference) Cell {
			task := head(words.Subject(x.Verdict), PairPath(x.Model, x.Device))
			if withPair {
				task.Sub = words.OnDevice(x.Model, x.Device)
			}
			return task
		}},
		{medium("Metric"), func(x *reference) Cell {
			if parts := schema.PartsOfMean(x.Metric); parts != nil {
				return text(words.Plural(len(parts), "metric") + ", mean")
			}
			return text(words.Metric(x.Metric, x.Stat))
		}},
		{num("Measured"), func(x *reference) Cell { return r.numberIn(x.Verdict) }},
		{Col{Head: "Limit", Num: true, Length: Medium}, func(x *reference) Cell {
			if x.limit == x.ref {
				return number(x.Ref)
			}
			return Cell{Text: words.Number(x.limit), Sub: "reference " + words.Number(x.ref) + " " +
				strings.Replace(x.points(x.limit-x.ref), "−", "− ", 1)}
		}},
		{Col{Head: "Gap", Unit: "measured − limit", Num: true, Sort: true, Length: Short}, func(x *reference) Cell {
			if _, ok := x.Effect.Get(); !ok {
				return missing("nothing to compare")
			}
			return Cell{Text: x.points(x.value - x.limit), Sort: &x.short}
		}},
		{medium("95 % interval"), func(x *reference) Cell {
			if x.Interval == nil {
				return missing("nothing is known of its questions")
			}
			return text(words.Number(x.lo) + " to " + words.Number(x.hi))
		}},
		{num("n"), func(x *reference) Cell { return stated(x.N) }},
		{medium("Beside the limit"), func(x *reference) Cell {
			n := targetNumber{first: x.Verdict, levels: map[string]*schema.Verdict{}}
			limit, published := *x.Verdict, *x.Verdict
			limit.Ref, limit.Required, published.Required = schema.Num(x.limit), true, false
			n.levels["limit"], n.levels["reference"] = &limit, &published
			return n.bullet()
		}},
	})
}

// mayBeChance marks a miss whose interval reaches the limit; chanceRule explains it.
const mayBeChance = "may be chance"

// chanceRule says when a number misses its limit, by the rule in force.
func (r *Report) chanceRule() string {
	if r.Gate.Policy.MissesByInterval() {
		return " Pass or fail: the whole 95 % interval meets or misses the limit. Else: inconclusive."
	}
	return " Pass: the whole 95 % interval meets the limit. Fail: the number misses it; " + mayBeChance +
		" where its interval reaches the limit (inconclusive with judge: targets: interval)."
}

// reference is a score beside its reference, in the score's own scale.
type reference struct {
	*schema.Verdict
	why               schema.EvalLimit
	value, ref, limit float64
	lo, hi            float64 // of the value, where the verdict has an interval
	scale             float64 // 100 for percent; the reference, where differences are relative to it
	short             float64 // how far the score is beyond the limit, positive is worse
}

// referenceOf places a score beside its reference, which its tolerance moves: the effect of the verdict says which way
// is worse.
func referenceOf(v *schema.Verdict) *reference {
	x := &reference{Verdict: v, scale: 1, short: math.Inf(-1)}
	x.why, _ = v.Reason.(schema.EvalLimit)
	x.ref, _ = v.Ref.Get()
	value, has := v.Value.Get()
	x.value = value
	switch {
	case x.why.Relative:
		x.scale = math.Abs(x.ref)
	case max(x.ref, value) > 1:
		x.scale = 100
	}
	down := words.Rise(v, 1) // which way is worse
	x.limit = x.ref * (1 + down*x.why.Tolerance)
	if has {
		x.short = down * (value - x.limit)
	}
	if v.Interval != nil {
		x.lo, x.hi = x.ref+down*v.Interval[0]*x.scale, x.ref+down*v.Interval[1]*x.scale
		x.lo, x.hi = min(x.lo, x.hi), max(x.lo, x.hi)
	}
	return x
}

// points is a difference in the unit of the effect.
func (x *reference) points(d float64) string {
	if x.why.Relative {
		return words.Change(d / x.scale)
	}
	return words.Points(d / x.scale)
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

// targetNumber is a number with the verdicts against all levels of its targets.
type targetNumber struct {
	first  *schema.Verdict // of any level: who and what
	levels map[string]*schema.Verdict
}

// levelNames lists the known levels, then others that the number has.
func (r *targetNumber) levelNames() []string {
	var others []string
	for l := range r.levels {
		if !slices.Contains(schema.Levels(), l) {
			others = append(others, l)
		}
	}
	slices.Sort(others)
	return append(schema.Levels(), others...)
}

// worst is the verdict that decides: of the required levels, else of the informational ones.
func (r *targetNumber) worst() *schema.Verdict {
	var worst *schema.Verdict
	for _, l := range r.levelNames() {
		v := r.levels[l]
		if v == nil {
			continue
		}
		if worst == nil || standing(v) < standing(worst) ||
			v.Outcome == schema.Pass && standing(v) == standing(worst) && r.miss(v) > r.miss(worst) {
			worst = v // of levels that are met, the one that is nearest
		}
	}
	return worst
}

// missed counts the informational levels that are missed.
func (r *targetNumber) missed() int {
	n := 0
	for _, v := range r.levels {
		if !v.Required && v.Outcome == schema.Fail {
			n++
		}
	}
	return n
}

// verdict is that of the required levels, with what changes how it must be read; else what the informational ones came
// to, in grey.
func (r *targetNumber) verdict() Cell {
	worst := r.worst()
	c := Cell{Outcome: worst.Outcome}
	limit, _ := worst.Reason.(schema.Limit)
	switch {
	case !worst.Required && worst.Outcome == schema.Fail:
		c = Cell{Text: "below " + words.Plural(r.missed(), "level"), Sub: "informational"}
	case !worst.Required:
		c.Sub = "informational"
	case worst.Decision.Excuses() && worst.Decision.Kind == schema.Accept:
		c.Sub = "accepted"
	case worst.Decision.Excuses():
		c.Sub = "waived"
	case worst.Outcome == schema.Fail && limit.Chance:
		c.Sub = mayBeChance
	case worst.Outcome == schema.Pass && r.missed() > 0:
		c.Sub = "misses an informational target"
	}
	return c
}

// standing orders verdicts on the targets of a workload by how much they decide: required ones before informational
// ones; of these what is open, what a decision excuses, what is met, what no tool measures.
func standing(v *schema.Verdict) int {
	const excused, met, unmeasurable, informational = 10, 20, 30, 100
	at := outcomeRank(v)
	switch {
	case v.Outcome == schema.Pass:
		at = met
	case v.Outcome == schema.NoTarget:
		at = unmeasurable
	case v.Decision.Excuses():
		at += excused
	}
	if !v.Required {
		at += informational
	}
	return at
}

// outcomeRank orders outcomes, what must be looked at first.
func outcomeRank(v *schema.Verdict) int {
	order := []schema.Outcome{schema.Fail, schema.NotMeasured, schema.Inconclusive, schema.Unattainable, schema.NoTarget,
		schema.Pass}
	if at := slices.Index(order, v.Outcome); at >= 0 {
		return at
	}
	return len(order)
}

// better is a value turned so that larger is better.
func (r *targetNumber) better(v float64) float64 {
	info, _ := schema.MetricByName(r.first.Metric)
	if info.Better == schema.Lower {
		return 1 / v
	}
	return v
}

// limitOf is a level moved by its tolerance; NaN for none.
func (r *targetNumber) limitOf(v *schema.Verdict) float64 {
	ref, ok := v.Ref.Get()
	if !ok {
		return math.NaN()
	}
	why, _ := v.Reason.(schema.Limit)
	if info, _ := schema.MetricByName(v.Metric); info.Better == schema.Lower {
		return ref * (1 + why.Tolerance)
	}
	return ref * (1 - why.Tolerance)
}

// miss is how far the number is beyond the limit of a level, as a share of it; negative within, NaN without one.
func (r *targetNumber) miss(v *schema.Verdict) float64 {
	value, ok := r.first.Value.Get()
	if !ok {
		return math.NaN()
	}
	return r.better(r.limitOf(v))/r.better(value) - 1
}

// limit is the limit that decides, with its level.
func (r *targetNumber) limit() Cell {
	v := r.worst()
	c := number(v.Ref)
	if why, _ := v.Reason.(schema.Limit); why.Tolerance > 0 {
		ref, _ := v.Ref.Get()
		at := r.limitOf(v)
		return Cell{Text: words.Number(at), Sort: &at, Sub: fmt.Sprintf("%s %s %s", v.Level, words.Number(ref),
			signed(at, ref, ""))}
	}
	c.Sub = v.Level
	return c
}

// gap is how far the number lies from the limit that decides, in the unit of the limit, and from the lowest
// informational level that it misses beside.
func (r *targetNumber) gap() Cell {
	v := r.worst()
	value, ok := r.first.Value.Get()
	if !ok || value <= 0 {
		return missing("not measured")
	}
	unit, miss := schema.Unit(r.first.Metric), r.miss(v)
	c := Cell{Text: signed(value, r.limitOf(v), unit), Sort: &miss, Sub: words.Change(value/r.limitOf(v) - 1)}
	if math.IsNaN(miss) {
		return missing("no limit")
	}
	for _, l := range r.levelNames() {
		if x := r.levels[l]; x != nil && x != v && !x.Required && x.Outcome == schema.Fail {
			c.Sub = fmt.Sprintf("%s to %s %s", signed(value, r.limitOf(x), unit), l, words.Number(r.limitOf(x)))
			break
		}
	}
	return c
}

// signed is how far a value lies from another, in a unit and with the digits behind the point that the value is shown
// with, so that the three fit: "+52.0 ms". A difference that these do not show has its own.
func signed(v, from float64, unit string) string {
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
	return strings.TrimSuffix(sign+said+words.Thin+unit, words.Thin)
}

// interval is that of the number, which its verdicts have around their limits.
func (r *targetNumber) interval() Cell {
	v := r.worst()
	ref, _ := v.Ref.Get()
	if v.Interval == nil {
		return missing("one measurement, and no noise is known")
	}
	a, b := ref*(1+v.Interval[0]), ref*(1+v.Interval[1])
	if info, _ := schema.MetricByName(v.Metric); info.Better != schema.Lower {
		a, b = ref*(1-v.Interval[1]), ref*(1-v.Interval[0])
	}
	return text(words.Number(a) + " to " + words.Number(b))
}

// picture is the number among its levels; of what was not measured, or can be met by nothing, the reason. Decisions on
// its targets stand with it: that on the verdict of the row, and those on other levels, which they name.
func (r *targetNumber) picture() Cell {
	worst := r.worst()
	var notes []string
	for _, l := range r.levelNames() {
		v := r.levels[l]
		if v != nil && v.Decision != nil && (worst.Decision == nil || *v.Decision != *worst.Decision) {
			notes = append(notes, l+": "+words.DecisionNote(*v.Decision))
		}
	}
	if slices.Contains([]schema.Outcome{schema.NotMeasured, schema.Unattainable, schema.NoTarget}, worst.Outcome) {
		return sentence(strings.Join(append([]string{words.Why(*worst)}, notes...), " "))
	}
	if worst.Decision != nil {
		notes = append([]string{words.DecisionNote(*worst.Decision)}, notes...)
	}
	c := r.bullet()
	c.Sub = strings.Join(notes, " ")
	return c
}

// bullet is the number among its levels.
func (r *targetNumber) bullet() Cell {
	b, measured := &Bullet{Measured: math.NaN()}, "not measured"
	if v, ok := r.first.Value.Get(); ok {
		if measured = words.Number(v); v > 0 {
			b.Measured = r.better(v)
		}
	}
	var names []string
	for _, l := range r.levelNames() {
		x := r.levels[l]
		if x == nil {
			continue
		}
		if ref, ok := x.Ref.Get(); ok && ref > 0 {
			b.Ticks = append(b.Ticks, BulletTick{r.better(ref), x.Required})
			names = append(names, fmt.Sprintf("%s %s", l, words.Number(ref)))
		}
	}
	if len(b.Ticks) == 0 {
		return Cell{Text: words.Absent, Missing: "no limit"}
	}
	b.Label = fmt.Sprintf("%s among %s", measured, strings.Join(names, ", "))
	return Cell{Bullet: b}
}
