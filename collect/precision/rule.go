package precision

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
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
				err = fmt.Errorf("%q is not a share of the mean from %g%% to %g%%", value, 100*tightest, 100*widest)
			}
		case "tail":
			if r.Tail = value; tails[value] == 0 {
				err = fmt.Errorf("%q is none of p90, p95, p99", value)
			}
		case "most":
			if r.Most, err = time.ParseDuration(value); err == nil && r.Most <= 0 {
				err = fmt.Errorf("%q is not a time above zero", value)
			}
		default:
			err = fmt.Errorf("%q is none of ci, tail, most", name)
		}
		if err != nil {
			return Rule{}, fmt.Errorf("%s: %w, %s", field, err, example)
		}
	}
	if r.CI == 0 {
		return Rule{}, fmt.Errorf("%q says no ci, %s", text, example)
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
