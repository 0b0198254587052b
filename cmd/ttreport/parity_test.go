//go:build !race

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"al.essio.dev/pkg/shellescape"
	"github.com/rogpeppe/go-internal/txtar"
)

// parityHead is the page before its table.
const parityHead = `# What the five systems do, and the line that does it here

For people who come from one of five systems and look for what they had.

ttreport grew from five systems: tt-inference-server's benchmarks, its AIPerf benchmarks and its workflows, nm-vllm, and
TensorRT-LLM's benchmark.py. The table goes through their pages from the top: each row is a feature, and a line that a
test of ttreport runs; the last column has what the test looks at. Tools and servers themselves are run by .ci/real.

| system | feature | line | checked |
|--------|---------|------|---------|
`

// A row of testdata/parity.txtar is "system | feature | arguments | expression". The expression is looked for in the
// output, in the file that "file:" before it names, or, with "asked:", in .env after secrets were typed.
// Hundreds of commands, each several times slower with the race detector: .ci/run runs them without it.
func TestParity(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	archive, err := txtar.ParseFile("testdata/parity.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, ".cache"))
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, ".run"))
	t.Setenv("HF_HUB_OFFLINE", "1")
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	page, err := filepath.Abs("../../templates/docs/parity.md")
	if err != nil {
		t.Fatal(err)
	}
	raw := os.DirFS("../../testdata/recorded/aiperf-0.13.0/isl128-osl128-c8-n32")
	if err := os.CopyFS(filepath.Join(dir, "aiperf"), raw); err != nil {
		t.Fatal(err)
	}
	tail, err := os.ReadFile("testdata/parity-not-here.md") // what the table lacks, with the reason
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	table := parityHead
	for line := range strings.Lines(string(archive.Comment)) {
		cells := strings.SplitN(strings.TrimSpace(line), " | ", 4)
		if len(cells) != 4 {
			continue // an empty line, or a comment
		}
		args := strings.Fields(cells[2])
		variable, value, hasVariable := strings.Cut(args[0], "=")
		if hasVariable {
			t.Setenv(variable, value)
			args = args[1:]
		}
		expression, isAsked := strings.CutPrefix(cells[3], "asked:")
		if isAsked {
			asked(t, args, expression)
		} else {
			check(t, args, cells[3])
		}
		shown := shellescape.QuoteCommand(append([]string{"ttreport"}, args...))
		if hasVariable {
			t.Setenv(variable, "")
			shown = variable + "=" + value + " " + shown
		}
		looked := "what it prints"
		switch {
		case isAsked:
			looked = "what is typed at a terminal, and .env"
		case strings.HasSuffix(cells[2], "--dry-run"):
			looked = "the command lines of the tools"
		case strings.HasPrefix(cells[3], "file:"):
			looked = "a file that it writes"
		}
		table += fmt.Sprintf("| %s | %s | `%s` | %s |\n", cells[0], cells[1], shown, looked)
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

// check runs a line and looks for an expression in what it prints or writes.
func check(t *testing.T, args []string, want string) {
	t.Helper()
	var out bytes.Buffer
	run(context.Background(), args, strings.NewReader(""), &out, &out)
	text := out.String()
	if file, expression, ok := strings.Cut(strings.TrimPrefix(want, "file:"), ":"); ok &&
		strings.HasPrefix(want, "file:") {
		if list, err := filepath.Glob(file); err == nil && len(list) == 1 {
			file = list[0]
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, text)
			return
		}
		text, want = string(data), expression
	}
	if !regexp.MustCompile("(?m)" + want).MatchString(text) {
		t.Errorf("%q: %q is not in\n%.3000s", args, want, text)
	}
}
