package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/rootfs"
)

// RunPy holds flags of tt-inference-server's run.py that mean something here; see ttreport help run-py.
type RunPy struct {
	Workflow    string // benchmarks, evals, release, reports, server, tests, spec_tests or stress_tests
	Device      string
	LimitMode   string // smoke-test, ci-commit, ci-nightly or ci-long
	CIMode      bool   // ci-nightly, without validation
	Docker      bool
	LocalServer bool
	ServerURL   ServerName
	DevMode     bool
	Samples     string // questions of each task, as JSON or a file with it
	Goodput     string // objectives, for AIPerf
	HostVolume  string
	ImageUser   string
	NoTimeout   bool   // --disable-metal-timeout
	TTConfig    string // JSON
	VLLMArgs    string // JSON
	Notes       []Note // on flags that do nothing here
	Refused     []Note // flags that cannot mean here what they mean there, with advice
}

// Workflows of run.py that the caller must act on.
const (
	WorkflowRelease = "release" // the report follows the measurement
	WorkflowReports = "reports" // the report alone
	WorkflowServer  = "server"  // the server alone
)

// Workflows of run.py that this package acts on.
const (
	workflowStress = "stress_tests"
	workflowTests  = "tests" // spec_tests since v0.18
	specTests      = "spec-tests"
)

// runPyWait is how long run.py waits for a server that runs already or will soon.
const runPyWait = 20 * time.Minute

// ApplyRunPy translates flags of run.py, and returns what a reader of the plan must know of them.
func (o *Options) ApplyRunPy(r RunPy) ([]Note, error) {
	if len(r.Refused) > 0 {
		return nil, usage(r.Refused[0].Text, "collect: --%s is a flag of run.py that cannot be used here", r.Refused[0].Kind)
	}
	o.System.Device = cmp.Or(o.System.Device, r.Device)
	notes := slices.Clone(r.Notes)
	for _, apply := range []func(RunPy) ([]Note, error){o.runPyServer, o.runPyImage, o.runPyWorkflow, o.runPyEvals} {
		more, err := apply(r)
		if err != nil {
			return nil, err
		}
		notes = append(notes, more...)
	}
	for i, name := range o.Tools.Names {
		if name == "genai" {
			o.Tools.Names[i] = "genai-perf"
		}
	}
	if r.Goodput != "" && (len(o.Tools.Names) == 0 || slices.Contains(o.Tools.Names, tool.Builtin().Name)) {
		return nil, usage("--tools aiperf, or a workload with slo='ttft_p99<500ms', whose result has its goodput",
			"collect: --goodput is for AIPerf, and the builtin client does not compute it")
	}
	if r.Goodput != "" {
		o.Tools.Args = append(o.Tools.Args, "aiperf=--goodput", "aiperf="+r.Goodput)
	}
	return notes, nil
}

// runPyServer names the server.
func (o *Options) runPyServer(r RunPy) ([]Note, error) {
	named := 0
	for _, is := range []bool{!o.Server.Name.IsZero(), r.Docker, r.LocalServer, !r.ServerURL.IsZero()} {
		if is {
			named++
		}
	}
	if named > 1 {
		return nil, usage("leave all but one out",
			"collect: --server, --server-url, --docker-server and --local-server exclude each other")
	}
	switch {
	case r.Docker:
		o.Server.Name = ServerName{Kind: ServerDocker}
	case r.LocalServer:
		at := fmt.Sprintf("http://127.0.0.1:%d", cmp.Or(o.Server.Port, usualPort))
		o.Server.Name, o.Server.Port = ServerName{Kind: ServerURL, URL: at}, 0
		return []Note{{"run.py", "--local-server measures the server that runs at " + at +
			"; to start one: --server 'command …'"}}, nil
	case !r.ServerURL.IsZero():
		o.Server.Name = r.ServerURL
		if u, err := url.Parse(r.ServerURL.URL); err == nil && u.Port() == "" && o.Server.Port > 0 {
			u.Host = fmt.Sprintf("%s:%d", u.Host, o.Server.Port)
			o.Server.Name.URL = u.String()
		}
		o.Server.Port = 0
	}
	return nil, nil
}

// runPyWorkflow takes run.py's defaults for a workflow: the standard sweep with vLLM's client over chat completions,
// the evals of the model, and twenty minutes for a server to be ready.
func (o *Options) runPyWorkflow(r RunPy) ([]Note, error) {
	switch r.Workflow {
	case "", WorkflowReports, WorkflowServer:
		return nil, nil
	case string(OnlyBenchmarks), string(OnlyEvals):
		o.Measure.Only = Only(r.Workflow)
	case WorkflowRelease:
	case workflowStress:
		o.Measure.Only, o.Measure.Sweep = OnlyBenchmarks, cmp.Or(o.Measure.Sweep, SweepStress)
	case workflowTests, "spec_tests":
		o.Measure.Only, o.Measure.Sweep, o.Tools.Names = OnlyBenchmarks, "quick", []string{specTests}
	default:
		return nil, usage("workflows are benchmarks, evals, release, reports, server, tests and stress_tests; "+
			"ttreport help run-py", "collect: --workflow %q", r.Workflow)
	}
	m := &o.Measure
	if m.Sweep == "" && len(m.Workloads) == 0 && m.Batches == "" && !m.TargetsOnly {
		m.Sweep = SweepStandard
	}
	if len(o.Tools.Names) == 0 {
		o.Tools.Names = []string{tool.VLLM}
	}
	o.Tools.ChatLoad, o.Evals.NoQuestions = true, true
	if o.Server.Name.Kind == ServerURL {
		o.Server.StartupTimeout = cmp.Or(o.Server.StartupTimeout, runPyWait)
	}
	return nil, nil
}

