package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/ttreport/ttreport/ingest/schema"
)

var update = flag.Bool("update", false, "rewrite the table of exit codes in the documentation")

func TestMain(m *testing.M) {
	workInMemory()
	cobra.EnableCommandSorting = false // as main has it
	if len(os.Args) > 1 && os.Args[1] == ownFlag {
		os.Args = slices.Delete(os.Args, 1, 2)
		os.Exit(apart{m}.Run()) // the program is on the PATH of the process that started this one
	}
	testscript.Main(apart{m}, map[string]func(){
		"ttreport": func() {
			os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"standin": func() { os.Exit(runStandin(os.Args[1])) },
	})
}

// workInMemory puts the folders of tests into memory, where Linux has a large folder there in which programs can be
// run: the tests write a hundred thousand files.
func workInMemory() {
	const folder = "/dev/shm"
	mounts, _ := os.ReadFile("/proc/mounts")
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[1] != folder || strings.Contains(f[3], "noexec") || os.Getenv("TMPDIR") != "" {
			continue
		}
		kb := 4 << 20 // half of the memory
		if _, size, ok := strings.Cut(f[3], "size="); ok {
			_, _ = fmt.Sscanf(size, "%dk", &kb)
		}
		if kb >= 4<<20 { // a container has 64 MB
			_ = os.Setenv("TMPDIR", folder)
		}
	}
}

// ownVariable names the test that a process of [ownProcess] runs; ownFlag begins its command line.
const ownVariable, ownFlag = "TTREPORT_TEST", "--own-process"

// updateParity is here because this file is compiled with the race detector, too.
var updateParity = flag.Bool("update-parity", false, "rewrite the table of templates/docs/parity.md")

// ownProcess runs a test that changes the current folder or the environment in a process of its own, beside others. It
// reports whether this is that process; where it is not, the test has ended. The process is started as the program, so
// that what the program starts of itself is the program, too.
func ownProcess(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownVariable) == t.Name() {
		return true
	}
	t.Parallel()
	name := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.Command("ttreport", ownFlag, "-test.run="+name, fmt.Sprintf("-test.v=%t", testing.Verbose()),
		fmt.Sprintf("-test.short=%t", testing.Short()), fmt.Sprintf("-update=%t", *update),
		fmt.Sprintf("-update-parity=%t", *updateParity))
	cmd.Env = append(os.Environ(), ownVariable+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
	return false
}

// apart runs the tests with caches and locks of their own: those of accelerators are in the folder of temporary files,
// which other programs of a machine have too. The commands of a story have those of the story: see foldersWithin.
type apart struct{ *testing.M }

func (a apart) Run() int {
	dir, err := os.MkdirTemp("", "ttreport-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	_ = os.Unsetenv("CI") // there nothing is cached
	_ = os.Setenv("XDG_CACHE_HOME", dir)
	_ = os.Setenv("XDG_RUNTIME_DIR", dir)
	_ = os.Setenv("TMPDIR", dir)
	_ = os.Setenv("GORACE", quickExit)
	_ = os.Setenv("GOGC", rareGC)
	debug.SetGCPercent(400)
	_ = flag.Set("test.parallel", fmt.Sprint(2*runtime.GOMAXPROCS(0))) // many wait for a server's clock; -parallel wins
	return a.M.Run()
}

// Each script is a story of a person; its first line says which. A story has a process of its own, in which its
// commands run: to start the program a thousand times was a third of the time that all stories took. Those that begin
// with exec, or that a script of the shell runs, are processes.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) < 90 {
		t.Fatalf("%d stories, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			if !ownProcess(t) {
				return
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			type command = func(*testscript.TestScript, bool, []string)
			testscript.Run(t, testscript.Params{
				Files: []string{file}, Setup: foldersWithin, Cmds: map[string]command{"ttreport": inProcess(string(text)),
					"release": release, "result": result, "runs": runs, "freeport": freeport},
			})
		})
	}
}

// inProcess is the command that runs the program in this process, with the folder and the variables of a story.
func inProcess(story string) func(ts *testscript.TestScript, neg bool, args []string) {
	variables := strings.Fields("PATH HOME TMPDIR XDG_RUNTIME_DIR XDG_CACHE_HOME ACTION")
	for line := range strings.Lines(story) {
		if words := strings.Fields(line); len(words) > 1 && (words[0] == "env" || words[0] == "freeport") {
			for _, stated := range words[1:] {
				name, _, _ := strings.Cut(stated, "=")
				variables = append(variables, name)
			}
		}
	}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		os.Clearenv()
		for _, name := range variables {
			if v := ts.Getenv(name); v != "" {
				ts.Check(os.Setenv(name, v))
			}
		}
		ts.Check(os.Chdir(ts.MkAbs(".")))
		var out, said buffer
		code := run(context.Background(), args, strings.NewReader(""), &out, &said)
		_, err := out.b.WriteTo(ts.Stdout())
		ts.Check(err)
		_, err = said.b.WriteTo(ts.Stderr())
		ts.Check(err)
		if (code != 0) != neg {
			ts.Fatalf("exit code %d", code)
		}
	}
}

