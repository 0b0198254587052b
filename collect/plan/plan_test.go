package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/schema"
)

// stated are targets for every model.
func stated(p TargetPlan) Targets {
	return func(schema.Model, string) (TargetPlan, error) { return p, nil }
}

func options() Options {
	return Options{System: System{Model: "acme/m", Device: "d"}, Measure: Measure{Repeat: 1, Seed: 1}}
}

func texts(list []Workload) string {
	var out []string
	for _, w := range list {
		out = append(out, w.Text())
	}
	return strings.Join(out, " ")
}

func textOf(notes []Note) string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Text)
	}
	return strings.Join(out, "\n")
}

// The workloads and notes of each request.
func TestMakeWorkloads(t *testing.T) {
	target := Workload{ISL: 16, OSL: 8, Concurrency: 1}
	for name, tt := range map[string]struct {
		measure Measure
		known   spec.Model
		targets TargetPlan
		want    string // beginning of the workloads
		n       int
		notes   string
		wrong   string
	}{
		"quick": {want: "isl=128,osl=128,n=8,c=1", n: 4},
		"named": {measure: Measure{Workloads: []Workload{target}}, known: spec.Model{Context: 1},
			want: "isl=16,osl=8,c=1", n: 1},
		"batches": {measure: Measure{Batches: "1;2", Lengths: "3,4"}, want: "isl=3,osl=4,n=8,c=1", n: 2},
		"unknown": {measure: Measure{Sweep: "x"}, wrong: "unknown sweep"},
		"targets": {measure: Measure{Sweep: "targets"}, targets: TargetPlan{Workloads: []Workload{target}},
			want: "isl=16,osl=8,n=8,c=1", n: 1},
		"targets only": {measure: Measure{TargetsOnly: true}, targets: TargetPlan{Workloads: []Workload{target}},
			want: "isl=16,osl=8,n=8,c=1", n: 1},
		"replaced": {targets: TargetPlan{Replaced: "x.json", Workloads: []Workload{target}},
			want: "isl=16,osl=8,n=8,c=1", n: 1},
		"no target": {measure: Measure{Sweep: "targets"}, wrong: "no target of targets/ states a workload"},
		"standard": {measure: Measure{Sweep: "standard"}, want: "isl=128,osl=128,n=8,c=1", n: 7,
			notes: "context of 4096"},
		"too long": {known: spec.Model{Context: 300}, want: "isl=128,osl=128,n=8,c=1", n: 2,
			notes: "takes 300 tokens"},
		"nothing fits": {known: spec.Model{Context: 100}, wrong: "no workload fits"},
		"known for a user": {measure: Measure{Sweep: "standard"}, known: spec.Model{Context: 300, Concurrency: 4}, n: 1,
			want: "isl=128,osl=128,n=8,c=1"},
	} {
		o := options()
		tt.measure.Repeat = 1
		o.Measure = tt.measure
		p, notes, err := Make(o, tt.known, stated(tt.targets))
		switch {
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong) || !errors.As(err, &UsageError{})):
			t.Errorf("%s: %v, want %q", name, err, tt.wrong)
		case tt.wrong != "":
		case err != nil || len(p.Workloads) != tt.n || !strings.HasPrefix(texts(p.Workloads), tt.want):
			t.Errorf("%s: %d workloads %s, %v", name, len(p.Workloads), texts(p.Workloads), err)
		}
		if said := textOf(notes); (said == "") != (tt.notes == "") || !strings.Contains(said, tt.notes) {
			t.Errorf("%s: notes %q, want %q", name, said, tt.notes)
		}
	}
}

