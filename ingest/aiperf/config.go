package aiperf

import (
	"strconv"
	"strings"

	shellquote "github.com/kballard/go-shellquote"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// config is the requested workload of a run, from the form of input_config of the era, else from the command line,
// the only field that all eras have.
type config struct {
	v     decode.Value // the whole summary
	in    decode.Value // input_config
	phase decode.Value // the last phase that counts (E3 on)
	argv  []string
}

func configOf(v decode.Value) config {
	c := config{v: v, in: v.Get("input_config")}
	for p := range c.in.Get("phases").Items() {
		if skip, _ := p.Get("exclude_from_results").Truth(); !skip && p.Get("kind").Str() != "warmup" &&
			p.Get("name").Str() != "warmup" {
			c.phase = p
		}
	}
	line := c.in.Get("cli_command").Str()
	if line == "" {
		line = v.At("run_info", "cli_command").Str()
	}
	c.argv, _ = shellquote.Split(line) // text after an open quotation mark is lost
	return c
}

// first returns the first of several values that holds a number; a length may be {mean: n}.
func first(values ...decode.Value) *float64 {
	for _, v := range values {
		if p := v.Ptr(); p != nil && *p > 0 { // -1 means not set
			return p
		}
		if p := v.Get("mean").Ptr(); p != nil && *p > 0 {
			return p
		}
	}
	return nil
}

func (c config) key() schema.Key {
	data := decode.Value{}
	for x := range c.in.Get("datasets").Items() {
		data = x
	}
	k := schema.Key{Task: "text", Tool: "aiperf"}
	k.Concurrency = c.orFlag(first(c.in.At("loadgen", "concurrency"), c.phase.Get("concurrency"),
		c.v.At("run_info", "variation_values").Get("phases.profiling.concurrency"),
		c.in.At("perf_analyzer", "stimulus", "concurrency"), c.in.Get("concurrency")), "--concurrency")
	k.Rate = c.orFlag(first(c.in.At("loadgen", "request_rate"), c.phase.Get("rate"),
		c.in.At("perf_analyzer", "stimulus", "request_rate"), c.in.Get("request_rate")), "--request-rate")
	k.ISL = c.orFlag(first(c.in.At("input", "prompt", "input_tokens"), data.At("prompts", "isl"),
		c.in.At("input", "synthetic_tokens"), c.in.Get("synthetic_input_tokens_mean")),
		"--synthetic-input-tokens-mean", "--prompt-input-tokens-mean", "--isl", "--isl-mean")
	k.OSL = c.orFlag(first(c.in.At("input", "prompt", "output_tokens"), data.At("prompts", "osl"),
		c.in.At("input", "output_tokens"), c.in.Get("output_tokens_mean")),
		"--output-tokens-mean", "--prompt-output-tokens-mean", "--osl")
	if data.Get("type").Str() != "" {
		k.Dataset = data.Get("type").Str()
	}
	return k
}

func (c config) orFlag(v *float64, names ...string) *float64 {
	if v != nil {
		return v
	}
	for _, n := range names {
		if x, err := strconv.ParseFloat(c.flag(n), 64); err == nil {
			return &x
		}
	}
	return nil
}

// flag returns the value of a flag on the command line.
func (c config) flag(name string) string {
	for i, a := range c.argv {
		if a == name && i+1 < len(c.argv) {
			return c.argv[i+1]
		}
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v
		}
	}
	return ""
}

func (c config) conditions() map[string]string {
	out := map[string]string{}
	set := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				out[name] = redact.Text(v)
				return
			}
		}
	}
	set("num_prompts", c.in.At("loadgen", "request_count").Text(), c.phase.Get("requests").Text(),
		c.flag("--request-count"), c.flag("--num-requests"))
	set("tokenizer", c.in.At("tokenizer", "name").Text(), c.flag("--tokenizer"))
	set("streaming", c.in.At("endpoint", "streaming").Text())
	set("endpoint", c.in.At("endpoint", "type").Text())
	set("seed", c.in.At("input", "random_seed").Text(), c.v.At("run_info", "random_seed").Text(), c.flag("--random-seed"))
	set("warmups", c.in.At("loadgen", "warmup_request_count").Text())
	for _, a := range c.argv {
		if strings.HasPrefix(a, "ignore_eos:") {
			set("ignore_eos", strings.TrimPrefix(a, "ignore_eos:"))
		}
	}
	return out
}

func (c config) facts() schema.Facts {
	var f schema.Facts
	for _, v := range []decode.Value{at0(c.in.At("endpoint", "model_names")), at0(c.in.At("models", "items")).Get("name"),
		at0(c.in.Get("models")),
		at0(c.in.Get("models")).Get("name"), at0(c.in.Get("model_names")), at0(c.in.Get("model"))} {
		if f.Model.ID == "" {
			f.Model.ID = v.Str()
		}
	}
	for _, name := range []string{"--model", "-m", "--model-names"} {
		if f.Model.ID == "" {
			f.Model.ID = c.flag(name)
		}
	}
	f.Start, f.End = parseLocal(c.v.Get("start_time").Str()), parseLocal(c.v.Get("end_time").Str())
	if !f.Start.IsZero() {
		f.StartNote = "local time of the client, zone not stated"
	}
	return f
}

// at0 is the first element of an array.
func at0(v decode.Value) decode.Value {
	return v.Index(0)
}