// quickExit is a setting of the race detector: a program with it ends at once and not after a second, of which a
// thousand commands would make a quarter of an hour.
const quickExit = "atexit_sleep_ms=0"

// rareGC has the programs collect garbage a fourth as often: of hundreds of short commands it was a sixth of the time.
const rareGC = "400"

// foldersWithin keeps the locks and caches of a story within it.
func foldersWithin(env *testscript.Env) error {
	env.Setenv("GORACE", quickExit)
	env.Setenv("GOGC", rareGC)
	env.Setenv("XDG_RUNTIME_DIR", filepath.Join(env.WorkDir, ".tmp"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".tmp", "cache"))
	action, err := filepath.Abs("../../.github/action")
	env.Setenv("ACTION", action)
	return err
}

// freeport NAME sets a variable to a port of the loopback interface that was free a moment ago.
func freeport(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeport NAME")
	}
	port, err := freePortOf()
	ts.Check(err)
	ts.Setenv(args[0], fmt.Sprint(port))
}

// freePortOf is a port of the loopback interface that was free a moment ago. It is none of those that the system gives
// to connections: one of another test could take it in that moment.
func freePortOf() (port int, err error) {
	for range 100 {
		port = 10_000 + rand.IntN(10_000)
		var ln net.Listener
		if ln, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			return port, ln.Close()
		}
	}
	return 0, err
}

// Parts of a history document: a point and its source, and what stands around the points.
const (
	pointText = `{"key":{"task":"text","tool":"vllm","isl":128,"osl":128,"concurrency":%d,"rate":null,` +
		`"dataset":"random","dims":{}},` +
		`"source":{"path":"raw/%s-%d.json","sha256":"%064d","format":"vllm-serve"},%s}`
	failedText   = `"status":"failed","metrics":{"ttft":{"unit":"ms","missing":"no request completed"}}`
	measuredText = `"status":"ok","metrics":{"ttft":{"unit":"ms","def":"first-content","mean":%s,"median":%[1]s,` +
		`"n":200},"requests_ok":{"unit":"req","value":200}}`
	documentText = `{"schema":"ttreport/v1","id":"run-%s","start":"2026-01-%sT03:04:05Z",` +
		`"end":"2026-01-%[2]sT04:04:05Z","release":%[3]q,"channel":"release",` +
		`"model":{"id":"acme/M","name":"M","key":"M"},"device":{"name":"n150"},"stack":{"engine":"vllm"},` +
		`"points":[%[4]s],"scores":[],"targets":[],"provenance":{},"problems":[]}` + "\n"
)

// release NAME DAY VALUE… stores one run of M on n150: the mean TTFT in ms of the workloads 128/128/1, 128/128/2 …; -
// for one that was not measured, x for one that failed. A NAME such as v6~2 is a second run of v6.
func release(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: release NAME DAY VALUE…")
	}
	document(ts, "history/M/n150", args)
}

// result FOLDER DAY NAME VALUE… writes what release stores to a folder of results.
func result(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: result FOLDER DAY NAME VALUE…")
	}
	document(ts, args[0], append([]string{args[2], args[1]}, args[3:]...))
}

// document writes a run of M on n150: args are its name, its day and its values.
func document(ts *testscript.TestScript, folder string, args []string) {
	name, _, _ := strings.Cut(args[0], "~")
	var points []string
	for i, v := range args[2:] {
		result := fmt.Sprintf(measuredText, v)
		switch v {
		case "-":
			continue
		case "x":
			result = failedText
		}
		points = append(points, fmt.Sprintf(pointText, i+1, args[0], i, i, result))
	}
	dir := ts.MkAbs(folder)
	ts.Check(os.MkdirAll(dir, 0o777))
	day := "0" + args[1]
	doc := fmt.Sprintf(documentText, args[0], day[len(day)-2:], name, strings.Join(points, ","))
	ts.Check(os.WriteFile(filepath.Join(dir, "run-"+schema.Slug(args[0])+".json"), []byte(doc), 0o666))
}
