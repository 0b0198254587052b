package board

import (
	"maps"
	"math"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// Items are the answers of a model to the items of a task.
type Items struct {
	Means   []float64 // of the samples of each item
	Samples int       // of each item, k
	// Within is the mean over the items of the variance between the samples of one, divided by k−1; NaN with one sample,
	// which says nothing of it.
	Within  float64
	Cluster []int // the group of each item, in any numbers; nil where each stands for itself
	Total   int   // items of the task; 0 or the number of items for all
}

// Shares are the items of which the share of right answers among k samples is known.
func Shares(right []float64, k int) Items {
	x := Items{Means: right, Samples: k, Within: math.NaN()}
	if k > 1 {
		x.Within = 0
		for _, p := range right {
			x.Within += p * (1 - p) * float64(k) / float64(k-1) / float64(len(right))
		}
	}
	return x
}

// Noise is the standard error of a mean over items that are answered once, and its parts: the choice of the items, and
// that a model answers one item differently each time. The parts are NaN where one sample of each is known.
type Noise struct{ SE, Data, Prediction float64 }

// Noise splits the noise of a score as the tables of arXiv 2512.21326 do, with variances divided by n.
func (x *Items) Noise() Noise {
	n, k := float64(len(x.Means)), float64(x.Samples)
	mean, variance := moments(x.Means, n)
	if variance /= n; x.Cluster != nil {
		variance, _ = clustered(x.Means, mean, x.Cluster)
	}
	if x.Samples < 2 {
		return Noise{math.Sqrt(variance), math.NaN(), math.NaN()}
	}
	data, prediction := variance-x.Within/k/n, x.Within/n
	return Noise{math.Sqrt(data + prediction), math.Sqrt(math.Max(0, data)), math.Sqrt(prediction)}
}

// Error is the standard error of the mean of the items as they were answered; NaN for one item or group.
func (x *Items) Error() float64 {
	n := float64(len(x.Means))
	mean, variance := moments(x.Means, n-1)
	if variance /= n; x.Cluster != nil {
		variance, _ = clustered(x.Means, mean, x.Cluster)
	}
	return math.Sqrt(variance)
}

// clustered is the variance of the mean of values in groups, with its degrees of freedom.
func clustered(values []float64, mean float64, group []int) (variance, df float64) {
	sums := map[int]float64{}
	for i, c := range group {
		sums[c] += values[i] - mean
	}
	n, g := float64(len(values)), float64(len(sums))
	for _, c := range slices.Sorted(maps.Keys(sums)) { // in one order, for one sum
		variance += sums[c] * sums[c] / (n * n) * g / (g - 1)
	}
	return variance, g - 1
}

// moments are the mean of values and their squared deviations over a divisor.
func moments(values []float64, divisor float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / divisor
	}
	return mean, variance
}

// Diff is the difference of two scores, the first minus the second.
type Diff struct {
	D, SE float64
	P     float64 // two-sided
	DF    float64 // of Student's t; +Inf for the normal distribution
	// Paired says that both answered the same items.
	Paired bool
	// Data and Prediction are the parts of SE², NaN where they are not known; Samples are those of each item.
	Data, Prediction float64
	Samples          int
}

// Of is a difference with a known standard error.
func Of(d, se float64) Diff {
	x := Diff{D: d, SE: se, P: 1, DF: math.Inf(1), Data: math.NaN(), Prediction: math.NaN(), Samples: 1}
	return x.test()
}

// test sets the p value.
func (x Diff) test() Diff {
	switch {
	case x.D == 0:
		x.P = 1
	case x.SE > 0:
		x.P = 2 * regression.UpperTail(math.Abs(x.D)/x.SE, x.DF)
	default: // all differ by as much: that all signs agree is known, and no spread
		x.P = math.Pow(2, -x.DF)
	}
	return x
}

// Interval is the 95 % interval of the difference.
func (x Diff) Interval() (lo, hi float64) { return x.interval(.05) }

func (x Diff) interval(size float64) (lo, hi float64) {
	half := regression.Quantile(1-size/2, x.DF) * x.SE
	return x.D - half, x.D + half
}

// Paired compares two models on the same items, item by item; ok is false for fewer than two items or clusters, and
// for items of different number.
func Paired(a, b *Items) (x Diff, ok bool) {
	n := float64(len(a.Means))
	if len(a.Means) != len(b.Means) || n < 2 {
		return x, false
	}
	d := make([]float64, len(a.Means))
	for i := range d {
		d[i] = a.Means[i] - b.Means[i]
	}
	x = Diff{Paired: true, DF: n - 1, Samples: min(a.Samples, b.Samples)}
	var between float64
	x.D, between = moments(d, n-1)
	variance := between / n
	if a.Cluster != nil {
		if variance, x.DF = clustered(d, x.D, a.Cluster); x.DF < 1 {
			return x, false
		}
	}
	x.Prediction = (a.Within/float64(a.Samples) + b.Within/float64(b.Samples)) / n
	x.Data = math.Max(0, variance-x.Prediction) // NaN where the prediction noise is
	if total := float64(a.Total); total > n {
		left := 1 - n/total
		if x.Data *= left; math.IsNaN(x.Data) {
			variance *= left
		} else {
			variance = x.Data + x.Prediction
		}
	}
	x.SE = math.Sqrt(variance)
	return x.test(), true
}

// Over compares two models by their scores in several tasks, the tasks being a sample of those that could have been
// asked. ok is false for fewer than three.
func Over(a, b []float64) (Diff, bool) {
	if len(a) < 3 {
		return Diff{}, false
	}
	x := Items{Means: a, Samples: 1, Within: math.NaN()}
	y := Items{Means: b, Samples: 1, Within: math.NaN()}
	return Paired(&x, &y)
}

// Mean is the mean of differences in several tasks, which are taken as they are: what is not known is how each would
// have come out with other items.
func Mean(tasks []Diff) Diff {
	d, variance, n := 0., 0., float64(len(tasks))
	for _, t := range tasks {
		d += t.D / n
		variance += t.SE * t.SE / (n * n)
	}
	return Of(d, math.Sqrt(variance))
}