// The evals that run, and the number of builtin questions.
func TestMakeEvals(t *testing.T) {
	planned := TargetPlan{Evals: []EvalTask{{Task: "gsm8k", Limit: 100}}}
	for name, tt := range map[string]struct {
		evals   EvalOptions
		only    Only
		targets TargetPlan
		want    string
		builtin int
		loads   int
		wrong   string
	}{
		"builtin":    {builtin: 60, loads: 4},
		"limited":    {evals: EvalOptions{Limit: 5}, builtin: 5, loads: 4},
		"benchmarks": {only: OnlyBenchmarks, targets: planned, loads: 4},
		"of targets": {targets: planned, want: "lm-eval gsm8k 100;", loads: 4},
		"evals only": {only: OnlyEvals, targets: planned, want: "lm-eval gsm8k 100;"},
		"named": {evals: EvalOptions{Tasks: []string{"a", "inspect:b", "targets"}, Limit: 7}, targets: planned,
			want: "lm-eval a 7;inspect b 7;lm-eval gsm8k 7;", loads: 4},
		"none to take":  {evals: EvalOptions{Tasks: []string{"targets"}}, wrong: "no target file plans an eval"},
		"only builtin":  {only: OnlyEvals, builtin: 60},
		"not benchmark": {only: OnlyBenchmarks, loads: 4},
	} {
		o := options()
		o.Evals, o.Measure.Only = tt.evals, tt.only
		p, _, err := Make(o, spec.Model{}, stated(tt.targets))
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		got := ""
		for _, e := range p.Evals {
			got += e.Tool.Name + " " + e.Task + " " + strconv.Itoa(e.Limit) + ";"
		}
		if err != nil || got != tt.want || p.EvalItems != tt.builtin || len(p.Workloads) != tt.loads {
			t.Errorf("%s: %q, %d questions, %d workloads, %v", name, got, p.EvalItems, len(p.Workloads), err)
		}
	}
}

// Options take precedence over an entry of a plan, but not over a recheck.
func TestWith(t *testing.T) {
	w := Workload{ISL: 1, OSL: 2, Concurrency: 3, Requests: 4}
	e := Entry{
		Model: "e", Device: "de", Release: "v2", Server: ServerName{Kind: ServerSim}, Tools: []string{"vllm"},
		Workloads: []Workload{w}, Sweep: "standard", Repeat: 3, EvalLimit: 9, Only: OnlyBenchmarks, Chat: true,
	}
	empty := Options{Measure: Measure{Repeat: 1}}.With(e)
	if empty.System.Model != "e" || empty.System.Device != "de" || empty.Server.Name.Kind != ServerSim ||
		empty.Tools.Names[0] != "vllm" ||
		len(empty.Measure.Workloads) != 1 || empty.Measure.Repeat != 3 || empty.Evals.Limit != 9 || !empty.Tools.Chat {
		t.Errorf("%+v", empty)
	}
	given := Options{
		System:  System{Model: "o", Release: "v1"},
		Measure: Measure{Sweep: "quick", Repeat: 1},
		Server:  ServerOptions{Name: ServerName{Kind: ServerURL, URL: "http://h"}},
		Tools:   ToolOptions{Names: []string{"builtin"}},
	}
	got := given.With(e)
	if got.System.Model != "o" || got.System.Release != "v1" || got.System.Device != "de" ||
		got.Measure.Sweep != "quick" ||
		len(got.Measure.Workloads) != 0 || got.Server.Name.Kind != ServerURL || got.Tools.Names[0] != "builtin" {
		t.Errorf("%+v", got)
	}
	given.Measure.Recheck = true
	if got = given.With(e); got.System.Model != "e" || len(got.Measure.Workloads) != 1 ||
		got.Server.Name.Kind != ServerURL {
		t.Errorf("a recheck: %+v", got)
	}
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"on which device":       func(o *Options) { o.System.Device = "" },
		"both needed":           func(o *Options) { o.System.Model = "" },
		"--repeat 0":            func(o *Options) { o.Measure.Repeat = 0 },
		`--only "x"`:            func(o *Options) { o.Measure.Only = "x" },
		"must be used together": func(o *Options) { o.Measure.Batches = "1" },
		"unknown channel":       func(o *Options) { o.System.Channel = "x" },
		"cannot be combined":    func(o *Options) { o.Measure.Only, o.Evals.Tasks = OnlyBenchmarks, []string{"a"} },
	} {
		o := options()
		change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	o := options()
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	o.Measure.Sweep, o.Measure.Workloads = "quick", []Workload{{}}
	if err := o.Contradictions(); err == nil {
		t.Error("a sweep and workloads were accepted")
	}
}

