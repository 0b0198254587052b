package words

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// Verdict is a verdict's outcome with its evidence: "regressed, suspected".
func Verdict(v *schema.Verdict) string {
	return cmp.Or(OwnWord(v), OutcomeText(v.Outcome, v.Evidence))
}

// NotMeasuredAgain is the word for what an earlier release measured and this one left out. "Missing" is what was
// required, planned or tried and has no number: that fails a release, this does not by itself.
const NotMeasuredAgain = "not measured again"

// OwnWord is the word of a verdict that its outcome does not have; "" where the outcome is the word.
func OwnWord(v *schema.Verdict) string {
	switch gate.KindOf(v) {
	case gate.FailNotRemeasured, gate.FailAbsent:
		return NotMeasuredAgain
	}
	return ""
}

// OutcomeText is an outcome with its evidence, where it has any.
func OutcomeText(o schema.Outcome, e schema.Evidence) string {
	if e == schema.NoEvidence {
		return o.String()
	}
	return o.String() + ", " + e.String()
}

// OrUnknown names what nobody stated.
func OrUnknown(s string) string { return cmp.Or(s, "unknown") }

// OnDevice names a model on a device; "on unknown" would read as a name.
func OnDevice(model, device string) string {
	return cmp.Or(model, "an unknown model") + " on " + Device(device)
}

// Impls returns how verdicts of a list name their implementations: "" where their model and device state one or none.
func Impls(list []schema.Verdict) func(*schema.Verdict) string {
	first, several := map[schema.Pair]string{}, map[schema.Pair]bool{}
	for i := range list {
		v := &list[i]
		impl, known := first[v.Pair()]
		several[v.Pair()] = several[v.Pair()] || known && impl != v.Impl
		first[v.Pair()] = v.Impl
	}
	return func(v *schema.Verdict) string {
		if several[v.Pair()] {
			return v.Impl
		}
		return ""
	}
}

// Device names a device, also behind "on".
func Device(name string) string { return cmp.Or(name, "an unknown device") }

// Capital begins a sentence.
func Capital(s string) string {
	if s == "" {
		return s
	}
	r := []rune(s)
	return strings.ToUpper(string(r[0])) + string(r[1:])
}

// Fact is a named number of a reason.
type Fact struct{ Name, Text string }

// Facts are the numbers of a reason, by name, as data files have them.
func Facts(r schema.Reason) []Fact {
	var fields map[string]any
	data, err := json.Marshal(r)
	if err != nil || json.Unmarshal(data, &fields) != nil {
		return nil // a reason holds finite numbers and text
	}
	var out []Fact
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, Fact{name, fmt.Sprint(fields[name])})
	}
	return out
}

// Why is the reason of a verdict as one sentence with its numbers.
func Why(v schema.Verdict) string { return why(&v, false) }

// why is the reason of a verdict; beside is set where columns show the number, its baseline and the change of a score.
func why(v *schema.Verdict, beside bool) string {
	said := ""
	switch r := v.Reason.(type) {
	case schema.Limit:
		said = limit(v, r)
	case schema.EvalLimit:
		said = evalLimit(v, r)
	case schema.Change:
		said = change(v, r)
	case schema.EvalChange:
		said = evalChange(v, r, beside)
	default: // those with many numbers are made above, the others are in sentences.txt
		said = sentenceOn(v.Reason, "", v)
	}
	return said + decided(v)
}

// decided is the note on the decision that a verdict has, with a space before it; "" for none.
func decided(v *schema.Verdict) string {
	if v.Decision == nil || v.Outcome == schema.Excluded {
		return ""
	}
	return " " + DecisionNote(*v.Decision)
}

// DecisionNote says who decided what until when.
func DecisionNote(d schema.Decision) string {
	out := map[schema.DecisionKind]string{
		schema.Waive: "Waived", schema.Accept: "Accepted", schema.Invalidate: "Excluded", schema.Supersede: "Superseded",
		schema.Pin: "Pinned", schema.Dismiss: "Dismissed",
	}[d.Kind]
	if d.Owner != "" {
		out += " by " + d.Owner
	}
	if d.Expires != "" {
		out += " until " + d.Expires
	}
	out = sentence(out + " (" + d.ID + "): " + d.Reason)
	if d.Expired {
		out += " This decision has expired."
	}
	return out
}

