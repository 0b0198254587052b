package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/plaintext"
)

// Lengths is a distribution of token lengths. The zero value is none: all requests are as long as the workload says.
type Lengths struct {
	kind string
	a, b float64
}

// lengthKinds are the distributions, with what their two numbers are.
var lengthKinds = [...]struct{ name, numbers, example string }{
	{"uniform", "shortest and longest", "uniform(100,500)"},
	{"normal", "mean and standard deviation", "normal(2000,300)"},
	{"lognormal", "mean and standard deviation of the logarithm", "lognormal(2000,0.4)"},
}

// longest is the longest request that is drawn, tokens; it bounds the memory of a load.
const longest = 4 << 20

// ParseLengths reads a distribution: uniform(shortest,longest), normal(mean,sd) or lognormal(mean,sd of the
// logarithm). Lengths are tokens.
func ParseLengths(text string) (Lengths, error) {
	name, args, err := call(text)
	if err != nil {
		return Lengths{}, err
	}
	for _, k := range lengthKinds {
		if k.name != name {
			continue
		}
		if len(args) != 2 {
			return Lengths{}, fmt.Errorf("%q has %s: %s takes %s, as in %s",
				text, plaintext.Plural(len(args), "number"), name, k.numbers, k.example)
		}
		l := Lengths{name, args[0], args[1]}
		return l, l.check(text, k.example)
	}
	var known []string
	for _, k := range lengthKinds {
		known = append(known, k.example)
	}
	return Lengths{}, fmt.Errorf("%q is neither a whole number nor one of %s", text, strings.Join(known, ", "))
}

func (l Lengths) check(text, example string) error {
	mostSpread := longest + 0.
	if l.kind == "lognormal" {
		mostSpread = 3
	}
	switch {
	case !(l.a >= 1) || l.a > longest:
		return fmt.Errorf("%q: its first number is not between 1 and %d tokens, as in %s", text, longest, example)
	case !(l.b > 0) || l.b > mostSpread:
		return fmt.Errorf("%q: its second number is not between 0 and %g, as in %s", text, mostSpread, example)
	case l.kind == "uniform" && l.b < l.a:
		return fmt.Errorf("%q: the longest is below the shortest, unlike in %s", text, example)
	}
	return nil
}

// Set reports whether there is a distribution.
func (l Lengths) Set() bool { return l.kind != "" }

// String is the text that ParseLengths reads.
func (l Lengths) String() string {
	if !l.Set() {
		return ""
	}
	return l.kind + "(" + number(l.a) + "," + number(l.b) + ")"
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

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

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
