package sim

import "time"

// Config describes the simulated system. The zero value of a field takes the default of [Defaults].
type Config struct {
	Addr    string // to listen on; "" for a free port of the loopback interface
	Model   string // served name
	Version string // version of the stack, in /version and in results
	Key     string // that requests below /v1 must have; "" for none
	Seed    uint64

	StepBase     time.Duration // duration of a step with nothing in it
	PerSequence  time.Duration // added for each sequence that decodes in the step
	PerPrefill   time.Duration // added for each prompt token prefilled in the step
	ChunkTokens  int           // prompt tokens that one step may prefill
	MaxBatch     int           // sequences that run at once
	MaxQueue     int           // requests that may wait; more are refused with 503
	KVTokens     int           // tokens that running sequences may hold together
	Noise        float64       // coefficient of variation of a step's duration
	Drift        float64       // a factor for the whole life of the server, drawn once: exp(N(0, Drift))
	Reasoning    int           // tokens of reasoning before an answer of chat or responses
	EvalAccuracy float64       // share of arithmetic questions answered right

	Fault Fault
}

// Fault injects failures.
type Fault struct {
	ErrorShare float64       // of requests answered 500
	BreakShare float64       // of streams cut after the first token
	EmptyShare float64       // of requests answered with no token at all
	StallAfter int           // requests after which the server stops answering; 0: never
	ReadyAfter time.Duration // /health answers 503 until then
}

// Defaults returns a small model on a small device: about 9 ms to the first token of a 128-token prompt and 4 ms a
// token.
func Defaults() Config {
	return Config{
		Model: "sim-8b", Version: "0", Seed: 1,
		StepBase: 3900 * time.Microsecond, PerSequence: 60 * time.Microsecond, PerPrefill: 18 * time.Microsecond,
		ChunkTokens: 512, MaxBatch: 64, MaxQueue: 2048, KVTokens: 1 << 20, Noise: .01, Drift: .002, EvalAccuracy: .9,
	}
}