func TestKnownAndComplete(t *testing.T) {
	o := options()
	o.Server.Name = ServerName{Kind: ServerCommand, Argv: []string{"vllm", "--max-model-len", "300", "--max-num-seqs=4"}}
	if k := o.Known(spec.Model{Context: 9, Concurrency: 9}, 0); k.Context != 300 || k.Concurrency != 4 {
		t.Errorf("of the command: %+v", k)
	}
	if k := o.Known(spec.Model{}, 200); k.Context != 200 {
		t.Errorf("of the server: %+v", k)
	}
	o.Measure.MaxContext = 100
	if k := o.Known(spec.Model{}, 200); k.Context != 100 {
		t.Errorf("of the options: %+v", k)
	}
	o.System.Model, o.Server.Name = "m", ServerName{Kind: ServerDocker}
	c := o.Complete(spec.Model{Image: "i", ID: "acme/m", Wait: 3600})
	if c.Server.Image != "i" || c.System.Model != "acme/m" || c.Server.StartupTimeout != 2*time.Hour {
		t.Errorf("%+v", c)
	}
}

func TestServerName(t *testing.T) {
	for text, want := range map[string]string{
		"sim": "sim", "docker": "http://127.0.0.1:8000", "http://h:1/": "http://h:1", "http://h:1/v1/": "http://h:1",
		"command vllm serve m": "http://127.0.0.1:8000", "command vllm serve m --port 9": "http://127.0.0.1:9",
		"command x -p=7": "http://127.0.0.1:7",
	} {
		var s, back ServerName
		err := s.UnmarshalText([]byte(text))
		if err != nil || s.Address(0) != want {
			t.Errorf("%q: %q %v", text, s.Address(0), err)
		}
		if err := back.UnmarshalText([]byte(s.String())); err != nil || back.String() != s.String() {
			t.Errorf("%q became %q: %v", s, back, err)
		}
	}
	if s := (ServerName{Kind: ServerDocker}); s.Address(8123) != "http://127.0.0.1:8123" {
		t.Error(s.Address(8123))
	}
	for _, text := range []string{"nonsense", "command", "ftp://h", "http://"} {
		if err := new(ServerName).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// The words of run.py have run.py's defaults, and contradictions and misspelt values are refused.
func TestRunPy(t *testing.T) {
	var o Options
	_, err := o.ApplyRunPy(RunPy{Workflow: "evals", LimitMode: "ci-commit", Docker: true})
	if err != nil || o.Measure.Only != OnlyEvals || o.Evals.ModeLimit != 20 ||
		o.Server.Name.Kind != ServerDocker || !o.Evals.NoQuestions {
		t.Errorf("%+v %v", o, err)
	}
	o = Options{}
	notes, err := o.ApplyRunPy(RunPy{Workflow: "release", LocalServer: true, CIMode: true, Goodput: "x:1"})
	if err != nil || o.Server.Name.URL != "http://127.0.0.1:8000" || o.Server.StartupTimeout < 20*time.Minute ||
		o.Measure.Sweep != SweepStandard || !slices.Equal(o.Tools.Names, []string{"vllm"}) || !o.Tools.ChatLoad ||
		o.Evals.ModeLimit != 100 || len(o.Tools.Args) != 2 || len(notes) != 1 {
		t.Errorf("%+v %v %v", o, notes, err)
	}
	o = Options{Tools: ToolOptions{Names: []string{"genai"}}, Server: ServerOptions{Port: 8001}}
	o.Measure.Workloads = []Workload{{ISL: 1, OSL: 1, Concurrency: 1}}
	at := ServerName{Kind: ServerURL, URL: "http://h"}
	if _, err := o.ApplyRunPy(RunPy{Workflow: "benchmarks", ServerURL: at}); err != nil || o.Measure.Sweep != "" ||
		o.Tools.Names[0] != "genai-perf" || o.Server.Name.URL != "http://h:8001" || o.Server.Port != 0 {
		t.Errorf("%+v %v", o, err)
	}
	for _, bad := range []RunPy{
		{Workflow: "x"}, {LimitMode: "x"}, {Docker: true, LocalServer: true}, {Docker: true, DevMode: true},
		{Samples: "{"}, {Samples: "{}", CIMode: true}, {TTConfig: "[1]"}, {VLLMArgs: `{"a": null}`},
		{VLLMArgs: `{"a": false}`},
	} {
		if _, err := new(Options).ApplyRunPy(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// Values of --vllm-override-args become flags.
func TestRunPyEngineArgs(t *testing.T) {
	var o Options
	_, err := o.ApplyRunPy(RunPy{TTConfig: `{"data_parallel": 16}`,
		VLLMArgs: `{"max_model_len": 4096, "enable_chunked_prefill": true, "x": {"y": 1}, "name": "a b"}`})
	want := []string{"--additional-config", `{"tt":{"data_parallel":16}}`, "--enable-chunked-prefill",
		"--max-model-len", "4096", "--name", "a b", "--x", `{"y":1}`}
	if err != nil || !slices.Equal(o.Server.EngineArgs, want) {
		t.Errorf("%q %v", o.Server.EngineArgs, err)
	}
}

// The stress sweep is the matrix of the model's limits, without what does not fit.
func TestStress(t *testing.T) {
	var got []string
	for _, w := range stress(spec.Model{Context: 4096, Concurrency: 32}) {
		got = append(got, fmt.Sprintf("%d/%d/%d n=%d", w.ISL, w.OSL, w.Concurrency, w.Requests))
	}
	want := "3968/128/1 n=1, 2048/2048/1 n=1, 1920/128/1 n=1, 1920/128/2 n=2, 281/128/1 n=1, 281/128/2 n=2, " +
		"281/128/10 n=10"
	if strings.Join(got, ", ") != want {
		t.Error(got)
	}
	for _, w := range stress(spec.Model{Context: 131072, Concurrency: 32, AllUsers: 8 * 131072}) {
		if w.Concurrency*(w.ISL+w.OSL) > 8*131072 {
			t.Errorf("%+v does not fit", w)
		}
	}
}

// Options of a server that it would ignore are refused.
func TestServerOptionsOnlyFor(t *testing.T) {
	docker, command := ServerName{Kind: ServerDocker}, ServerName{Kind: ServerCommand, Argv: []string{"x"}}
	at := ServerName{Kind: ServerURL, URL: "http://h:1"}
	for _, tt := range []struct {
		s  ServerOptions
		ok bool
	}{
		{ServerOptions{Name: docker, Image: "i", Port: 1, Volumes: []string{"a:b"}, NoAuth: true}, true},
		{ServerOptions{Name: command, Port: 1, EngineArgs: []string{"--x"}}, true},
		{ServerOptions{Name: at}, true}, {ServerOptions{}, true},
		{ServerOptions{Name: at, Port: 1}, false}, {ServerOptions{Name: at, Image: "i"}, false},
		{ServerOptions{Name: command, Volumes: []string{"a:b"}}, false}, {ServerOptions{Port: 1}, false},
		{ServerOptions{Name: at, EngineArgs: []string{"--x"}}, false}, {ServerOptions{Name: command, NoAuth: true}, false},
	} {
		if err := tt.s.OnlyFor(); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt.s, err)
		}
	}
}

// Tools that cannot make the requested load are refused before anything is started.
func TestFill(t *testing.T) {
	random, dataset := []Workload{{ISL: 1, OSL: 1, Concurrency: 1}}, []Workload{{Dataset: "sharegpt", Rate: 1}}
	find := Finder{FindOnly: true, Exec: map[string]string{"mine": "x {url} {out}", "bad": "x"}}
	for name, tt := range map[string]struct {
		tools ToolOptions
		loads []Workload
		evals []EvalTask
		wrong string
	}{
		"builtin": {loads: random},
		"two": {tools: ToolOptions{Names: []string{"builtin", "vllm", "mine"},
			Args: []string{"vllm=--x", "mine=y"}}, loads: random},
		"unknown":  {tools: ToolOptions{Names: []string{"aipref"}}, loads: random, wrong: `unknown tool "aipref"`},
		"bad exec": {tools: ToolOptions{Names: []string{"bad"}}, loads: random, wrong: "does not use {out}"},
		"bad arg":  {tools: ToolOptions{Args: []string{"x=1"}}, loads: random, wrong: "names no tool"},
		"two engines": {tools: ToolOptions{Names: []string{"throughput", "vllm"}}, loads: random,
			wrong: "two models on one device"},
		"dataset":        {loads: dataset, wrong: "builtin makes random prompts"},
		"eval as a load": {tools: ToolOptions{Names: []string{"lm-eval"}}, loads: random, wrong: "unknown tool"},
		"unknown eval": {evals: []EvalTask{{Tool: tool.Tool{Adapter: tool.Adapter{Name: "vllm"}}}},
			wrong: "unknown tool"},
	} {
		p := Plan{Workloads: tt.loads, Evals: tt.evals}
		err := find.Fill(context.Background(), &p, tt.tools)
		if tt.wrong == "" && (err != nil || len(p.Tools) != len(tt.tools.Names)) ||
			tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong) || !errors.As(err, &UsageError{})) {
			t.Errorf("%s: %v, want %q", name, err, tt.wrong)
		}
	}
}

// Repeats are interleaved, and within a repeat the tools; tools that run once come after the workloads, evals last.
func TestItems(t *testing.T) {
	vllm, _ := tool.Named("vllm")
	once, _ := tool.Script("mine", "x {url} {out}")
	p := Plan{
		Workloads: []Workload{{ISL: 1, OSL: 2, Concurrency: 3}, {Dataset: "a/b", Rate: .5}}, Repeat: 2, EvalItems: 5,
		Tools: []tool.Tool{{Adapter: vllm}, {Adapter: once}},
		Evals: []EvalTask{{Tool: tool.Tool{Adapter: tool.Adapter{Name: "lm-eval"}}, Task: "g/h", Limit: 7}},
	}
	var names []string
	for _, it := range p.Items() {
		names = append(names, it.Name)
	}
	want := "01-vllm-isl1-osl2-c3 02-vllm-a_b-rate0.5 03-mine 04-vllm-isl1-osl2-c3 05-vllm-a_b-rate0.5 06-mine " +
		"builtin_arithmetic lm-eval-g_h"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	other := p
	other.Seed++
	if a, b := p.Digest(), other.Digest(); a != p.Digest() || a == b {
		t.Errorf("digests %s %s", a, b)
	}
	if sizes, lengths := (Plan{Workloads: []Workload{{ISL: 60, OSL: 20, Concurrency: 1},
		{ISL: 60, OSL: 20, Concurrency: 8}}}).BatchLists(); sizes != "1;8" || lengths != "60,20" {
		t.Error(sizes, lengths)
	}
}

func TestEstimate(t *testing.T) {
	w := Workload{ISL: 2000, OSL: 20, Concurrency: 2, Requests: 8} // a request: 1 s of prefill and 1 s of decoding
	e := EstimateOf(Plan{Workloads: []Workload{w}, Repeat: 3}, nil)
	if e.Each[0] != 8*time.Second || e.Total != 24*time.Second || e.Measured != 0 {
		t.Errorf("%+v", e)
	}
	open := Workload{ISL: 2000, OSL: 20, Rate: 2, Requests: 8}
	vllm, _ := tool.Named("vllm")
	e = EstimateOf(Plan{Workloads: []Workload{open}, Tools: []tool.Tool{tool.Builtin(),
		{Adapter: vllm, Path: "/bin/vllm"}}}, nil)
	if e.Each[0] != 6*time.Second || e.Starts != 30*time.Second || e.Total != 12*time.Second+30*time.Second {
		t.Errorf("%+v", e)
	}
}
