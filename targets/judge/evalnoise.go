package judge

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// evalWindow is the most releases in an eval's baseline.
const evalWindow = 20

// evalNoise is the mean and noise of an eval's baseline on the scale 2·asin √p.
type evalNoise struct {
	mean      float64 // of the releases
	meanShare float64 // mean of the shares
	own       float64 // variance between the releases
	variance  float64 // the larger of it and that of the items, 1/n
	df        float64
	releases  float64
}

func noiseOf(c *evalCell, base []int, items float64) evalNoise {
	base = base[max(0, len(base)-evalWindow):]
	x := evalNoise{releases: float64(len(base))}
	known := 0
	for _, b := range base {
		q, _ := share(&c.values[b].scores[0].Score)
		x.mean += proportion.Arcsine(q) / x.releases
		x.meanShare += q / x.releases
		known += c.values[b].scores[0].N
	}
	for _, b := range base {
		q, _ := share(&c.values[b].scores[0].Score)
		d := proportion.Arcsine(q) - x.mean
		x.own += d * d / (x.releases - 1)
	}
	x.variance, x.df = x.own, x.releases-1
	if items > 0 && known > 0 {
		if least := 1 / items; x.variance < least {
			x.variance, x.df = least, math.Inf(1)
		}
	}
	return x
}

// se returns the standard error of the difference of a new value from the mean.
func (x evalNoise) se() float64 { return math.Sqrt(x.variance * (1 + 1/x.releases)) }

// slope converts an error on the arcsine scale to shares: the derivative of p.
func (x evalNoise) slope() float64 {
	return math.Max(math.Sqrt(x.meanShare*(1-x.meanShare)), .01)
}

// arcsineGate compares a share with three releases or more on the scale 2·asin √p, where the variance of n items is
// 1/n: the noise between releases is never taken below that of the items.
func arcsineGate(c *evalCell, base []int, p float64, now *columns.ScoreRow) proportion.Difference {
	x := noiseOf(c, base, itemsOf(&now.Score, p))
	se := x.se()
	d := proportion.Difference{D: p - x.meanShare}
	if se == 0 {
		d.Lo, d.Hi, d.Lo90, d.Hi90, d.Fell, d.Rose = d.D, d.D, d.D, d.D, .5, .5
		return d
	}
	a := proportion.Arcsine(p) - x.mean
	t975, t95 := regression.Quantile(.975, x.df), regression.Quantile(.95, x.df)
	d.Lo, d.Hi = d.D-t975*se*x.slope(), d.D+t975*se*x.slope()
	d.Lo90, d.Hi90 = d.D-t95*se*x.slope(), d.D+t95*se*x.slope()
	d.Rose = regression.UpperTail(a/se, x.df)
	d.Fell = regression.UpperTail(-a/se, x.df) // not 1 − Rose, which loses every small p
	return d
}

// EvalCalculation holds the numbers behind a verdict on an eval.
type EvalCalculation struct {
	Baseline, Now []EvalValue // by release; by run of the release
	// Of a comparison with three releases or more, on the scale 2·asin √p; else NaN.
	Mean, MeanShare, Own, Variance, Df, SE, Z float64
}

// EvalValue is one score.
type EvalValue struct {
	Release, Run string
	Value        float64
	N            int
}

// ExplainEval returns what decided a verdict on an eval against history; nil for any other.
func (j *Judgement) ExplainEval(v schema.Verdict) *EvalCalculation {
	b, ok := j.evals.inputs[v.ID]
	if !ok {
		return nil
	}
	c := j.evals.cells[b.cell]
	value := func(at, i int) EvalValue {
		x, s := &c.values[at], c.values[at].scores[i]
		score, _ := s.Value.Get()
		return EvalValue{j.Releases[x.release].Name, x.runs[i], score, s.N}
	}
	nan := math.NaN()
	r := &EvalCalculation{Mean: nan, MeanShare: nan, Own: nan, Variance: nan, Df: nan, SE: nan, Z: nan}
	for _, at := range b.base[max(0, len(b.base)-evalWindow):] {
		r.Baseline = append(r.Baseline, value(at, 0))
	}
	for i := range c.values[b.at].scores {
		r.Now = append(r.Now, value(b.at, i))
	}
	now := c.values[b.at].scores[0]
	if p, isShare := share(&now.Score); isShare && b.test == schema.TestGate {
		x := noiseOf(c, b.base, itemsOf(&now.Score, p))
		r.Mean, r.MeanShare, r.Own, r.Variance, r.Df, r.SE, r.Z = x.mean, x.meanShare, x.own, x.variance, x.df,
			x.se(), proportion.Arcsine(p)
	}
	return r
}
