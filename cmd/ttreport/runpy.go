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

// declareRunPy declares the names that tt-inference-server's run.py has for the same; ttreport help run-py lists all of
// its flags.
func (o *collectOptions) declareRunPy(fs *pflag.FlagSet) {
	hidden := pflag.NewFlagSet("run.py", pflag.ContinueOnError)
	r := &o.runPy
	hidden.StringVar(&r.Workflow, "workflow", "", "benchmarks, evals, release, reports, server, tests or stress_tests")
	hidden.StringVar(&r.Device, "tt-device", "", "as --device")
	hidden.BoolVar(&r.Docker, "docker-server", false, "as --server docker")
	hidden.BoolVar(&r.LocalServer, "local-server", false, "as --server http://127.0.0.1:PORT")
	hidden.StringVar(&r.LimitMode, "limit-samples-mode", "", "smoke-test, ci-commit, ci-nightly or ci-long")
	hidden.BoolVar(&r.CIMode, "ci-mode", false, "as --limit-samples-mode ci-nightly")
	hidden.TextVar(&r.ServerURL, "server-url", plan.ServerName{}, "as --server")
	hidden.IntVar(&o.Server.Port, "service-port", 0, "as --port")
	hidden.BoolVar(&o.Run.NoWarmup, "disable-trace-capture", false, "as --no-warmup, also for the image")
	hidden.StringVar(&o.Server.Image, "override-docker-image", "", "as --image")
	hidden.StringVar(&o.spec, "runtime-model-spec-json", "", "as --spec")
	hidden.BoolVar(&o.Server.NoAuth, "no-auth", false, "the image wants no key")
	hidden.BoolVar(&r.DevMode, "dev-mode", false, "mount the sources of the checkout that is the current folder")
	hidden.StringVar(&r.TTConfig, "override-tt-config", "", "JSON, for vLLM as --additional-config")
	hidden.StringVar(&r.VLLMArgs, "vllm-override-args", "", "JSON, for vLLM as flags")
	hidden.StringVar(&r.Samples, "eval-samples", "", "JSON or a file: the questions of each task")
	hidden.StringVar(&r.Goodput, "goodput", "", "objectives, for AIPerf")
	hidden.StringVar(&r.HostVolume, "host-volume", "", "as --volume FOLDER:"+plan.CacheRoot)
	hidden.StringVar(&r.ImageUser, "image-user", "", "as --run-arg=--user --run-arg=UID")
	hidden.BoolVar(&r.NoTimeout, "disable-metal-timeout", false, "sets DISABLE_METAL_OP_TIMEOUT in the container")
	hidden.BoolVar(&o.printDocker, "print-docker-cmd", false, "as --server-only --dry-run")
	for _, f := range runPyElsewhere() {
		flag := hidden.VarPF(&elsewhere{f, r}, f.name, "", f.does)
		if !f.value {
			flag.NoOptDefVal = "true"
		}
	}
	hidden.VisitAll(func(f *pflag.Flag) {
		f.Hidden = true
		fs.AddFlag(f)
	})
}

// runPyFlag is a flag of run.py that does nothing here.
type runPyFlag struct {
	name   string
	value  bool   // it takes one
	refuse bool   // a line that has it cannot mean here what it means there
	does   string // what to do or to know instead
}

const otherModels = "other models than of text have no workloads here; a script under exec: measures them"

