// Package latency turns request timelines into TTFT, TPOT, ITL and E2EL and their statistics.
//
// There is one definition of each, used when the builtin client measures and when a reader recomputes a tool's
// statistics from its per-request arrays, so the two cannot drift apart. Times are milliseconds throughout.
//
// Definitions follow vLLM's serving benchmark since v0.5.0 (vllm/benchmarks/serve.py): TPOT is (E2EL − TTFT) / (output
// tokens − 1) of requests with at least two tokens; ITL pools the gaps between chunks; standard deviations are of the
// population; percentiles interpolate linearly, as NumPy does by default.
package latency
