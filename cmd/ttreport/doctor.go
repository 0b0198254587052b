package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/environment"
)

func doctorCommand() command {
	return command{
		name: "doctor", summary: "list what tools, secrets and space are there, what is missing, and how to fix it",
		help: `
Changes nothing unless asked: --make TOOL makes a tool's environment now instead of when it is first used, --reset
TOOL removes it, so that it is made again. Values of secrets are never shown. Exit 4 when a tool of --for TOOL,… is
missing.`,
		examples: []example{
			{"is everything there?", "ttreport doctor"},
			{"before a night of measuring with vLLM's client", "ttreport doctor --for vllm,lm-eval"},
			{"before a night of measuring an image",
				"ttreport doctor --model meta-llama/Llama-3.1-8B-Instruct --image registry.example/acme:1"},
			{"an environment that is broken", "ttreport doctor --reset aiperf"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o doctorOptions
			fs.StringSliceVar(&o.needed, "for", nil, "`tools` that must be installed")
			fs.StringVar(&o.reset, "reset", "", "remove the environment of this `tool`")
			fs.StringVar(&o.make, "make", "", "make the environment of this `tool` now")
			fs.StringVar(&o.model, "model", "", "`name` of a model on the hub: is it accessible?")
			fs.StringVar(&o.image, "image", "", "`image` of a server: is it there?")
			fs.IntVar(&o.port, "port", 8000, "`port` that a server would take")
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) > 0 {
					return fail(exitUsage, "ttreport doctor --help", "doctor: unexpected %q", args[0])
				}
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				return o.check(ctx, sh, ws)
			}
		},
	}
}

type doctorOptions struct {
	needed       []string
	reset, make  string
	model, image string
	port         int
}

// finding is a line of the doctor.
type finding struct {
	ok          bool
	what, found string
	fix         string // command, "" when nothing is to be done
}

