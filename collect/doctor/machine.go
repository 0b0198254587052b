package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/server"
)

// Least of what a collection gets along with.
const (
	leastSpace  = 10 // GB
	leastMemory = 4  // GB
)

func containers() Finding {
	if name := server.InstalledEngine(); name != "" {
		return answers(name)
	}
	return Finding{false, "containers", "neither docker nor podman is installed", "apt-get install podman"}
}

// answers reports whether an engine can start containers: docker's program is installed without its daemon, or without
// the right to use it.
func answers(engine string) Finding {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "info").CombinedOutput()
	if err == nil {
		return Finding{true, "containers", engine, ""}
	}
	last := strings.TrimSpace(string(out))
	if at := strings.LastIndexByte(last, '\n'); at >= 0 {
		last = last[at+1:]
	}
	return Finding{false, "containers", engine + " is installed and does not answer: " + cmp.Or(last, err.Error()),
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
	switch {
	case err != nil:
		out = append(out, Finding{false, ".env", err.Error(), "chmod 600 .env"})
	case file.Warning != "":
		out = append(out, Finding{false, ".env", file.Warning, "chmod 600 .env"})
	}
	for _, name := range credentials.Names() {
		found := "not set; needed where a model is gated or a server wants a key"
		if from := file.Source(name); from != credentials.FromNowhere {
			found = "set in " + string(from)
		}
		out = append(out, Finding{true, name, found, ""})
	}
	return out
}

func space(dir string) Finding {
	var free float64
	abs, err := filepath.Abs(dir)
	if err == nil {
		free, err = freeBytes(abs)
	}
	if err != nil {
		return Finding{false, "disk", err.Error(), ""}
	}
	free /= 1e9
	f := Finding{free > leastSpace, "disk", fmt.Sprintf("%.0f GB free", free), ""}
	if !f.OK {
		f.Fix = "make room: an environment of vLLM alone takes 8 GB"
	}
	return f
}

func memory() Finding {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return Finding{true, "memory", "unknown", ""}
	}
	for line := range strings.Lines(string(data)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "MemAvailable: %f kB", &kb); err == nil {
			return Finding{kb > leastMemory*1e6, "memory", fmt.Sprintf("%.1f GB available", kb/1e6), ""}
		}
	}
	return Finding{true, "memory", "unknown", ""}
}

// hugePages is one finding where the kernel has them, else none.
func hugePages() []Finding {
	pages, err := os.ReadFile("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages")
	if err != nil {
		return nil
	}
	found := strings.TrimSpace(string(pages)) + " of 1 GiB; Tenstorrent devices need them"
	return []Finding{{true, "huge pages", found, ""}}
}
