package rows

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// WriteJSON writes a document as all commands do.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

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

// The document of a decision, schema ttreport/check/v1.
type (
	checkJSON struct {
		Schema   string      `json:"schema"`
		Release  string      `json:"release"`
		Baseline string      `json:"baseline,omitempty"`
		Decision gate.Word   `json:"decision"`
		Detail   string      `json:"detail"`
		Graded   int         `json:"graded"`
		Exit     int         `json:"exit"`
		Counts   []tallyJSON `json:"counts"`
		Waived   []string    `json:"waived,omitempty"`
		Recheck  []string    `json:"recheck,omitempty"`
		// The reason of the decision as a sentence, the ids of the verdicts that decide it, and the ways out.
		Card struct {
			Reason   string            `json:"reason"`
			Decisive []string          `json:"decisive"`
			Basis    map[string]string `json:"basis"`
			Ways     []render.Way      `json:"ways"`
		} `json:"card"`
		Noise        noiseJSON         `json:"noise"`
		Pairs        []pairJSON        `json:"pairs"`
		Verdicts     []verdictJSON     `json:"verdicts"`
		Changes      []Change          `json:"changes"`
		Lints        []lintJSON        `json:"lints"`
		ChangePoints *changePointsJSON `json:"change_points,omitempty"` // with --change-points
	}
	tallyJSON struct {
		Kind    gate.Kind `json:"kind"`
		Points  int       `json:"points"`
		Metrics int       `json:"metrics"`
		Fails   bool      `json:"fails"`
	}
	noiseJSON struct {
		Compared    int              `json:"compared"` // in all of the release
		Typical     *Num             `json:"typical"`
		Predictions int              `json:"predictions"`
		Failed      int              `json:"failed"`
		Calibrated  gate.Calibration `json:"calibrated"`
		// The regression of one number alone that half of them would have shown, and those that could hide one beyond the
		// limit.
		Shown  *Num `json:"shown"`
		Hidden int  `json:"hidden"`
	}
	pairJSON struct {
		Model    string    `json:"model"`
		Device   string    `json:"device"`
		Decision gate.Word `json:"decision"`
		Detail   string    `json:"detail"`
		Exit     int       `json:"exit"`
	}
	verdictJSON struct {
		Verdict
		Facts    schema.Reason `json:"facts,omitempty"`
		Why      string        `json:"why"`
		Decision *decisionJSON `json:"decision,omitempty"`
	}
	decisionJSON struct {
		ID      string              `json:"id"`
		Kind    schema.DecisionKind `json:"kind"`
		Reason  string              `json:"reason"`
		Owner   string              `json:"owner,omitempty"`
		Expires string              `json:"expires,omitempty"`
		Expired bool                `json:"expired"`
	}
	lintJSON struct {
		ID       lint.ID         `json:"id"`
		Severity schema.Severity `json:"severity"`
		Run      string          `json:"run,omitempty"`
		Model    string          `json:"model,omitempty"`
		Device   string          `json:"device,omitempty"`
		Subject  string          `json:"subject,omitempty"`
		Count    int             `json:"count"`
		Why      string          `json:"why"`
		Decision *decisionJSON   `json:"decision,omitempty"`
	}
	changePointsJSON struct {
		Points []changePointJSON `json:"points"`
	}
	changePointJSON struct {
		Model    string        `json:"model"`
		Device   string        `json:"device"`
		Impl     string        `json:"impl,omitempty"`
		Key      Key           `json:"key"`
		Metric   string        `json:"metric"`
		Stat     string        `json:"stat"`
		At       string        `json:"at"`
		Found    string        `json:"found"`
		Effect   float64       `json:"effect"` // relative, positive is worse
		Source   string        `json:"source"` // gate or person
		Decision *decisionJSON `json:"decision,omitempty"`
	}
)

