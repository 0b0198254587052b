package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/aiperf"
	"github.com/ttreport/ttreport/collect/tool/environment"
	"github.com/ttreport/ttreport/collect/tool/guidellm"
	"github.com/ttreport/ttreport/collect/tool/lmeval"
	"github.com/ttreport/ttreport/collect/tool/vllm"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// foreignOptions are the options of collect that servers and tools of others need.
type foreignOptions struct {
	tools, evals      []string
	tokenizer         string
	include           string
	evalLimit         int
	chat, fresh       bool
	port, inner       int
	image, engine     string
	runArgs, args     []string
	wait, pointLimit  time.Duration
	workflow, ttDev   string
	dockerSrv, locSrv bool
	ignored           bool
}

// adapters are the foreign tools.
func adapters() []tool.Adapter {
	return []tool.Adapter{vllm.Adapter(), aiperf.Adapter(), guidellm.Adapter(), lmeval.Adapter()}
}

func (o *collectOptions) more(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.tools, "tools", nil, "`names` of the clients that make load: builtin, vllm, aiperf, guidellm (default builtin)")
	fs.StringSliceVar(&o.evals, "evals", nil, "`tasks` of lm-eval; in place of the builtin questions")
	fs.IntVar(&o.evalLimit, "eval-limit", 0, "at most this many `questions` a task; 0 for all")
	fs.StringVar(&o.include, "eval-tasks", "", "`folder` with lm-eval tasks of your own")
	fs.StringVar(&o.tokenizer, "tokenizer", "", "`folder or name` of the model's tokenizer, for tools that make their own prompts")
	fs.BoolVar(&o.chat, "chat", false, "chat completions in place of completions, for tools")
	fs.BoolVar(&o.fresh, "fresh", false, "begin anew where the same collection was interrupted")
	fs.IntVar(&o.port, "port", 0, "`port` of a server that is started (default: the --port in its command, else 8000)")
	fs.StringVar(&o.image, "image", "", "`image` for --server docker, best by digest")
	fs.StringVar(&o.engine, "engine", "", "docker or podman, for --server docker (default: the one that is there)")
	fs.IntVar(&o.inner, "inner-port", 0, "`port` inside the container, where it is another")
	fs.StringArrayVar(&o.runArgs, "run-arg", nil, "one more `argument` for docker run, as --run-arg=--volume=/models:/models:ro; may be repeated")
	fs.DurationVar(&o.wait, "wait", 0, "how long the server may take to be ready (default 1h when started, 1m when attached)")
	fs.DurationVar(&o.pointLimit, "point-timeout", 0, "how long one measurement may take (default 2h)")
	// Names that tt-inference-server's run.py has for the same.
	fs.StringVar(&o.workflow, "workflow", "", "benchmarks, evals or release")
	fs.StringVar(&o.ttDev, "tt-device", "", "as --device")
	fs.IntVar(&o.port, "service-port", 0, "as --port")
	fs.BoolVar(&o.dockerSrv, "docker-server", false, "as --server docker")
	fs.BoolVar(&o.locSrv, "local-server", false, "as --server http://127.0.0.1:PORT")
	fs.BoolVar(&o.ignored, "disable-trace-capture", false, "no more than two warm-up requests are ever sent")
	fs.BoolVar(&o.ignored, "dev-mode", false, "nothing differs")
	for _, name := range []string{"workflow", "tt-device", "service-port", "docker-server", "local-server", "disable-trace-capture", "dev-mode"} {
		_ = fs.MarkHidden(name) // it is declared above
	}
}

// aliases translates the names that run.py has.
func (o *collectOptions) aliases() error {
	if o.ttDev != "" && o.device == "" {
		o.device = o.ttDev
	}
	switch o.workflow {
	case "", "release":
	case "benchmarks", "evals":
		o.only = o.workflow
	default:
		return fail(exitUsage, "workflows are benchmarks, evals and release; reports are made by ttreport build", "collect: --workflow %q", o.workflow)
	}
	if o.dockerSrv {
		o.server = "docker"
	}
	if o.locSrv {
		o.server = fmt.Sprintf("http://127.0.0.1:%d", o.portOr(8000))
	}
	return nil
}

func (o collectOptions) portOr(other int) int {
	if o.port > 0 {
		return o.port
	}
	return other
}

// started is the command of --server 'command …'.
func (o collectOptions) started() ([]string, bool) {
	words, err := manifest.Split(o.server)
	if err != nil || len(words) < 2 || words[0] != "command" {
		return nil, false
	}
	return words[1:], true
}

// address is where the server answers or will.
func (o collectOptions) address() string {
	if argv, ok := o.started(); ok {
		port := 8000
		for i, a := range argv {
			name, value, found := strings.Cut(a, "=")
			if name != "--port" && name != "-p" {
				continue
			}
			if !found && i+1 < len(argv) {
				value = argv[i+1]
			}
			_, _ = fmt.Sscanf(value, "%d", &port) // a port that is no number is the server's to refuse
		}
		return fmt.Sprintf("http://127.0.0.1:%d", o.portOr(port))
	}
	if o.server == "docker" {
		return fmt.Sprintf("http://127.0.0.1:%d", o.portOr(8000))
	}
	return strings.TrimSuffix(o.server, "/")
}