// limit says how far a value lies from the limit of its target.
func limit(v *schema.Verdict, r schema.Limit) string {
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	info, _ := schema.MetricByName(v.Metric)
	effect, _ := v.Effect.Get()
	dir := "below"
	if (info.Better == schema.Lower) == (effect > 0) {
		dir = "above"
	}
	share := strings.TrimLeft(Change(effect), "+−±") + " " + dir
	if math.Abs(effect) > 1 { // then the value is more than twice the limit, whichever way is better
		share = Number(value/ref) + " times"
	}
	out := fmt.Sprintf("%s %s is %s the %s limit of %s", info.Label+rank(v.Stat), Quantity(value, info.Unit), share,
		v.Level, Quantity(ref, info.Unit))
	if effect <= 0 && v.Outcome == schema.Fail {
		out += ", beyond its tolerance"
	}
	out += tolerance(r.Tolerance)
	if r.Chance && v.Outcome == schema.Fail {
		out += ", which chance could explain"
	}
	switch {
	case v.Interval != nil:
		from := Plural(v.N, "repeat")
		switch r.Interval {
		case schema.FromOwn:
			from = "its own history's noise of " + Percent(r.Noise) + " (one standard deviation)"
		case schema.FromTypical:
			from = "the typical noise of this device and metric, " + Percent(r.Noise) + " (one standard deviation)"
		}
		return out + fmt.Sprintf(
			"; 95%s%% interval of the difference %s from %s.", Thin, Interval(v.Metric, *v.Interval), from,
		)
	case v.N > 1:
		return out + fmt.Sprintf("; mean of %d repeats, no interval.", v.N)
	}
	return out + "; single run, no interval."
}

// tolerance is a target's tolerance in brackets; "" for none.
func tolerance(share float64) string {
	if share == 0 {
		return ""
	}
	return " (tolerance " + digits(100*share) + Thin + "%)"
}

// Percent is a share in percent with two digits, or as many as its whole part has.
func Percent(share float64) string {
	if share >= .995 {
		return fmt.Sprintf("%.0f%s%%", 100*share, Thin)
	}
	return fmt.Sprintf("%.2g%s%%", 100*share, Thin)
}

// digits writes a number with four significant digits and no grouping, as files state it.
func digits(v float64) string { return fmt.Sprintf("%.4g", v) }

func sentence(s string) string { return strings.TrimSuffix(s, ".") + "." }

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func label(metric string) string {
	if parts := schema.PartsOfMean(metric); parts != nil {
		return "mean of " + Plural(len(parts), "metric")
	}
	info, _ := schema.MetricByName(metric)
	return cmp.Or(info.Label, metric)
}

// Sign is the glyph of a verdict, the same in markdown and on a terminal; HTML draws it by style sheet.
func Sign(o schema.Outcome, e schema.Evidence) string {
	if e == schema.Suspected {
		switch o {
		case schema.Regressed:
			return "▽"
		case schema.Improved:
			return "△"
		}
	}
	return map[schema.Outcome]string{
		schema.Pass: "✓", schema.Fail: "✕", schema.Inconclusive: "?", schema.NotMeasured: "□", schema.NoTarget: "–",
		schema.Unattainable: "∞", schema.Regressed: "▼", schema.Improved: "▲", schema.Recovered: "↺",
		schema.BelowLimit: "≈", schema.Unchanged: "=",
		schema.NoBaseline: "…", schema.NotComparable: "≠", schema.Excluded: "⊘",
	}[o]
}

