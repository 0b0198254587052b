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
	LimitMode   string // smoke-test, ci-commit, ci-nightly or ci-long
	CIMode      bool   // ci-nightly, without validation
	Docker      bool
	LocalServer bool
	ServerURL   ServerName
	DevMode     bool
	Samples     string // questions of each task, as JSON or a file with it
	Goodput     string // objectives, for AIPerf
	TTConfig    string // JSON
	VLLMArgs    string // JSON
	notes       []Note
	refused     error
}

// Note notes that a flag does nothing here, with what to know instead.
func (r *RunPy) Note(flag, does string) {
	r.notes = append(r.notes, Note{"run.py", "--" + flag + ": " + does})
}

// Refuse notes that a flag cannot mean here what it means there, with advice.
func (r *RunPy) Refuse(flag, does string) {
	if r.refused == nil {
		r.refused = Usage(does, "collect: --%s is a flag of run.py that cannot be used here", flag)
	}
}

// Workflows of run.py that the caller must act on.
const (
	WorkflowRelease = "release" // the report follows the measurement
	WorkflowReports = "reports" // the report alone
	WorkflowServer  = "server"  // the server alone
)

// specTests is the exec tool of the workflow of tests.
const specTests = "spec-tests"

// ApplyRunPy translates flags of run.py, and returns what a reader of the plan must know of them.
func (o *Options) ApplyRunPy(r RunPy) ([]Note, error) {
	for _, apply := range []func(*RunPy) error{o.runPyServer, o.runPyImage, o.runPyWorkflow, o.runPyEvals} {
		if r.refused == nil {
			r.refused = apply(&r)
		}
	}
	if r.refused != nil {
		return nil, r.refused
	}
	for i, name := range o.Tools.Names {
		if name == "genai" {
			o.Tools.Names[i] = "genai-perf"
		}
	}
	if r.Goodput != "" && (len(o.Tools.Names) == 0 || slices.Contains(o.Tools.Names, tool.Builtin().Name)) {
		return nil, Usage("--tools aiperf, or a workload with slo='ttft_p99<500ms', whose result has its goodput",
			"collect: --goodput needs AIPerf; the builtin client does not compute it")
	}
	if r.Goodput != "" {
		o.Tools.Args = append(o.Tools.Args, "aiperf=--goodput", "aiperf="+r.Goodput)
	}
	return r.notes, nil
}

// runPyServer names the server.
func (o *Options) runPyServer(r *RunPy) error {
	s := &o.Server
	named := slices.DeleteFunc([]bool{!s.Name.IsZero(), r.Docker, r.LocalServer, !r.ServerURL.IsZero()},
		func(is bool) bool { return !is })
	if len(named) > 1 {
		return Usage("use only one of them",
			"collect: --server, --server-url, --docker-server and --local-server cannot be combined")
	}
	switch {
	case r.Docker:
		s.Name.Kind = ServerDocker
	case r.LocalServer:
		at := fmt.Sprintf("http://127.0.0.1:%d", cmp.Or(s.Port, usualPort))
		s.Name, s.Port = ServerName{Kind: ServerURL, URL: at}, 0
		r.notes = append(r.notes, Note{"run.py", "--local-server measures the server that runs at " + at +
			"; to start one: --server 'command …'"})
	case !r.ServerURL.IsZero():
		s.Name = r.ServerURL
		if u, err := url.Parse(r.ServerURL.URL); err == nil && u.Port() == "" && s.Port > 0 {
			u.Host = fmt.Sprintf("%s:%d", u.Host, s.Port)
			s.Name.URL = u.String()
		}
		s.Port = 0
	}
	return nil
}

// runPyWorkflow takes run.py's defaults for a workflow: the standard sweep with vLLM's client over chat completions,
// the evals of the model, and twenty minutes for a server to be ready.
func (o *Options) runPyWorkflow(r *RunPy) error {
	m := &o.Measure
	switch r.Workflow {
	case "", WorkflowReports, WorkflowServer:
		return nil
	case string(OnlyBenchmarks), string(OnlyEvals):
		m.Only = Only(r.Workflow)
	case WorkflowRelease:
		o.System.NamedBySpec = true
	case "stress_tests":
		m.Only, m.Sweep = OnlyBenchmarks, cmp.Or(m.Sweep, SweepStress)
	case "tests", "spec_tests": // the second since v0.18
		m.Only, m.Sweep, o.Tools.Names = OnlyBenchmarks, "quick", []string{specTests}
	default:
		return Usage("the workflows are benchmarks, evals, release, reports, server, tests and stress_tests; "+
			"ttreport help run-py", "collect: --workflow %q", r.Workflow)
	}
	if m.Sweep == "" && len(m.Workloads) == 0 && m.Batches == "" && !m.TargetsOnly {
		m.Sweep = SweepStandard
	}
	if len(o.Tools.Names) == 0 {
		o.Tools.Names = []string{tool.VLLM}
	}
	o.Tools.ChatLoad, o.Evals.NoQuestions = true, true
	if o.Server.Name.Kind == ServerURL { // one that runs already or will soon
		o.Server.StartupTimeout = cmp.Or(o.Server.StartupTimeout, 20*time.Minute)
	}
	return nil
}

