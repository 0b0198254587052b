// Package doctor examines what a collection needs: tools, secrets, a port, space, access to a model, an image.
//
// In: what a workspace configures and what a person asks about. Out: [Finding] values, each with what is to be done.
// It changes nothing. Values of secrets are in no finding.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
)

// Finding is one thing that was examined.
type Finding struct {
	OK    bool
	What  string // a tool, "disk", "port 8000"
	Found string
	Fix   string // what to do, mostly a command; "" when nothing is to be done
}

// Request says what to examine.
type Request struct {
	Dir   string            // the workspace
	Tools tool.Environments // how tools are found
	Exec  map[string]string // benchmarks of the user's own, by name
	Port  int               // that a server would take
	Model string            // on the hub; "" for none
	Image string            // of a server; "" for none
}

// Check reports the first name that is no tool's.
func Check(names ...string) error {
	for _, name := range names {
		if _, known := tool.Named(name); name != "" && !known {
			return fmt.Errorf("unknown tool %q", name)
		}
	}
	return nil
}

// Tools lists the names of all tools that can be examined.
func Tools() []string { return append(tool.Names(false)[1:], tool.Names(true)...) }

// Examine examines everything, tools first.
func Examine(ctx context.Context, r Request) []Finding {
	out := []Finding{{true, "builtin", "in this program", ""}}
	for _, a := range tool.Adapters() {
		pin, f := a.Pin(), Finding{true, a.Name, "", ""}
		switch found, err := r.Tools.Find(ctx, a); {
		case err == nil && found.From == "environment":
			f.Found = "its own environment with " + pin + ", " + found.Dir
		case err == nil:
			f.Found = found.From + ", " + found.Program
		case !errors.Is(err, tool.ErrNone):
			f = Finding{false, a.Name, err.Error(), "correct tools: in ttreport.yaml"}
		case pin == "":
			fix := "tools: {" + a.Name + ": /path/to/" + a.Program + "} in ttreport.yaml"
			f = Finding{false, a.Name, "not installed; ttreport cannot install it", fix}
		default:
			f = Finding{false, a.Name, "not installed yet; " + pin + " is pinned", "ttreport doctor --make " + a.Name}
		}
		out = append(out, f)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Exec)) {
		f := Finding{true, name, "exec, " + redact.Text(r.Exec[name]), ""}
		if _, err := (plan.Finder{Exec: r.Exec}).Adapter(name, false); err != nil {
			f = Finding{false, name, err.Error(), "correct exec: in ttreport.yaml"}
		}
		out = append(out, f)
	}
	made := Finding{false, "environments", "neither uv nor python3 is installed", "apt-get install python3-venv"}
	if _, err := exec.LookPath("uv"); err == nil {
		made = Finding{true, "environments", "made with uv", ""}
	} else if _, err := exec.LookPath("python3"); err == nil {
		made = Finding{true, "environments", "made with python3 -m venv; uv would be faster", ""}
	}
	out = append(out, made, containers(ctx), port(r.Port))
	out = append(out, secrets(r.Dir)...)
	out = append(out, space(r.Dir))
	if r.Model != "" {
		out = append(out, access(ctx, r))
	}
	if r.Image != "" {
		out = append(out, image(ctx, r.Image))
	}
	return out
}

// Missing counts what is needed and not there.
func Missing(list []Finding, needed []string) int {
	n := 0
	for _, f := range list {
		if !f.OK && slices.Contains(needed, f.What) {
			n++
		}
	}
	return n
}

// Write writes findings as a table.
func Write(w io.Writer, list []Finding) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	for _, f := range list {
		sign := "ok"
		if !f.OK {
			sign = "--"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", sign, f.What, f.Found, f.Fix)
	}
	return tw.Flush()
}

