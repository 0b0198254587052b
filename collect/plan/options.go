package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Options are a request, by subject. A field that is left out has its zero value.
type Options struct {
	System  System
	Measure Measure
	Server  ServerOptions
	Tools   ToolOptions
	Evals   EvalOptions
	Run     RunOptions
}

// System is what is measured.
type System struct {
	Model, Device, Impl string
	Release             string // "" for a build
	Channel             string // release, main, pr or dev; "" for none
}

// Only leaves out a part of a plan.
type Only string

// Parts of a plan.
const (
	OnlyBenchmarks Only = "benchmarks"
	OnlyEvals      Only = "evals"
)

// Measure is what to measure.
type Measure struct {
	Sweep            string
	Workloads        []Workload // in place of a sweep
	Batches, Lengths string     // TensorRT-LLM's lists
	SLO              string     // search for the largest concurrency that holds it, with these lengths
	TargetsOnly      bool       // the sweep "targets", where none is named
	Only             Only
	Repeat           int           // times each workload is measured
	Clients          int           // of builtin, that make the load together; 0: one
	Until            string        // rule that ends a measurement, as ci=2%; "" for none
	Budget           time.Duration // of all measurements that end by it; 0: none
	Seed             uint64
	Text             uint64 // see [Plan]
	Recheck          bool   // the entries come from the gate and take precedence over the options
	Missing          string // likewise: what this release lacks; "" for none

	// Limits of the model, where nothing states them; 0 for unknown.
	MaxContext     int // tokens of a request
	MaxConcurrency int
}

// ServerOptions state how to get the server.
type ServerOptions struct {
	Name           ServerName
	Port           int           // 0: the one in its command, else 8000
	StartupTimeout time.Duration // 0: an hour if it is started, a minute if it runs already
	NoAuth         bool          // Tenstorrent's image runs without a key

	// Of a container.
	Image           string
	ContainerEngine string // docker or podman; "" takes the one that is installed
	ContainerPort   int    // inside; 0: as outside
	EnvFile         string
	DeviceIDs       string // Tenstorrent devices that it gets: "0,1"; "" for all
	Volumes         []string
	RunArgs         []string // of "docker run"
	Args            []string // of the image

	EngineArgs []string // for vLLM, in addition to those of a command or an image
}

// ToolOptions state what makes load.
type ToolOptions struct {
	Names     []string
	Args      []string // as TOOL=ARG
	Tokenizer string
	Chat      bool // chat completions in place of completions
	ChatLoad  bool // the same for load alone: evals have what their target files plan
	MPIRanks  int
}

// EvalOptions state which evals run.
type EvalOptions struct {
	Tasks   []string // of lm-eval, or as TOOL:TASK; "targets" selects those that target files plan
	Limit   int      // questions a task; 0: all
	TaskDir string   // folder with task files of the user

	NoQuestions bool // where no task is planned, the builtin questions are not asked instead
	ModeLimit   int  // as Limit, of a mode of run.py
}

// RunOptions control the run.
type RunOptions struct {
	NoResume     bool
	NoWarmup     bool
	PointTimeout time.Duration // 0: two hours
}

// UsageError is a request that cannot be planned, with advice on what to do ("" when the error states it).
type UsageError struct {
	Err error
	Fix string
}

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the advice.
func (e UsageError) Unwrap() error { return e.Err }

func usage(fix, format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...), fix}
}

// Contradictions refuses options that exclude each other. It is called before an entry is combined with the options,
// because an entry may have both a sweep and workloads.
func (o Options) Contradictions() error {
	if o.Measure.Sweep != "" && len(o.Measure.Workloads) > 0 {
		return usage("leave one of them out", "collect: --workload is instead of a --sweep")
	}
	return nil
}

// Check refuses options that are incomplete, or whose values do not exist.
func (o Options) Check() error {
	s, m := o.System, o.Measure
	switch {
	case s.Model != "" && s.Device == "":
		return usage("add --device NAME, as in --device n150", "collect: on which device does %s run? No server knows",
			s.Model)
	case s.Model == "":
		return usage("ttreport collect --model sim-8b --device simulated --server sim",
			"collect: --model and --device are both needed: no server knows its device")
	case o.Run.PointTimeout < 0 || o.Server.StartupTimeout < 0:
		return usage("as in 90s or 2h", "collect: --point-timeout and --startup-timeout are durations above zero")
	case m.Only == OnlyBenchmarks && len(o.Evals.Tasks) > 0:
		return usage("leave one of them out", "collect: --only benchmarks and --evals contradict each other")
	case m.Repeat < 1:
		return usage("--repeat 3 measures each workload three times", "collect: --repeat %d is no number of times", m.Repeat)
	case m.Clients < 0 || m.Clients > mostClients:
		return usage("--clients 4 divides the streams among four processes", "collect: --clients %d is no number of clients",
			m.Clients)
	case m.Clients > 1 && len(o.Tools.Names) > 0 && !slices.Contains(o.Tools.Names, tool.Builtin().Name):
		return usage("leave it out, or measure with --tools builtin",
			"collect: --clients is for the builtin client, and --tools names %s", strings.Join(o.Tools.Names, ", "))
	case m.Budget < 0:
		return usage("as in --until ci=2% --budget 30m", "collect: --budget %s is no time above zero", m.Budget)
	case m.Budget > 0 && m.Until == "":
		return usage("--until ci=2% --budget "+m.Budget.String(), "collect: --budget divides the time that --until asks "+
			"for, and without it each workload ends with its number of requests")
	case m.Only != "" && m.Only != OnlyBenchmarks && m.Only != OnlyEvals:
		return usage("use --only benchmarks or --only evals", "collect: --only %q", m.Only)
	case (m.Batches == "") != (m.Lengths == ""):
		return usage(`--batch-size "1;8" --input-output-len "60,20;128,20"`,
			"collect: --batch-size and --input-output-len belong together")
	}
	return CheckChannel(s.Channel)
}

