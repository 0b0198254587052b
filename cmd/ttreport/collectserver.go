package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"
	shellquote "github.com/kballard/go-shellquote"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/environment"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// started is the command of --server 'command …'.
func (o collectOptions) started() ([]string, bool) {
	words, err := shellquote.Split(o.server)
	if err != nil || len(words) < 2 || words[0] != "command" {
		return nil, false
	}
	return words[1:], true
}

// attaches reports whether the server is somebody else's.
func (o collectOptions) attaches() bool {
	return strings.HasPrefix(o.server, "http://") || strings.HasPrefix(o.server, "https://")
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
			if n, err := strconv.Atoi(value); err == nil { // a port that is no number is the server's to refuse
				port = n
			}
		}
		return fmt.Sprintf("http://127.0.0.1:%d", o.portOr(port))
	}
	if o.server == "docker" {
		return fmt.Sprintf("http://127.0.0.1:%d", o.portOr(8000))
	}
	return strings.TrimSuffix(o.server, "/")
}

// serverKind is the server that --server names, or the place of one for tools that bring their own engine.
func (o collectOptions) serverKind(ws *workspace.Workspace, p collect.Plan, key string, waiting func(error)) (collect.Server, error) {
	if len(p.Tools) > 0 && p.Tools[0].Offline {
		return collect.Engineless{Model: o.model, Stack: manifest.Stack{Engine: engineOf(p.Tools[0].Name), Version: p.Tools[0].Release}}, nil
	}
	switch o.server {
	case "sim":
		if o.device != schema.Simulated {
			return nil, fail(exitUsage, "--device simulated, or --server URL for a real one", "collect: the simulator measures no device, so it cannot stand for %q", o.device)
		}
		cfg := sim.Defaults()
		if c, rehearsed := collect.RehearsedConfig(o.release, o.seed); rehearsed && path.Base(o.model) == cfg.Model {
			cfg = c // what belongs to that release is measured on its simulator
		}
		cfg.Model, cfg.Seed = path.Base(o.model), o.seed
		if o.release != "" {
			cfg.Version = o.release
		}
		return &collect.Simulated{Config: cfg}, nil
	case "docker":
		return o.container(ws, key, waiting)
	}
	if argv, ok := o.started(); ok {
		return &collect.Command{Argv: argv, URL: o.address(), Model: o.model, APIKey: key, Wait: o.wait, Waiting: waiting}, nil
	}
	u, err := url.Parse(o.server)
	if err != nil || !o.attaches() || u.Host == "" {
		return nil, fail(exitUsage, "--server sim, --server http://127.0.0.1:8000, --server 'command vllm serve …', or --server docker --image IMAGE", "collect: %q is neither sim nor the address of a server, nor a way to start one", o.server)
	}
	return &collect.Attached{URL: o.server, Model: o.model, APIKey: key, Wait: o.wait, Waiting: waiting}, nil
}

// engineOf is the engine that a tool brings.
func engineOf(tool string) string {
	switch tool {
	case "throughput", "latency":
		return "vllm"
	case "trtllm", "trtllm-bench":
		return "tensorrt-llm"
	}
	return ""
}

// container is the server that is started from an image, with what its device needs.
func (o collectOptions) container(ws *workspace.Workspace, key string, waiting func(error)) (collect.Server, error) {
	if o.image == "" {
		return nil, fail(exitUsage, "--image registry.example/name@sha256:…, or ttreport models import, which knows tt-inference-server's", "collect: --server docker needs --image")
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
	c := &collect.Container{Engine: engine, Image: o.image, Args: o.args, Inner: o.inner, URL: o.address(), Model: o.model, APIKey: key, Wait: o.wait, Waiting: waiting}
	env := o.envFile
	if collect.IsTenstorrent(o.device) {
		c.Run = collect.DeviceArgs(o.device, o.deviceID, o.impl, path.Base(o.model))
		if len(c.Args) == 0 {
			c.Args = o.imageArgs()
		}
		if _, err := os.Stat(filepath.Join(ws.Dir, ".env")); env == "" && err == nil {
			env = filepath.Join(ws.Dir, ".env")
		}
	}
	if env != "" {
		c.Run = append(c.Run, "--env-file", env)
	}
	for _, v := range o.volumes {
		c.Run = append(c.Run, "--volume", v)
	}
	c.Run = append(c.Run, o.runArgs...)
	return c, nil
}

// imageArgs are the arguments that tt-inference-server's images take, as its run_docker_server.py gives them.
func (o collectOptions) imageArgs() []string {
	args := []string{"--model", o.model, "--tt-device", strings.ToLower(o.device)}
	if o.noAuth {
		args = append(args, "--no-auth")
	}
	if o.noWarmup {
		args = append(args, "--disable-trace-capture")
	}
	if port := o.portOr(8000); port != 8000 {
		args = append(args, "--service-port", strconv.Itoa(port))
	}
	return args
}

// look asks a running server who it is. One that wants a key is asked again with one that a person types, where one is there to type.
func (o collectOptions) look(ctx context.Context, sh *shell, ws *workspace.Workspace, key *string) (collect.Endpoint, error) {
	end, err := (&collect.Attached{URL: o.server, Model: o.model, APIKey: *key}).Look(ctx)
	if !errors.Is(err, collect.ErrDenied) {
		return end, err
	}
	typed, asked := ask(sh, ws, "OPENAI_API_KEY", fmt.Sprintf("%s wants a key", o.server))
	if !asked {
		return end, err
	}
	*key = typed
	return (&collect.Attached{URL: o.server, Model: o.model, APIKey: *key}).Look(ctx)
}

// leave starts a server, says how to go on, and leaves it running.
func (o collectOptions) leave(ctx context.Context, sh *shell, ws *workspace.Workspace, srv collect.Server) error {
	type detached interface {
		Detach(ctx context.Context, dir string) (collect.Left, error)
	}
	d, ok := srv.(detached)
	if !ok {
		return fail(exitUsage, "--server docker, or --server 'command …'", "collect: --server-only starts a server, and %s is none that could be started", o.server)
	}
	left, err := d.Detach(ctx, filepath.Join(ws.Dir, ".ttreport", "servers"))
	if err != nil {
		return collectError(ctx, sh, ws, err)
	}
	fmt.Fprintf(sh.out, "%s is ready at %s\n  log      %s\n  end it   %s\n  measure  ttreport collect --model %s --device %s --server %s\n", left.Name, left.URL, left.Log, left.Stop, shellescape.QuoteCommand([]string{o.model}), shellescape.QuoteCommand([]string{o.device}), left.URL)
	return nil
}