// CheckJSON writes the decision on a release with its card. changes may be nil.
func CheckJSON(w io.Writer, g *gate.Review, card render.Card, changes *render.ChangePoints) error {
	f := g.Fit
	out := checkJSON{
		Schema: "ttreport/check/v1", Release: g.Release, Baseline: g.Baseline, Decision: g.Result.Word,
		Detail: words.Detail(g), Graded: g.Result.Graded, Exit: g.Result.Exit, Waived: g.Result.Waived,
		Recheck: card.Again(), Noise: noiseJSON{
			Compared: f.Cells, Predictions: f.Tested, Failed: f.Exceeded, Calibrated: f.Calibrated(),
			Hidden: f.Shown.Hidden,
		},
		Counts: []tallyJSON{}, Pairs: []pairJSON{}, Verdicts: []verdictJSON{}, Changes: []Change{}, Lints: []lintJSON{},
	}
	if f.Noise > 0 {
		out.Noise.Typical = (*Num)(&f.Noise)
	}
	if f.Shown.Series > 0 {
		out.Noise.Shown = finite(f.Shown.Least)
	}
	out.Card.Reason, out.Card.Decisive, out.Card.Basis = words.Headline(g), []string{}, map[string]string{}
	for _, x := range card.Whiskers {
		out.Card.Decisive = append(out.Card.Decisive, x.ID)
	}
	for _, f := range card.Facts {
		out.Card.Basis[strings.ReplaceAll(strings.ToLower(f.Name), " ", "_")] = f.Text
	}
	out.Card.Ways = append([]render.Way{}, card.Ways...)
	for _, c := range g.Result.Counts {
		out.Counts = append(out.Counts, tallyJSON{c.Kind, c.N, c.Cells, c.Fails})
	}
	for _, p := range g.Pairs {
		detail := words.Decide(p.Result).Detail
		out.Pairs = append(out.Pairs, pairJSON{p.Model, p.Device, p.Result.Word, detail, p.Result.Exit})
	}
	for _, list := range [][]schema.Verdict{g.History, g.Targets} {
		for i := range list {
			v := &list[i]
			out.Verdicts = append(out.Verdicts, verdictJSON{verdictOf(v, ""), v.Reason, words.Why(*v), decisionOf(v.Decision)})
		}
	}
	for i := range g.Changes {
		out.Changes = append(out.Changes, changeOf(&g.Changes[i], ""))
	}
	for _, l := range g.Lints {
		out.Lints = append(out.Lints, lintJSON{
			l.ID, l.Severity, l.Run, l.Model, l.Device, l.Subject, l.Count, words.Lint(l), decisionOf(l.Decision),
		})
	}
	if changes != nil {
		out.ChangePoints = &changePointsJSON{Points: []changePointJSON{}}
		source := map[judge.Source]string{judge.ByGate: "gate", judge.ByPerson: "person"}
		for _, c := range *changes {
			s := c.Series
			out.ChangePoints.Points = append(out.ChangePoints.Points, changePointJSON{
				s.Model, s.Device, s.Impl, keyOf(s.Key), s.Metric, s.Stat, c.At, c.Found, c.Effect, source[c.Source],
				decisionOf(c.Decision),
			})
		}
	}
	return WriteJSON(w, out)
}

func decisionOf(d *schema.Decision) *decisionJSON {
	if d == nil {
		return nil
	}
	out := decisionJSON(*d)
	return &out
}

// CompareJSON writes a comparison, schema ttreport/compare/v1.
func CompareJSON(w io.Writer, c *render.Comparison) error {
	var curves []curveRow
	for i := range c.Curves {
		x := &c.Curves[i]
		row := curveRow{x.System, keyOf(x.Key), x.Axis, x.PerChip, x.RunsA, x.RunsB, Num(x.Low), Num(x.High),
			finite(x.Whole.Value), finite(x.Whole.Low), finite(x.Whole.High), finite(x.P), nil}
		for _, l := range x.Levels {
			row.Levels = append(row.Levels, curveLevel{Num(l.Level), finite(l.Value.Value), finite(l.Low), finite(l.High),
				[2]*Num{finite(l.Band[0]), finite(l.Band[1])}})
		}
		curves = append(curves, row)
	}
	return WriteJSON(w, struct {
		Schema string     `json:"schema"`
		A      string     `json:"a"`
		B      string     `json:"b"`
		OnlyA  int        `json:"only_a"`
		OnlyB  int        `json:"only_b"`
		Rows   []Compared `json:"rows"`
		Notes  []string   `json:"notes"`
		Head   []string   `json:"head,omitempty"` // what the site says of two releases, conditions that differ first
		Curves []curveRow `json:"curves,omitempty"`
		Scores []Beside   `json:"scores,omitempty"`
	}{"ttreport/compare/v1", c.A, c.B, c.OnlyA, c.OnlyB, Compare(c), c.Notes(), c.Head(), curves, Besides(c)})
}

// curveRow is a curve of a comparison in JSON: relative changes with their 95 % intervals.
type curveRow struct {
	System  string       `json:"system,omitempty"`
	Key     Key          `json:"key"`
	Axis    string       `json:"axis"` // tps_user, or ttft in ms
	PerChip bool         `json:"per_accelerator"`
	RunsA   int          `json:"runs_a"`
	RunsB   int          `json:"runs_b"`
	Low     Num          `json:"low"` // levels
	High    Num          `json:"high"`
	Whole   *Num         `json:"whole"`
	WholeLo *Num         `json:"whole_lo"`
	WholeHi *Num         `json:"whole_hi"`
	P       *Num         `json:"p"`
	Levels  []curveLevel `json:"levels"`
}

type curveLevel struct {
	Level  Num     `json:"level"`
	Change *Num    `json:"change"`
	Lo     *Num    `json:"lo"`
	Hi     *Num    `json:"hi"`
	Band   [2]*Num `json:"band"` // holds at all levels at once
}