// serverKind is the server that --server names.
func (o collectOptions) serverKind(key string) (collect.Server, error) {
	served := o.model
	switch {
	case o.server == "sim":
		if o.device != schema.Simulated {
			return nil, fail(exitUsage, "--device simulated, or --server URL for a real one", "collect: the simulator measures no device, so it cannot stand for %q", o.device)
		}
		cfg := sim.Defaults()
		cfg.Model, cfg.Seed = path.Base(o.model), o.seed
		if o.release != "" {
			cfg.Version = o.release
		}
		return &collect.Simulated{Config: cfg}, nil
	case o.server == "docker":
		return o.container(key)
	}
	if argv, ok := o.started(); ok {
		return &collect.Command{Argv: argv, URL: o.address(), Model: served, APIKey: key, Wait: o.wait}, nil
	}
	u, err := url.Parse(o.server)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fail(exitUsage, "--server sim, --server http://127.0.0.1:8000, --server 'command vllm serve …', or --server docker --image IMAGE", "collect: %q is neither sim nor the address of a server, nor a way to start one", o.server)
	}
	return &collect.Attached{URL: o.server, Model: served, APIKey: key, Wait: o.wait}, nil
}

// container is the server that is started from an image, with what its device needs.
func (o collectOptions) container(key string) (collect.Server, error) {
	if o.image == "" {
		return nil, fail(exitUsage, "--image registry.example/name@sha256:…", "collect: --server docker needs --image")
	}
	engine := o.engine
	for _, name := range []string{"docker", "podman"} {
		if engine == "" && environment.OnPath(name) {
			engine = name
		}
	}
	if engine == "" {
		return nil, fail(exitUsage, "install docker or podman, or attach to a server with --server URL", "collect: neither docker nor podman is here")
	}
	return &collect.Container{Engine: engine, Image: o.image, Run: append(collect.DeviceArgs(o.device), o.runArgs...), Args: o.args, Inner: o.inner, URL: o.address(), Model: o.model, APIKey: key, Wait: o.wait}, nil
}

// tooling finds or makes the tools of a plan. A dry run makes none.
func (o collectOptions) tooling(ctx context.Context, sh *shell, ws *workspace.Workspace, p *collect.Plan) error {
	p.Tokenizer, p.Chat, p.Include, p.PointLimit, p.Fresh = o.tokenizer, o.chat, o.include, o.pointLimit, o.fresh
	boxes := environment.Tools{Configured: ws.Config.Tools, Say: func(s string) { sh.say("tools     %s", s) }}
	for _, name := range o.tools {
		if name == collect.Builtin().Name {
			p.Tools = append(p.Tools, collect.Builtin())
			continue
		}
		t, err := o.ready(ctx, sh, boxes, name, false)
		if err != nil {
			return err
		}
		p.Tools = append(p.Tools, t)
	}
	if len(o.evals) == 0 || o.only == "benchmarks" {
		return nil
	}
	t, err := o.ready(ctx, sh, boxes, "lm-eval", true)
	if err != nil {
		return err
	}
	p.EvalItems = 0
	for _, task := range o.evals {
		p.Evals = append(p.Evals, collect.EvalTask{Tool: t, Task: task, Limit: o.evalLimit})
	}
	return nil
}

// ready finds a tool and asks it who it is.
func (o collectOptions) ready(ctx context.Context, sh *shell, boxes environment.Tools, name string, eval bool) (collect.Tool, error) {
	all := adapters()
	at := slices.IndexFunc(all, func(a tool.Adapter) bool { return a.Name == name && a.Eval == eval })
	if at < 0 {
		names := []string{"builtin"}
		for _, a := range all {
			if !a.Eval {
				names = append(names, a.Name)
			}
		}
		return collect.Tool{}, fail(exitUsage, "tools are "+strings.Join(names, ", "), "collect: no tool is called %q", name)
	}
	a := all[at]
	if o.dryRun {
		found, err := boxes.Look(a.Name, a.Program)
		if errors.Is(err, environment.ErrNone) {
			found.Program = a.Program
		} else if err != nil {
			return collect.Tool{}, failure{code: exitUsage, err: err}
		}
		return collect.Tool{Adapter: a, Program: found.Program}, nil
	}
	found, err := boxes.Ensure(ctx, a.Name, a.Program)
	if err != nil {
		return collect.Tool{}, fail(exitCollect, "ttreport doctor says what is missing", "collect: %w", err)
	}
	t := collect.Prepare(ctx, a, found.Program)
	sh.say("tools     %s %s from the %s", a.Name, dashText(t.Release), found.From)
	return t, nil
}

func dashText(s string) string {
	if s == "" {
		return "(version unknown)"
	}
	return s
}

// writeLines prints every command line of a plan as it would run.
func writeLines(sh *shell, p collect.Plan, srv collect.Server, address string) error {
	lines := collect.Lines(p, srv, address)
	for _, l := range lines {
		fmt.Fprintln(sh.out, l)
	}
	return nil
}

// key is what the server wants to know us by: OPENAI_API_KEY, or a token made of JWT_SECRET, from the environment or .env.
func (o collectOptions) key(sh *shell, ws *workspace.Workspace) (string, error) {
	if o.server == "sim" {
		return "", nil
	}
	file, warning, err := dotenv(ws.Dir)
	if err != nil {
		return "", failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
	}
	if warning != "" {
		sh.say("warning: %s", warning)
	}
	get := func(name string) string {
		if v := os.Getenv(name); v != "" {
			return v
		}
		return file[name]
	}
	if v := file["HF_TOKEN"]; v != "" && os.Getenv("HF_TOKEN") == "" { // for tools; a server's container gets its own
		if err := os.Setenv("HF_TOKEN", v); err != nil {
			return "", fmt.Errorf("collect: %w", err)
		}
	}
	if k := get("OPENAI_API_KEY"); k != "" {
		return k, nil
	}
	if secret := get("JWT_SECRET"); secret != "" {
		return jwt(secret)
	}
	return get("API_KEY"), nil
}
