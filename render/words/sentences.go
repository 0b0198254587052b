package words

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

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
