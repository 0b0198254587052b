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
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/environment"
)

func doctorCommand() command {
	return command{
		name: "doctor", summary: "say what tools, secrets and space are here, what is missing, and the command that mends it",
		help: `Looks, and changes nothing unless asked: --make TOOL makes a tool's environment now rather than when it is first used, --reset TOOL
removes it, so that it is made anew. Values of secrets are never shown. Exit 4 when something that --for TOOL,… needs is missing.`,
		examples: []example{
			{"is everything here?", "ttreport doctor"},
			{"before a night of measuring with vLLM's client", "ttreport doctor --for vllm,lm-eval"},
			{"before a night of measuring an image", "ttreport doctor --model meta-llama/Llama-3.1-8B-Instruct --image registry.example/acme:1"},
			{"an environment that somebody broke", "ttreport doctor --reset aiperf"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o doctorOptions
			fs.StringSliceVar(&o.needed, "for", nil, "`tools` that must be there")
			fs.StringVar(&o.reset, "reset", "", "remove the environment of this `tool`")
			fs.StringVar(&o.make, "make", "", "make the environment of this `tool` now")
			fs.StringVar(&o.model, "model", "", "`name` of a model on the hub: may we have it?")
			fs.StringVar(&o.image, "image", "", "`image` of a server: is it here?")
			fs.IntVar(&o.port, "port", 8000, "`port` that a server would take")
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) > 0 {
					return fail(exitUsage, "ttreport doctor --help", "doctor: unexpected %q", args[0])
				}
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				return o.look(ctx, sh, ws)
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
	ok         bool
	what, says string
	mend       string // command, "" when nothing is to be done
}

func (o doctorOptions) look(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	boxes := environment.Tools{Configured: ws.Config.Tools, Say: func(s string) { sh.say("%s", s) }}
	for _, name := range []string{o.reset, o.make} {
		if _, known := named(name); name != "" && !known {
			return fail(exitUsage, "tools are "+allToolNames(), "doctor: no tool is called %q", name)
		}
	}
	if o.reset != "" {
		if err := boxes.Reset(o.reset); err != nil {
			return fail(exitCollect, "see the permissions of the cache folder", "doctor: %w", err)
		}
	}
	if o.make != "" {
		a, _ := named(o.make)
		if _, err := boxes.Ensure(ctx, a.Name, a.Program, a.Module); err != nil {
			return fail(exitCollect, "the log beside the environment has all of it", "doctor: %w", err)
		}
	}
	all := append(o.toolFindings(ctx, ws, boxes), o.hostFindings(ws)...)
	if o.model != "" {
		all = append(all, accessFinding(ctx, ws, hub, o.model))
	}
	if o.image != "" {
		all = append(all, imageFinding(ctx, o.image))
	}
	tw := tabwriter.NewWriter(sh.out, 2, 0, 2, ' ', 0)
	missing := 0
	for _, f := range all {
		sign := "ok"
		if !f.ok {
			sign = "--"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", sign, f.what, f.says, f.mend)
		for _, n := range o.needed {
			if f.what == n && !f.ok {
				missing++
			}
		}
	}
	tw.Flush()
	for _, n := range o.needed {
		if _, known := named(n); !known {
			return fail(exitUsage, "tools are "+allToolNames(), "doctor: no tool is called %q", n)
		}
	}
	if missing > 0 {
		return fail(exitCollect, "the last column has the commands", "%s missing", plural(missing, "needed tool"))
	}
	return nil
}

func named(name string) (tool.Adapter, bool) {
	for _, a := range adapters() {
		if a.Name == name {
			return a, true
		}
	}
	return tool.Adapter{}, false
}

func (o doctorOptions) toolFindings(ctx context.Context, ws *workspace.Workspace, boxes environment.Tools) []finding {
	out := []finding{{true, "builtin", "in this program", ""}}
	for _, a := range adapters() {
		found, err := boxes.Look(ctx, a.Name, a.Program, a.Module)
		switch {
		case err == nil && found.From == "environment":
			out = append(out, finding{true, a.Name, "its own environment, " + found.Dir, ""})
		case err == nil:
			out = append(out, finding{true, a.Name, found.From + ", " + found.Program, ""})
		case errors.Is(err, environment.ErrNone):
			if environment.Pinned(a.Name) == "" {
				out = append(out, finding{false, a.Name, "not here, and too large or too particular to be made", "tools: {" + a.Name + ": /path/to/" + a.Program + "} in ttreport.yaml"})
				continue
			}
			pinned, _, _ := strings.Cut(pinOf(a.Name), "\n")
			out = append(out, finding{false, a.Name, "not made yet; " + pinned, "ttreport doctor --make " + a.Name})
		default:
			out = append(out, finding{false, a.Name, err.Error(), "correct tools: in ttreport.yaml"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ws.Config.Exec)) {
		if _, err := adapter(ws, name, false); err != nil {
			out = append(out, finding{false, name, err.Error(), "correct exec: in ttreport.yaml"})
		} else {
			out = append(out, finding{true, name, "exec, " + ws.Config.Exec[name], ""})
		}
	}
	makers := finding{environment.OnPath("uv") || environment.OnPath("python3"), "environments", "made with uv", ""}
	switch {
	case !makers.ok:
		makers.says, makers.mend = "neither uv nor python3 is here", "apt-get install python3-venv"
	case !environment.OnPath("uv"):
		makers.says = "made with python3 -m venv; uv would be faster"
	}
	return append(out, makers)
}

// pinOf is the line of a tool itself in its requirements.
func pinOf(name string) string {
	for line := range strings.Lines(environment.Pinned(name)) {
		if n, _, _ := strings.Cut(line, "=="); n == name {
			return strings.TrimSpace(line) + " is pinned"
		}
	}
	return "nothing is pinned"
}

func (o doctorOptions) hostFindings(ws *workspace.Workspace) []finding {
	var out []finding
	engine := finding{false, "containers", "neither docker nor podman is here", "apt-get install podman"}
	for _, name := range []string{"docker", "podman"} {
		if environment.OnPath(name) {
			engine = finding{true, "containers", name, ""}
			break
		}
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
		out = append(out, finding{true, "huge pages", strings.TrimSpace(string(pages)) + " of 1 GiB; Tenstorrent devices need them", ""})
	}
	return out
}

func (o doctorOptions) portFinding() finding {
	what := fmt.Sprintf("port %d", o.port)
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", o.port), time.Second)
	if err != nil {
		return finding{true, what, "free", ""}
	}
	_ = conn.Close() // only the greeting was wanted
	return finding{false, what, "somebody answers there", fmt.Sprintf("ttreport collect --server http://127.0.0.1:%d …, or --port another", o.port)}
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
		f.mend = "make room: an environment of vLLM alone takes 8 GB"
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
