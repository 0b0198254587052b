package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/targets/library"
)

// parityFlag is a flag of another program that collect takes: what it sets, or what to do or to know instead.
type parityFlag struct {
	name string
	at   any // *string, *bool, *int, *plan.ServerName, or a function of the value
	does string
}

// valued and bare are functions of flags that take a value and that need none.
type (
	valued func(text string)
	bare   func()
)

// parityValue is the value of a flag that is a function.
type parityValue struct {
	at   any
	text string
}

// Set implements pflag.Value. A value gives no error, because the message of one repeats it, and it may be a secret.
func (v *parityValue) Set(text string) error {
	v.text = text
	if call, ok := v.at.(valued); ok {
		call(text)
		return nil
	}
	given, err := strconv.ParseBool(text)
	if given {
		v.at.(bare)()
	}
	return err
}

// String returns what was given.
func (v *parityValue) String() string { return v.text }

// Type implements pflag.Value.
func (v *parityValue) Type() string {
	if _, takes := v.at.(valued); takes {
		return "value"
	}
	return "bool"
}

// declareFlags declares flags of run.py or of TensorRT-LLM's benchmark.py.
func declareFlags(fs *pflag.FlagSet, list []parityFlag) {
	for _, f := range list {
		switch at := f.at.(type) {
		case *string:
			fs.StringVar(at, f.name, "", f.does)
		case *bool:
			fs.BoolVar(at, f.name, false, f.does)
		case *int:
			fs.IntVar(at, f.name, 0, f.does)
		case *plan.ServerName:
			fs.TextVar(at, f.name, plan.ServerName{}, f.does)
		case valued:
			fs.Var(&parityValue{at: at}, f.name, f.does)
		case bare:
			fs.VarPF(&parityValue{at: at}, f.name, "", f.does).NoOptDefVal = "true"
		}
	}
}

