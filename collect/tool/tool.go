// Package tool is what adapters of foreign benchmark and eval tools have in common: what they are asked to measure, the command line that
// they answer with, and what they say came of it. An adapter is one small package below: it knows the flags of its tool and where the
// tool leaves its result, and nothing of servers, folders or journals. It reads of a result only what tells success from failure and
// the client's own trouble; the numbers are ingest's business.
//
// builtin is no adapter: it is the load client in this program.
package tool

import (
	"regexp"
	"strconv"
	"strings"
)

// Job is one workload, or one eval task, on a server that is ready.
type Job struct {
	URL       string // of the server, without /v1
	Model     string // served name
	Tokenizer string // of the model, a local folder or a name on the hub; "" leaves it to the tool
	Chat      bool   // chat completions in place of completions
	Seed      uint64

	// Of a workload: token lengths, and load as concurrency or as requests a second.
	ISL, OSL, Concurrency, Requests int
	Rate                            float64

	// Of an eval.
	Task    string
	Limit   int    // questions; 0: all
	Include string // folder with task files of the user's own, "" for none
}

// Command is how a tool is run for a job.
type Command struct {
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
	Version []string // arguments that make it print its version
	Help    []string // arguments that make it list its flags, nil for nobody asks
	Eval    bool     // it asks questions instead of making load
	Keyless bool     // it takes a key on its command line alone, so it gets none
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
