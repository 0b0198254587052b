package main

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect/plan"
)

// calledFlag is a flag of another program whose value goes to a function. Its text is kept for the jobs of a scheduler.
type calledFlag struct {
	call       func(text string)
	kind, text string // value or bool
}

// Set implements pflag.Value. A value gives no error, because the message of one repeats it, and it may be a secret.
func (v *calledFlag) Set(text string) error {
	v.text = text
	if v.kind == "bool" {
		if given, err := strconv.ParseBool(text); !given {
			return err
		}
	}
	v.call(text)
	return nil
}

// String returns what was given.
func (v *calledFlag) String() string { return v.text }

// Type implements pflag.Value.
func (v *calledFlag) Type() string { return v.kind }

// valued and bare declare flags that take a value, and that need none.
func valued(fs *pflag.FlagSet, name, does string, call func(text string)) {
	fs.Var(&calledFlag{call: call, kind: "value"}, name, does)
}

func bare(fs *pflag.FlagSet, name, does string, call func()) {
	fs.VarPF(&calledFlag{call: func(string) { call() }, kind: "bool"}, name, "", does).NoOptDefVal = "true"
}

// declareRunPy declares flags of tt-inference-server's run.py (v0.20) that are no other names for ours: those that do
// nothing here, which are said, and those that cannot mean here what they mean there, which are refused.
func (o *collectOptions) declareRunPy(fs *pflag.FlagSet) {
	r, s := &o.runPy, &o.Server
	valued(fs, "host-volume", "as --volume FOLDER:"+plan.CacheRoot, func(folder string) {
		s.Volumes = append(s.Volumes, folder+":"+plan.CacheRoot)
	})
	valued(fs, "image-user", "as --run-arg=--user --run-arg=UID", func(id string) {
		if id != "1000" { // which the image has by itself
			s.RunArgs = append(s.RunArgs, "--user", id)
		}
	})
	bare(fs, "disable-metal-timeout", "sets DISABLE_METAL_OP_TIMEOUT in the container", func() {
		s.RunArgs = append(s.RunArgs, "-e", "DISABLE_METAL_OP_TIMEOUT=1")
	})
	for line := range strings.Lines(otherRunPy) {
		names, does, _ := strings.Cut(strings.TrimSpace(line), ": ")
		kind, names, _ := strings.Cut(names, " ")
		tell := r.Note
		if strings.HasPrefix(kind, "refused") {
			tell = r.Refuse
		}
		for name := range strings.FieldsSeq(names) {
			if strings.HasSuffix(kind, "=") {
				valued(fs, name, does, func(string) { tell(name, does) })
			} else {
				bare(fs, name, does, func() { tell(name, does) })
			}
		}
	}
}

// otherRunPy are the flags that do nothing here and those that are refused, with = where they take a value, and what to
// know instead.
//
//go:embed runpy.txt
var otherRunPy string

// declareTRT declares the flags of TensorRT-LLM's benchmarks/python/benchmark.py as they are spelt there. Those that
// shape the engine or the output are passed on; with one of them that script makes the load unless --tools names
// another tool.
func (o *collectOptions) declareTRT(fs *pflag.FlagSet) {
	const does = "for benchmark.py"
	valued(fs, "input_len", "lengths of prompts as \"60;128\", of an encoder such as BERT", func(text string) {
		o.trt, o.Measure.Lengths, o.Measure.Encoder = "input_len", text, true
	})
	pass := func(name string, args ...string) {
		o.trt, o.Tools.Args = name, append(o.Tools.Args, trtTool+"=--"+name)
		o.Tools.Args = append(o.Tools.Args, args...)
	}
	for name := range strings.FieldsSeq(`mode dtype engine_dir log_level warm_up num_runs duration quantization
		kv_cache_dtype max_batch_size max_seq_len max_input_len max_encoder_input_len max_decoder_input_len max_beam_width
		num_beams top_k top_p gpu_weights_percent output_dir n_positions max_output_len`) {
		valued(fs, name, does, func(text string) { pass(name, trtTool+"="+text) })
	}
	for name := range strings.FieldsSeq(`csv enable_cuda_graph strongly_typed debug_memory dump_profile dump_layer_info
		refit force_num_layer_1 enable_fp8 fp8_kv_cache enable_custom_all_reduce`) {
		bare(fs, name, does, func() { pass(name) })
	}
}

// trtTool is the tool that is TensorRT-LLM's benchmark.py.
const trtTool = "trtllm"

// completeTRT chooses benchmark.py where one of its flags is given and no tool is named. It has an engine of its own,
// so its flags say nothing to a server or to another tool.
func (o *collectOptions) completeTRT() error {
	isBERT := strings.HasPrefix(o.System.Model, "bert") || strings.HasPrefix(o.System.Model, "roberta")
	own := o.trt != "" || slices.Contains(o.Tools.Names, trtTool)
	switch {
	case own && isBERT && o.Measure.Lengths != "" && !o.Measure.Encoder:
		return fail(exitUsage, `--input_len "60;128"`,
			"collect: benchmark.py ignores --input_output_len for %s, which writes no answers", o.System.Model)
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
