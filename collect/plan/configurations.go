package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Configurations returns an entry for each combination of the values that an entry and the flags state for flags of a
// server, as max-num-seqs=64,128, the last flag's changing first: each starts a server of its own, and its points have
// the values as their configuration. Entries without any stay as they are.
func Configurations(entries []Entry, params []string) ([]Entry, error) {
	var out []Entry
	for _, e := range entries {
		list := [][]string{nil}
		for _, text := range slices.Concat(e.ServerParams, params) {
			name, values, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
			var next [][]string
			of := strings.Split(values, ",")
			for i, value := range of {
				if name == "" || value == "" {
					return nil, Usage("--server-param max-num-seqs=64,128,256",
						"collect: --server-param %q: expected a flag of the server and its values", text)
				}
				if slices.Contains(of[:i], value) {
					return nil, Usage("name each value once", "collect: --server-param %q has %s twice", text, value)
				}
			}
			for _, chosen := range list {
				for _, value := range of {
					next = append(next, append(slices.Clone(chosen), name+"="+value))
				}
			}
			list = next
		}
		for _, chosen := range list {
			e := e
			if e.ServerParams = chosen; len(list) > 1 {
				e.Why = strings.TrimPrefix(e.Why+", "+strings.Join(chosen, ", "), ", ")
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// Climb is a search by hill climbing among the combinations of settings, in the order of [Configurations]. It begins
// with the first, and measures what differs from the best one by one step of one flag, until none of those is better:
// where flags act by themselves, each with one optimum, that is the best of all, for a fraction of the measurements.
type Climb struct {
	Sizes  []int           // how many values each flag has
	Higher bool            // larger values are better
	Values map[int]float64 // of the combinations that were measured; NaN where that failed
	Best   int             // -1 while none has a value
}

// NewClimb returns a search that has measured nothing.
func NewClimb(sizes []int, higher bool) *Climb {
	return &Climb{Sizes: sizes, Higher: higher, Values: map[int]float64{}, Best: -1}
}

// Next returns the combination to measure next; false where the search has ended. Where what was measured failed, it is
// the first that was not.
func (c *Climb) Next() (int, bool) {
	step := 1
	for _, n := range slices.Backward(c.Sizes) {
		for _, by := range []int{1, -1} {
			at := c.Best/step%n + by
			if _, known := c.Values[c.Best+by*step]; c.Best >= 0 && at >= 0 && at < n && !known {
				return c.Best + by*step, true
			}
		}
		step *= n
	}
	return len(c.Values), c.Best < 0 && len(c.Values) < step
}

// Note takes the value of a combination, NaN where it has none.
func (c *Climb) Note(at int, value float64) {
	c.Values[at] = value
	if math.IsNaN(value) {
		return
	}
	if c.Best < 0 || value != c.Values[c.Best] && value > c.Values[c.Best] == c.Higher {
		c.Best = at
	}
}

// configure sets flags of the server; true and false are of a flag without a value, as vLLM has it. Scores have no
// configuration, so that evals are left out.
func (o *Options) configure(params []string) {
	if len(params) == 0 {
		return
	}
	o.Measure.Configuration = map[string]string{}
	var flags []string
	for _, p := range params {
		name, value, _ := strings.Cut(p, "=")
		switch value {
		case "true":
			flags = append(flags, "--"+name)
		case "false":
			flags = append(flags, "--no-"+name)
		default:
			flags = append(flags, "--"+name, value)
		}
		dim := strings.ReplaceAll(name, "-", "_")
		if !schema.Configures(dim) {
			dim = schema.DimServer + dim
		}
		o.Measure.Configuration[dim] = value
	}
	o.Server.EngineArgs = slices.Concat(o.Server.EngineArgs, flags)
	if o.Measure.Only == "" {
		o.Measure.Only = OnlyBenchmarks
	}
}
