package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
	"github.com/ttreport/ttreport/targets/regression"
)

// Proposal is the result of [Judgement.Propose].
type Proposal struct {
	File    library.File
	Single  int // values without a known noise: the margin is twice the effect that matters
	Skipped int // numbers that give no target: failed, excluded, two modes
}

// proposed is a number that a target file can state.
type proposed struct {
	of                           schema.Pair
	workload, task, metric, stat string
}

// Propose derives targets from what a release measured: each number is made worse by a margin from the measured
// noise, so that the same software meets it in 99 of 100 releases (one-sided 1 % of Student's t with the noise of the
// series); the margin is at least least. An empty model or device selects all. asOf is written into every value,
// YYYY-MM-DD.
func (j *Judgement) Propose(release int, model, device, level, asOf string, least float64) Proposal {
	var p Proposal
	name := j.Releases[release].Name
	seen, worst := map[proposed]int{}, map[proposed]float64{}
	for _, i := range j.byCell[release] {
		s := &j.Series[j.cellOf[i]]
		if !s.Pair().Selected(model, device) || s.Tail() {
			continue
		}
		row := &j.rows.Rows[i]
		if row.Why == regression.WhyTwoModes {
			p.Skipped++
			continue
		}
		margin, known := j.margin(i, release)
		from := fmt.Sprintf("measured in %s, margin %.1f %%", name, 100*math.Expm1(math.Max(margin, least)))
		if !known {
			p.Single++
			from += " (noise unknown)"
		}
		measured := s.value(i).Value // of all runs of the release that decide, as verdicts on targets have it
		z := sign(s.Metric)*math.Log(measured) + math.Max(margin, least)
		k := s.Key
		same := proposed{s.Pair(), k.Workload(), fmt.Sprint(k.Task, k.Dims),
			s.Metric, s.Stat}
		at, again := seen[same]
		if again && z <= worst[same] { // files name no implementation or tool: the looser of two holds
			continue
		}
		worst[same] = z
		target := library.FileTarget{Model: s.Model, Device: s.Device, Workload: library.WorkloadOf(k),
			Metric: s.Metric, Stat: s.Stat,
			Value: rounded(math.Exp(sign(s.Metric)*z), sign(s.Metric)), Level: level, Source: from, AsOf: asOf}
		if again {
			p.File.Targets[at] = target
			continue
		}
		seen[same] = len(p.File.Targets)
		p.File.Targets = append(p.File.Targets, target)
	}
	slices.SortStableFunc(p.File.Targets, func(a, b library.FileTarget) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Device, b.Device))
	})
	return p
}

// margin returns how much worse the next release may be by noise alone, on the log scale.
func (j *Judgement) margin(obs int32, release int) (float64, bool) {
	if own := j.rows.Rows[obs].Noise(); own.Known() {
		return own.Margin(.99), true
	}
	if typical := j.rows.Fits[release].Typical(j.table.Cells[j.cellOf[obs]].Stratum); typical.Known() {
		return typical.Margin(.99), true
	}
	return 2 * j.table.Cells[j.cellOf[obs]].Delta, false
}

// rounded keeps three digits and rounds to the worse side, so that rounding never tightens a target.
func rounded(v, sign float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(v))-2)
	n := math.Floor(v/step + 1e-9)
	if sign > 0 {
		n = math.Ceil(v/step - 1e-9)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(n*step, 'g', 6, 64), 64) // always a number
	return short
}
