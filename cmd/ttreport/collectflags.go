package main

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/tool"
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

// declare declares the flags, by the groups in which the help shows them.
func (o *collectOptions) declare(fs *pflag.FlagSet) {
	group(fs, "What to measure", o.declareMeasure)
	group(fs, "Server", o.declareServer)
	group(fs, "In turns with a baseline", o.against.declare)
	group(fs, "Tools", o.declareTools)
	group(fs, "Evals", o.declareEvals)
	group(fs, "Run control", func(fs *pflag.FlagSet) {
		fs.StringVarP(&o.out, "out", "o", "", "`folder` for run folders, in place of results/")
		fs.BoolVar(&o.dryRun, "dry-run", false, "print what would be measured, with every command line, and stop")
		fs.BoolVar(&o.Run.NoResume, "no-resume", false, "begin anew where the same collection was interrupted")
		fs.BoolVar(&o.Run.NoWarmup, "no-warmup", false, "send no request of each prompt length before the first measurement")
		fs.StringVar(&o.Run.DCGM, "dcgm", "", "`URL` of DCGM's exporter, for power: http://gpu1:9400/metrics")
		lockFlag(fs, o.sh)
		fs.DurationVar(&o.Run.PointTimeout, "point-timeout", 0, "how long one measurement may take (default 2h)")
	})
	group(fs, "Scheduler", o.scheduler.declare)
	group(fs, "Within a job of a scheduler", o.job.declare)
	o.given = func() []string { return o.scheduler.givenFlags(fs) }
	group(fs, "Of tt-inference-server's run.py", func(fs *pflag.FlagSet) {
		o.declareRunPy(fs)
		fs.VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // help run-py lists them
	})
	group(fs, "Of TensorRT-LLM's benchmark.py", o.declareTRT)
	common(fs, "model", "device", "release", "sweep", "workload", "recheck", "repeat",
		"server", "tools", "evals", "out", "dry-run")
}

func (o *collectOptions) declareMeasure(fs *pflag.FlagSet) {
	s, m := &o.System, &o.Measure
	fs.StringVarP(&s.Model, "model", "m", "", "`name` of the model as the server serves it")
	fs.StringVar(&s.Device, "device", "",
		"`name` of the device that serves (default: the Tenstorrent one of this machine, where the server is started here)")
	fs.BoolVar(&s.New, "new-device", false, "model and device are spelt rightly, although models.yaml has a similar one")
	fs.StringVar(&s.Impl, "impl", "", "`name` of the implementation")
	fs.StringVar(&s.Release, "release", "", "`label` of the release that is measured")
	fs.StringVar(&s.Channel, "channel", "", "release, main, pr or dev")
	fs.StringVar(&m.Sweep, "sweep", "",
		"`name` of a list of workloads: "+strings.Join(plan.SweepNames(), ", ")+" (default quick)")
	fs.Var((*plan.WorkloadList)(&m.Workloads), "workload",
		"one workload, as `isl=128,osl=128,c=1,n=8`; instead of a sweep, may be repeated")
	fs.StringVar(&m.Batches, "batch-size", "", "`sizes` as \"1;8;64\", each with every --input-output-len")
	fs.StringVar(&m.Lengths, "input-output-len", "", "`lengths` as \"60,20;128,20\"")
	fs.StringVar(&o.planFile, "plan", "", "`file` of a plan, as check --recheck-plan writes it")
	fs.StringVarP(&o.input, "input", "i", "", "`file` of an nm-vllm configuration, or a .txt that lists such files")
	fs.BoolVar(&m.Recheck, "recheck", false, "measure suspected changes again, with a control for each device")
	fs.StringVar(&m.Missing, "missing", "",
		"measure what this `release` lacks: planned, required, or measured by the release before")
	fs.StringVar((*string)(&m.Only), "only", "", "benchmarks or evals")
	fs.StringVar(&m.SLO, "slo", "",
		"find the largest concurrency that holds `limits`, as in 'ttft_p99<500ms tpot_mean<50ms'; of a rate, the largest")
	fs.StringVar(&m.Until, "until", "",
		"measure each workload until its means are known, by a `rule` as ci=2% or ci=2%,tail=p99,most=10m")
	fs.DurationVar(&m.Budget, "budget", 0,
		"with --until, the time of all measurements: what is known early leaves its time to what follows")
	fs.IntVar(&m.Repeat, "repeat", 1, "measure each workload this many `times`, interleaved")
	fs.IntVar(&m.Clients, "clients", 0,
		"make the load of builtin with this many `processes`, joined as if one had made it (default 1)")
	fs.Uint64Var(&m.Seed, "seed", 1, "`number` that fixes prompts and arrivals; without it, the words of prompts are new "+
		"each time for a server that runs already, which may have cached them")
	fs.StringVar(&o.spec, "spec", "", "`file` of a runtime model specification: limits and image")
	fs.IntVar(&m.MaxContext, "max-context", 0, "`tokens` of a request that the model takes, where nothing states it")
	fs.IntVar(&m.MaxConcurrency, "max-concurrency", 0,
		"`requests` in flight that the model takes, where nothing states it")
}

