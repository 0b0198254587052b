package plan

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/traffic"
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
	New                 bool   // its names are right, although models.yaml has others that are nearly the same
	NamedBySpec         bool   // where no release is stated, it is that of the model's specification
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
	Workloads        WorkloadList // in place of a sweep
	Batches, Lengths string       // TensorRT-LLM's lists
	Encoder          bool         // the lengths are of prompts alone: a model such as BERT writes no answer
	SLO              string       // search for the largest concurrency that holds it, with these lengths
	TargetsOnly      bool         // the sweep "targets", where none is named
	Only             Only
	Repeat           int           // times each workload is measured
	Clients          int           // of builtin, that make the load together; 0: one
	Until            string        // rule that ends a measurement, as ci=2%; "" for none
	Budget           time.Duration // of all measurements that end by it; 0: none
	Seed             uint64
	Text             uint64            // see [Plan]
	Recheck          bool              // the entries come from the gate and take precedence over the options
	Missing          string            // likewise: what this release lacks; "" for none
	Configuration    map[string]string // dimensions of every workload: how the server is started

	// Limits of the model, where nothing states them; 0 for unknown.
	MaxContext     int // tokens of a request
	MaxConcurrency int
}

// ServerOptions state how to get the server.
type ServerOptions struct {
	Name           ServerName
	Port           int           // 0: the one in its command, else 8000
	AmbientPort    bool          // the port is that of a variable: a server that is not started does without it
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
	NoResume     bool          // begin anew even where the same plan was interrupted
	NoWarmup     bool          // send no requests before the first measurement
	DCGM         string        // address of the exporter that states power; "" for what this machine states
	PointTimeout time.Duration // most time of one measurement; 0: two hours
}

// UsageError is a request that cannot be planned, with advice on what to do ("" when the error states it).
type UsageError struct {
	Err error
	Fix string
}

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the advice.
func (e UsageError) Unwrap() error { return e.Err }

// Usage is a request that cannot be planned, with its fix.
func Usage(fix, format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...), fix}
}

// Contradictions refuses options that exclude each other. It is called before an entry is combined with the options,
// because an entry may have both a sweep and workloads.
func (o Options) Contradictions() error {
	if o.Measure.Sweep != "" && len(o.Measure.Workloads) > 0 {
		return Usage("leave one of them out", "collect: --workload and --sweep cannot be combined")
	}
	return nil
}

// Check refuses options that are incomplete, or whose values do not exist.
func (o Options) Check() error {
	s, m := o.System, o.Measure
	others := len(o.Tools.Names) > 0 && !slices.Contains(o.Tools.Names, tool.Builtin().Name)
	for _, rule := range []struct {
		broken bool
		fix    string
		says   string
	}{
		{s.Model != "" && s.Device == "", "add --device NAME, as in --device n150",
			"on which device does " + s.Model + " run? No server knows"},
		{s.Model == "", "ttreport collect --model sim-8b --device simulated --server sim",
			"--model and --device are both needed: no server knows its device"},
		{m.Only == OnlyBenchmarks && len(o.Evals.Tasks) > 0, "leave one of them out",
			"--only benchmarks and --evals cannot be combined"},
		{m.Repeat < 1, "--repeat 3 measures each workload three times",
			fmt.Sprintf("--repeat %d: expected a number above zero", m.Repeat)},
		{m.Clients < 0, "--clients 4 divides the streams among four processes",
			fmt.Sprintf("--clients %d: expected a number above zero", m.Clients)},
		{m.Clients > 1 && others, "leave it out, or measure with --tools builtin",
			"--clients needs the builtin client, and --tools names " + strings.Join(o.Tools.Names, ", ")},
		{m.Budget > 0 && m.Until == "", "--until ci=2% --budget " + m.Budget.String(), "--budget divides the time that " +
			"--until asks for, and without it each workload ends with its number of requests"},
		{!slices.Contains([]Only{"", OnlyBenchmarks, OnlyEvals}, m.Only), "use --only benchmarks or --only evals",
			fmt.Sprintf("--only %q", m.Only)},
		{(m.Batches == "") != (m.Lengths == ""), `--batch-size "1;8" --input-output-len "60,20;128,20"`,
			"--batch-size and --input-output-len must be used together"},
	} {
		if rule.broken {
			return Usage(rule.fix, "collect: %s", rule.says)
		}
	}
	return CheckChannel(s.Channel)
}