// access asks the hub, where models and their terms are, whether a model can be downloaded.
func access(ctx context.Context, r Request) Finding {
	what := "access to " + r.Model
	file, _ := credentials.Open(r.Dir) // what is wrong with it is a finding of its own
	token, set := file.Get(credentials.HFToken), "not set"
	if token != "" {
		set = "set"
	}
	status, _, hub, err := tool.AskHub(ctx, http.MethodHead, r.Model, "config.json", token)
	if err != nil {
		return Finding{true, what, "unknown: " + err.Error(), ""}
	}
	switch status {
	case http.StatusOK:
		return Finding{true, what, "yes", ""}
	case http.StatusUnauthorized:
		return Finding{
			false, what, "refused: it is gated, private, or does not exist, and HF_TOKEN is " + set,
			"set HF_TOKEN, in the environment or in .env, to a token of an account that has access",
		}
	case http.StatusForbidden:
		found := "refused: its terms are not accepted by the account of HF_TOKEN"
		return Finding{false, what, found, "accept them at " + hub + "/" + r.Model}
	case http.StatusNotFound:
		return Finding{false, what, "no such model, or none with a config.json", ""}
	}
	return Finding{true, what, fmt.Sprintf("unknown: the hub answers HTTP %d", status), ""}
}

// noEngine is the finding where no container engine is installed.
func noEngine(what string) Finding {
	return Finding{false, what, "neither docker nor podman is installed", "apt-get install podman"}
}

// image asks the container engine whether an image is pulled.
func image(ctx context.Context, name string) Finding {
	what := "image " + plaintext.Middle(name, plaintext.PathWidth)
	engine := server.InstalledEngine()
	if engine == "" {
		return noEngine(what)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "image", "inspect", "--format", "{{.Id}}", name).Output()
	if err != nil {
		return Finding{false, what, "not pulled; it is pulled when it is first used", engine + " pull " + name}
	}
	return Finding{true, what, string(out[:min(len(out), 19)]), ""}
}

// containers reports whether an engine can start containers: docker's program is installed without its daemon, or
// without the right to use it.
func containers(ctx context.Context) Finding {
	engine := server.InstalledEngine()
	if engine == "" {
		return noEngine("containers")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "info").CombinedOutput()
	if err == nil {
		return Finding{true, "containers", engine, ""}
	}
	text := strings.TrimSpace(string(out))
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return Finding{false, "containers", engine + " is installed but does not answer: " + cmp.Or(last, err.Error()),
		"start its daemon (systemctl start docker), join the group docker, or install podman, which needs no daemon"}
}

func port(n int) Finding {
	what := fmt.Sprintf("port %d", n)
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", n), time.Second)
	if err != nil {
		return Finding{true, what, "free", ""}
	}
	_ = conn.Close() // only the connection was wanted
	fix := fmt.Sprintf("ttreport collect --server http://127.0.0.1:%d …, or --port another", n)
	return Finding{false, what, "something listens there", fix}
}

// secrets says which secrets are set, and where; never what they are.
func secrets(dir string) []Finding {
	var out []Finding
	file, err := credentials.Open(dir)
	wrong := file.Warning
	if err != nil {
		wrong = err.Error()
	}
	if wrong != "" {
		out = append(out, Finding{false, ".env", wrong, "chmod 600 .env"})
	}
	for _, name := range []string{credentials.HFToken, credentials.OpenAIKey, credentials.JWTSecret} {
		found := "not set; needed where a model is gated or a server wants a key"
		if from := file.Source(name); from != "" {
			found = "set in " + from
		}
		out = append(out, Finding{true, name, found, ""})
	}
	return out
}

func space(dir string) Finding {
	const least = 10 // GB
	var free float64
	abs, err := filepath.Abs(dir)
	if err == nil {
		free, err = freeBytes(abs)
	}
	switch free /= 1e9; {
	case err != nil:
		return Finding{false, "disk", err.Error(), ""}
	case free <= least:
		const fix = "make room: an environment of vLLM alone takes 8 GB"
		return Finding{false, "disk", fmt.Sprintf("%.0f GB free", free), fix}
	}
	return Finding{true, "disk", fmt.Sprintf("%.0f GB free", free), ""}
}
