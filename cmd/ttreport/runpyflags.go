package main

import (
	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/collect/plan"
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
