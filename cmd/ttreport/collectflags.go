package main

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
)

// collectOptions are the flags of collect: what package plan needs, and what this command does with the plan.
type collectOptions struct {
	plan.Options
	runPy plan.RunPy
	sh    *shell
	ws    *workspace.Workspace

	planFile, input, spec, out string
	search                     string   // the metric by which settings of the server are chosen
	params                     []string // of the server, with their values
	seeded                     bool     // --seed is given
	dryRun, serverOnly         bool
	against                    againstOptions
	trt                        string // a flag of benchmark.py that is given
	printDocker                bool

	scheduler schedulerOptions
	job       jobOptions
	given     func() []string // flags that a job of --on gets as well
}

// complete translates flags of run.py and variables, and refuses flags that exclude each other.
func (o *collectOptions) complete(ctx context.Context) error {
	if o.Server.Port == 0 && o.Server.Name.Kind != plan.ServerURL && o.Server.Name.Kind != plan.ServerSim {
		o.Server.Port, _ = strconv.Atoi(os.Getenv("SERVICE_PORT")) // as run.py; other text than a number states none
		o.Server.AmbientPort = true
	}
	if _, err := os.Stat(o.Server.EnvFile); o.Server.EnvFile != "" && err != nil {
		return plan.Usage("name a file with NAME=value lines", "collect: --env-file: %w", err)
	}
	if _, err := os.Stat(o.input); o.input == "t" && err != nil { // run.py's -it
		o.runPy.Refuse("interactive", "--print-docker-cmd prints the line; run it with -it")
	}
	only := os.Getenv("ONLY_BENCHMARK_TARGETS")
	o.Measure.TargetsOnly = only == "1" || strings.EqualFold(only, "true")
	o.serverOnly = o.serverOnly || o.runPy.Workflow == plan.WorkflowServer
	o.serverOnly, o.dryRun = o.serverOnly || o.printDocker, o.dryRun || o.printDocker
	if err := o.completeTRT(); err != nil {
		return err
	}
	notes, err := o.ApplyRunPy(o.runPy)
	if err != nil {
		return err
	}
	for _, n := range notes {
		o.sh.say("%-9s %s", n.Kind, n.Text)
	}
	o.findDevice(ctx)
	return o.Contradictions()
}

// findDevice takes the device of this machine where a model is named without one, and its server is on this machine.
func (o *collectOptions) findDevice(ctx context.Context) {
	kind := o.Server.Name.Kind
	here := kind == plan.ServerDocker || kind == plan.ServerCommand || o.runPy.LocalServer
	if o.System.Model == "" || o.System.Device != "" || !here {
		return
	}
	var boards string
	if o.System.Device, boards = host.Device(ctx); o.System.Device != "" {
		o.sh.say("device    %s: tt-smi lists %s; --device names another", o.System.Device, boards)
	}
}

// declare declares the flags: those of the text, and those of other programs.
func (o *collectOptions) declare(fs *pflag.FlagSet) {
	m, s, t, e, a, on, r := &o.Measure, &o.Server, &o.Tools, &o.Evals, &o.against, &o.scheduler, &o.runPy
	m.Repeat, m.Seed, a.blocks, on.poll = 1, 1, 4, 10*time.Second
	bind(fs, "collect", map[string]any{
		"model": &o.System.Model, "device": &o.System.Device, "new-device": &o.System.New, "impl": &o.System.Impl,
		"release": &o.System.Release, "channel": &o.System.Channel, "sweep": &m.Sweep, "workload": &m.Workloads,
		"batch-size": &m.Batches, "input-output-len": &m.Lengths, "plan": &o.planFile, "input": &o.input,
		"recheck": &m.Recheck, "missing": &m.Missing, "only": (*string)(&m.Only), "slo": &m.SLO, "until": &m.Until,
		"budget": &m.Budget, "repeat": &m.Repeat, "clients": &m.Clients, "seed": &m.Seed, "spec": &o.spec,
		"max-context": &m.MaxContext, "max-concurrency": &m.MaxConcurrency,

		"server": &s.Name, "port": &s.Port, "server-param": &o.params, "search": &o.search, "image": &s.Image,
		"container-engine": &s.ContainerEngine, "container-port": &s.ContainerPort, "env-file": &s.EnvFile,
		"volume": &s.Volumes, "run-arg": &s.RunArgs, "device-id": &s.DeviceIDs, "startup-timeout": &s.StartupTimeout,
		"server-only": &o.serverOnly,

		"against": &a.baseline, "blocks": &a.blocks, "live": &a.live, "against-port": &a.port,
		"against-release": &a.release,

		"tools": &t.Names, "tokenizer": &t.Tokenizer, "chat": &t.Chat, "tool-arg": &t.Args, "mpi-ranks": &t.MPIRanks,
		"evals": &e.Tasks, "eval-limit": &e.Limit, "eval-tasks": &e.TaskDir,

		"out": &o.out, "dry-run": &o.dryRun, "no-resume": &o.Run.NoResume, "no-warmup": &o.Run.NoWarmup,
		"dcgm": &o.Run.DCGM, "lock-timeout": &o.sh.patience, "point-timeout": &o.Run.PointTimeout,

		"on": &on.on, "detach": &on.detach, "follow": &on.follow, "cancel": &on.cancel, "retry": &on.retry,
		"node": &on.node, "@backends": on.declare, "poll": &on.poll,

		"once": &o.job.once, "allocated": &o.job.allocated, "print-results": &o.job.print,

		"workflow": &r.Workflow, "tt-device": &o.System.Device, "docker-server": &r.Docker,
		"local-server": &r.LocalServer, "limit-samples-mode": &r.LimitMode, "ci-mode": &r.CIMode,
		"server-url": &r.ServerURL, "service-port": &s.Port, "disable-trace-capture": &o.Run.NoWarmup,
		"override-docker-image": &s.Image, "runtime-model-spec-json": &o.spec, "no-auth": &s.NoAuth,
		"dev-mode": &r.DevMode, "override-tt-config": &r.TTConfig, "vllm-override-args": &r.VLLMArgs,
		"eval-samples": &r.Samples, "goodput": &r.Goodput, "print-docker-cmd": &o.printDocker,
		"@run.py":    o.declareRunPy,
		"batch_size": &m.Batches, "input_output_len": &m.Lengths, "@benchmark.py": o.declareTRT,
	})
	var pages []string
	for _, name := range on.names() {
		pages = append(pages, "ttreport help "+name)
	}
	f := fs.Lookup("on")
	f.Usage = strings.NewReplacer("{schedulers}", strings.Join(on.names(), " or "), "{pages}",
		strings.Join(pages, ", ")).Replace(f.Usage)
	o.given = func() []string { return on.givenFlags(fs) }
	fs.VisitAll(func(f *pflag.Flag) { // help run-py lists those of run.py
		f.Hidden = strings.HasSuffix(strings.Join(f.Annotations[groupOf], ""), "run.py")
	})
}

// otherWords gives prompts words that no earlier collection had, unless --seed fixes them: a server that kept running
// may have the others in its prefix cache. Lengths and times of requests stay those of the seed, so that what was
// measured before is comparable.
func (o *collectOptions) otherWords() {
	const most = 1 << 40 // a float64 has it exactly
	if !o.seeded && o.Measure.Text == 0 {
		o.Measure.Text = 1 + rand.Uint64N(most)
	}
}