// Mismatch says why two runs that name each other are no pair, as the end of a sentence.
func Mismatch(m schema.Mismatch) string {
	switch m.Kind {
	case schema.MismatchPartner:
		if m.A == "" {
			return "there is no such run as its baseline"
		}
		return "that run took turns with " + m.A
	case schema.MismatchTimes:
		return fmt.Sprintf("one was measured from %s, the other from %s", m.A, m.B)
	case schema.MismatchPlace:
		return fmt.Sprintf("the baseline states %s %s, and this run %s", m.Fact, m.A, m.B)
	case schema.MismatchLoad:
		return fmt.Sprintf("the baseline was measured with %s %s, and this run with %s", m.Fact, m.A, m.B)
	case schema.MismatchSame:
		return fmt.Sprintf("both state the same build (%s)", m.A)
	case schema.MismatchBuild:
		return fmt.Sprintf("release %s is %s %s, and the pair measured %s", m.Release, m.Fact, m.A, m.B)
	}
	return "its runs do not fit together"
}

// Planned says how many of the planned workloads were measured.
func Planned(n, all int) string {
	return Count(n) + " of " + Plural(all, "planned workload") + verb(all, " was", " were") + " measured."
}

// Required counts what required targets came to.
func Required(list []schema.Verdict) string {
	if len(list) == 0 {
		return "none is required"
	}
	met, missed := 0, 0
	for i := range list {
		switch list[i].Outcome {
		case schema.Pass:
			met++
		case schema.Fail:
			missed++
		}
	}
	out := Of(met, len(list)) + " required are met"
	if missed > 0 {
		out += ", " + Count(missed) + " missed"
	}
	if k := len(list) - met - missed; k > 0 {
		out += ", " + Count(k) + " cannot be decided"
	}
	return out
}

// Categories says what the required targets came to by category, in the order of a release report; "" where there is
// only one category.
func Categories(targets []schema.Verdict) string {
	came := map[schema.Outcome]string{schema.Pass: "met", schema.Fail: "missed", schema.NotMeasured: "missing",
		schema.Inconclusive: "inconclusive"}
	var parts []string
	for _, category := range []schema.Category{schema.Benchmarks, schema.Evals, schema.Conformance} {
		n, all := map[string]int{}, 0
		for i := range targets {
			v := &targets[i]
			to := came[v.Outcome]
			if v.Decision.Excuses() && v.Outcome != schema.Pass {
				to = "waived"
			}
			if v.Required && to != "" && schema.CategoryOf(v) == category {
				n[to], all = n[to]+1, all+1
			}
		}
		var rest []string
		for _, to := range []string{"missed", "missing", "waived", "inconclusive"} {
			if n[to] > 0 {
				rest = append(rest, Count(n[to])+" "+to)
			}
		}
		text := fmt.Sprintf("%s %s met", category, Of(n["met"], all))
		if len(rest) > 0 {
			text += " (" + strings.Join(rest, ", ") + ")"
		}
		if all > 0 {
			parts = append(parts, text)
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return "Required, by category: " + strings.Join(parts, "; ") + "."
}

// Grading says how many workloads were graded against a target; "" where none was measured.
func Grading(c gate.Grading) string {
	if c.Workloads == 0 {
		return ""
	}
	out := fmt.Sprintf("Graded against targets: %s of %s.", Count(c.Graded), Plural(c.Workloads, "workload"))
	if c.Graded < c.Workloads {
		out += " What has no target was not graded, which is not a pass."
	}
	return out
}

// inHeadline is how many letters of a workload's name a headline has room for: the names of test functions are longer.
const inHeadline = 40

// Short is a name of at most so many letters: the end of it, which tells names of one file or folder apart, from where
// a part begins. ISL, OSL and concurrency at the beginning of a workload stay, however little room there is.
func Short(name string, most int) string {
	letters := []rune(name)
	if len(letters) <= most {
		return name
	}
	if load, rest, more := strings.Cut(name, " "); isLoad(load) {
		if !more {
			return name
		}
		return load + " " + Short(rest, max(most-len(load)-1, leastShort))
	}
	end := string(letters[len(letters)-most+1:])
	if at := strings.IndexAny(end, "/: ,"); at >= 0 && at < len(end)/2 {
		end = strings.TrimLeft(end[at:], "/: ,")
	}
	return "…" + end
}

// leastShort is how many letters of a name are left beside ISL, OSL and concurrency: the name of a metric.
const leastShort = 16

// isLoad reports ISL, OSL and concurrency as [schema.Key.Workload] writes them: "1024/128/32", "-/-/8".
func isLoad(s string) bool {
	parts := strings.Split(s, "/")
	return len(parts) == 3 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.Trim(p, "0123456789.-") != ""
	})
}