// runPyEvals limits the questions.
func (o *Options) runPyEvals(r *RunPy) error {
	mode := r.LimitMode
	if r.CIMode {
		mode = cmp.Or(mode, "ci-nightly")
	}
	limit, ok := map[string]int{"": 0, "smoke-test": 3, "ci-commit": 20, "ci-nightly": 100, "ci-long": 500}[mode]
	o.Evals.ModeLimit = limit
	samples := r.Samples
	if data, err := rootfs.ReadFile(samples, 4<<20); samples != "" && err == nil {
		samples = strings.TrimSpace(string(data))
	}
	switch {
	case !ok:
		return Usage("the modes are smoke-test, ci-commit, ci-nightly and ci-long", "collect: --limit-samples-mode %q", mode)
	case samples == "":
		return nil
	case mode != "":
		return Usage("leave one of them out", "collect: --eval-samples and --limit-samples-mode cannot be combined")
	case !json.Valid([]byte(samples)):
		return Usage(`--eval-samples '{"gsm8k": [0, 1, 2]}', or a file with that`,
			"collect: --eval-samples must be JSON or the path of a file")
	}
	o.Tools.Args = append(o.Tools.Args, "lm-eval=--samples", "lm-eval="+samples)
	return nil
}

// CacheRoot is where tt-inference-server's images keep weights and compiled kernels.
const CacheRoot = "/home/container_app_user/cache_root"

// runPyImage sets what a container gets.
func (o *Options) runPyImage(r *RunPy) error {
	s := &o.Server
	if r.DevMode {
		if err := s.devMode(r); err != nil {
			return err
		}
	}
	config, err := object("--override-tt-config", r.TTConfig)
	if err != nil {
		return err
	}
	if config != nil {
		text, _ := json.Marshal(map[string]any{"tt": config}) // it was JSON
		s.EngineArgs = append(s.EngineArgs, "--additional-config", string(text))
	}
	const flag = "--vllm-override-args"
	values, err := object(flag, r.VLLMArgs)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) { // as flags of vLLM
		dashed := "--" + strings.ReplaceAll(name, "_", "-")
		switch v := values[name].(type) {
		case nil:
			return Usage("leave it out: vLLM's default applies", "collect: %s: %s is null", flag, name)
		case bool:
			if !v {
				return Usage("leave it out: vLLM's default applies, and vLLM has no general flag for false",
					"collect: %s: %s is false", flag, name)
			}
			s.EngineArgs = append(s.EngineArgs, dashed)
		case string:
			s.EngineArgs = append(s.EngineArgs, dashed, v)
		default:
			value, _ := json.Marshal(v) // it was JSON
			s.EngineArgs = append(s.EngineArgs, dashed, string(value))
		}
	}
	return nil
}

// devMode mounts the sources of the checkout that is the current folder, as run.py does.
func (s *ServerOptions) devMode(r *RunPy) error {
	if s.Name.Kind != ServerDocker {
		r.notes = append(r.notes, Note{"run.py",
			"--dev-mode mounts sources into an image, and this server does not run from one"})
		return nil
	}
	if s.Image == "" {
		return Usage("--override-docker-image NAME: specifications in development pin no image",
			"collect: --dev-mode needs an image")
	}
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("collect: %w", err)
	}
	before := len(s.Volumes)
	for _, dir := range []string{"reference_config", "utils", "tests", "vllm-tt-metal/src"} {
		from := filepath.Join(here, filepath.FromSlash(dir))
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			s.Volumes = append(s.Volumes, from+":/home/container_app_user/app/"+filepath.Base(dir))
		}
	}
	if len(s.Volumes) == before {
		return Usage("run it in a checkout of tt-inference-server, or mount what you edit with --volume",
			"collect: --dev-mode found no sources in %s", here)
	}
	return nil
}

// object reads a flag whose value is a JSON object; nil for none.
func object(flag, text string) (out map[string]any, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil || out == nil {
		return nil, Usage(flag+` '{"name": value}'`, "collect: %s is not a JSON object: %s", flag, text)
	}
	return out, nil
}