// runPyElsewhere lists flags of run.py (v0.20) that are accepted with a note, or refused with advice.
func runPyElsewhere() []runPyFlag {
	const agentic = "not measured here; a script under exec: can (ttreport help plans)"
	out := []runPyFlag{
		{name: "skip-system-sw-validation", does: "nothing validates the system here; ttreport doctor shows its state"},
		{name: "reset-venvs", does: "ttreport doctor --reset TOOL does it"},
		{name: "percentile-report", does: "build --reports tt always writes its table, below that of means"},
		{name: "concurrency-sweeps", does: "run.py ignores it as well; --workload c=… adds a concurrency"},
		{name: "bind-host", value: true, does: "servers that are started here listen on 127.0.0.1 alone"},
		{name: "vllm-dir", value: true, does: "run.py ignores it as well"},
		{name: "repeat-evals", value: true, does: "evals run once: the interval of a score shows the spread of repeats"},
		{name: "streaming", value: true, does: otherModels},
		{name: "preprocessing", value: true, does: otherModels},
		{name: "sdxl_num_prompts", value: true, does: otherModels},
		{name: "engine", value: true, does: "the image decides; " + otherModels},
		{name: "interactive", refuse: true, does: "--print-docker-cmd prints the line; run it with -it"},
		{name: "workflow-args", value: true, refuse: true, does: "--workload isl=…,osl=…,c=…,n=… states a workload"},
		{name: "tt-metal-home", value: true, refuse: true, does: "--server 'command …' starts a program with an environment"},
		{name: "tt-metal-python-venv-dir", value: true, refuse: true,
			does: "--server 'command …' starts a program with an environment"},
		{name: "host-hf-cache", value: true, refuse: true, does: "--volume HOST:CONTAINER:ro"},
		{name: "host-weights-dir", value: true, refuse: true, does: "--volume HOST:CONTAINER:ro"},
		{name: "jwt-secret", value: true, refuse: true,
			does: "JWT_SECRET in the environment or in .env: every user of the machine can read a command line"},
	}
	for _, name := range []string{"markers", "exclude-markers", "model-category", "suite-category", "test-name",
		"serving-bench-suites", "served-model", "agentic-benchmark", "agentic-traces-mode", "agentic-traces-sources",
		"agentic-traces-duration", "agentic-traces-git-ref", "agentic-traces-metrics-url", "prefix-cache-preset",
		"prefix-cache-scenarios", "prefix-cache-arrival", "prefix-cache-request-rate", "prefix-cache-scenarios-json",
		"prefix-cache-trace", "prefix-cache-goodput", "prefix-cache-metrics-url", "spec-decode-preset",
		"spec-decode-warmup-requests"} {
		out = append(out, runPyFlag{name, true, true, agentic})
	}
	for _, name := range []string{"match-all-markers", "skip-prerequisites", "list-tests", "agentic-traces",
		"prefix-cache", "spec-decode"} {
		out = append(out, runPyFlag{name, false, true, agentic})
	}
	return out
}

// elsewhere is the value of such a flag.
type elsewhere struct {
	flag  runPyFlag
	given *plan.RunPy
}

// Set implements pflag.Value. It returns no error, because the message of one repeats the value, which may be a secret.
func (e *elsewhere) Set(string) error {
	if e.flag.refuse {
		e.given.Refused = append(e.given.Refused, plan.Note{Kind: e.flag.name, Text: e.flag.does})
		return nil
	}
	e.given.Notes = append(e.given.Notes, plan.Note{Kind: "run.py", Text: "--" + e.flag.name + ": " + e.flag.does})
	return nil
}

func (e *elsewhere) String() string { return "" }

// Type implements pflag.Value.
func (e *elsewhere) Type() string {
	if e.flag.value {
		return "value"
	}
	return "bool"
}

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

// ttEvals prints the evals of a checkout of tt-inference-server as a target file. Its configuration is Python, so it is
// read by Python, in an environment in which run.py runs.
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
	data, err := exportEvals(ctx, sh, checkout, python)
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

// exportEvals runs the script. What it left out is shown.
func exportEvals(ctx context.Context, sh *shell, checkout, python string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, exportLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-c", ttEvals, checkout)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(bad.String()), "\n")
		const fix = "--python names a Python with the packages of the checkout, such as the one of its run.py"
		return nil, fail(exitInput, fix, "models: the evals of %s cannot be read: %w: %s", checkout, err, lines[len(lines)-1])
	}
	for line := range strings.Lines(bad.String()) {
		if strings.HasPrefix(line, "left out: ") {
			sh.say("%s", strings.TrimSpace(line))
		}
	}
	return out.Bytes(), nil
}
