//go:build !race

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"al.essio.dev/pkg/shellescape"
	"github.com/rogpeppe/go-internal/txtar"
)

// parityHead is the page before its table.
const parityHead = `# What the five systems do, and the line that does it here

For people who come from one of five systems, when they look for a feature they had there.

ttreport grew from five systems: tt-inference-server's benchmarks, its AIPerf benchmarks and its workflows, nm-vllm, and
TensorRT-LLM's benchmark.py. The table follows their documentation: each row has a feature and a command line that a
test of ttreport runs to its end; the last column says what the test checks. In these tests, scripts that write what the
tools write replace the tools, and a simulator replaces the servers, one of them at 127.0.0.1:8001; .ci/real runs the
real ones. The wishes come from issues of tt-inference-server and tt-metal.

| system | feature | line | checked |
|--------|---------|------|---------|
`

// A row of testdata/parity.txtar is "system | feature | arguments | expressions". Expressions, with " && " between
// them, are looked for in the output, in one of the files that "file:" before it names, or, with "asked:", in .env
// after secrets were typed. "calls" has the command lines of the tools, which scripts play: they write what the real
// ones write. 8001 is the port of a server that runs; SERVICE_PORT has another one, which servers that are started
// take. Nothing is only planned: what collect measured is found again by check.
// Hundreds of commands, each several times slower with the race detector: .ci/run runs them without it.
func TestParity(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	archive, err := txtar.ParseFile("testdata/parity.txtar")
	if err != nil {
		t.Fatal(err)
	}
	page, err := filepath.Abs("../../templates/docs/parity.md")
	if err != nil {
		t.Fatal(err)
	}
	tail, err := os.ReadFile("testdata/parity-not-here.md") // what the table lacks, with the reason
	if err != nil {
		t.Fatal(err)
	}
	port := layParity(t, archive)
	table := parityHead
	for line := range strings.Lines(string(archive.Comment)) {
		cells := strings.SplitN(strings.TrimSpace(line), " | ", 4)
		if len(cells) != 4 {
			continue // an empty line, or a comment
		}
		shown := strings.Fields(cells[2])
		variable, value, hasVariable := strings.Cut(shown[0], "=")
		before := os.Getenv(variable)
		if hasVariable {
			t.Setenv(variable, strings.ReplaceAll(value, runningPort, port))
			shown = shown[1:]
		}
		args := strings.Fields(strings.ReplaceAll(strings.Join(shown, " "), runningPort, port))
		expression, isAsked := strings.CutPrefix(cells[3], "asked:")
		if isAsked {
			asked(t, args, expression)
		} else {
			check(t, args, strings.ReplaceAll(cells[3], runningPort, port))
		}
		if strings.Contains(cells[2], "--workflow release") { // whose release is not that of workflow_logs
			_, _ = os.RemoveAll("history"), os.RemoveAll("_site")
		}
		text := shellescape.QuoteCommand(append([]string{"ttreport"}, shown...))
		if hasVariable {
			t.Setenv(variable, before)
			text = variable + "=" + value + " " + text
		}
		looked := "what it prints"
		switch {
		case isAsked:
			looked = "what is typed at a terminal, and .env"
		case strings.Contains(cells[3], "file:calls:"):
			looked = "what was measured, and the command lines of the tools"
		case shown[0] == "collect" && !slices.Contains(shown, "reports") && !strings.Contains(cells[2], "--"+printed):
			looked = "what was measured"
		case strings.Contains(cells[3], "file:"):
			looked = "a file that it writes"
		}
		table += fmt.Sprintf("| %s | %s | `%s` | %s |\n", cells[0], cells[1], text, looked)
	}
	table += string(tail)
	if *updateParity {
		if err := os.WriteFile(page, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile(page); err != nil || string(stored) != table {
		t.Errorf("%s differs (%v); go test ./cmd/ttreport -run TestParity -update-parity rewrites it", page, err)
	}
}

// runningPort is the port of the table's server that runs; printed is the flag of collect that only prints.
const runningPort, printed = "8001", "print-docker-cmd"

// layParity writes the files of the table into a folder, makes it the current one, and starts the server that runs. It
// returns the server's port.
func layParity(t *testing.T, archive *txtar.Archive) (port string) {
	t.Helper()
	dir := t.TempDir()
	raw := os.DirFS("../../testdata/recorded/aiperf-0.13.0/isl128-osl128-c8-n32")
	if err := os.CopyFS(filepath.Join(dir, "aiperf"), raw); err != nil {
		t.Fatal(err)
	}
	handler, err := standin()
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(handler)
	t.Cleanup(served.Close)
	_, port, _ = strings.Cut(strings.TrimPrefix(served.URL, "http://"), ":")
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, bytes.ReplaceAll(f.Data, []byte(runningPort), []byte(port)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"XDG_CACHE_HOME": filepath.Join(dir, ".cache"), "XDG_RUNTIME_DIR": filepath.Join(dir, ".run"),
		"HF_HOME": filepath.Join(dir, "hf"), "HF_HUB_OFFLINE": "1", "SERVICE_PORT": fmt.Sprint(freePort(t)),
	} {
		t.Setenv(name, value)
	}
	t.Chdir(dir)
	return port
}

// check runs a line and looks for expressions in what it prints or writes. What is measured is measured to its end.
func check(t *testing.T, args []string, want string) {
	t.Helper()
	_ = os.RemoveAll("results")
	_ = os.Remove("calls")
	var out bytes.Buffer
	line := strings.Join(args, " ")
	if args[0] == "collect" && !strings.Contains(line, "--help") {
		runToEnd(t, args, &out)
	} else {
		run(context.Background(), args, strings.NewReader(""), &out, &out)
	}
	for expression := range strings.SplitSeq(want, " && ") {
		text := out.String()
		if rest, isFile := strings.CutPrefix(expression, "file:"); isFile {
			var pattern string
			pattern, expression, _ = strings.Cut(rest, ":")
			files, _ := filepath.Glob(pattern) // it is well formed
			text = ""
			for _, name := range files {
				text += unpacked(t, name) + "\n"
			}
		}
		if !regexp.MustCompile("(?m)" + expression).MatchString(text) {
			t.Errorf("%s: %q is not in\n%.3000s\nIt printed\n%.3000s", line, expression, text, out.String())
		}
	}
}

// runToEnd runs a line of collect, with the tools that scripts play. It must succeed, and check must find each point.
func runToEnd(t *testing.T, args []string, out io.Writer) {
	t.Helper()
	path := os.Getenv("PATH")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(here, "bin")+":"+path)
	var printed, found bytes.Buffer
	both := io.MultiWriter(out, &printed)
	code := run(context.Background(), args, strings.NewReader(""), both, both)
	_ = exec.Command("docker", "stop", "c1").Run() // where the server is left running
	t.Setenv("PATH", path)
	if _, err := os.Stat("results"); err == nil {
		run(context.Background(), []string{"check", "results", "--ephemeral"}, strings.NewReader(""), &found, &found)
	}
	if code != 0 || strings.Contains(found.String(), "no result was found") {
		t.Errorf("%q: exit %d\n%.3000s\n%.3000s", args, code, printed.String(), found.String())
	}
}
