// Package tool is what adapters of foreign benchmark and eval tools have in common: what they are asked to measure, the command line that
// they answer with, and what they say came of it. An adapter is one small package below: it knows the flags of its tool and where the
// tool leaves its result, and nothing of servers, folders or journals. It reads of a result only what tells success from failure and
// the client's own trouble; the numbers are ingest's business.
//
// builtin is no adapter: it is the load client in this program.
package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Job is one workload, or one eval task, on a server that is ready.
type Job struct {
	URL       string // of the server, without /v1
	Model     string // served name
	Tokenizer string // of the model, a local folder or a name on the hub; "" leaves it to the tool
	Chat      bool   // chat completions in place of completions
	Script    bool   // the tool's program is a Python script, as people have it in a checkout
	Ranks     int    // processes that mpirun starts, for tools that bring their own engine; 0 or 1: one, without it
	Seed      uint64

	// Of a workload: token lengths, and load as concurrency or as requests a second. Neither: all at once.
	ISL, OSL, Concurrency, Requests int
	Rate                            float64
	Dataset, Path                   string   // "" for random prompts
	Batches, Lengths                string   // of all workloads, as "1;8;64" and "60,20;128,20", for tools that are run once
	Extra                           []string // arguments of the tool that the plan states

	// Of an eval.
	Task    string
	Limit   int               // questions; 0: all
	Include string            // folder with task files of the user's own, "" for none
	Params  map[string]string // fewshot, gen_kwargs and what else the task's data states
}

// Command is how a tool is run for a job.
type Command struct {
	Before     []string // what starts the program: mpirun and its arguments
	Argv       []string // without the program
	Env        []string
	Conditions map[string]string // what the flags fix that changes a number's meaning
}

// Summary is what a tool says of a job that it ran.
type Summary struct {
	File              string // result, relative to the folder that the tool wrote to
	Completed, Failed int
	TTFT, TPOT        float64 // ms, mean; 0 when unknown
	Reached           float64 // requests in flight on average; 0 when unknown
	Version           string  // of the tool, where its result states it
}

// Adapter is a tool.
type Adapter struct {
	Name    string   // as in keys of points: vllm, aiperf
	Program string   // executable
	Module  string   // Python module, for a tool that is run by its interpreter
	Version []string // arguments that make it print its version
	Help    []string // arguments that make it list its flags, nil for nobody asks
	Eval    bool     // it asks questions instead of making load
	Keyless bool     // it takes a key on its command line alone, so it gets none
	Offline bool     // it brings its own engine: there is no server
	Once    bool     // it is run once a plan and not once a workload
	// Prepare writes what the command reads below out; nil for nothing.
	Prepare func(j Job, out string) error
	// Command is the command line for a job whose result goes below out.
	Command func(j Job, out string, has Flags) Command
	// Read finds and reads what was left below out; an error says that there is no result.
	Read func(out string) (Summary, error)
}

// Flags are what a tool's help lists. Nil Flags are not known, and everything is assumed to be there.
type Flags map[string]bool

var flagRE = regexp.MustCompile(`--[a-z][a-z0-9_.-]*[a-z0-9]`)

// ParseFlags finds flags in a help text, with dashes for underscores.
func ParseFlags(help string) Flags {
	found := flagRE.FindAllString(help, -1)
	if len(found) < 5 {
		return nil // not a help text
	}
	f := Flags{}
	for _, name := range found {
		f[strings.ReplaceAll(name, "_", "-")] = true
	}
	return f
}

// Has reports whether a flag is known.
func (f Flags) Has(name string) bool { return f == nil || f[name] }

// With appends a flag with its values where the tool knows it.
func (f Flags) With(argv []string, name string, values ...string) []string {
	if !f.Has(name) {
		return argv
	}
	return append(append(argv, name), values...)
}

// Int is a number as tools read it.
func Int(n int) string { return strconv.Itoa(n) }

// Float is the shortest text of a number.
func Float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ReadJSON reads a result below out. lacking says what it means that there is none.
func ReadJSON(out, file, lacking string, into any) error {
	data, err := os.ReadFile(filepath.Join(out, file))
	if err != nil {
		return fmt.Errorf("%s", lacking)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return nil
}

// Newest is the last in order of names of the files below out that match a glob, relative to out; "" when there is none. Sidecars are
// no results.
func Newest(out, glob string) string {
	names, err := filepath.Glob(filepath.Join(out, glob))
	if err != nil {
		return ""
	}
	newest := ""
	for _, name := range names {
		if rel, err := filepath.Rel(out, name); err == nil && !strings.HasSuffix(name, manifest.SidecarSuffix) && rel > newest {
			newest = rel
		}
	}
	return newest
}

// Conditions are those that every load tool's command line fixes, and more as pairs of name and value.
func (j Job) Conditions(more ...string) map[string]string {
	c := map[string]string{"seed": Seed(j.Seed)}
	if j.Requests > 0 {
		c["num_prompts"] = Int(j.Requests)
	}
	for i := 0; i+1 < len(more); i += 2 {
		c[more[i]] = more[i+1]
	}
	return c
}

// MPI starts a program as several ranks; nil for one.
func (j Job) MPI() []string {
	if j.Ranks < 2 {
		return nil
	}
	argv := []string{"mpirun", "-n", Int(j.Ranks)}
	if os.Geteuid() == 0 {
		argv = append(argv, "--allow-run-as-root")
	}
	return argv
}

// Seed is a seed as tools read it.
func Seed(n uint64) string { return strconv.FormatUint(n, 10) }
