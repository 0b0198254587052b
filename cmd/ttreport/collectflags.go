package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/collect/sweep"
)

// collectOptions are the flags of collect.
type collectOptions struct {
	model, device, impl, server, release, channel, sweep, only string
	workloads                                                  []string
	loads                                                      []sweep.Workload // of a plan, beside workloads
	repeat                                                     int
	seed                                                       uint64
	dryRun, recheck, serverOnly, serverSet                     bool
	given                                                      map[string]bool // flags on the command line

	// What else says what to measure.
	planFile, input, output, spec string
	batches, lengths              string
	context, concurrency          int

	// Tools and evals.
	tools, evals, toolArgs []string
	tokenizer, include     string
	evalLimit, ranks       int
	chat, fresh            bool
	pointLimit             time.Duration

	// A server that is started.
	port, inner                      int
	image, engine, envFile, deviceID string
	runArgs, volumes, args           []string
	wait                             time.Duration
	noWarmup, noAuth                 bool

	// Names of run.py.
	workflow, ttDev, limitMode string
	dockerSrv, locSrv, ignored bool
}

func (o *collectOptions) flags(fs *pflag.FlagSet) {
	fs.StringVar(&o.model, "model", "", "`name` of the model as the server serves it")
	fs.StringVar(&o.device, "device", "", "`name` of the device that serves")
	fs.StringVar(&o.impl, "impl", "", "`name` of the implementation")
	fs.StringVar(&o.server, "server", "sim", "sim, or the `URL` of a running OpenAI-compatible server, or 'command …', or docker")
	fs.StringVar(&o.release, "release", "", "`label` of the release that is measured")
	fs.StringVar(&o.channel, "channel", "", "release, main, pr or dev")
	fs.StringVar(&o.sweep, "sweep", "", "workloads to measure: "+strings.Join(sweep.Names(), ", ")+" (default quick)")
	fs.StringArrayVar(&o.workloads, "workload", nil, "one workload, as `isl=128,osl=128,c=1,n=8`; instead of a sweep, may be repeated")
	fs.StringVar(&o.batches, "batch-size", "", "`sizes` as \"1;8;64\", each with every --input-output-len")
	fs.StringVar(&o.lengths, "input-output-len", "", "`lengths` as \"60,20;128,20\"")
	fs.StringVar(&o.planFile, "plan", "", "`file` of a plan, as check --recheck-plan writes it")
	fs.StringVarP(&o.input, "input", "i", "", "`file` of an nm-vllm configuration, or a .txt that lists such files")
	fs.StringVarP(&o.output, "output", "o", "", "`folder` for run folders, in place of results/")
	fs.BoolVar(&o.recheck, "recheck", false, "measure what the gate saw once again, with a control for each device")
	fs.StringVar(&o.spec, "spec", "", "`file` of a runtime model specification: limits and image")
	fs.IntVar(&o.context, "max-context", 0, "`tokens` of a request that the model takes, where nothing states it")
	fs.IntVar(&o.concurrency, "max-concurrency", 0, "`requests` at once that the model takes, where nothing states it")
	fs.StringVar(&o.only, "only", "", "benchmarks or evals")
	fs.IntVar(&o.repeat, "repeat", 1, "measure each workload this many `times`, interleaved")
	fs.Uint64Var(&o.seed, "seed", 1, "`number` that fixes prompts and arrivals")
	fs.BoolVar(&o.dryRun, "dry-run", false, "print what would be measured, with every command line, and stop")
	o.toolFlags(fs)
	o.serverFlags(fs)
	o.aliasFlags(fs)
}

func (o *collectOptions) toolFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.tools, "tools", nil, "`names` of what makes load: "+strings.Join(toolNames(false), ", ")+", or an exec tool of ttreport.yaml (default builtin)")
	fs.StringSliceVar(&o.evals, "evals", nil, "`tasks` in place of the builtin questions: of lm-eval, or as TOOL:TASK with "+strings.Join(toolNames(true), ", ")+"; targets takes those that target files plan")
	fs.IntVar(&o.evalLimit, "eval-limit", 0, "at most this many `questions` a task; 0 for all")
	fs.StringVar(&o.include, "eval-tasks", "", "`folder` with eval tasks of your own")
	fs.StringVar(&o.tokenizer, "tokenizer", "", "`folder or name` of the model's tokenizer, for tools that make their own prompts")
	fs.BoolVar(&o.chat, "chat", false, "chat completions in place of completions, for tools")
	fs.StringArrayVar(&o.toolArgs, "tool-arg", nil, "one more argument for a tool, as `TOOL=ARG`; may be repeated")
	fs.IntVar(&o.ranks, "ranks", 0, "`processes` of a tool that brings its own engine, started by mpirun")
	fs.BoolVar(&o.fresh, "fresh", false, "begin anew where the same collection was interrupted")
	fs.DurationVar(&o.pointLimit, "point-timeout", 0, "how long one measurement may take (default 2h)")
}

