//go:build !race

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/folderlock"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// ways is a command line of each command that works in the workspace of workspaceFor, and does no harm in an empty one.
func ways(t *testing.T) []struct{ name, args string } {
	port := fmt.Sprint(" --port ", freePort(t))
	return []struct{ name, args string }{
		{"collect", "--model sim-8b --device simulated --server sim --workload isl=8,osl=2,c=1,n=1 --only benchmarks"},
		{"build", ""}, {"serve", port}, {"demo", "--no-preview --dir d"}, {"ingest", "results"}, {"inspect", "results"},
		{"identify", "results"},
		{"check", ""}, {"compare", "v1 v2"},
		{"accept", "v4 --metric ttft --reason known"},
		{"bisect", "--dry-run --list builds.txt --model x --device n150 --workload isl=8,osl=8,c=1"}, {"verify", ""},
		{"history", "list"},
		{"export", "parquet warehouse"},
		{"targets", "list"}, {"models", ""}, {"doctor", ""},
		{"init", ""}, {"sim", port}, {"completion", "bash"}, {"version", ""}, {"help", "verdicts"},
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := freePortOf()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// workspaceFor lays releases, results, a target and a demo's folder, so that a command has something to do: two
// releases, and for accept a regression in the fourth, measured twice.
func workspaceFor(t *testing.T, name string) {
	t.Helper()
	releases, ttft := strings.Fields("v1 v2"), strings.Fields("10.21 10.22")
	if name == "accept" {
		releases, ttft = strings.Fields("v1 v2 v3 v4 v4"), strings.Fields("10.21 10.22 10.2 20.3 20.4")
	}
	for i, release := range releases {
		at := filepath.Join("results", fmt.Sprint("r", i+1))
		lay(t, filepath.Join(at, "ttreport.manifest.yaml"),
			fmt.Sprintf("id: r%d\nrelease: %s\ndevice: {name: n150}\n", i+1, release))
		lay(t, filepath.Join(at, "a.json"), fmt.Sprintf(`{"date":"2026010%d-000000","model_id":"acme/x","num_prompts":10,`+
			`"random_input_len":8,"random_output_len":8,"max_concurrency":1,"completed":10,"duration":2.0,`+
			`"output_throughput":20.5,"mean_ttft_ms":%s}`, i+1, ttft[i]))
	}
	lay(t, "builds.txt", "registry.example/a:1\nregistry.example/a:2\n")
	lay(t, "targets/a.yaml", "targets:\n  - {model: x, device: n150, workload: {isl: 8, osl: 8, concurrency: 1}, "+
		"metric: ttft, value: 100, source: s, as_of: 2026-01-01}\n")
	if code := exitIn(t, context.Background(), []string{"ingest", "results"}); code != 0 {
		t.Fatalf("ingest: exit %d", code)
	}
}

// listens are the commands that go on until they are interrupted.
func listens(name string) bool { return name == "serve" || name == "sim" }

// kinds are the kinds of failure, each a way to run a command line.
func kinds() []kind {
	plain := func(t *testing.T, args ...string) int { return exitIn(t, context.Background(), args) }
	asItIs := func(t *testing.T, name string, args []string) int {
		return plain(t, append([]string{name}, args...)...)
	}
	return []kind{
		{"works", true, func(t *testing.T, name string, args []string) int {
			if listens(name) {
				ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
				defer stop()
				go func() { // interrupted once it answers
					for ctx.Err() == nil {
						if c, err := net.Dial("tcp", "127.0.0.1:"+args[len(args)-1]); err == nil {
							_ = c.Close()
							time.Sleep(100 * time.Millisecond)
							stop()
						}
						time.Sleep(20 * time.Millisecond)
					}
				}()
				return exitIn(t, ctx, append([]string{name}, args...))
			}
			return asItIs(t, name, args)
		}},
		{"nothing is there", false, func(t *testing.T, name string, args []string) int {
			if listens(name) {
				return -1
			}
			return asItIs(t, name, args)
		}},
		{"unknown flag", true, func(t *testing.T, name string, args []string) int {
			return plain(t, append(append([]string{name}, args...), "--no-such-flag")...)
		}},
		{"empty argument", true, func(t *testing.T, name string, _ []string) int { return plain(t, name, "") }},
		{"wrong argument", true, func(t *testing.T, name string, _ []string) int { return plain(t, name, "no-such-thing") }},
		{"broken ttreport.yaml", true, func(t *testing.T, name string, args []string) int {
			if name == "sim" || name == "init" {
				return -1
			}
			lay(t, "ttreport.yaml", "titel: x\n")
			lay(t, filepath.Join("d", "ttreport.yaml"), "titel: x\n")
			return asItIs(t, name, args)
		}},
		{"broken targets", true, func(t *testing.T, name string, args []string) int {
			if listens(name) || name == "demo" { // whose folder is another
				return -1
			}
			lay(t, "targets/b.yaml", "targets: [{}]\n")
			return asItIs(t, name, args)
		}},
		{"damaged results", true, func(t *testing.T, name string, args []string) int {
			if listens(name) || name == "demo" {
				return -1
			}
			lay(t, "results/r1/a.json", "{")
			lay(t, "results/r2/a.json", "{")
			return asItIs(t, name, args)
		}},
		{"damaged history", true, func(t *testing.T, name string, args []string) int {
			if listens(name) || name == "demo" {
				return -1
			}
			lay(t, "history/x/n150/a.json", "{")
			return asItIs(t, name, args)
		}},
		{"nothing can be written", true, nothingWritable},
		{"output cannot be written", true, func(t *testing.T, name string, args []string) int {
			if listens(name) {
				return -1
			}
			var messages strings.Builder
			return run(context.Background(), append([]string{name}, args...), strings.NewReader(""), full{}, &messages)
		}},
		{"port is taken", true, portTaken},
		{"locked workspace", true, lockedWorkspace},
		{"interrupted", true, func(t *testing.T, name string, args []string) int {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return exitIn(t, ctx, append([]string{name}, args...))
		}},
	}
}

// kind is a kind of failure; laid says whether the folder has the workspace of workspaceFor.
type kind struct {
	title string
	laid  bool
	code  func(t *testing.T, name string, args []string) int
}

// nothingWritable has files where folders would be written.
func nothingWritable(t *testing.T, name string, args []string) int {
	if !slices.Contains(strings.Fields("collect build serve demo ingest init export"), name) {
		return -1
	}
	for _, dir := range []string{"_site", "history", ".github", "d", "results", "warehouse"} {
		if name == "ingest" && dir == "results" || (name == "export") != (dir == "warehouse") {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		lay(t, dir, "a file")
	}
	return exitIn(t, context.Background(), append([]string{name}, args...))
}

func portTaken(t *testing.T, name string, args []string) int {
	if !listens(name) && name != "demo" {
		return -1
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	port := fmt.Sprint(ln.Addr().(*net.TCPAddr).Port)
	if name == "demo" {
		return exitIn(t, context.Background(), []string{name, "--dir", "d", "--port", port})
	}
	return exitIn(t, context.Background(), []string{name, "--port", port})
}

func lockedWorkspace(t *testing.T, name string, args []string) int {
	locking := "collect build serve ingest check accept compare verify history export demo"
	if !slices.Contains(strings.Fields(locking), name) {
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
	return exitIn(t, context.Background(), append(append([]string{name}, args...), "--lock-timeout", "0"))
}

// The documentation has what each command returns for each kind of failure; go test ./cmd/ttreport -run ExitCodes
// -update writes it.
// Hundreds of commands, each several times slower with the race detector: .ci/run runs them without it.
func TestExitCodes(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	page, err := filepath.Abs(filepath.Join("..", "..", "templates", "docs", "exit-codes.md"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	const first = 24 // characters of the first column
	fmt.Fprintf(&b, "| %*s", -first, "")
	rule := "|" + strings.Repeat("-", first+2)
	for _, w := range ways(t) {
		fmt.Fprintf(&b, " | %s", w.name)
		rule += "|" + strings.Repeat("-", len(w.name)+2)
	}
	b.WriteString(" |\n" + rule + "|\n")
	for _, k := range kinds() {
		fmt.Fprintf(&b, "| %*s", -first, k.title)
		for _, w := range ways(t) {
			t.Chdir(t.TempDir())
			if k.laid {
				workspaceFor(t, w.name)
			}
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
	text := before + heading + "\nWhat each command returns, as tested; - where the case cannot occur. Unless stated " +
		"otherwise, the folder has results, a\n" +
		"history of two releases and a target; `collect` measures the simulator.\n\n" +
		b.String()
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
