package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// declareTRT declares the flags of TensorRT-LLM's benchmarks/python/benchmark.py as they are spelt there. Those that
// shape the engine or the output are passed on; with one of them that script makes the load unless --tools names
// another tool.
func (o *collectOptions) declareTRT(fs *pflag.FlagSet) {
	hidden := pflag.NewFlagSet("benchmark.py", pflag.ContinueOnError)
	hidden.StringVar(&o.Measure.Batches, "batch_size", "", "as --batch-size")
	hidden.StringVar(&o.Measure.Lengths, "input_output_len", "", "as --input-output-len")
	for _, name := range []string{
		"mode", "dtype", "engine_dir", "log_level", "warm_up", "num_runs", "duration", "quantization", "kv_cache_dtype",
		"max_batch_size", "max_seq_len", "max_input_len", "max_encoder_input_len", "max_decoder_input_len", "max_beam_width",
		"num_beams", "top_k", "top_p", "gpu_weights_percent",
	} {
		hidden.Var(&passedOn{o: o, name: name, value: true}, name, "for benchmark.py")
	}
	for _, name := range []string{
		"csv", "enable_cuda_graph", "strongly_typed", "debug_memory", "dump_profile", "dump_layer_info", "refit",
	} {
		hidden.VarPF(&passedOn{o: o, name: name}, name, "", "for benchmark.py").NoOptDefVal = "true"
	}
	hidden.VisitAll(func(f *pflag.Flag) {
		f.Hidden = true
		fs.AddFlag(f)
	})
}

// passedOn is the value of a flag that is passed to benchmark.py.
type passedOn struct {
	o     *collectOptions
	name  string
	value bool // it takes one
	text  string
}

// Set implements pflag.Value.
func (p *passedOn) Set(text string) error {
	if !p.value && !strings.EqualFold(text, "true") {
		return nil
	}
	p.o.trt, p.text = p.name, text
	p.o.Tools.Args = append(p.o.Tools.Args, trtTool+"=--"+p.name)
	if p.value {
		p.o.Tools.Args = append(p.o.Tools.Args, trtTool+"="+text)
	}
	return nil
}

// String returns what was given.
func (p *passedOn) String() string { return p.text }

// Type implements pflag.Value.
func (p *passedOn) Type() string {
	if p.value {
		return "value"
	}
	return "bool"
}

// trtTool is the tool that is TensorRT-LLM's benchmark.py.
const trtTool = "trtllm"

// completeTRT chooses benchmark.py where one of its flags is given and no tool is named. It has an engine of its own,
// so its flags say nothing to a server or to another tool.
func (o *collectOptions) completeTRT() error {
	switch {
	case o.trt == "":
		return nil
	case !o.Server.Name.IsZero(), len(o.Tools.Names) > 0 && !slices.Contains(o.Tools.Names, trtTool):
		return fail(exitUsage, "leave it out; --tool-arg TOOL=ARG passes an argument to another tool",
			"collect: --%s is a flag of TensorRT-LLM's benchmark.py, which has an engine of its own", o.trt)
	case len(o.Tools.Names) == 0:
		o.Tools.Names = []string{trtTool}
	}
	return nil
}