// Lint is a lint as one sentence with the numbers of its worst case.
func Lint(l lint.Lint) string {
	of := l.Subject
	if l.ID == lint.IDDrift {
		of = strings.TrimSpace(OnDevice(l.Model, l.Device) + " " + of)
	}
	out := sentenceOn(l.Detail, of, nil)
	if l.Count > 1 {
		where := ""
		if l.Run != "" {
			where = " in this run"
		}
		out += fmt.Sprintf(" %d cases%s; this is the worst.", l.Count, where)
	}
	if l.Decision != nil {
		out += " " + DecisionNote(*l.Decision)
	}
	return out
}

// sentenceOn is the sentence on a detail of a lint or on the reason of a verdict; [TestEveryLintIsASentence] and
// [TestEveryReasonIsASentence] fail for a type without one.
func sentenceOn(it any, of string, v *schema.Verdict) string {
	t := sentences().Lookup(fmt.Sprintf("%T", it))
	if t == nil {
		return ""
	}
	var b strings.Builder
	if err := t.Execute(&b, map[string]any{"it": it, "of": of, "v": v}); err != nil {
		panic(err) // a mistake in sentences.txt
	}
	return b.String()
}

//go:embed sentences.txt
var sentencesText string

// sentences has a template for each type, by its name. sentences.txt states its form.
var sentences = sync.OnceValue(func() *template.Template {
	all := template.New("").Funcs(template.FuncMap{
		"digits": digits, "plural": Plural, "label": label, "quantity": Quantity, "percent": Percent, "unit": schema.Unit,
		"mismatch": Mismatch, "join": strings.Join, "rank": rank, "sentence": sentence,
		"drift":     func(percent float64) string { return Change(percent / 100) },
		"int":       func(n float64) int { return int(n) },
		"percent0":  func(share float64) string { return fmt.Sprintf("%.0f%s%%", 100*share, Thin) },
		"rate":      func(v float64) string { return digits(v) + Thin + "req/s" },
		"time":      func(t time.Time) string { return t.UTC().Format(time.DateTime) },
		"unstopped": func(s string) string { return strings.TrimSuffix(s, ".") },
	})
	whole := strings.ReplaceAll(strings.ReplaceAll(sentencesText, "\n ", " "), "\n{{-", "{{-")
	for line := range strings.Lines(whole) {
		if name, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && name != "#" {
			template.Must(all.New(name).Parse("{{$of := .of}}{{$v := .v}}{{with .it}}" + text + "{{end}}"))
		}
	}
	return all
})

// evalChange says what became of a score; beside columns that show the change and its interval, the rest.
func evalChange(v *schema.Verdict, r schema.EvalChange, beside bool) string {
	value, _ := v.Value.Get()
	task := v.Key.Dataset
	switch r.Test {
	case schema.TestNone:
		return "No earlier release of its line has this measurement."
	case schema.TestPrompt:
		return sentence("Other questions or settings than before: " + r.Conditions)
	case schema.TestNoError:
		if r.N > 0 {
			return fmt.Sprintf("%s is %s; it is no share of right answers, and not both files state its standard error, "+
				"so the change cannot be judged.", task, Number(value))
		}
		return fmt.Sprintf("%s is %s; neither file states how many questions or a standard error, "+
			"so the change cannot be judged.", task, Number(value))
	}
	moved, of, interval := "", "", ""
	if !beside {
		effect, _ := v.Effect.Get()
		moved = fmt.Sprintf("%s is %s", task, Number(value))
		if ref, has := v.Ref.Get(); has {
			moved = fmt.Sprintf("%s changed by %s (%s → %s)", task, Effect(*v, effect), Number(ref), Number(value))
		}
		if v.Interval != nil {
			interval = "; 95" + Thin + "% interval " + IntervalOf(*v)
		}
	}
	switch r.Test {
	case schema.TestPaired:
		of = fmt.Sprintf("; of %s the same questions %s were lost and %s gained", Count(r.N), Count(r.Lost),
			Count(r.Gained))
	case schema.TestGate:
		of = fmt.Sprintf(" against the mean of %d releases", r.Releases)
	case schema.TestUnpaired:
		of = fmt.Sprintf(" over %s questions, not known to be the same ones", Count(r.N))
	}
	out := moved + of + interval + evalOutcome(v, r)
	if !beside {
		return sentence(out)
	}
	if out = strings.TrimLeft(out, " ;:"); out == "" {
		return ""
	}
	return sentence(Capital(out))
}

