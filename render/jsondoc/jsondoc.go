package jsondoc

import (
	"encoding/json"
	"io"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// The JSON of a gate, schema ttreport/check/v1. Names are a contract; fields may be added.
type (
	checkJSON struct {
		Schema       string            `json:"schema"`
		Release      string            `json:"release"`
		Baseline     string            `json:"baseline,omitempty"`
		Decision     gate.Word         `json:"decision"`
		Detail       string            `json:"detail"`
		Graded       int               `json:"graded"`
		Exit         int               `json:"exit"`
		Counts       []tallyJSON       `json:"counts"`
		Waived       []string          `json:"waived,omitempty"`
		Recheck      []string          `json:"recheck,omitempty"`
		Card         cardJSON          `json:"card"`
		Noise        noiseJSON         `json:"noise"`
		Pairs        []pairJSON        `json:"pairs"`
		Verdicts     []verdictJSON     `json:"verdicts"`
		Shifts       []shiftJSON       `json:"shifts"`
		Lints        []lintJSON        `json:"lints"`
		ChangePoints *changePointsJSON `json:"change_points,omitempty"` // with --change-points
	}
	// cardJSON is the card of the decision: its reason as a sentence, the verdicts that decide it, and the ways out.
	cardJSON struct {
		Reason   string            `json:"reason"`
		Decisive []string          `json:"decisive"` // ids of verdicts
		Basis    map[string]string `json:"basis"`
		Ways     []wayJSON         `json:"ways"`
	}
	wayJSON struct {
		What    string `json:"what"`
		Command string `json:"command"`
		Cost    string `json:"cost"`
	}
	tallyJSON struct {
		Kind    gate.Kind `json:"kind"`
		Points  int       `json:"points"`
		Metrics int       `json:"metrics"`
		Fails   bool      `json:"fails"`
	}
	noiseJSON struct {
		Compared    int              `json:"compared"` // in all of the release
		Typical     *float64         `json:"typical"`
		Predictions int              `json:"predictions"`
		Failed      int              `json:"failed"`
		Calibrated  gate.Calibration `json:"calibrated"`
		// The regression of one number alone that half of them would have shown, and those that could hide one beyond the
		// limit: without a re-run, and with one.
		Shown       *float64 `json:"shown"`
		Hidden      int      `json:"hidden"`
		ShownAgain  *float64 `json:"shown_again"`
		HiddenAgain int      `json:"hidden_again"`
	}
	pairJSON struct {
		Model    string    `json:"model"`
		Device   string    `json:"device"`
		Decision gate.Word `json:"decision"`
		Detail   string    `json:"detail"`
		Exit     int       `json:"exit"`
	}
	keyJSON struct {
		Task        string            `json:"task,omitempty"`
		Tool        string            `json:"tool,omitempty"`
		ISL         *float64          `json:"isl"`
		OSL         *float64          `json:"osl"`
		Concurrency *float64          `json:"concurrency"`
		Rate        *float64          `json:"rate"`
		Dataset     string            `json:"dataset,omitempty"`
		Dims        map[string]string `json:"dims,omitempty"`
	}
	verdictJSON struct {
		ID        string          `json:"id"`
		Run       string          `json:"run"`
		Model     string          `json:"model"`
		Device    string          `json:"device"`
		Impl      string          `json:"impl,omitempty"`
		Key       keyJSON         `json:"key"`
		Metric    string          `json:"metric"`
		Stat      string          `json:"stat"`
		Def       string          `json:"def,omitempty"`
		Against   schema.Against  `json:"against"`
		Level     string          `json:"level,omitempty"`
		Required  bool            `json:"required,omitempty"`
		Verdict   schema.Outcome  `json:"verdict"`
		Evidence  schema.Evidence `json:"evidence,omitempty"`
		Large     bool            `json:"large,omitempty"` // inconclusive, and beyond what matters
		Cause     string          `json:"cause,omitempty"`
		Value     *float64        `json:"value"`
		Reference *float64        `json:"reference"`
		Effect    *float64        `json:"effect"`
		Interval  *[2]float64     `json:"interval"`
		P         *float64        `json:"p"`
		Q         *float64        `json:"q"`
		N         *int            `json:"n"` // null when not stated
		First     string          `json:"first,omitempty"`
		Follow    *followJSON     `json:"followup,omitempty"`
		Reason    string          `json:"reason"`
		Facts     schema.Reason   `json:"facts,omitempty"`
		Why       string          `json:"why"`
		Decision  *decisionJSON   `json:"decision,omitempty"`
	}
	followJSON struct {
		Release string `json:"release"`
		Again   bool   `json:"seen_again"`
	}
	decisionJSON struct {
		ID      string              `json:"id"`
		Kind    schema.DecisionKind `json:"kind"`
		Reason  string              `json:"reason"`
		Owner   string              `json:"owner,omitempty"`
		Expires string              `json:"expires,omitempty"`
		Expired bool                `json:"expired"`
	}
	shiftJSON struct {
		ID       string          `json:"id"`
		Device   string          `json:"device"`
		Family   string          `json:"family"`
		Verdict  schema.Outcome  `json:"verdict"`
		Mixed    bool            `json:"mixed,omitempty"`
		Effect   *float64        `json:"effect"`
		Interval *[2]float64     `json:"interval"`
		Evidence schema.Evidence `json:"evidence,omitempty"`
		Cells    int             `json:"cells"`
		Agree    float64         `json:"agree"`
		Why      string          `json:"why"`
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
)

func decisionOf(d *schema.Decision) *decisionJSON {
	if d == nil {
		return nil
	}
	return &decisionJSON{d.ID, d.Kind, d.Reason, d.Owner, d.Expires, d.Expired}
}

func verdictOf(v *schema.Verdict) verdictJSON {
	out := verdictJSON{
		ID:        v.ID,
		Run:       v.Run,
		Model:     v.Model,
		Device:    v.Device,
		Impl:      v.Impl,
		Key:       keyOf(v.Key),
		Metric:    v.Metric,
		Stat:      v.Stat,
		Def:       v.Def,
		Against:   v.Against,
		Level:     v.Level,
		Required:  v.Required,
		Verdict:   v.Outcome,
		Evidence:  v.Evidence,
		Cause:     v.Cause.String(),
		Large:     v.Large,
		Value:     v.Value.Ptr(),
		Reference: v.Ref.Ptr(),
		Effect:    v.Effect.Ptr(),
		Interval:  v.Interval,
		P:         v.P.Ptr(),
		Q:         v.Q.Ptr(),
		N:         counted(v.N),
		First:     v.First,
		Reason:    v.Reason.Code(),
		Facts:     v.Reason,
		Why:       words.Why(*v),
		Decision:  decisionOf(v.Decision),
	}
	if v.Follow.Release != "" {
		out.Follow = &followJSON{v.Follow.Release, v.Follow.Again}
	}
	return out
}

func cardOf(g *gate.Review, c render.Card) cardJSON {
	out := cardJSON{Reason: words.Headline(g), Decisive: []string{}, Basis: map[string]string{}, Ways: []wayJSON{}}
	for _, x := range c.Whiskers {
		out.Decisive = append(out.Decisive, x.ID)
	}
	for _, f := range c.Facts {
		out.Basis[strings.ReplaceAll(strings.ToLower(f.Name), " ", "_")] = f.Text
	}
	for _, x := range c.Ways {
		out.Ways = append(out.Ways, wayJSON{x.What, x.Cmd, x.Cost})
	}
	return out
}

// Check writes the decision on a release with its card. changes may be nil.
func Check(w io.Writer, g *gate.Review, card render.Card, changes *render.ChangePoints) error {
	out := checkJSON{
		Schema: "ttreport/check/v1", Release: g.Release, Baseline: g.Baseline, Decision: g.Result.Word,
		Detail: words.Detail(g), Graded: g.Result.Graded, Exit: g.Result.Exit, Waived: g.Result.Waived,
		Recheck: card.Again(), Noise: noiseOf(g.Fit), Card: cardOf(g, card),
		Counts: []tallyJSON{}, Pairs: []pairJSON{}, Verdicts: []verdictJSON{}, Shifts: []shiftJSON{}, Lints: []lintJSON{},
	}
	for _, c := range g.Result.Counts {
		out.Counts = append(out.Counts, tallyJSON{c.Kind, c.N, c.Cells, c.Fails})
	}
	for _, p := range g.Pairs {
		detail := words.Decide(p.Result).Detail
		out.Pairs = append(out.Pairs, pairJSON{p.Model, p.Device, p.Result.Word, detail, p.Result.Exit})
	}
	for _, list := range [][]schema.Verdict{g.History, g.Targets} {
		for i := range list {
			out.Verdicts = append(out.Verdicts, verdictOf(&list[i]))
		}
	}
	for _, s := range g.Shifts {
		out.Shifts = append(out.Shifts, shiftJSON{
			s.ID, s.Device, s.Metric, s.Outcome, s.Mixed, s.Effect.Ptr(), s.Interval, s.Evidence, s.Cells, s.Agree,
			render.ShiftText(s),
		})
	}
	for _, l := range g.Lints {
		out.Lints = append(out.Lints, lintJSON{
			l.ID, l.Severity, l.Run, l.Model, l.Device, l.Subject, l.Count, words.Lint(l), decisionOf(l.Decision),
		})
	}
	if changes != nil {
		out.ChangePoints = changePoints(changes)
	}
	return Write(w, out)
}

func noiseOf(f gate.Fit) noiseJSON {
	out := noiseJSON{Compared: f.Cells, Predictions: f.Tested, Failed: f.Exceeded, Calibrated: f.Calibrated()}
	if f.Noise > 0 {
		out.Typical = &f.Noise
	}
	out.Hidden, out.HiddenAgain = f.Shown.Once.Hidden, f.Shown.Again.Hidden
	if f.Shown.Series > 0 {
		out.Shown, out.ShownAgain = finite(f.Shown.Once.Median), finite(f.Shown.Again.Median)
	}
	return out
}

// Write writes a document as all commands do.
func Write(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// counted is a count, nil where 0 stands for one that is not known.
func counted(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

type (
	compareJSON struct {
		Schema string           `json:"schema"`
		A      string           `json:"a"`
		B      string           `json:"b"`
		OnlyA  int              `json:"only_a"`
		OnlyB  int              `json:"only_b"`
		Rows   []compareRowJSON `json:"rows"`
		Notes  []string         `json:"notes"`
		// Head is what the pages of the site say of two releases, conditions that differ first.
		Head []string `json:"head,omitempty"`
	}
	compareRowJSON struct {
		System   string          `json:"system,omitempty"`
		Key      keyJSON         `json:"key"`
		Metric   string          `json:"metric"`
		Stat     string          `json:"stat"`
		A        float64         `json:"a"`
		B        float64         `json:"b"`
		NA       int             `json:"n_a"`
		NB       int             `json:"n_b"`
		Change   float64         `json:"change"`
		Lo       *float64        `json:"lo"`
		Hi       *float64        `json:"hi"`
		P        *float64        `json:"p"`
		Test     string          `json:"test"`
		Verdict  compare.Outcome `json:"verdict"`
		RunsEach int             `json:"runs_each_that_might_settle,omitempty"`
		// JudgedB is the verdict on the number of B against its own baseline, where B is a later release.
		JudgedB schema.Outcome `json:"judged_b,omitempty"`
		// Loads are there where answers differ in length or requests failed.
		Loads *loadsJSON `json:"loads,omitempty"`
	}
	loadsJSON struct {
		OSLA    *float64 `json:"osl_a"`
		OSLB    *float64 `json:"osl_b"`
		FailedA *float64 `json:"failed_a"`
		FailedB *float64 `json:"failed_b"`
		OfA     *float64 `json:"of_a"`
		OfB     *float64 `json:"of_b"`
	}
)

// Compare writes a comparison.
func Compare(w io.Writer, c *render.Comparison) error {
	out := compareJSON{"ttreport/compare/v1", c.A, c.B, c.OnlyA, c.OnlyB, []compareRowJSON{}, c.Notes(), c.Head()}
	for i := range c.Rows {
		r := &c.Rows[i]
		var judged schema.Outcome
		if r.Judged != nil {
			judged = r.Judged.Outcome
		}
		out.Rows = append(out.Rows, compareRowJSON{
			r.System, keyOf(r.Key), r.Metric, r.Stat, r.A, r.B, r.NA, r.NB, r.Change,
			finite(r.Lo), finite(r.Hi), finite(r.P), r.Test, r.Outcome(), r.NeededEach, judged, loads(r.Loads),
		})
	}
	return Write(w, out)
}

// loads are those of a row where they differ: absent, and not zero, where a side does not count its requests.
func loads(l *compare.Loads) *loadsJSON {
	if l == nil || !l.Differ() {
		return nil
	}
	out := &loadsJSON{OSLA: l.A.OSL.Ptr(), OSLB: l.B.OSL.Ptr()}
	if l.A.Of > 0 {
		out.FailedA, out.OfA = &l.A.Failed, &l.A.Of
	}
	if l.B.Of > 0 {
		out.FailedB, out.OfB = &l.B.Failed, &l.B.Of
	}
	return out
}

type (
	changePointsJSON struct {
		Points []changePointJSON `json:"points"`
		Drifts []driftJSON       `json:"drifts"`
	}
	seriesJSON struct {
		Model  string  `json:"model"`
		Device string  `json:"device"`
		Impl   string  `json:"impl,omitempty"`
		Key    keyJSON `json:"key"`
		Metric string  `json:"metric"`
		Stat   string  `json:"stat"`
	}
	changePointJSON struct {
		seriesJSON
		At       string        `json:"at"`
		Found    string        `json:"found"`
		Effect   float64       `json:"effect"` // relative, positive is worse
		P        *float64      `json:"p"`
		Source   string        `json:"source"` // gate, search or person
		Decision *decisionJSON `json:"decision,omitempty"`
	}
	driftJSON struct {
		seriesJSON
		Effect float64 `json:"effect"` // a release
		P      float64 `json:"p"`
		N      int     `json:"n"`
	}
)

func seriesOf(s *judge.Series) seriesJSON {
	return seriesJSON{s.Model, s.Device, s.Impl, keyOf(s.Key), s.Metric, s.Stat}
}

func keyOf(k schema.Key) keyJSON {
	return keyJSON{k.Task, k.Tool, k.ISL, k.OSL, k.Concurrency, k.Rate, k.Dataset, k.Dims}
}

// finite leaves out a number that is none.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func changePoints(c *render.ChangePoints) *changePointsJSON {
	out := &changePointsJSON{Points: []changePointJSON{}, Drifts: []driftJSON{}}
	source := map[judge.Source]string{
		judge.ByGate: "gate", judge.BySearch: "search", judge.ByPerson: "person",
	}
	for _, s := range c.Points {
		out.Points = append(out.Points, changePointJSON{
			seriesOf(s.Series), s.At, s.Found, s.Effect, finite(s.P), source[s.Source], decisionOf(s.Decision),
		})
	}
	for _, d := range c.Drifts {
		out.Drifts = append(out.Drifts, driftJSON{seriesOf(d.Series), d.Effect, d.P, d.N})
	}
	return out
}
