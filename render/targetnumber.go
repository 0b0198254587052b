package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

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
		if v := r.levels[l]; v != nil && (worst == nil || standing(v) < standing(worst)) {
			worst = v
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
		c.Sub = "chance could explain it"
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

// share is how much of the highest level was measured; NaN where nothing was.
func (r *targetNumber) share() float64 {
	v, ok := r.first.Value.Get()
	top := math.NaN()
	for _, x := range r.levels {
		if ref, has := x.Ref.Get(); has && x.Outcome != schema.Unattainable && !(r.better(ref) <= top) {
			top = r.better(ref)
		}
	}
	if !ok || v <= 0 {
		return math.NaN()
	}
	return r.better(v) / top
}

// reached is the share in percent.
func (r *targetNumber) reached() Cell {
	share := 100 * r.share()
	if math.IsNaN(share) {
		why := "not measured"
		if v, ok := r.first.Value.Get(); ok && v <= 0 {
			why = "the value is not positive"
		}
		return Cell{Text: words.Absent, Missing: why}
	}
	return Cell{Text: words.Number(share), Sort: &share}
}

// bullet is the number among its levels.
func (r *targetNumber) bullet() Cell {
	b := &Bullet{Measured: math.NaN()}
	if v, ok := r.first.Value.Get(); ok && v > 0 {
		b.Measured = r.better(v)
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
	b.Label = fmt.Sprintf("%s among %s", numberText(r.first.Value), strings.Join(names, ", "))
	return Cell{Bullet: b}
}

func numberText(n schema.Number) string {
	if v, ok := n.Get(); ok {
		return words.Number(v)
	}
	return "not measured"
}