// OnlyFor refuses options of a server that the named one would ignore.
func (s ServerOptions) OnlyFor() error {
	const docker = "--server docker"
	container := s.Name.Kind == ServerDocker
	started := container || s.Name.Kind == ServerCommand
	for _, x := range []struct {
		set, applies bool
		flag, to     string
	}{
		{s.Image != "", container, "--image", docker}, {s.ContainerEngine != "", container, "--container-engine", docker},
		{s.ContainerPort > 0, container, "--container-port", docker}, {s.EnvFile != "", container, "--env-file", docker},
		{s.DeviceIDs != "", container, "--device-id", docker}, {len(s.Volumes) > 0, container, "a volume", docker},
		{len(s.RunArgs) > 0, container, "--run-arg", docker}, {s.NoAuth, container, "--no-auth", docker},
		{s.Port > 0 && !s.AmbientPort, started, "--port", "a server that is started; the address of another is in --server " +
			"URL"},
		{len(s.EngineArgs) > 0, started, "an argument for vLLM", "a server that is started"},
	} {
		if x.set && !x.applies {
			return Usage("leave it out, or name the server that it is for", "collect: %s needs %s, and the server is %s",
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
	return Usage("the channels are release, main, pr and dev", "unknown channel %q", name)
}

// With combines the options with an entry of a plan: the options take precedence. In a recheck the entry takes
// precedence, because it must measure what was judged.
func (o Options) With(e Entry) Options {
	s, m := &o.System, &o.Measure
	recheck := m.Recheck || m.Missing != ""
	either := func(own, entry string) string {
		if recheck {
			own, entry = entry, own
		}
		return cmp.Or(own, entry)
	}
	if named := m.Sweep != "" && !recheck; len(m.Workloads) == 0 && !named {
		m.Workloads = e.Workloads
	}
	s.Model, s.Device, s.Impl = either(s.Model, e.Model), either(s.Device, e.Device), either(s.Impl, e.Impl)
	s.Release, s.Channel = either(s.Release, e.Release), either(s.Channel, e.Channel)
	m.Sweep, m.Only = either(m.Sweep, e.Sweep), Only(either(string(m.Only), string(e.Only)))
	o.Server.Image = either(o.Server.Image, e.Image)
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
	m.Repeat, o.Evals.Limit = max(m.Repeat, e.Repeat), cmp.Or(o.Evals.Limit, e.EvalLimit)
	o.Tools.Chat = o.Tools.Chat || e.Chat
	o.configure(e.ServerParams)
	return o
}

// Known returns what is stated about the model before it is measured. In order of precedence: the options, the server
// itself (context, 0 when it was not asked), the server's command line, the specification.
func (o Options) Known(stated spec.Model, context int) spec.Model {
	if o.Server.Name.Kind == ServerCommand {
		c := spec.OfCommand(slices.Concat(o.Server.Name.Argv, o.Server.EngineArgs))
		stated.Context, stated.Concurrency = cmp.Or(c.Context, stated.Context), cmp.Or(c.Concurrency, stated.Concurrency)
	}
	stated.Context = cmp.Or(o.Measure.MaxContext, cmp.Or(context, stated.Context))
	stated.Concurrency = cmp.Or(o.Measure.MaxConcurrency, stated.Concurrency)
	return stated
}

// Complete fills in what is known about the model and no option states: its release, its image, its full name, and how
// long an image may take to be ready.
func (o Options) Complete(known spec.Model) Options {
	o.Server.Image = cmp.Or(o.Server.Image, known.Image)
	if o.System.NamedBySpec {
		o.System.Release = cmp.Or(o.System.Release, known.Release)
	}
	if o.Server.Name.Kind != ServerDocker {
		return o
	}
	if o.Server.StartupTimeout == 0 { // weights may have to be converted first
		o.Server.StartupTimeout = max(time.Hour, 2*time.Duration(known.Wait)*time.Second)
	}
	if path.Base(o.System.Model) == o.System.Model && known.ID != "" {
		o.System.Model = known.ID
	}
	return o
}

// until reads the rule that ends a workload's measurement, and refuses it where something else does.
func (p *Plan) until(o Options) error {
	if o.Measure.Until == "" {
		return nil
	}
	var err error
	if p.Until, err = precision.ParseRule(o.Measure.Until); err != nil {
		return Usage("", "collect: --until %w", err)
	}
	p.Budget = o.Measure.Budget
	if slices.ContainsFunc(o.Tools.Names, func(name string) bool { return name != tool.Builtin().Name }) {
		return Usage("leave it out, or measure with --tools builtin",
			"collect: --until needs the builtin client, and --tools names %s", strings.Join(o.Tools.Names, ", "))
	}
	if p.Clients > 1 {
		return Usage("leave one of them out",
			"collect: --until and --clients cannot be combined: --until needs one client that sees all requests")
	}
	for _, w := range p.Workloads {
		for _, never := range []struct {
			is  bool
			why string
		}{
			{w.Dataset == traffic.DatasetTrace, "replays a recorded load, which has an end"},
			{w.Turns > 1, "has conversations, whose turns differ"}, {w.Arrivals.Changes(), "changes its rate"},
			{w.Rate == 0 && w.Concurrency == 0 && !w.SLO.Set(), "sends everything at once"},
		} {
			if never.is {
				return Usage("leave --until out for it: --workload measures a number of requests",
					"collect: --until measures until means are known, and %s %s", w, never.why)
			}
		}
	}
	return nil
}

// Turns states that a plan is measured in turns with the same plan on another server. The zero value is a plan by
// itself.
type Turns struct {
	Side   string // [schema.SideBaseline] or [schema.SideCandidate]
	Blocks int    // in each of which both servers measure every workload
	Kept   bool   // both servers keep running, where they otherwise start again for each block
}

// Turn is one server's part of a block.
type Turn struct {
	Baseline bool
	Block    int // from 1; 0 for a plan by itself
}

// Order returns the turns of two servers: A B B A A B …, so that what drifts evenly cancels within two blocks; of a
// plan by itself one turn, in no block.
func (t Turns) Order() []Turn {
	if t.Blocks == 0 {
		return []Turn{{Baseline: true}}
	}
	var out []Turn
	for block := 1; block <= t.Blocks; block++ {
		first := block%2 == 1
		out = append(out, Turn{first, block}, Turn{!first, block})
	}
	return out
}

// InTurns returns a plan as one side of two that take turns. Evals are left out: they do not depend on the time of day.
func (p Plan) InTurns(side string, blocks int, kept bool) Plan {
	p.Turns = Turns{Side: side, Blocks: blocks, Kept: kept}
	p.Evals, p.EvalItems = nil, 0
	return p
}

// DrawnHit is the share of all prompt tokens that a prefix cache without limit finds in the requests of a workload that
// states one, number i of the plan; ok is false for others, and where the number of requests is not known.
func (p Plan) DrawnHit(i int) (share float64, ok bool) {
	w := p.Workloads[i]
	if w.Hit == 0 || w.SLO.Set() || p.Until.Set() {
		return 0, false
	}
	list, err := w.Draw(p.Seed + uint64(i))
	return traffic.HitShare(list), err == nil
}

// possible refuses workloads that several clients cannot divide, and those whose requests cannot have the share of hits
// that is stated: their results would be called what they are not.
func (p *Plan) possible() error {
	for _, w := range p.Workloads {
		if p.Clients > 1 && w.Turns > 1 {
			return Usage("leave one of them out", "collect: --clients divides requests, and %s has conversations", w)
		}
		n := w.Requests
		switch {
		case w.SLO.Set():
			n = w.RequestsOfProbe(1)
		case p.Until.Set():
			n = p.Until.Least(w.Concurrency)
		}
		mean, ok := w.HitShare(n)
		if ok {
			continue
		}
		const mostForHit = 20_000 // requests that are proposed so that it is reached
		fix := "fewer prefixes, a smaller share, or prompts that differ less in length"
		if m, ok := w.RequestsToHit(n, mostForHit); ok && !w.SLO.Set() && !p.Until.Set() {
			fix = fmt.Sprintf("n=%d is enough; or %s", m, fix)
		}
		return Usage(fix, "collect: %s: %s=%s cannot be reached: a prefix cache without limit would find about %.1f%% in "+
			"%d requests", w, schema.DimHit, w.Varying()[schema.DimHit], 100*mean, n)
	}
	return nil
}