func (o doctorOptions) check(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	for _, name := range append([]string{o.reset, o.make}, o.needed...) {
		if _, known := tool.Named(name); name != "" && !known {
			tools := strings.Join(append(tool.Names(false)[1:], tool.Names(true)...), ", ")
			return fail(exitUsage, "tools are "+tools, "doctor: no tool is called %q", name)
		}
	}
	find := environment.Tools{Configured: ws.Config.Tools, Say: func(s string) { sh.say("%s", s) }}
	if o.reset != "" {
		if err := find.Reset(o.reset); err != nil {
			return fail(exitCollect, "see the permissions of the cache folder", "doctor: %w", err)
		}
	}
	if o.make != "" {
		a, _ := tool.Named(o.make)
		if _, err := find.Ensure(ctx, a.Name, a.Program, a.Module); err != nil {
			return fail(exitCollect, "the log next to the environment's folder has the details", "doctor: %w", err)
		}
	}
	all := append(toolFindings(ctx, ws, find), o.hostFindings(ws)...)
	if o.model != "" {
		all = append(all, accessFinding(ctx, ws, hub, o.model))
	}
	if o.image != "" {
		all = append(all, imageFinding(ctx, o.image))
	}
	missing := 0
	tw := tabwriter.NewWriter(sh.out, 2, 0, 2, ' ', 0)
	for _, f := range all {
		sign := "ok"
		if !f.ok {
			sign = "--"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", sign, f.what, f.found, f.fix)
		if !f.ok && slices.Contains(o.needed, f.what) {
			missing++
		}
	}
	tw.Flush()
	if missing > 0 {
		return fail(exitCollect, "the last column has the commands", "%s missing", plural(missing, "needed tool"))
	}
	return nil
}

func toolFindings(ctx context.Context, ws *workspace.Workspace, find environment.Tools) []finding {
	out := []finding{{true, "builtin", "in this program", ""}}
	for _, a := range tool.Adapters() {
		out = append(out, toolFinding(ctx, find, a))
	}
	for _, name := range slices.Sorted(maps.Keys(ws.Config.Exec)) {
		if _, err := (plan.Finder{Exec: ws.Config.Exec}).Adapter(name, false); err != nil {
			out = append(out, finding{false, name, err.Error(), "correct exec: in ttreport.yaml"})
		} else {
			out = append(out, finding{true, name, "exec, " + ws.Config.Exec[name], ""})
		}
	}
	makers := finding{environment.OnPath("uv") || environment.OnPath("python3"), "environments", "made with uv", ""}
	switch {
	case !makers.ok:
		makers.found, makers.fix = "neither uv nor python3 is installed", "apt-get install python3-venv"
	case !environment.OnPath("uv"):
		makers.found = "made with python3 -m venv; uv would be faster"
	}
	return append(out, makers)
}

// toolFinding looks for one tool.
func toolFinding(ctx context.Context, find environment.Tools, a tool.Adapter) finding {
	distribution := a.Package
	if distribution == "" {
		distribution = a.Name
	}
	pin := environment.Pin(a.Name, distribution)
	found, err := find.Find(ctx, a.Name, a.Program, a.Module)
	switch {
	case err == nil && found.From == "environment":
		return finding{true, a.Name, "its own environment with " + pin + ", " + found.Dir, ""}
	case err == nil:
		return finding{true, a.Name, found.From + ", " + found.Program, ""}
	case !errors.Is(err, environment.ErrNone):
		return finding{false, a.Name, err.Error(), "correct tools: in ttreport.yaml"}
	case pin == "":
		fix := "tools: {" + a.Name + ": /path/to/" + a.Program + "} in ttreport.yaml"
		return finding{false, a.Name, "not installed, and ttreport does not install it", fix}
	}
	return finding{false, a.Name, "not installed yet; " + pin + " is pinned", "ttreport doctor --make " + a.Name}
}

func (o doctorOptions) hostFindings(ws *workspace.Workspace) []finding {
	var out []finding
	engine := finding{false, "containers", "neither docker nor podman is installed", "apt-get install podman"}
	if name := server.InstalledEngine(); name != "" {
		engine = finding{true, "containers", name, ""}
	}
	out = append(out, engine, o.portFinding())
	file, warning, err := dotenv(ws.Dir)
	switch {
	case err != nil:
		out = append(out, finding{false, ".env", err.Error(), "chmod 600 .env"})
	case warning != "":
		out = append(out, finding{false, ".env", warning, "chmod 600 .env"})
	}
	for _, name := range []string{"HF_TOKEN", "OPENAI_API_KEY", "JWT_SECRET"} {
		from := "not set; needed where a model is gated or a server wants a key"
		if os.Getenv(name) != "" {
			from = "set in the environment"
		} else if file[name] != "" {
			from = "set in .env"
		}
		out = append(out, finding{true, name, from, ""})
	}
	out = append(out, spaceFinding(ws.Dir), memoryFinding())
	if pages, err := os.ReadFile("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"); err == nil {
		n := strings.TrimSpace(string(pages))
		out = append(out, finding{true, "huge pages", n + " of 1 GiB; Tenstorrent devices need them", ""})
	}
	return out
}

func (o doctorOptions) portFinding() finding {
	what := fmt.Sprintf("port %d", o.port)
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", o.port), time.Second)
	if err != nil {
		return finding{true, what, "free", ""}
	}
	_ = conn.Close() // only the connection was wanted
	fix := fmt.Sprintf("ttreport collect --server http://127.0.0.1:%d …, or --port another", o.port)
	return finding{false, what, "something listens there", fix}
}

func spaceFinding(dir string) finding {
	var s syscall.Statfs_t
	abs, err := filepath.Abs(dir)
	if err == nil {
		err = syscall.Statfs(abs, &s)
	}
	if err != nil {
		return finding{false, "disk", err.Error(), ""}
	}
	free := float64(s.Bavail) * float64(s.Bsize) / 1e9
	f := finding{free > 10, "disk", fmt.Sprintf("%.0f GB free", free), ""}
	if !f.ok {
		f.fix = "make room: an environment of vLLM alone takes 8 GB"
	}
	return f
}

func memoryFinding() finding {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return finding{true, "memory", "unknown", ""}
	}
	for line := range strings.Lines(string(data)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "MemAvailable: %f kB", &kb); err == nil {
			return finding{kb > 4e6, "memory", fmt.Sprintf("%.1f GB available", kb/1e6), ""}
		}
	}
	return finding{true, "memory", "unknown", ""}
}