// evalOutcome is the last clause about a score.
func evalOutcome(v *schema.Verdict, r schema.EvalChange) string {
	switch v.Outcome {
	case schema.Regressed, schema.Improved:
		switch {
		case v.Evidence == schema.Suspected:
			return once(v)
		case v.First != "":
			return "; first seen in " + v.First + ", and again here"
		}
		if r.Test == schema.TestPaired && r.First == 0 {
			return ": on the same questions one run is enough"
		}
		return "; confirmed by an independent run"
	case schema.Inconclusive:
		switch r.Why {
		case schema.WhyRunsDisagree:
			return "; the first run of the release scored " + digits(r.First) + ", and a later one this"
		case schema.WhyNotSeenAgain:
			return "; the first run scored " + digits(r.First) + ", and this one did not confirm it"
		case schema.WhyBaseSuspect:
			return "; its base, " + v.First + ", waits for an independent run with the same change"
		case schema.WhyNotSignificant:
			return ""
		}
		limit := digits(100*r.Limit) + unitOf(v)
		if r.Needed == 0 {
			return ": it may lie within ±" + limit + " or beyond"
		}
		return fmt.Sprintf(": too few questions to say; about %s could show a change of %s", Count(r.Needed), limit)
	case schema.Unchanged:
		return ": the whole interval lies inside ±" + digits(100*r.Limit) + unitOf(v)
	}
	return ""
}

// evalLimit says how a score lies beside its reference.
func evalLimit(v *schema.Verdict, r schema.EvalLimit) string {
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	if v.Metric == schema.MetricPassed {
		if r.N == 0 {
			return fmt.Sprintf("%s: %s of an unstated number of cases passed; all must.", r.Task, Percent(value))
		}
		return fmt.Sprintf("%s: %s of %s passed; all must.", r.Task, Count(int(math.Round(value*float64(r.N)))),
			Plural(r.N, "case"))
	}
	effect, _ := v.Effect.Get()
	out := fmt.Sprintf("%s %s is %s from the reference of %s", r.Task, Number(value), Effect(*v, effect), Number(ref))
	out += tolerance(r.Tolerance)
	if r.N > 0 {
		out += "; " + Count(r.N) + " questions"
		if r.Of > 0 {
			out += ", the first of " + Count(r.Of)
		}
	}
	if v.Interval == nil {
		return out + "; no interval is known."
	}
	out += ", 95" + Thin + "% interval " + IntervalOf(*v)
	if r.Chance && v.Outcome == schema.Fail {
		out += ": chance could explain it"
	}
	switch {
	case r.Chance && r.Of > 0 && r.Needed > r.Of:
		out += "; all " + Count(r.Of) + " questions would not settle it"
	case r.Chance && r.Needed > 0:
		out += "; about " + Count(r.Needed) + " questions would settle it"
	}
	return out + "."
}

// Filter is the filter of a score with what tells it from others of its name, which may stand alone.
func Filter(filter string) string { return strings.TrimPrefix(filter, schema.FilterMark) }

// FilterBeside is [Filter] beside the name of a metric: lm-eval calls it "none" where there is none.
func FilterBeside(filter string) string {
	if filter == "none" {
		return ""
	}
	return Filter(filter)
}
