package plan

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Configurations returns an entry for each combination of the values that an entry and the flags state for flags of a
// server, as max-num-seqs=64,128: each starts a server of its own, and its points have the values as their
// configuration. Entries without any stay as they are.
func Configurations(entries []Entry, params []string) ([]Entry, error) {
	var out []Entry
	for _, e := range entries {
		list := [][]string{nil}
		for _, text := range slices.Concat(e.ServerParams, params) {
			name, values, _ := strings.Cut(text, "=")
			name = strings.TrimPrefix(name, "--")
			var next [][]string
			for _, chosen := range list {
				for value := range strings.SplitSeq(values, ",") {
					if name == "" || value == "" {
						return nil, Usage("--server-param max-num-seqs=64,128,256",
							"collect: --server-param %q: expected a flag of the server and its values", text)
					}
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
