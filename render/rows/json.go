package rows

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// Key is a workload in JSON.
type Key struct {
	Task        string            `json:"task,omitempty"`
	Tool        string            `json:"tool,omitempty"`
	ISL         *float64          `json:"isl"`
	OSL         *float64          `json:"osl"`
	Concurrency *float64          `json:"concurrency"`
	Rate        *float64          `json:"rate"`
	Dataset     string            `json:"dataset,omitempty"`
	Dims        map[string]string `json:"dims,omitempty"`
}

func keyOf(k schema.Key) Key {
	return Key{k.Task, k.Tool, k.ISL, k.OSL, k.Concurrency, k.Rate, k.Dataset, k.Dims}
}

type verdictJSON struct {
	Verdict
	Facts    schema.Reason    `json:"facts,omitempty"`
	Why      string           `json:"why"`
	Decision *schema.Decision `json:"decision,omitempty"`
}

// CheckJSON writes the decision on a release with its card, schema ttreport/check/v1. points may be nil.
func CheckJSON(w io.Writer, g *gate.Review, card render.Card, points *render.ChangePoints) error {
	f := g.Fit
	var typical, shown *Num
	if f.Noise > 0 {
		typical = (*Num)(&f.Noise)
	}
	if f.Shown.Series > 0 {
		shown = finite(f.Shown.Least)
	}
	basis := map[string]string{}
	for _, f := range card.Facts {
		basis[strings.ReplaceAll(strings.ToLower(f.Name), " ", "_")] = f.Text
	}
	counts, pairs, verdicts, changes, lints := []Object{}, []Object{}, []verdictJSON{}, []Change{}, []Object{}
	for _, c := range g.Result.Counts {
		counts = append(counts, Object{{"kind", c.Kind}, {"points", c.N}, {"metrics", c.Cells}, {"fails", c.Fails}})
	}
	for _, p := range g.Pairs {
		pairs = append(pairs, Object{{"model", p.Model}, {"device", p.Device}, {"decision", p.Result.Word},
			{"detail", words.Decide(p.Result).Detail}, {"exit", p.Result.Exit}})
	}
	for _, list := range [][]schema.Verdict{g.History, g.Targets} {
		for i := range list {
			v := &list[i]
			verdicts = append(verdicts, verdictJSON{verdictOf(v, ""), v.Reason, words.Why(*v), v.Decision})
		}
	}
	for i := range g.Changes {
		changes = append(changes, changeOf(&g.Changes[i], ""))
	}
	for _, l := range g.Lints {
		one := Object{{"id", l.ID}, {"severity", l.Severity}}
		one.Some("run", l.Run)
		one.Some("model", l.Model)
		one.Some("device", l.Device)
		one.Some("subject", l.Subject)
		one = append(one, Object{{"count", l.Count}, {"why", words.Lint(l)}}...)
		one.Some("decision", l.Decision)
		lints = append(lints, one)
	}
	out := Object{{"schema", "ttreport/check/v1"}, {"release", g.Release}}
	out.Some("baseline", g.Baseline)
	out = append(out, Object{{"decision", g.Result.Word}, {"detail", words.Detail(g)}, {"graded", g.Result.Graded},
		{"exit", g.Result.Exit}, {"counts", counts}}...)
	out.Some("waived", g.Result.Waived)
	out.Some("recheck", card.Again())
	out = append(out, Object{
		// The reason of the decision as a sentence, the ids of the verdicts that decide it, and the ways out.
		{"card", Object{{"reason", words.Headline(g)}, {"decisive", append([]string{}, card.Decisive...)}, {"basis", basis},
			{"ways", append([]render.Way{}, card.Ways...)}}},
		// Compared are the numbers of all of the release. Shown is the regression of one number alone that half of them
		// would have shown, and hidden are those that could hide one beyond the limit.
		{"noise", Object{{"compared", f.Cells}, {"typical", typical}, {"predictions", f.Tested}, {"failed", f.Exceeded},
			{"calibrated", f.Calibrated()}, {"shown", shown}, {"hidden", f.Shown.Hidden}}},
		{"pairs", pairs}, {"verdicts", verdicts}, {"changes", changes}, {"lints", lints},
	}...)
	if points != nil {
		list, source := []Object{}, map[judge.Source]string{judge.ByGate: "gate", judge.ByPerson: "person"}
		for _, c := range *points {
			s := c.Series
			one := Object{{"model", s.Model}, {"device", s.Device}}
			one.Some("impl", s.Impl)
			one = append(one, Object{{"key", keyOf(s.Key)}, {"metric", s.Metric}, {"stat", s.Stat}, {"at", c.At},
				{"found", c.Found}, {"effect", c.Effect}, {"source", source[c.Source]}}...) // relative, positive is worse
			one.Some("decision", c.Decision)
			list = append(list, one)
		}
		out.Add("change_points", Object{{"points", list}})
	}
	return WriteJSON(w, out)
}