func (o *collectOptions) serverFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.port, "port", 0, "`port` of a server that is started (default: the --port in its command, else 8000)")
	fs.StringVar(&o.image, "image", "", "`image` for --server docker, best by digest")
	fs.StringVar(&o.engine, "engine", "", "docker or podman, for --server docker (default: the one that is there)")
	fs.IntVar(&o.inner, "inner-port", 0, "`port` inside the container, where it is another")
	fs.StringVar(&o.envFile, "env-file", "", "`file` with the container's environment (default .env, where the image's device needs secrets)")
	fs.StringArrayVar(&o.volumes, "volume", nil, "a `mount` of the container, as /models:/models:ro; may be repeated")
	fs.StringArrayVar(&o.runArgs, "run-arg", nil, "one more `argument` for docker run; may be repeated")
	fs.StringVar(&o.deviceID, "device-id", "", "`numbers` of the Tenstorrent devices that the container gets, as 0 or 0,1 (default all)")
	fs.DurationVar(&o.wait, "wait", 0, "how long the server may take to be ready (default 1h when started, 1m when attached)")
	fs.BoolVar(&o.serverOnly, "server-only", false, "start the server, say how to look at it and how to end it, and leave it running")
	fs.BoolVar(&o.noWarmup, "no-warmup", false, "send no request of each prompt length before the first measurement")
}

// aliasFlags are the names that tt-inference-server's run.py has for the same; ttreport help run-py lists all of its flags.
func (o *collectOptions) aliasFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.workflow, "workflow", "", "benchmarks, evals, release, reports or server")
	fs.StringVar(&o.ttDev, "tt-device", "", "as --device")
	fs.IntVar(&o.port, "service-port", 0, "as --port")
	fs.BoolVar(&o.dockerSrv, "docker-server", false, "as --server docker")
	fs.BoolVar(&o.locSrv, "local-server", false, "as --server http://127.0.0.1:PORT")
	fs.StringVar(&o.server, "server-url", "sim", "as --server")
	fs.BoolVar(&o.noWarmup, "disable-trace-capture", false, "as --no-warmup, and said to the image")
	fs.StringVar(&o.image, "override-docker-image", "", "as --image")
	fs.StringVar(&o.spec, "runtime-model-spec-json", "", "as --spec")
	fs.StringVar(&o.limitMode, "limit-samples-mode", "", "smoke-test, ci-commit, ci-nightly or ci-long: fewer questions")
	fs.BoolVar(&o.noAuth, "no-auth", false, "the image wants no key")
	fs.BoolVar(&o.ignored, "dev-mode", false, "nothing differs")
	for _, name := range []string{"workflow", "tt-device", "service-port", "docker-server", "local-server", "server-url", "disable-trace-capture", "override-docker-image", "runtime-model-spec-json", "limit-samples-mode", "no-auth", "dev-mode"} {
		_ = fs.MarkHidden(name) // it is declared above
	}
}

// aliases translates the names that run.py has.
func (o *collectOptions) aliases() error {
	if o.ttDev != "" && o.device == "" {
		o.device = o.ttDev
	}
	switch o.workflow {
	case "", "release", "reports":
	case "benchmarks", "evals":
		o.only = o.workflow
	case "server":
		o.serverOnly = true
	default:
		return fail(exitUsage, "workflows are benchmarks, evals, release, reports and server; ttreport help run-py", "collect: --workflow %q", o.workflow)
	}
	if o.dockerSrv {
		o.server, o.serverSet = "docker", true
	}
	if o.port == 0 {
		_, _ = fmt.Sscanf(os.Getenv("SERVICE_PORT"), "%d", &o.port) // as run.py
	}
	if o.locSrv {
		o.server, o.serverSet = fmt.Sprintf("http://127.0.0.1:%d", o.portOr(8000)), true
	}
	switch limit := map[string]int{"": o.evalLimit, "smoke-test": 3, "ci-commit": 20, "ci-nightly": 100, "ci-long": 500}; {
	case limit[o.limitMode] == 0 && o.limitMode != "":
		return fail(exitUsage, "modes are smoke-test, ci-commit, ci-nightly and ci-long", "collect: --limit-samples-mode %q", o.limitMode)
	case o.evalLimit == 0:
		o.evalLimit = limit[o.limitMode]
	}
	return nil
}

func (o collectOptions) portOr(other int) int {
	if o.port > 0 {
		return o.port
	}
	return other
}
