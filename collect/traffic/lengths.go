package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Lengths is a distribution of token lengths. The zero value is none: all requests are as long as the workload says.
type Lengths struct {
	kind string
	a, b float64
}

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
	name, args, err := call(text)
	if err != nil {
		return Lengths{}, err
	}
	var known []string
	for _, k := range lengthKinds {
		known = append(known, k.example)
		if k.name != name {
			continue
		}
		if len(args) == 2 && args[0] >= 1 && args[0] <= longest && args[1] > 0 && args[1] <= k.most &&
			(name != "uniform" || args[0] <= args[1]) {
			return Lengths{name, args[0], args[1]}, nil
		}
		return Lengths{}, fmt.Errorf("%s takes %s of at most %d tokens, as in %s", name, k.numbers, longest, k.example)
	}
	return Lengths{}, fmt.Errorf("expected a whole number or one of %s", strings.Join(known, ", "))
}

// Set reports whether there is a distribution.
func (l Lengths) Set() bool { return l.kind != "" }

// String is the text that ParseLengths reads.
func (l Lengths) String() string {
	if !l.Set() {
		return ""
	}
	return l.kind + "(" + printed(l.a) + "," + printed(l.b) + ")"
}

// Mean returns the mean length in whole tokens, before draws are rounded and kept above zero.
func (l Lengths) Mean() int {
	if l.kind == "uniform" {
		return int(math.Round((l.a + l.b) / 2))
	}
	return int(math.Round(l.a))
}

// draw returns one length, at least a token.
func (l Lengths) draw(rng *rand.Rand) int {
	v := 0.
	switch l.kind {
	case "uniform":
		return int(l.a) + rng.IntN(int(l.b)-int(l.a)+1)
	case "normal":
		v = l.a + l.b*rng.NormFloat64()
	case "lognormal":
		v = math.Exp(math.Log(l.a) - l.b*l.b/2 + l.b*rng.NormFloat64())
	}
	return int(min(max(1, math.Round(v)), longest))
}

// call reads "name(1,2.5)"; a name alone has no numbers.
func call(text string) (name string, args []float64, err error) {
	name, rest, has := strings.Cut(text, "(")
	if !has {
		return text, nil, nil
	}
	rest, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return "", nil, fmt.Errorf("%q has no closing parenthesis, as in ramp(1,20) or lognormal(2000,0.4)", text)
	}
	for part := range strings.SplitSeq(rest, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return "", nil, fmt.Errorf("%q: %q is not a number, as in ramp(1,20) or lognormal(2000,0.4)", text, part)
		}
		args = append(args, v)
	}
	return name, args, nil
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
