// Package precision says from which request on a measurement is steady, how well its means are known, and whether it
// drifts.
//
// In: one value a request, in the order of sending. Out: a [State]: the length of the warm-up, the mean of what is
// behind it with a 95 % interval, and the drift. [Rule] says what is known well enough. It must not know servers,
// clients or files.
//
// The warm-up is cut by MSER-5 (White 1997): the cut that makes the standard error of the remaining mean the smallest.
// Requests of one measurement depend on each other, because they share steps of one scheduler; intervals are therefore
// from the means of batches of requests that follow each other, which hardly do (Law and Kelton 2000, section 9.5).
package precision

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mathext"
)

// Rule says when a measurement may end. The zero value is none: a number of requests decides.
type Rule struct {
	CI   float64       // share of the mean that half of its 95 % interval is at most: .02
	Tail string        // percentile that is to be one: p90, p95 or p99; "" for none
	Most time.Duration // of a measurement; 0: ten minutes
}

const example = "as in ci=2%,tail=p99,most=10m"

// tails are the percentiles that a rule may ask for, with the requests that a 95 % interval of one needs: there must be
// values above its upper end (Conover 1999, section 3.2).
var tails = map[string]int{"p90": 36, "p95": 72, "p99": 368}

// ParseRule reads fields that are separated by commas: ci=2% (or 0.02), tail=p99, most=10m.
func ParseRule(text string) (Rule, error) {
	const tightest, widest = .0005, .5
	var r Rule
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		var err error
		switch name {
		case "ci":
			digits, percent := strings.CutSuffix(value, "%")
			if r.CI, err = strconv.ParseFloat(digits, 64); percent {
				r.CI /= 100
			}
			if err != nil || !(r.CI >= tightest && r.CI <= widest) {
				err = fmt.Errorf("%q: expected a share of the mean from %g%% to %g%%", value, 100*tightest, 100*widest)
			}
		case "tail":
			if r.Tail = value; tails[value] == 0 {
				err = fmt.Errorf("%q: expected one of p90, p95, p99", value)
			}
		case "most":
			if r.Most, err = time.ParseDuration(value); err == nil && r.Most <= 0 {
				err = fmt.Errorf("%q: expected a time above zero", value)
			}
		default:
			err = fmt.Errorf("%q: expected one of ci, tail, most", name)
		}
		if err != nil {
			return Rule{}, fmt.Errorf("%s: %w, %s", field, err, example)
		}
	}
	if r.CI == 0 {
		return Rule{}, fmt.Errorf("%q has no ci, %s", text, example)
	}
	return r, nil
}

// Set reports whether there is a rule.
func (r Rule) Set() bool { return r.CI > 0 }

// String is the rule as ParseRule reads it.
func (r Rule) String() string {
	if !r.Set() {
		return ""
	}
	out := "ci=" + strconv.FormatFloat(math.Round(1e6*r.CI)/1e4, 'g', -1, 64) + "%"
	if r.Tail != "" {
		out += ",tail=" + r.Tail
	}
	if r.Most > 0 {
		out += ",most=" + r.Most.String()
	}
	return out
}

// Limit returns how long a measurement may take.
func (r Rule) Limit() time.Duration { return cmp.Or(r.Most, 10*time.Minute) }

// Least returns how many requests a measurement has at least, with so many in flight at once: batches of whole waves,
// and a warm-up that is a small part; and the values that the tail needs.
func (r Rule) Least(wave int) int {
	const waves = 16
	return max(40, waves*max(1, wave), tails[r.Tail]*smallPart/(smallPart-1))
}

// Series are the values of one metric, of each request.
type Series struct {
	Name   string
	Values []float64
}

// Known is what is known of a measurement.
type Known struct {
	Cut    int     // requests of the warm-up
	States []State // of each series, behind the cut
	// Steady reports that the warm-up is a small part and no series depends on its past or drifts.
	Steady bool
	// Reached reports that the rule is met.
	Reached bool
	// Worst is the largest relative half width; infinite where one is unknown.
	Worst float64
}

// Judge says what is known of a measurement. The warm-up has at least so many values, and ends where that of the last
// of its series does. All series have as many values.
func (r Rule) Judge(list []Series, least, wave int) Known {
	k := Known{Cut: least, Steady: len(list) > 0}
	for _, s := range list {
		cut, small := Warmup(s.Values, wave)
		k.Cut, k.Steady = max(k.Cut, cut), k.Steady && small
	}
	n := 0
	for _, s := range list {
		state := Behind(s.Values[k.Cut:], wave)
		state.Name = s.Name
		k.States = append(k.States, state)
		k.Steady = k.Steady && state.Settled && state.Drift == 0
		k.Worst, n = math.Max(k.Worst, state.Relative()), state.N
	}
	k.Reached = r.Set() && k.Steady && k.Worst <= r.CI && n >= tails[r.Tail]
	return k
}

