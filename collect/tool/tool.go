package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Job is one workload, or one eval task, on a server that is ready.
type Job struct {
	URL       string // of the server, without /v1
	Model     string // served name
	Tokenizer string // of the model, a local folder or a name on the hub; "" leaves it to the tool
	Chat      bool   // chat completions in place of completions
	Keyed     bool   // the server wants the key that is in OPENAI_API_KEY
	Script    bool   // the tool's program is a Python script, as in a checkout
	MPIRanks  int    // processes that mpirun starts, for tools that bring their own engine; 0 or 1: one, without mpirun
	Seed      uint64

	traffic.Workload
	// Of all workloads, as "1;8;64" and "60,20;128,20", for tools that run once per plan.
	Batches, Lengths string

	// Of an eval.
	Task    string
	Limit   int               // questions; 0: all
	TaskDir string            // folder with task files of the user, "" for none
	Params  map[string]string // fewshot, gen_kwargs and further parameters of the task in target files
}

// Command states how a tool is run for a job.
type Command struct {
	Before     []string // what starts the program: mpirun and its arguments
	Argv       []string // without the program
	Env        []string
	Conditions map[string]string // conditions that the flags fix and that change a number's meaning
}

// Summary is what a tool's result file states about a job.
type Summary struct {
	File              string // result, relative to the folder that the tool wrote to
	Completed, Failed int
	TTFT, TPOT        float64 // ms, mean; 0 when unknown
	Reached           float64 // requests in flight on average; 0 when unknown
	Version           string  // of the tool, where its result states it
}

// Adapter is a tool that can be run.
type Adapter struct {
	Name    string   // as in keys of points: vllm, aiperf
	Program string   // executable
	Module  string   // Python module, for a tool that is run by its interpreter
	Package string   // Python distribution that has it, if its name differs from the tool's
	Engine  string   // engine that an offline tool brings; "" for none
	Version []string // arguments that make it print its version
	Help    []string // arguments that make it list its flags; nil: unknown
	Eval    bool     // it runs evals instead of making load
	Keyless bool     // it takes a key only on its command line, so it cannot measure a server that wants one
	KeyName string   // variable in which it takes a key, in addition to OPENAI_API_KEY; "" for none
	KeyFlag string   // flag that a version needs in order to take a key; "" if every version does
	Tokens  bool     // it needs the tokenizer of the model
	Prompts string   // what its results call prompts that it makes up; "" for random
	Offline bool     // it has its own engine: there is no server
	Once    bool     // it runs once per plan, not once per workload
	Matrix  bool     // run once, it measures the workloads of the plan: every batch with every pair of lengths
	// Prepare writes what the command reads below out; nil for nothing.
	Prepare func(j Job, out string) error
	// Read finds and reads the result below out; an error means that there is none.
	Read func(out string) (Summary, error)

	words []string // of the command line of a script, with placeholders; nil for a tool of ours
}

// Adapters are the tools that ttreport knows, without builtin.
func Adapters() []Adapter {
	return []Adapter{
		vllm, aiperf, guidellm, genaiPerf, sglang,
		vllmThroughput, vllmLatency, trtllmScript, trtllmBench,
		lmEval, lmmsEval, inspect,
	}
}

// Named finds an adapter by its name.
func Named(name string) (Adapter, bool) {
	for _, a := range Adapters() {
		if a.Name == name {
			return a, true
		}
	}
	return Adapter{}, false
}

// Names lists the eval tools, or the load tools including builtin.
func Names(eval bool) []string {
	var names []string
	if !eval {
		names = append(names, builtin.Name)
	}
	for _, a := range Adapters() {
		if a.Eval == eval {
			names = append(names, a.Name)
		}
	}
	return names
}

// Flags are the flags in a tool's help. Nil Flags are unknown, and every flag is assumed to exist.
type Flags map[string]bool

var flagRE = lazyregexp.New(`--[a-z][a-z0-9_.-]*[a-z0-9]`)

// ParseFlags finds flags in a help text, with dashes for underscores; nil for a text that is no help.
func ParseFlags(help string) Flags {
	found := flagRE.FindAllString(help, -1)
	if len(found) < 5 {
		return nil
	}
	f := Flags{}
	for _, name := range found {
		f[strings.ReplaceAll(name, "_", "-")] = true
	}
	return f
}

// Has reports whether a program has a flag: "" is one that every program has.
func (f Flags) Has(name string) bool { return name == "" || f == nil || f[name] }

//go:embed commands.tmpl
var commandsText string

// commands are the command lines of the tools, by name.
var commands = template.Must(template.New("").Option("missingkey=zero").Funcs(template.FuncMap{
	"some": func(v any) any { // "" for zero
		if reflect.ValueOf(v).IsZero() {
			return ""
		}
		return v
	},
}).Parse(strings.ReplaceAll(commandsText, "\n", lineEnd)))

// lineEnd ends a line of a command line: a value may have several lines of its own.
const lineEnd = "\x00"

