package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/folderlock"
)

var update = flag.Bool("update", false, "rewrite the table of exit codes in the documentation")

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// ways is a command line of each command that works, and one for which the workspace holds nothing.
func ways() []struct{ name, args string } {
	return []struct{ name, args string }{
		{"collect", "--model sim-8b --device simulated --server sim --workload isl=8,osl=2,c=1,n=1 --dry-run"},
		{"build", ""}, {"serve", ""}, {"demo", "--no-preview --dir d"}, {"ingest", "results"}, {"inspect", "results"},
		{"check", ""}, {"compare", "v1 v2"}, {"verify", ""}, {"targets", "list"}, {"models", ""},
		{"completion", "bash"}, {"version", ""}, {"help", "verdicts"},
	}
}

// kinds are the kinds of failure, each a way to run a command line.
func kinds() []struct {
	title string
	code  func(t *testing.T, name string, args []string) int
} {
	type outcome = func(t *testing.T, name string, args []string) int
	plain := func(t *testing.T, args ...string) int { return exitIn(t, context.Background(), args) }
	return []struct {
		title string
		code  outcome
	}{
		{"nothing is there", func(t *testing.T, name string, args []string) int {
			if name == "serve" {
				return -1 // it serves
			}
			return plain(t, append([]string{name}, args...)...)
		}},
		{"unknown flag", func(t *testing.T, name string, args []string) int {
			return plain(t, append(append([]string{name}, args...), "--no-such-flag")...)
		}},
		{"empty argument", func(t *testing.T, name string, _ []string) int { return plain(t, name, "") }},
		{"wrong argument", func(t *testing.T, name string, _ []string) int { return plain(t, name, "no-such-thing") }},
		{"broken ttreport.yaml", func(t *testing.T, name string, args []string) int {
			lay(t, "ttreport.yaml", "titel: x\n")
			lay(t, filepath.Join("d", "ttreport.yaml"), "titel: x\n")
			return plain(t, append([]string{name}, args...)...)
		}},
		{"damaged history", func(t *testing.T, name string, args []string) int {
			if name == "serve" {
				return -1
			}
			lay(t, "history/M/n150/a.json", "{")
			return plain(t, append([]string{name}, args...)...)
		}},
		{"output cannot be written", func(t *testing.T, name string, args []string) int {
			if name == "serve" {
				return -1
			}
			var messages strings.Builder
			return run(context.Background(), append([]string{name}, args...), strings.NewReader(""), full{}, &messages)
		}},
		{"locked workspace", func(t *testing.T, name string, args []string) int {
			if !strings.Contains("build serve ingest check compare verify demo", name) {
				return -1
			}
			for _, dir := range []string{".", filepath.Join("d", "results")} {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
				release, err := folderlock.Take(context.Background(), dir, folderlock.Exclusive, folderlock.Wait{})
				if err != nil {
					t.Fatal(err)
				}
				defer release()
			}
			return plain(t, append(append([]string{name}, args...), "--lock-timeout", "0")...)
		}},
		{"interrupted", func(t *testing.T, name string, args []string) int {
			if name == "collect" {
				args = args[:len(args)-1] // without --dry-run
			}
			ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
			defer stop()
			<-ctx.Done()
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return exitIn(t, ctx, append([]string{name}, args...))
		}},
	}
}

func exitIn(t *testing.T, ctx context.Context, args []string) int {
	t.Helper()
	var out strings.Builder
	code := run(ctx, args, strings.NewReader(""), &out, &out)
	if code != 0 && strings.TrimSpace(out.String()) == "" {
		t.Errorf("%q: exit %d without a word", args, code)
	}
	return code
}

// The documentation has what each command returns for each kind of failure; go test ./cmd/ttreport -run ExitCodes
// -update writes it.
func TestExitCodes(t *testing.T) {
	page, err := filepath.Abs(filepath.Join("..", "..", "templates", "docs", "exit-codes.md"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	const first = 24 // characters of the first column
	fmt.Fprintf(&b, "| %*s", -first, "")
	rule := "|" + strings.Repeat("-", first+2)
	for _, w := range ways() {
		fmt.Fprintf(&b, " | %s", w.name)
		rule += "|" + strings.Repeat("-", len(w.name)+2)
	}
	b.WriteString(" |\n" + rule + "|\n")
	for _, k := range kinds() {
		fmt.Fprintf(&b, "| %*s", -first, k.title)
		for _, w := range ways() {
			t.Chdir(t.TempDir())
			cell := "-"
			if code := k.code(t, w.name, strings.Fields(w.args)); code >= 0 {
				cell = strconv.Itoa(code)
			}
			fmt.Fprintf(&b, " | %*s", -len(w.name), cell)
		}
		b.WriteString(" |\n")
	}
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "\n## By command\n"
	before, _, found := strings.Cut(string(old), heading)
	text := before + heading + "\nWhat each command returns, as the tests run it; - where it cannot happen. Commands work in an " +
		"empty folder here, and\n`collect` plans only.\n\n" + b.String()
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !found || text != string(old) {
		t.Errorf("exit codes differ from the documentation; with -update it says:\n%s", b.String())
	}
}
