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
		return o.Words()
	}
	return o.Words() + ", " + e.String()
}

// BuildOf names a build that nobody released: by its day.
func BuildOf(day time.Time) string { return "build of " + day.UTC().Format(time.DateOnly) }

// Release is a release in a sentence. A build without a release is known by the id of its first run, which begins with
// the time of it: "the build of 2026-09-04".
func Release(name string) string {
	id, _, _ := strings.Cut(name, "-")
	if at, err := time.Parse("20060102T150405Z", id); err == nil && len(id) < len(name) {
		return "the " + BuildOf(at)
	}
	return name
}

// OrUnknown names what nobody stated.
func OrUnknown(s string) string { return cmp.Or(s, "unknown") }

// OnDevice names a model on a device; "on unknown" would read as a name.
func OnDevice(model, device string) string {
	return cmp.Or(model, "an unknown model") + " on " + Device(device)
}

// Impls returns how n verdicts name their implementations: "" where their model and device state one or none.
func Impls(n int, at func(i int) *schema.Verdict) func(*schema.Verdict) string {
	first, several := map[schema.Pair]string{}, map[schema.Pair]bool{}
	for i := range n {
		v := at(i)
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

// WhyBeside is what a row says of why a verdict was given. Its columns show the number, its baseline, the change and
// the interval, and the head of its column says what comes first.
func WhyBeside(v schema.Verdict) string {
	_, compared := v.Effect.Get()
	return why(&v, compared)
}

// why is the reason of a verdict; beside is set where columns show the number, its baseline and the change.
func why(v *schema.Verdict, beside bool) string {
	said := sentenceOn(v.Reason, map[string]any{"v": v, "beside": beside})
	if schema.ReasonIs[schema.EvalChange](v.Reason) { // made of clauses, of which columns have the first
		if rest := strings.TrimLeft(said, " ;:"); rest != said {
			said = Capital(rest)
		}
		if said != "" {
			said = sentence(said)
		}
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
func DecisionNote(d schema.Decision) string { return sentenceOn(d, nil) }

// fromLimit says how far a value lies from the limit of its target: "14.2 % above", "2.25 times".
func fromLimit(v *schema.Verdict) string {
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	info, _ := schema.MetricByName(v.Metric)
	effect, _ := v.Effect.Get()
	if math.Abs(effect) > 1 { // then the value is more than twice the limit, whichever way is better
		return Number(value/ref) + " times"
	}
	dir := " below"
	if (info.Better == schema.Lower) == (effect > 0) {
		dir = " above"
	}
	return strings.TrimLeft(Change(effect), "+−±") + dir
}

// tolerance is a target's tolerance in brackets; "" for none.
func tolerance(share float64) string {
	if share == 0 {
		return ""
	}
	return " (tolerance " + limit(share) + ")"
}

// limit is a share in percent, as files state it.
func limit(share float64) string { return digits(100*share) + Thin + "%" }

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
func Mismatch(m schema.Mismatch) string { return sentenceOn(m, nil) }

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
func Grading(c gate.Grading) string { return sentenceOn(c, nil) }

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
	out := sentenceOn(l.Detail, map[string]any{"of": of})
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
// [TestEveryReasonIsASentence] fail for a type without one. with is what else the sentence is about.
func sentenceOn(it any, with map[string]any) string {
	return line(strings.TrimPrefix(fmt.Sprintf("%T", it), "*"), it, with)
}

// line is a line of sentences.txt, by its name; "" where there is none.
func line(name string, it any, with map[string]any) string {
	data := map[string]any{"it": it, "of": "", "v": (*schema.Verdict)(nil), "beside": false}
	maps.Copy(data, with)
	return tell(sentences(), data, name)
}

// tell fills the first of some templates that there is; "" where there is none.
func tell(all *template.Template, data map[string]any, names ...string) string {
	for _, name := range names {
		if t := all.Lookup(name); t != nil {
			var b strings.Builder
			if err := t.Execute(&b, data); err != nil {
				panic(err) // a mistake in sentences.txt
			}
			return b.String()
		}
	}
	return ""
}

//go:embed sentences.txt
var sentencesText string

// sentences has a template for each type and part, by its name. sentences.txt states its form.
var sentences = sync.OnceValue(func() *template.Template {
	all := template.New("")
	all.Funcs(template.FuncMap{
		"are": are, "changeEvidence": ChangeEvidence, "changeOf": ChangeOf, "changeShare": ChangeShare,
		"changeSize": ChangeSize, "count": Count, "digits": digits, "effect": Effect, "fromLimit": fromLimit,
		"history": history, "interval": Interval, "intervalOf": IntervalOf, "join": strings.Join, "label": label,
		"limit": limit, "metricOf": MetricOf, "moved": movedSince, "number": Number, "ofFirstRun": ofFirstRun,
		"onDevice": OnDevice, "percent": Percent, "plural": Plural, "q": rarity, "quantity": Quantity, "rank": rank,
		"sentence": sentence, "signed": Signed, "standsInFor": standsInFor, "tolerance": tolerance, "unit": schema.Unit,
		"verb":    verb,
		"about":   func(it any) map[string]any { return map[string]any{"it": it, "of": "", "v": nil} },
		"release": Release, "capital": Capital,
		"known":     func(v float64) bool { return !math.IsNaN(v) },
		"has":       func(n schema.Number) bool { _, ok := n.Get(); return ok },
		"share":     func(n, of int) float64 { return float64(n) / float64(of) },
		"less":      func(a, b int) int { return a - b },
		"subject":   func(v *schema.Verdict) string { return Short(Subject(v), inHeadline) },
		"movedFrom": func(v *schema.Verdict, base string) string { return moved(v, base, false) },
		"part":      func(share float64, n int) int { return int(math.Round(share * float64(n))) },
		"size":      func(v *schema.Verdict, share float64) string { return digits(100*share) + unitOf(v) },
		"slower":    func(effect float64) string { return slower(effect, effect >= 0) },
		"tell":      func(data map[string]any, names ...string) string { return tell(all, data, names...) },
		"value":     func(n schema.Number) float64 { v, _ := n.Get(); return v },
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

// Filter is the filter of a score with what tells it from others of its name, which may stand alone.
func Filter(filter string) string { return strings.TrimPrefix(filter, schema.FilterMark) }

// FilterBeside is [Filter] beside the name of a metric: lm-eval calls it "none" where there is none.
func FilterBeside(filter string) string {
	if filter == "none" {
		return ""
	}
	return Filter(filter)
}
