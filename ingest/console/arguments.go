package console

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// namespace reads Namespace(name=value, …) as Python prints it: texts in quotes, lists and objects in brackets.
func namespace(line string) map[string]string {
	_, rest, _ := strings.Cut(line, "Namespace(")
	out := map[string]string{}
	for rest != "" && len(out) < 500 {
		name, after, ok := strings.Cut(rest, "=")
		if !ok {
			break
		}
		var value string
		value, rest = argument(after)
		out[strings.TrimSpace(name)] = strings.Trim(value, `'"`)
	}
	return out
}

// argument cuts the next value off: up to a comma or the closing bracket, outside of quotes and brackets.
func argument(text string) (value, rest string) {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0:
			if depth--; depth < 0 {
				return text[:i], ""
			}
		case c == ',' && depth == 0:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// arguments fills the workload from the arguments of the client.
func (b *block) arguments(d *draft.Draft, tool string) {
	is := func(name string) bool { v := b.args[name]; return v != "" && v != "None" && v != "False" }
	d.Key.Concurrency = firstOf(d.Key.Concurrency, b.argument("max_concurrency"))
	d.Key.Rate = firstOf(d.Key.Rate, b.argument("request_rate"))
	if is("dataset_name") {
		d.Key.Dataset = b.args["dataset_name"]
	}
	b.lengths(d, tool)
	if is("model") && d.Reading.Facts.Model.ID == "" {
		d.Reading.Facts.Model.ID = b.args["model"]
	} else if is("model") && d.Reading.Facts.Model.ID != b.args["model"] {
		d.Dim("model", b.args["model"]) // a log of several models
	}
	if is("backend") {
		d.Condition("client", b.args["backend"])
	}
	for _, name := range []string{"num_prompts", "seed", "ignore_eos", "best_of"} {
		if is(name) {
			d.Condition(name, b.args[name])
		}
	}
	for _, name := range []string{
		"sharegpt_output_len", "lora_name", "lora_modules", "extra_request_body", "extra_body", "apply_chat_template",
		"disable_stream", "temperature", "random_prefix_len", "ramp_up_strategy", "tokenize_prompt",
	} {
		if is(name) && b.args[name] != "0" {
			d.Keep(name, b.args[name])
		}
	}
}

// burstiness of arrivals at a rate; 1 is a Poisson process, and vLLM prints words behind the number.
func (b *block) burstiness(d *draft.Draft) {
	text, _, _ := strings.Cut(cmp.Or(b.values["burstiness factor"], b.args["burstiness"]), " ")
	if x, err := strconv.ParseFloat(text, 64); err == nil && x > 0 && x != 1 && d.Key.Rate != nil {
		d.Dim(schema.DimBurstiness, text)
	}
}

// lengths fills what was asked of prompts and answers.
func (b *block) lengths(d *draft.Draft, tool string) {
	kind, _, _ := strings.Cut(d.Key.Dataset, "-")
	switch kind {
	case "random", "sonnet":
		d.Key.ISL, d.Key.OSL = b.argument(kind+"_input_len"), b.argument(kind+"_output_len")
		ratio := b.argument("random_range_ratio")
		switch {
		case kind == "sonnet":
		case tool == "sglang" && (ratio == nil || *ratio != 1) && b.args["random_range_ratio"] != "":
			d.Dim("range_ratio", b.args["random_range_ratio"]) // lengths between this share of the length and all of it
		case tool != "sglang" && ratio != nil && *ratio != 1:
			d.Dim("range_ratio", b.args["random_range_ratio"])
		}
	}
	d.Key.ISL, d.Key.OSL = firstOf(d.Key.ISL, b.argument("input_len")), firstOf(d.Key.OSL, b.argument("output_len"))
}

// argument is the value of an argument that is a number above zero; nil for others.
func (b *block) argument(name string) *float64 {
	x, err := strconv.ParseFloat(b.args[name], 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x <= 0 {
		return nil
	}
	return &x
}
