package traffic

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Arrivals says how the requests of an open loop follow each other. The zero value is a Poisson process of the
// workload's rate; numbers are rates in requests a second, of the two ends of a ramp, or of each step.
type Arrivals struct{ call }

// ParseArrivals reads constant, poisson, ramp(from,to), a rate that grows evenly in time, or steps(a,b,…), rates that
// last equally long. Rates are requests a second.
func ParseArrivals(text string) (Arrivals, error) {
	c, err := parseCall(text)
	if err != nil {
		return Arrivals{}, err
	}
	positive := !slices.ContainsFunc(c.args, func(v float64) bool { return v <= 0 })
	switch n := len(c.args); {
	case c.name == "poisson" && n == 0:
		return Arrivals{}, nil
	case c.name == "constant" && n == 0, c.name == "ramp" && n == 2 && positive, c.name == "steps" && n >= 2 && positive:
		return Arrivals{c}, nil
	case c.name == "gamma":
		return Arrivals{}, errors.New("a gamma process is what burstiness=0.5 makes of poisson")
	}
	return Arrivals{}, errors.New("expected one of constant, poisson, ramp(1,20), steps(5,10,20)")
}

// Changes reports whether the rate changes over the load.
func (a Arrivals) Changes() bool { return len(a.args) > 0 }

// Rate returns the mean rate where the arrivals have rates of their own; 0 where the workload states it.
func (a Arrivals) Rate() float64 {
	sum := 0.
	for _, r := range a.args {
		sum += r
	}
	return sum / float64(max(1, len(a.args)))
}

// due returns when n requests are sent, after the first. rate is the workload's; burstiness is vLLM's: the shape of the
// gamma distribution of the gaps, 1 for a Poisson process, below it for bursts.
func (a Arrivals) due(n int, rate, burstiness float64, seed uint64) []time.Duration {
	rng := rand.New(rand.NewPCG(seed, 0x6f70656e))
	out := make([]time.Duration, n)
	passed := 0. // in mean gaps
	for i := range out {
		out[i] = time.Duration(a.moment(passed, n, rate) * float64(time.Second))
		switch {
		case a.name == "constant":
			passed++
		case burstiness > 0 && burstiness != 1:
			passed += gamma(rng, burstiness)
		default:
			passed += rng.ExpFloat64()
		}
	}
	return out
}

// gamma draws from the gamma distribution of a shape and of mean 1. Marsaglia and Tsang, A simple method for generating
// gamma variables, ACM TOMS 26 (2000). Package distuv of gonum has it too, and makes the binary 2.5 MB larger.
func gamma(rng *rand.Rand, shape float64) float64 {
	d, factor := shape-1./3, 1/shape
	if shape < 1 {
		d, factor = d+1, math.Pow(rng.Float64(), 1/shape)/shape
	}
	for c := 1 / (3 * math.Sqrt(d)); ; {
		x := rng.NormFloat64()
		v := math.Pow(1+c*x, 3)
		if v > 0 && math.Log(rng.Float64()) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v * factor
		}
	}
}

// moment returns the seconds after which a number of requests is expected: the inverse of the integral of the rate.
func (a Arrivals) moment(passed float64, n int, rate float64) float64 {
	if len(a.args) == 0 {
		return passed / rate
	}
	whole := float64(n) / a.Rate() // seconds of the load
	if a.name == "ramp" {
		from, to := a.args[0], a.args[1]
		slope := (to - from) / whole
		if most := float64(n); passed > most { // the last gaps were long: the last rate stays
			return whole + (passed-most)/to
		}
		if math.Abs(slope) < 1e-12 {
			return passed / from
		}
		return (math.Sqrt(from*from+2*slope*passed) - from) / slope
	}
	each, at := whole/float64(len(a.args)), 0.
	for _, r := range a.args[:len(a.args)-1] {
		if passed < r*each {
			return at + passed/r
		}
		passed, at = passed-r*each, at+each
	}
	return at + passed/a.args[len(a.args)-1]
}