// State is what is known of a series behind its warm-up.
type State struct {
	Name    string  // of the series
	N       int     // values
	Mean    float64 // of these
	Half    float64 // half of the width of its 95 % interval; infinite where nothing is known of it
	Drift   float64 // relative change from the beginning to the end; 0 unless it is more than noise
	Settled bool    // the batches do not depend on each other
}

// Relative returns the half width as a share of the mean; infinite where it is unknown.
func (s State) Relative() float64 {
	if s.Mean == 0 || math.IsInf(s.Half, 1) {
		return math.Inf(1)
	}
	return s.Half / math.Abs(s.Mean)
}

// Parameters of the method. They were chosen by the coverage of intervals on the simulator (.ci/measure/figures,
// part "until").
const (
	mserBatch   = 5  // values whose mean is one of MSER's, where fewer are in flight
	smallPart   = 5  // of which the warm-up is at most one
	mostBatches = 32 // of an interval; twice as many say whether they depend on each other
	fewBatches  = 8
	leastBatch  = 2 // values in a batch
	driftT      = 4 // standard errors of a slope that are more than noise
)

// Behind computes the state of what follows the warm-up of a series. wave is how many requests are in flight at once:
// they are alike, so that a batch has whole waves.
func Behind(values []float64, wave int) State {
	wave = max(1, wave)
	s := State{N: len(values), Mean: mean(values), Half: math.Inf(1)}
	for k := mostBatches; k >= fewBatches && !s.Settled; k /= 2 {
		fine := batchMeans(values, 2*k, wave)
		if fine == nil {
			continue
		}
		batches := make([]float64, k)
		for i := range batches {
			batches[i] = (fine[2*i] + fine[2*i+1]) / 2
		}
		s.Half, s.Drift = half(batches, max(0, lag1(batches))), drift(batches)
		s.Settled = lag1(fine) < 1.645/math.Sqrt(float64(len(fine))) // which one of twenty independent series exceeds
	}
	return s
}

// Warmup returns the length of a series' warm-up, and whether it is a small part of it: else the series has not been
// steady for long enough to say.
func Warmup(values []float64, wave int) (cut int, small bool) {
	size := max(mserBatch, wave)
	n := len(values) / size
	if n < 2 {
		return 0, false
	}
	best, at := math.Inf(1), 0
	sum, squares := 0., 0.
	shift := values[len(values)-1] // squares of differences lose no digits
	for d := n - 1; d >= 0; d-- {
		b := mean(values[d*size:(d+1)*size]) - shift
		sum, squares = sum+b, squares+b*b
		k := float64(n - d)
		if d > n/2 { // the last few would be alike by chance
			continue
		}
		if mser := (squares - sum*sum/k) / (k * k); mser <= best {
			best, at = mser, d
		}
	}
	return at * size, at <= n/smallPart
}

// batchMeans divides the end of a series into k batches of equal length, of whole waves where there are enough; nil
// where the batches would be too short.
func batchMeans(values []float64, k, wave int) []float64 {
	size := len(values) / k
	if size > wave {
		size -= size % wave
	}
	if size < leastBatch || size < wave {
		return nil
	}
	out := make([]float64, k)
	from := len(values) - k*size
	for i := range out {
		out[i] = mean(values[from+i*size : from+(i+1)*size])
	}
	return out
}

// half returns the half width of the interval of the mean of batches whose neighbours correlate by r, as in an
// autoregressive process of first order.
func half(batches []float64, r float64) float64 {
	n := float64(len(batches))
	m, squares := mean(batches), 0.
	for _, b := range batches {
		squares += (b - m) * (b - m)
	}
	se := math.Sqrt(squares / (n - 1) / n * (1 + r) / (1 - min(r, .9)))
	// The .975 quantile of Student's t; Abramowitz and Stegun 26.7.1.
	x := mathext.InvRegIncBeta((n-1)/2, .5, .05)
	return se * math.Sqrt((n-1)*(1-x)/x)
}

// lag1 is the autocorrelation of neighbours.
func lag1(x []float64) float64 {
	m, squares, products := mean(x), 0., 0.
	for i, v := range x {
		squares += (v - m) * (v - m)
		if i > 0 {
			products += (v - m) * (x[i-1] - m)
		}
	}
	if squares == 0 {
		return 0
	}
	return products / squares
}

// drift returns the relative change over the batches by their regression line; 0 where it is not more than noise.
func drift(batches []float64) float64 {
	n := float64(len(batches))
	if n < fewBatches {
		return 0
	}
	m, sxx, sxy, syy := mean(batches), 0., 0., 0.
	for i, b := range batches {
		x := float64(i) - (n-1)/2
		sxx, sxy, syy = sxx+x*x, sxy+x*(b-m), syy+(b-m)*(b-m)
	}
	slope := sxy / sxx
	rest := max(0, syy-slope*sxy)
	if m == 0 || slope*slope*sxx*(n-2) <= driftT*driftT*rest || slope == 0 {
		return 0
	}
	return slope * (n - 1) / math.Abs(m)
}

func mean(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}