// runPyFlags are the flags of tt-inference-server's run.py (v0.20): names for the same, and those that do nothing here,
// which are said, or cannot mean here what they mean there, which are refused.
func (o *collectOptions) runPyFlags() []parityFlag {
	const (
		agentic = "not measured here; a script under exec: can (ttreport help plans)"
		models  = "other models than of text have no workloads here; a script under exec: measures them"
		program = "--server 'command …' starts a program with an environment"
		mount   = "--volume HOST:CONTAINER:ro"
	)
	r, s := &o.runPy, &o.Server
	noted := func(name, does string) parityFlag {
		return parityFlag{name, valued(func(string) { r.Note(name, does) }), does}
	}
	idle := func(name, does string) parityFlag { return parityFlag{name, bare(func() { r.Note(name, does) }), does} }
	refused := func(name, does string) parityFlag {
		return parityFlag{name, valued(func(string) { r.Refuse(name, does) }), does}
	}
	unfit := func(name, does string) parityFlag {
		return parityFlag{name, bare(func() { r.Refuse(name, does) }), does}
	}
	out := []parityFlag{
		{"workflow", &r.Workflow, "benchmarks, evals, release, reports, server, tests or stress_tests"},
		{"tt-device", &o.System.Device, "as --device"},
		{"docker-server", &r.Docker, "as --server docker"},
		{"local-server", &r.LocalServer, "as --server http://127.0.0.1:PORT"},
		{"limit-samples-mode", &r.LimitMode, "smoke-test, ci-commit, ci-nightly or ci-long"},
		{"ci-mode", &r.CIMode, "as --limit-samples-mode ci-nightly"},
		{"server-url", &r.ServerURL, "as --server"},
		{"service-port", &s.Port, "as --port"},
		{"disable-trace-capture", &o.Run.NoWarmup, "as --no-warmup, also for the image"},
		{"override-docker-image", &s.Image, "as --image"},
		{"runtime-model-spec-json", &o.spec, "as --spec"},
		{"no-auth", &s.NoAuth, "the image wants no key"},
		{"dev-mode", &r.DevMode, "mount the sources of the checkout that is the current folder"},
		{"override-tt-config", &r.TTConfig, "JSON, for vLLM as --additional-config"},
		{"vllm-override-args", &r.VLLMArgs, "JSON, for vLLM as flags"},
		{"eval-samples", &r.Samples, "JSON or a file: the questions of each task"},
		{"goodput", &r.Goodput, "objectives, for AIPerf"},
		{"host-volume", valued(func(folder string) {
			s.Volumes = append(s.Volumes, folder+":"+plan.CacheRoot)
		}), "as --volume FOLDER:" + plan.CacheRoot},
		{"image-user", valued(func(id string) {
			if id != "1000" { // which the image has by itself
				s.RunArgs = append(s.RunArgs, "--user", id)
			}
		}), "as --run-arg=--user --run-arg=UID"},
		{"disable-metal-timeout", bare(func() {
			s.RunArgs = append(s.RunArgs, "-e", "DISABLE_METAL_OP_TIMEOUT=1")
		}), "sets DISABLE_METAL_OP_TIMEOUT in the container"},
		{"print-docker-cmd", &o.printDocker, "as --server-only --dry-run"},
		idle("skip-system-sw-validation", "nothing validates the system here; ttreport doctor shows its state"),
		idle("reset-venvs", "ttreport doctor --reset TOOL does it"),
		idle("percentile-report", "build --reports tt always writes its table, below that of means"),
		idle("concurrency-sweeps", "run.py ignores it as well; --workload c=… adds a concurrency"),
		noted("bind-host", "servers that are started here listen on 127.0.0.1 alone"),
		noted("vllm-dir", "run.py ignores it as well"),
		noted("repeat-evals", "evals run once: the interval of a score shows the spread of repeats"),
		noted("streaming", models), noted("preprocessing", models), noted("sdxl_num_prompts", models),
		noted("engine", "the image decides; "+models),
		unfit("interactive", byHand),
		refused("num-prompts", "n= in --workload states how many requests"), refused("output-dir", "--out FOLDER"),
		refused("log-level", "what is printed has one level; journal.jsonl and tool.log have the rest"),
		refused("workflow-args", "--workload isl=…,osl=…,c=…,n=… states a workload"),
		refused("tt-metal-home", program), refused("tt-metal-python-venv-dir", program),
		refused("host-hf-cache", mount), refused("host-weights-dir", mount),
		refused("jwt-secret", "JWT_SECRET in the environment or in .env: every user of the machine can read a command line"),
	}
	for _, name := range []string{"markers", "exclude-markers", "model-category", "suite-category", "test-name",
		"serving-bench-suites", "served-model", "agentic-benchmark", "agentic-traces-mode", "agentic-traces-sources",
		"agentic-traces-duration", "agentic-traces-git-ref", "agentic-traces-metrics-url", "prefix-cache-preset",
		"prefix-cache-scenarios", "prefix-cache-arrival", "prefix-cache-request-rate", "prefix-cache-scenarios-json",
		"prefix-cache-trace", "prefix-cache-goodput", "prefix-cache-metrics-url", "spec-decode-preset",
		"spec-decode-warmup-requests"} {
		out = append(out, refused(name, agentic))
	}
	for _, name := range []string{"match-all-markers", "skip-prerequisites", "list-tests", "agentic-traces",
		"prefix-cache", "spec-decode"} {
		out = append(out, unfit(name, agentic))
	}
	return out
}

// byHand is what to do in place of run.py's --interactive and -it.
const byHand = "--print-docker-cmd prints the line; run it with -it"

