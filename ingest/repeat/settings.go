package repeat

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

var (
	// varying are names under which people write which of several repeats a measurement is, and where and when it was
	// made: that differs between repeats of one workload.
	varying = regexp.MustCompile(`(?i)(?:^|[_.-])(` +
		`id|uuid|run|runs|number|index|idx|iteration|iter|trial|attempt|repeat|seed|date|time|timestamp|start|end|` +
		`host|hostname|node|user|author|commit|sha|hash|git|branch|build|job|pipeline|workflow|ci|url|link|path|file|` +
		`dir|comment|comments|note|notes|description|reason|release|count|total)s?(?:$|[_.-])`)

	// counted are names of numbers that are set, not measured. Whole numbers alone count: tools write what they measure
	// under names of every kind, mostly with a fraction.
	counted = regexp.MustCompile(`(?i)(?:^|[_.-])(` +
		`tp|pp|dp|ep|cp|dep|tep|dcp|pcp|parallel|parallelism|replicas|shards|gpus|chips|nodes|sparsity|quant|bits|` +
		`batch|block|page|chunk|chunked|window|lora|loras|turns|beams|draft|speculative|hidden|layers|heads|images|` +
		`height|width|temperature|max_model_len|max_num_seqs|max_num_batched_tokens)(?:$|[_.-]|s$)|` +
		`(?:^|[_.-])(?:batch|block|page|chunk|tensor|pipeline|data|expert|parallel|world)[a-z_]*size$`)

	// fractions are names of fractions that are set.
	fractions = regexp.MustCompile(`(?i)sparsity|temperature|utilization|fraction|ratio|top_p|version|precision|scale`)

	// sampled are conditions that say how a point was sampled and not what was measured.
	sampled = regexp.MustCompile(`^(num_prompts|incomplete|raw_file|tokenizer)$`)
)

// longestValue is how long a text may be that counts as a setting; what is longer is prose.
const longestValue = 60

// Settings is everything that a point says of how it was measured beside its key, by name.
func Settings(p *schema.Point) map[string]string {
	out := map[string]string{}
	for name, raw := range p.Extra {
		if v := setting(name, string(raw)); v != "" {
			out[name] = v
		}
	}
	for name, v := range p.Conditions {
		if !varying.MatchString(name) && !sampled.MatchString(name) && len(v) <= longestValue {
			out[name] = v
		}
	}
	return out
}

// setting is a foreign field of a point where it is one: a short text, a truth, or a number under a name that says what
// was set; "" for any other.
func setting(name, raw string) string {
	if varying.MatchString(name) || raw == "" || len(raw) > longestValue+2 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		if len(raw) < 3 || strings.ContainsAny(raw, `\[`) {
			return ""
		}
		text := raw[1 : len(raw)-1]
		if _, err := strconv.ParseFloat(text, 64); err == nil && strings.Contains(text, ".") && !fractions.MatchString(name) {
			return "" // a number that a log measured
		}
		return text
	case raw == "true" || raw == "false":
		return raw
	case counted.MatchString(name) && (c >= '0' && c <= '9'):
		x, err := strconv.ParseFloat(raw, 64)
		if err != nil || x != math.Trunc(x) && !fractions.MatchString(name) {
			return ""
		}
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// measures are numbers that count as settings where a group differs in them by more than chance: how many requests were
// sent, where neither a rate nor a concurrency limits them, and the lengths, where the key has none. A name alone does
// not make two measurements with prompts of 128 and 2048 tokens one workload.
func measures(group []*schema.Point, values []map[string]string) {
	first := &group[0].Key
	if first.Rate == nil && first.Concurrency == nil {
		stated := 0
		for i, p := range group {
			if n := p.Conditions["num_prompts"]; n != "" {
				values[i]["num_prompts"] = n
				stated++
			}
		}
		if stated == 0 {
			measure(group, values, "num_prompts", func(p *schema.Point) float64 {
				ok, _ := p.Value("requests_ok", "value")
				failed, _ := p.Value("requests_failed", "value")
				return ok + failed
			})
		}
	}
	if first.ISL == nil && first.OSL == nil {
		for _, metric := range []string{"isl", "osl"} {
			measure(group, values, metric+"_measured", func(p *schema.Point) float64 {
				mean, _ := p.Value(metric, "mean")
				return mean
			})
		}
	}
}

// chance is the largest factor between two neighbouring numbers that may be one setting.
const chance = 1.5

// measure names the clusters of a number: it begins a new one where the next number is larger by more than chance.
func measure(group []*schema.Point, values []map[string]string, name string, of func(*schema.Point) float64) {
	numbers := make([]float64, len(group))
	for i, p := range group {
		numbers[i] = of(p)
	}
	sorted := slices.Sorted(slices.Values(numbers))
	begins := []float64{sorted[0]}
	for i, x := range sorted[1:] {
		if x > sorted[i]*chance {
			begins = append(begins, x)
		}
	}
	if len(begins) == 1 {
		return
	}
	for i, x := range numbers {
		at, found := slices.BinarySearch(begins, x)
		if !found {
			at--
		}
		if x > 0 {
			values[i][name] = "about " + strconv.FormatFloat(latency.Round(begins[at], 2), 'f', -1, 64)
		}
	}
}