func (o *collectOptions) declareServer(fs *pflag.FlagSet) {
	s := &o.Server
	fs.TextVar(&s.Name, "server", plan.ServerName{},
		"sim, or the `URL` of a running OpenAI-compatible server, or 'command …', or docker (default sim)")
	fs.IntVar(&s.Port, "port", 0, "`port` of a server that is started (default: the --port in its command, else 8000)")
	fs.StringArrayVar(&o.params, "server-param", nil,
		"a flag of the server with its `values`, as max-num-seqs=64,128: each starts it anew; may be repeated")
	fs.StringVar(&o.search, "search", "",
		"try settings of --server-param until no neighbour of the best has a better `metric`, as output_tps")
	fs.StringVar(&s.Image, "image", "", "`image` for --server docker, best by digest")
	fs.StringVar(&s.ContainerEngine, "container-engine", "",
		"docker or podman, for --server docker (default: the one that is installed)")
	fs.IntVar(&s.ContainerPort, "container-port", 0, "`port` inside the container, where it is another")
	fs.StringVar(&s.EnvFile, "env-file", "",
		"`file` with the container's environment (default .env, where the image's device needs secrets)")
	fs.StringArrayVar(&s.Volumes, "volume", nil, "a `mount` of the container, as /models:/models:ro; may be repeated")
	fs.StringArrayVar(&s.RunArgs, "run-arg", nil, "one more `argument` for docker run; may be repeated")
	fs.StringVar(&s.DeviceIDs, "device-id", "",
		"`numbers` of the Tenstorrent devices that the container gets, as 0 or 0,1 (default all)")
	fs.DurationVar(&s.StartupTimeout, "startup-timeout", 0,
		"how long the server may take to be ready (default 1h when started, 1m when attached)")
	fs.BoolVar(&o.serverOnly, "server-only", false,
		"start the server, print how to see its log and how to end it, and leave it running")
}

func (o *collectOptions) declareTools(fs *pflag.FlagSet) {
	t := &o.Tools
	fs.StringSliceVar(&t.Names, "tools", nil, "`names` of what makes load: "+strings.Join(tool.Names(false), ", ")+
		", or an exec tool of ttreport.yaml (default builtin)")
	fs.StringVar(&t.Tokenizer, "tokenizer", "",
		"`folder or name` of the model's tokenizer, for tools that make their own prompts")
	fs.BoolVar(&t.Chat, "chat", false, "chat completions in place of completions, for tools")
	fs.StringArrayVar(&t.Args, "tool-arg", nil, "one more argument for a tool, as `TOOL=ARG`; may be repeated")
	fs.IntVar(&t.MPIRanks, "mpi-ranks", 0, "`processes` of a tool that brings its own engine, started by mpirun")
}

func (o *collectOptions) declareEvals(fs *pflag.FlagSet) {
	e := &o.Evals
	fs.StringSliceVar(&e.Tasks, "evals", nil,
		"`tasks` in place of the builtin questions: of lm-eval, or as TOOL:TASK with "+
			strings.Join(tool.Names(true), ", ")+"; targets takes those that target files plan")
	fs.IntVar(&e.Limit, "eval-limit", 0, "at most this many `questions` a task; 0 for all")
	fs.StringVar(&e.TaskDir, "eval-tasks", "", "`folder` with eval tasks of your own")
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