// trtFlags are the flags of TensorRT-LLM's benchmarks/python/benchmark.py as they are spelt there. Those that shape the
// engine or the output are passed on; with one of them that script makes the load unless --tools names another tool.
func (o *collectOptions) trtFlags() []parityFlag {
	const does = "for benchmark.py"
	out := []parityFlag{
		{"batch_size", &o.Measure.Batches, "as --batch-size"},
		{"input_output_len", &o.Measure.Lengths, "as --input-output-len"},
		{"input_len", valued(func(text string) {
			o.trt, o.Measure.Lengths, o.Measure.Encoder = "input_len", text, true
		}), "lengths of prompts as \"60;128\", of an encoder such as BERT"},
	}
	pass := func(name string, args ...string) {
		o.trt, o.Tools.Args = name, append(o.Tools.Args, trtTool+"=--"+name)
		o.Tools.Args = append(o.Tools.Args, args...)
	}
	for _, name := range []string{
		"mode", "dtype", "engine_dir", "log_level", "warm_up", "num_runs", "duration", "quantization", "kv_cache_dtype",
		"max_batch_size", "max_seq_len", "max_input_len", "max_encoder_input_len", "max_decoder_input_len", "max_beam_width",
		"num_beams", "top_k", "top_p", "gpu_weights_percent", "output_dir", "n_positions", "max_output_len",
	} {
		out = append(out, parityFlag{name, valued(func(text string) { pass(name, trtTool+"="+text) }), does})
	}
	for _, name := range []string{
		"csv", "enable_cuda_graph", "strongly_typed", "debug_memory", "dump_profile", "dump_layer_info", "refit",
		"force_num_layer_1", "enable_fp8", "fp8_kv_cache", "enable_custom_all_reduce",
	} {
		out = append(out, parityFlag{name, bare(func() { pass(name) }), does})
	}
	return out
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

// ttEvals prints what a checkout of tt-inference-server has as Python: its evals as a target file, its specifications
// in development. It needs an environment in which run.py runs.
//
//go:embed tt_evals.py
var ttEvals string

// Names of target files that are taken from a checkout.
const (
	evalsFile     = "tt-evals.yaml"
	referenceFile = "model_performance_reference.json"
)

// exportLimit is how long the export of a checkout may take.
const exportLimit = 5 * time.Minute

// importTargets copies the performance targets of a checkout into targets/, and with a Python that has the packages of
// the checkout also its evals.
func importTargets(ctx context.Context, sh *shell, ws *workspace.Workspace, checkout, python string) error {
	for _, below := range []string{"reference_config/benchmarking/benchmark_targets", "benchmarking/benchmark_targets"} {
		data, err := os.ReadFile(filepath.Join(checkout, filepath.FromSlash(below), referenceFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fail(exitInput, "", "models: %w", err)
		}
		if err := durable.WriteFile(filepath.Join(ws.Targets(), referenceFile), data); err != nil {
			return fail(exitInput, "", "models: %w", err)
		}
		fmt.Fprintf(sh.out, "performance targets copied to targets/%s\n", referenceFile)
		break
	}
	if python == "" {
		sh.say("hint: the evals of a checkout are Python; --python PROGRAM reads them, a Python that can run its run.py")
		return nil
	}
	data, err := ofPython(ctx, sh, checkout, python, "evals")
	if err != nil {
		return err
	}
	var file library.File
	if p := decode.YAML(evalsFile, data, &file); p != nil {
		return fail(exitInput, "the checkout may be newer than this program", "models: %s", p.Found)
	}
	text, err := file.Marshal()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(ws.Targets(), evalsFile), text); err != nil {
		return fail(exitInput, "", "models: %w", err)
	}
	fmt.Fprintf(sh.out, "%s written to targets/%s\n", plaintext.Plural(len(file.Evals), "reference score"), evalsFile)
	return nil
}

// ofPython runs the script for what it is asked for. What it left out is shown.
func ofPython(ctx context.Context, sh *shell, checkout, python, what string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, exportLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-c", ttEvals, checkout, what)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(bad.String()), "\n")
		const fix = "--python names a Python with the packages of the checkout, such as the one of its run.py"
		last := lines[len(lines)-1]
		return nil, fail(exitInput, fix, "models: the %s of %s cannot be read: %w: %s", what, checkout, err, last)
	}
	for line := range strings.Lines(bad.String()) {
		if strings.HasPrefix(line, "left out: ") {
			sh.say("%s", strings.TrimSpace(line))
		}
	}
	return out.Bytes(), nil
}