// mostClients is how many clients a load may have.
const mostClients = 256

// OnlyFor refuses options of a server that the named one would ignore.
func (s ServerOptions) OnlyFor() error {
	kind := s.Name.Kind
	container := kind == ServerDocker
	started := container || kind == ServerCommand
	for _, x := range []struct {
		set, applies bool
		flag, to     string
	}{
		{s.Image != "", container, "--image", "--server docker"},
		{s.ContainerEngine != "", container, "--container-engine", "--server docker"},
		{s.ContainerPort > 0, container, "--container-port", "--server docker"},
		{s.EnvFile != "", container, "--env-file", "--server docker"},
		{s.DeviceIDs != "", container, "--device-id", "--server docker"},
		{len(s.Volumes) > 0, container, "a volume", "--server docker"},
		{len(s.RunArgs) > 0, container, "--run-arg", "--server docker"},
		{s.NoAuth, container, "--no-auth", "--server docker"},
		{s.Port > 0, started, "--port", "a server that is started; the address of another is in --server URL"},
		{len(s.EngineArgs) > 0, started, "an argument for vLLM", "a server that is started"},
	} {
		if x.set && !x.applies {
			return usage("leave it out, or name the server that it is for", "collect: %s is for %s, and the server is %s",
				x.flag, x.to, cmp.Or(s.Name.String(), string(ServerSim)))
		}
	}
	return nil
}

// CheckChannel refuses an unknown channel, for which no baseline would be found.
func CheckChannel(name string) error {
	switch name {
	case "", schema.ChannelRelease, schema.ChannelMain, schema.ChannelPR, schema.ChannelDev:
		return nil
	}
	return usage("there are release, main, pr and dev", "no channel is called %q", name)
}

// With combines the options with an entry of a plan: the options take precedence. In a recheck the entry takes
// precedence, because it must measure what was judged.
func (o Options) With(e Entry) Options {
	recheck := o.Measure.Recheck || o.Measure.Missing != ""
	for _, x := range []struct {
		at    *string
		entry string
	}{
		{&o.System.Model, e.Model}, {&o.System.Device, e.Device}, {&o.System.Impl, e.Impl},
		{&o.System.Release, e.Release}, {&o.System.Channel, e.Channel}, {&o.Server.Image, e.Image},
		{(*string)(&o.Measure.Only), string(e.Only)},
	} {
		if x.entry != "" && (*x.at == "" || recheck) {
			*x.at = x.entry
		}
	}
	o.Tools.Tokenizer = cmp.Or(o.Tools.Tokenizer, e.Tokenizer) // its place depends on this machine
	if o.Server.Name.IsZero() {
		o.Server.Name = e.Server
	}
	if len(o.Tools.Names) == 0 {
		o.Tools.Names = e.Tools
	}
	if len(o.Evals.Tasks) == 0 {
		o.Evals.Tasks = e.Evals
	}
	m := &o.Measure
	if len(e.Workloads) > 0 && len(m.Workloads) == 0 && (m.Sweep == "" || recheck) {
		m.Workloads = e.Workloads
	}
	if e.Sweep != "" && (m.Sweep == "" || recheck) {
		m.Sweep = e.Sweep
	}
	m.Repeat, o.Evals.Limit = max(m.Repeat, e.Repeat), cmp.Or(o.Evals.Limit, e.EvalLimit)
	o.Tools.Chat = o.Tools.Chat || e.Chat
	return o
}

// Known returns what is stated about the model before it is measured. In order of precedence: the options, the server
// itself (context, 0 when it was not asked), the server's command line, the specification.
func (o Options) Known(stated spec.Model, context int) spec.Model {
	if o.Server.Name.Kind == ServerCommand {
		c := spec.OfCommand(o.Server.Name.Argv)
		stated.Context, stated.Concurrency = cmp.Or(c.Context, stated.Context), cmp.Or(c.Concurrency, stated.Concurrency)
	}
	stated.Context = cmp.Or(o.Measure.MaxContext, cmp.Or(context, stated.Context))
	stated.Concurrency = cmp.Or(o.Measure.MaxConcurrency, stated.Concurrency)
	return stated
}

// Complete fills in what is known about the model and no option states: its image, its full name, and how long an
// image may take to be ready.
func (o Options) Complete(known spec.Model) Options {
	o.Server.Image = cmp.Or(o.Server.Image, known.Image)
	if o.Server.Name.Kind != ServerDocker {
		return o
	}
	if o.Server.StartupTimeout == 0 { // weights may have to be converted first
		o.Server.StartupTimeout = max(time.Hour, 2*time.Duration(known.Wait)*time.Second)
	}
	if base(o.System.Model) == o.System.Model && known.ID != "" {
		o.System.Model = known.ID
	}
	return o
}
