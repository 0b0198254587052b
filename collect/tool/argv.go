package tool

import (
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Flags are the flags in a tool's help. Nil Flags are unknown, and every flag is assumed to exist.
type Flags map[string]bool

var flagRE = regexp.MustCompile(`--[a-z][a-z0-9_.-]*[a-z0-9]`)

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

func (f Flags) has(name string) bool { return f == nil || f[name] }

// Has reports whether a program has a flag: "" is one that every program has.
func (f Flags) Has(name string) bool { return name == "" || f.has(name) }

// args builds a command line.
type args []string

func (a args) add(words ...string) args { return append(a, words...) }

// when appends words where a condition holds.
func (a args) when(holds bool, words ...string) args {
	if !holds {
		return a
	}
	return append(a, words...)
}

// known appends a flag with its values if the installed version of the tool has it.
func (a args) known(has Flags, name string, values ...string) args {
	if !has.has(name) {
		return a
	}
	return append(append(a, name), values...)
}

func itoa(n int) string     { return strconv.Itoa(n) }
func utoa(n uint64) string  { return strconv.FormatUint(n, 10) }
func ftoa(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// conditions returns the conditions that the command line of every load tool fixes, and more as names and values.
func (j Job) conditions(more ...string) map[string]string {
	c := map[string]string{"seed": utoa(j.Seed)}
	if j.Requests > 0 {
		c["num_prompts"] = itoa(j.Requests)
	}
	for i := 0; i+1 < len(more); i += 2 {
		c[more[i]] = more[i+1]
	}
	return c
}

// mpi returns the command that starts a program as several ranks; nil for one.
func (j Job) mpi() []string {
	if j.MPIRanks < 2 {
		return nil
	}
	return args{"mpirun", "-n", itoa(j.MPIRanks)}.when(os.Geteuid() == 0, "--allow-run-as-root")
}

// endpoint returns one of two names, by whether chat completions are requested.
func (j Job) endpoint(completions, chat string) string {
	if j.Chat {
		return chat
	}
	return completions
}