// runPyEvals limits the questions.
func (o *Options) runPyEvals(r RunPy) ([]Note, error) {
	mode := r.LimitMode
	if r.CIMode {
		mode = cmp.Or(mode, "ci-nightly")
	}
	limit, ok := map[string]int{"": 0, "smoke-test": 3, "ci-commit": 20, "ci-nightly": 100, "ci-long": 500}[mode]
	if !ok {
		return nil, usage("modes are smoke-test, ci-commit, ci-nightly and ci-long", "collect: --limit-samples-mode %q", mode)
	}
	o.Evals.ModeLimit = limit
	if r.Samples == "" {
		return nil, nil
	}
	if mode != "" {
		return nil, usage("leave one of them out", "collect: --eval-samples and --limit-samples-mode exclude each other")
	}
	samples := r.Samples
	if data, err := rootfs.ReadFile(samples, 4<<20); err == nil {
		samples = strings.TrimSpace(string(data))
	}
	if !json.Valid([]byte(samples)) {
		return nil, usage(`--eval-samples '{"gsm8k": [0, 1, 2]}', or a file with that`,
			"collect: --eval-samples is neither JSON nor a file")
	}
	o.Tools.Args = append(o.Tools.Args, "lm-eval=--samples", "lm-eval="+samples)
	return nil, nil
}

// CacheRoot is where tt-inference-server's images keep weights and compiled kernels.
const CacheRoot = "/home/container_app_user/cache_root"

// runPyImage sets what a container gets.
func (o *Options) runPyImage(r RunPy) ([]Note, error) {
	s := &o.Server
	notes, err := s.devMode(r.DevMode)
	if err != nil {
		return nil, err
	}
	if r.HostVolume != "" {
		s.Volumes = append(s.Volumes, r.HostVolume+":"+CacheRoot)
	}
	if r.ImageUser != "" && r.ImageUser != "1000" {
		s.RunArgs = append(s.RunArgs, "--user", r.ImageUser)
	}
	if r.NoTimeout {
		s.RunArgs = append(s.RunArgs, "-e", "DISABLE_METAL_OP_TIMEOUT=1")
	}
	if r.TTConfig != "" {
		config, err := object("--override-tt-config", r.TTConfig)
		if err != nil {
			return nil, err
		}
		text, _ := json.Marshal(map[string]any{"tt": config}) // it was JSON
		s.EngineArgs = append(s.EngineArgs, "--additional-config", string(text))
	}
	args, err := vllmArgs(r.VLLMArgs)
	s.EngineArgs = append(s.EngineArgs, args...)
	return notes, err
}

// devMode mounts the sources of the checkout that is the current folder, as run.py does.
func (s *ServerOptions) devMode(asked bool) ([]Note, error) {
	switch {
	case !asked:
		return nil, nil
	case s.Name.Kind != ServerDocker:
		return []Note{{"run.py", "--dev-mode mounts sources into an image; this server is none"}}, nil
	case s.Image == "":
		return nil, usage("--override-docker-image NAME: specifications in development pin no image",
			"collect: --dev-mode needs an image")
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("collect: %w", err)
	}
	const home = "/home/container_app_user/app/"
	mounted := 0
	for _, dir := range [][2]string{
		{"reference_config", "reference_config"}, {"utils", "utils"}, {"tests", "tests"}, {"vllm-tt-metal/src", "src"},
	} {
		from := filepath.Join(here, filepath.FromSlash(dir[0]))
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			s.Volumes = append(s.Volumes, from+":"+home+dir[1])
			mounted++
		}
	}
	if mounted == 0 {
		return nil, usage("run it in a checkout of tt-inference-server, or mount what you edit with --volume",
			"collect: --dev-mode found no sources in %s", here)
	}
	return nil, nil
}

// object reads a flag whose value is a JSON object.
func object(flag, text string) (map[string]any, error) {
	if text == "" {
		return nil, nil
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil || out == nil {
		return nil, usage(flag+` '{"name": value}'`, "collect: %s is no JSON object: %s", flag, text)
	}
	return out, nil
}

// vllmArgs writes an object of --vllm-override-args as flags of vLLM.
func vllmArgs(text string) ([]string, error) {
	const flag = "--vllm-override-args"
	values, err := object(flag, text)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch v := values[name].(type) {
		case bool:
			if v {
				out = append(out, "--"+dashes(name))
				continue
			}
			return nil, usage("leave it out: vLLM's default applies, and it has no common form of a flag for false",
				"collect: %s: %s is false", flag, name)
		case nil:
			return nil, usage("leave it out: vLLM's default applies", "collect: %s: %s is null", flag, name)
		case string:
			out = append(out, "--"+dashes(name), v)
		default:
			value, _ := json.Marshal(v) // it was JSON
			out = append(out, "--"+dashes(name), string(value))
		}
	}
	return out, nil
}

func dashes(name string) string { return strings.ReplaceAll(name, "_", "-") }