// CompareJSON writes a comparison, schema ttreport/compare/v1.
func CompareJSON(w io.Writer, c *render.Comparison) error {
	var curves []Object // relative changes with their 95 % intervals
	for i := range c.Curves {
		x := &c.Curves[i]
		var levels []Object
		for _, l := range x.Levels {
			levels = append(levels, Object{{"level", Num(l.Level)}, {"change", finite(l.Value.Value)}, {"lo", finite(l.Low)},
				{"hi", finite(l.High)}, {"band", [2]*Num{finite(l.Band[0]), finite(l.Band[1])}}}) // holds at all levels at once
		}
		var one Object
		one.Some("system", x.System)
		curves = append(curves, append(one, Object{
			{"key", keyOf(x.Key)}, {"axis", x.Axis}, // tps_user, or ttft in ms
			{"per_accelerator", x.PerChip}, {"runs_a", x.RunsA}, {"runs_b", x.RunsB}, {"low", Num(x.Low)}, {"high", Num(x.High)},
			{"whole", finite(x.Whole.Value)}, {"whole_lo", finite(x.Whole.Low)}, {"whole_hi", finite(x.Whole.High)},
			{"p", finite(x.P)}, {"levels", levels},
		}...))
	}
	out := Object{{"schema", "ttreport/compare/v1"}, {"a", c.A}, {"b", c.B}, {"only_a", c.OnlyA}, {"only_b", c.OnlyB},
		{"rows", Compare(c)}, {"notes", c.Notes()}}
	out.Some("head", c.Head()) // what the site says of two releases, conditions that differ first
	out.Some("curves", curves)
	out.Some("scores", Besides(c))
	return WriteJSON(w, out)
}

// WriteJSON writes a document as all commands do.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// Encoded is a value as JSON, with <, > and & as they are.
func Encoded(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimRight(b.String(), "\n"), err
}

// Object is a JSON object whose members stay in order: readers of these documents know them by it. What is in it is
// stated once, where it is known, and not in a type as well.
type Object []Member

// Member is a key and its value.
type Member [2]any

// Add adds a member.
func (o *Object) Add(key string, value any) { *o = append(*o, Member{key, value}) }

// Some adds a member that is left out where it is empty: "", 0, nil, or without elements.
func (o *Object) Some(key string, value any) {
	v := reflect.ValueOf(value)
	if v.IsValid() && !v.IsZero() && !(v.Kind() == reflect.Slice && v.Len() == 0) {
		o.Add(key, value)
	}
}

// MarshalJSON writes the members in order.
func (o Object) MarshalJSON() ([]byte, error) {
	var members []string
	for _, m := range o {
		value, err := Encoded(m[1])
		if err != nil {
			return nil, err
		}
		key, _ := Encoded(m[0]) // a text always encodes
		members = append(members, key+":"+value)
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}