// line is what a command line is made of.
type line struct {
	Job
	Out string // where the result goes
	Has Flags
}

// Streams is the batch of an engine, or what a tool keeps in flight that takes no rate.
func (l line) Streams() int { return max(1, l.Concurrency) }

// Waves is how often a batch is repeated.
func (l line) Waves() int { return max(1, l.Requests/l.Streams()) }

// Host is the address of the server without http.
func (l line) Host() string { return strings.TrimPrefix(l.URL, "http://") }

// IsLocal reports whether the tokenizer is a folder.
func (l line) IsLocal() bool {
	info, err := os.Stat(l.Tokenizer)
	return err == nil && info.IsDir()
}

// Sets reports whether further arguments set a flag.
func (l line) Sets(flag string) bool { return slices.Contains(l.Extra, flag) }

// IsEncoder reports whether the lengths are of prompts alone, which benchmark.py has another flag for.
func (l line) IsEncoder() bool { return !strings.Contains(l.Lengths, ",") }

// IsRoot reports whether we are the superuser, as which mpirun runs only if it is told to.
func (line) IsRoot() bool { return os.Geteuid() == 0 }

// Command is the command line for a job whose result goes below out: see commands.tmpl for those of our tools.
func (a Adapter) Command(j Job, out string, has Flags) Command {
	c, name := Command{Conditions: map[string]string{}}, a.Name
	if a.words != nil {
		name = "conditions"
	}
	for _, w := range a.words {
		c.Argv = append(c.Argv, fill(j, out, w))
	}
	var b strings.Builder
	if err := commands.ExecuteTemplate(&b, name, line{j, out, has}); err != nil {
		panic(err) // a mistake in a template of ours, which tests find
	}
	for text := range strings.SplitSeq(b.String(), lineEnd) {
		text, conditional := strings.CutPrefix(text, "?")
		to := &c.Argv
		switch rest := text[min(1, len(text)):]; {
		case strings.HasPrefix(text, "@"):
			if name, value, _ := strings.Cut(rest, " "); value != "" {
				c.Conditions[name] = value
			}
			continue
		case strings.HasPrefix(text, "$"):
			c.Env = append(c.Env, rest)
			continue
		case strings.HasPrefix(text, "<"):
			to, text = &c.Before, rest
		}
		word, value, isFlag := strings.Cut(text, " ")
		switch {
		case word == "", isFlag && value == "", conditional && !has.Has(word):
		case isFlag:
			*to = append(*to, word, value)
		default:
			*to = append(*to, word)
		}
	}
	c.Argv = append(c.Argv, j.Extra...)
	return c
}

// result is a JSON document that a tool wrote.
type result struct{ decode.Value }

// number is the number at a path such as "request_latency.avg"; 0 where there is none.
func (r result) number(path string) float64 { return r.Path(path).Float0() }

// count is a number of what is counted.
func (r result) count(path string) int { return int(r.number(path)) }

// reads makes the reader of a tool that writes a JSON document: into takes what it says. The file is the last by name
// of those below out that match the first of several globs, which are separated by spaces, that any file matches.
// Sidecars are no results. missing is the error's text when there is no such file.
func reads(globs, missing string, into func(s *Summary, r result) error) func(out string) (Summary, error) {
	const mostResult = 1 << 30 // bytes: a file that never ends must not take all memory
	return func(out string) (s Summary, err error) {
		for _, glob := range strings.Fields(globs) {
			names, _ := fs.Glob(os.DirFS(out), glob) // a constant that is well formed
			sidecar := func(name string) bool { return strings.HasSuffix(name, manifest.SidecarSuffix) }
			names = slices.DeleteFunc(names, sidecar)
			if s.File == "" && len(names) > 0 {
				s.File = slices.Max(names)
			}
		}
		data, err := rootfs.ReadFile(filepath.Join(out, s.File), mostResult)
		if s.File == "" || err != nil {
			return s, errors.New(missing)
		}
		v, problem := decode.Document(filepath.Base(s.File), data)
		switch {
		case problem != nil:
			return s, problem
		case v.Kind() != decode.Object:
			return s, fmt.Errorf("%s must be a JSON object", s.File)
		}
		err = into(&s, result{v})
		return s, err
	}
}

// ScriptResult is the file that an exec command writes below {out}: {"metrics": {"my_ms": {"value": 12.3, "unit":
// "ms", "better": "lower"}}}.
const ScriptResult = "metrics.json"

