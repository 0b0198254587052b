package traffic

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Lengths is a distribution of token lengths. The zero value is none: all requests are as long as the workload says.
type Lengths struct{ call }

// longest is the longest request that is drawn, tokens; it bounds the memory of a load.
const longest = 4 << 20

// lengthKinds are the distributions, with what their two numbers are and the largest second one.
var lengthKinds = [...]struct {
	name, numbers, example string
	most                   float64
}{
	{"uniform", "shortest and longest", "uniform(100,500)", longest},
	{"normal", "mean and standard deviation", "normal(2000,300)", longest},
	{"lognormal", "mean and standard deviation of the logarithm", "lognormal(2000,0.4)", 3},
}

// ParseLengths reads a distribution: uniform(shortest,longest), normal(mean,sd) or lognormal(mean,sd of the
// logarithm). Lengths are tokens.
func ParseLengths(text string) (Lengths, error) {
	c, err := parseCall(text)
	if err != nil {
		return Lengths{}, err
	}
	var known []string
	for _, k := range lengthKinds {
		known = append(known, k.example)
		if k.name != c.name {
			continue
		}
		if len(c.args) == 2 && c.args[0] >= 1 && c.args[0] <= longest && c.args[1] > 0 && c.args[1] <= k.most &&
			(c.name != "uniform" || c.args[0] <= c.args[1]) {
			return Lengths{c}, nil
		}
		return Lengths{}, fmt.Errorf("%s takes %s of at most %d tokens, as in %s", c.name, k.numbers, longest, k.example)
	}
	return Lengths{}, fmt.Errorf("expected a whole number or one of %s", strings.Join(known, ", "))
}

// Mean returns the mean length in whole tokens, before draws are rounded and kept above zero; 0 for none.
func (l Lengths) Mean() int {
	switch {
	case len(l.args) == 0:
		return 0
	case l.name == "uniform":
		return int(math.Round((l.args[0] + l.args[1]) / 2))
	}
	return int(math.Round(l.args[0]))
}

// draw returns one length, at least a token.
func (l Lengths) draw(rng *rand.Rand) int {
	v, a, b := 0., l.args[0], l.args[1]
	switch l.name {
	case "uniform":
		return int(a) + rng.IntN(int(b)-int(a)+1)
	case "normal":
		v = a + b*rng.NormFloat64()
	case "lognormal":
		v = math.Exp(math.Log(a) - b*b/2 + b*rng.NormFloat64())
	}
	return int(min(max(1, math.Round(v)), longest))
}

// call is a text such as "name(1,2.5)"; a name alone has no numbers. The zero value is none.
type call struct {
	name string
	args []float64
}

func parseCall(text string) (c call, err error) {
	name, rest, has := strings.Cut(text, "(")
	if !has {
		return call{name: text}, nil
	}
	rest, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return c, fmt.Errorf("%q has no closing parenthesis, as in ramp(1,20) or lognormal(2000,0.4)", text)
	}
	for part := range strings.SplitSeq(rest, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return c, fmt.Errorf("%q: %q is not a number, as in ramp(1,20) or lognormal(2000,0.4)", text, part)
		}
		c.args = append(c.args, v)
	}
	c.name = name
	return c, nil
}

// Set reports whether there is one.
func (c call) Set() bool { return c.name != "" }

// String is the text of which it was read; "" for none.
func (c call) String() string {
	if len(c.args) == 0 {
		return c.name
	}
	var parts []string
	for _, v := range c.args {
		parts = append(parts, printed(v))
	}
	return c.name + "(" + strings.Join(parts, ",") + ")"
}

// Split cuts the fields of a workload at commas that are not within parentheses.
func Split(text string) []string {
	depth := 0
	out := []string{""}
	for _, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if c == ',' && depth <= 0 {
			out = append(out, "")
			continue
		}
		out[len(out)-1] += string(c)
	}
	return slices.Clip(out)
}

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

// Adapters are LoRA adapters of the served model, one of which each request names in the model's place. The zero value
// is none.
type Adapters struct {
	Names []string // in the order that they were stated
	pick  string   // "" for each in turn
}

// How the adapter of a request is chosen: with equal chances, or by Zipf's law with exponent 1, the first named most
// often. Without one of these, each has its turn.
const (
	pickRandom = "random"
	pickZipf   = "zipf"
)

// ParseAdapters reads names, as "a+b+c", "random(a+b+c)" or "zipf(a+b+c)".
func ParseAdapters(text string) (a Adapters, err error) {
	list := text
	if name, rest, is := strings.Cut(text, "("); is && strings.HasSuffix(rest, ")") {
		a.pick, list = name, strings.TrimSuffix(rest, ")")
	}
	a.Names = strings.Split(list, "+")
	sorted := slices.Sorted(slices.Values(a.Names))
	known := slices.Contains([]string{"", pickRandom, pickZipf}, a.pick) && !strings.ContainsAny(list, "()")
	if !known || sorted[0] == "" || len(slices.Compact(sorted)) < len(a.Names) {
		return Adapters{}, errors.New("expected names of adapters that the server has, as lora=a+b, lora=random(a+b) or " +
			"lora=zipf(a+b)")
	}
	return a, nil
}

// String is the text that ParseAdapters reads.
func (a Adapters) String() string {
	list := strings.Join(a.Names, "+")
	if a.pick == "" {
		return list
	}
	return a.pick + "(" + list + ")"
}

// of is the adapter of request i.
func (a Adapters) of(i int, rng *rand.Rand) string {
	n := len(a.Names)
	switch {
	case n == 0:
		return ""
	case a.pick == pickRandom:
		return a.Names[rng.IntN(n)]
	case a.pick == pickZipf:
		sum := 0.
		for k := range n {
			sum += 1 / float64(k+1)
		}
		at := rng.Float64() * sum
		for k := range n {
			if at -= 1 / float64(k+1); at < 0 {
				return a.Names[k]
			}
		}
		return a.Names[n-1]
	}
	return a.Names[i%n]
}
