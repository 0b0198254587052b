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