// Script is a benchmark of the user's own: a name and a command line from ttreport.yaml that writes one file of
// metrics. A command line with a length, a concurrency or a rate runs for every workload, any other once per plan;
// one without {url} needs no server.
func Script(name, line string) (Adapter, error) {
	words, err := shellquote.Split(line)
	if err != nil {
		return Adapter{}, fmt.Errorf("the command cannot be split into words: %w", err)
	}
	if len(words) == 0 {
		return Adapter{}, fmt.Errorf("no command")
	}
	if !strings.Contains(line, "{out}") {
		return Adapter{}, fmt.Errorf("the command does not use {out}, the folder for its result file %s", ScriptResult)
	}
	if rest := fill(Job{}, "", line); strings.Contains(rest, "{") {
		const placeholders = "{url} {model} {isl} {osl} {concurrency} {rate} {requests} {seed} {tokenizer} {out}"
		rest = rest[strings.IndexByte(rest, '{'):]
		return Adapter{}, fmt.Errorf("unknown placeholder at %.20q; the placeholders are %s", rest, placeholders)
	}
	once := true
	for _, p := range []string{"{isl}", "{osl}", "{concurrency}", "{rate}"} {
		once = once && !strings.Contains(line, p)
	}
	return Adapter{
		Name: name, Program: words[0], Once: once, Offline: !strings.Contains(line, "{url}"), words: words[1:],
		Read: reads(ScriptResult, "the command wrote no "+ScriptResult, func(s *Summary, r result) error {
			for _, m := range r.Get("metrics").Members() {
				if m.Val.Get("value").Ptr() != nil {
					s.Completed++
				}
			}
			if s.Completed == 0 {
				const expected = `{"metrics": {"my_ms": {"value": 12.3, "unit": "ms", "better": "lower"}}}`
				return fmt.Errorf("%s holds no metric; expected %s", s.File, expected)
			}
			return nil
		}),
	}, nil
}

// fill replaces the placeholders of a text with a job's values.
func fill(j Job, out, text string) string {
	n := strconv.Itoa
	return strings.NewReplacer("{url}", j.URL, "{model}", j.Model, "{isl}", n(j.ISL), "{osl}", n(j.OSL),
		"{concurrency}", n(j.Concurrency), "{rate}", fmt.Sprint(j.Rate), "{requests}", n(j.Requests),
		"{seed}", fmt.Sprint(j.Seed), "{tokenizer}", j.Tokenizer, "{out}", out).Replace(text)
}

// Tool is a tool that is ready to run: builtin, or an adapter with its program.
type Tool struct {
	Adapter
	Path    string // of the program
	Release string // version, as stated by the tool
	Flags   Flags  // that this version knows
}

// Builtin is the load client and eval of this program.
func Builtin() Tool {
	return Tool{Adapter: Adapter{Name: builtin.Name}, Release: builtin.Version}
}

// IsBuiltin reports whether a tool is this program.
func (t Tool) IsBuiltin() bool { return t.Name == builtin.Name }

// IsScript reports whether a tool's program is a Python script: python3 runs it.
func (t Tool) IsScript() bool { return strings.HasSuffix(t.Path, ".py") }

// Installed reads a program's version and flags. What it does not state stays unknown.
func Installed(ctx context.Context, a Adapter, path string) Tool {
	t := Tool{Adapter: a, Path: path}
	switch {
	case a.Module != "":
		const version = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
		t.Release = versionIn(printed(ctx, path, "-c", version, a.Module))
	case len(a.Version) > 0 && !t.IsScript():
		t.Release = versionIn(printed(ctx, path, a.Version...))
	}
	if len(a.Help) > 0 && !t.IsScript() {
		t.Flags = ParseFlags(printed(ctx, path, a.Help...))
	}
	return t
}

// printed returns what a program prints, on both streams; "" when it fails to run.
func printed(ctx context.Context, program string, args ...string) string {
	dir, err := os.MkdirTemp("", "ttreport-ask-*")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, LogName)
	argv := append([]string{program}, args...)
	spec := process.Spec{Argv: argv, Log: log, Limit: 3 * time.Minute, Grace: 2 * time.Second}
	if _, err := process.Run(ctx, spec); err != nil {
		return ""
	}
	text, _ := os.ReadFile(log) // of a program that printed nothing there is none
	return string(text)
}

// versionIn returns the last word that looks like a version: tools print warnings before it.
func versionIn(text string) string {
	const letters = "0123456789.+-_abcdefghijklmnopqrstuvwxyz"
	version := ""
	for _, w := range strings.Fields(text) {
		w = strings.Trim(strings.TrimPrefix(w, "v"), ",;()")
		if strings.Contains(w, ".") && len(w) < 40 && w[0] >= '0' && w[0] <= '9' && strings.Trim(w, letters) == "" {
			version = w
		}
	}
	return version
}

// CommandLine returns the whole command line of a tool.
func (t Tool) CommandLine(c Command) []string {
	argv := slices.Clone(c.Before)
	if t.IsScript() {
		argv = append(argv, "python3")
	}
	return append(append(argv, t.Path), c.Argv...)
}

// PublicCommandLine returns the command line for readers of the result, without the folder in which the program is
// installed.
func (t Tool) PublicCommandLine(c Command) []string {
	t.Path = filepath.Base(t.Path)
	return t.CommandLine(c)
}
