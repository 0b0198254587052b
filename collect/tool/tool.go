package tool

import (
	"slices"

	"github.com/ttreport/ttreport/collect/tool/builtin"
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

	// Of a workload: token lengths, and load as concurrency or as requests a second. Neither: all at once.
	ISL, OSL, Concurrency, Requests int
	Rate                            float64
	Dataset, Path                   string   // "" for random prompts
	Extra                           []string // more arguments for the tool
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
	// Command is the command line for a job whose result goes below out.
	Command func(j Job, out string, has Flags) Command
	// Read finds and reads the result below out; an error means that there is none.
	Read func(out string) (Summary, error)
}

// Adapters are the tools that ttreport knows, without builtin.
func Adapters() []Adapter {
	return []Adapter{
		vllm(), aiperf(), guidellm(), genaiPerf(), sglang(),
		vllmThroughput(), vllmLatency(), trtllmScript(), trtllmBench(),
		lmEval(), lmmsEval(), inspect(),
	}
}

// Named finds an adapter by its name.
func Named(name string) (Adapter, bool) {
	all := Adapters()
	if at := slices.IndexFunc(all, func(a Adapter) bool { return a.Name == name }); at >= 0 {
		return all[at], true
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
