package render

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// NumberColumns say of each number of a table where it was measured and how it was judged, for the drawer that opens
// at its address.
type NumberColumns struct {
	Runs  []RunInAddress `json:"runs"`
	Run   column         `json:"u"`           // -1: none has it
	Point column         `json:"o"`           // from 1
	N     column         `json:"x,omitempty"` // measurements behind the value
	Base  column         `json:"k,omitempty"` // releases behind the baseline
	// Half is half of the 95 % interval of the log change, in ten-thousandths; null without a test.
	Half []*int `json:"h,omitempty"`
	// Ref is the baseline where it is not the value less its change.
	Ref map[int]float64 `json:"b,omitempty"`
	// Why is the sentence on a change.
	Why map[int]string `json:"y,omitempty"`
	// Against are the targets of a number.
	Against map[int][]NumberTarget `json:"l,omitempty"`

	*LoadColumns
}

// LoadColumns say what the requests behind each number of a release did: numbers of other loads do not compare systems.
type LoadColumns struct {
	OSL    column          `json:"e"`           // measured tokens of an answer; 0: not stated
	Failed map[int]float64 `json:"f,omitempty"` // share of requests, where it is above what may fail
	Least  float64         `json:"least"`       // of the longer side's answers, below which the shorter side's are marked
}

// RunInAddress is a run as addresses name it: no text, so that a public site leaves it as it is.
type RunInAddress string

// NumberTarget is a target of a number with its verdict.
type NumberTarget struct {
	Level    string         `json:"level"`
	Required bool           `json:"required,omitempty"`
	Outcome  schema.Outcome `json:"outcome"`
	Limit    string         `json:"limit"`
	Why      string         `json:"why"`
}

// sentences is how many sentences on changes, and on targets, a table has: a reader waits for it.
const sentences = 120

// numberTable fills number columns.
type numberTable struct {
	NumberColumns
	r         *Report
	runs      map[RunInAddress]int
	quantiles judge.Quantiles
	rows      map[*judge.Series]int
}

func newNumberTable(r *Report) numberTable {
	return numberTable{
		r: r, runs: map[RunInAddress]int{}, rows: map[*judge.Series]int{},
		NumberColumns: NumberColumns{
			Runs: []RunInAddress{}, Run: column{}, Point: column{}, N: column{}, Base: column{}, Half: []*int{},
			Ref: map[int]float64{}, Why: map[int]string{}, Against: map[int][]NumberTarget{},
		},
	}
}

// place adds where a number was measured, and returns that point; nil where none has it.
func (t *numberTable) place(s *judge.Series, g *judge.Summary) (p *columns.PointRow) {
	t.rows[s] = len(t.Run)
	run, point := t.r.Gate.PointOf(s, g.Release, g.Rechecked)
	if run >= 0 {
		h := &t.r.Columns.Runs[run]
		p = &t.r.Columns.Points[h.FirstPoint+point-1]
		id := RunInAddress(RunName(h.ID))
		run = place(t.runs, id, &t.Runs, func() RunInAddress { return id })
	}
	t.Run, t.Point = append(t.Run, run), append(t.Point, point)
	return p
}

// load adds what the requests of a number's point did.
func (t *numberTable) load(p *columns.PointRow) {
	if t.LoadColumns == nil {
		t.LoadColumns = &LoadColumns{OSL: column{}, Failed: map[int]float64{}, Least: schema.LeastAnswer}
	}
	row := len(t.OSL)
	t.OSL = append(t.OSL, 0)
	if p == nil {
		return
	}
	get := func(metric, stat string) (float64, bool) {
		n, _ := t.r.Columns.Value(p, metric, stat)
		return n.Get()
	}
	osl, ok := get("osl", "mean")
	if !ok {
		osl, _ = get("osl", "value")
	}
	t.OSL[row] = int(math.Round(osl))
	bad, hasBad := get("requests_failed", "value")
	good, hasGood := get("requests_ok", "value")
	if hasBad && hasGood && bad > schema.MostFailures*(bad+good) {
		t.Failed[row] = latency.Round(bad/(bad+good), 3)
	}
}

// judged adds how it was judged.
func (t *numberTable) judged(s *judge.Series, g *judge.Summary) {
	row := len(t.N)
	t.N, t.Base = append(t.N, g.N), append(t.Base, g.Releases)
	var half *int
	if g.SE > 0 {
		h := int(math.Round(min(t.quantiles.T975(g.Df)*g.SE, 100) * 1e4))
		half = &h
	}
	t.Half = append(t.Half, half)
	if math.IsNaN(g.Ref) {
		return
	}
	change := g.Effect
	if judge.Higher(s.Metric) {
		change = -change
	}
	if math.Abs(g.Value/(1+change)/g.Ref-1) > 1e-5 {
		t.Ref[row] = latency.Round(g.Ref, 7)
	}
}

// explain adds the sentences of a release: on what changed, and on targets.
func (t *numberTable) explain(release int) {
	found := t.r.Gate.Findings(release)
	for i := range found.History {
		v := &found.History[i]
		if len(t.Why) == sentences {
			break
		}
		if silent(v) {
			continue
		}
		if row, ok := t.rows[t.r.seriesOf(*v)]; ok {
			t.Why[row] = words.Why(*v)
		}
	}
	if len(found.Targets) == 0 {
		return
	}
	var of schema.Pair
	var rows map[covered][]int
	said := 0
	for i := range found.Targets {
		v := &found.Targets[i]
		limit, ok := v.Ref.Get()
		if !ok || said == sentences {
			continue
		}
		if v.Pair() != of { // those of one stand together
			of = v.Pair()
			rows = t.rowsOf(of)
		}
		list := rows[newCovered(v.Impl, v.Key, v.Metric, v.Stat)]
		if len(list) == 0 {
			continue
		}
		info, _ := schema.MetricByName(v.Metric)
		x := NumberTarget{
			v.Level, v.Required, v.Outcome, words.Quantity(limit, info.Unit), words.Why(*v),
		}
		said++
		for _, row := range list {
			t.Against[row] = append(t.Against[row], x)
		}
	}
}

// covered is what a target and the numbers that it covers have in common, of one model and device.
type covered struct{ impl, key, metric, stat string }

func newCovered(impl string, k schema.Key, metric, stat string) covered {
	switch stat { // tools write one of them, and a target of one covers it
	case "", "median", "value":
		stat = "mean"
	}
	return covered{impl, k.String(), metric, stat}
}

// rowsOf are the rows of the numbers of a model and device.
func (t *numberTable) rowsOf(p schema.Pair) map[covered][]int {
	rows := map[covered][]int{}
	for _, s := range t.r.series[p] {
		if row, ok := t.rows[s]; ok {
			id := newCovered(s.Impl, s.Key, s.Metric, s.Stat)
			rows[id] = append(rows[id], row)
		}
	}
	return rows
}

// silent is true of verdicts that the numbers of a calculation tell whole.
func silent(v *schema.Verdict) bool {
	return v.Key.IsEval() || !v.Large && slices.Contains([]schema.Outcome{
		schema.Unchanged, schema.Inconclusive, schema.NoBaseline, schema.NotMeasured,
	}, v.Outcome)
}
