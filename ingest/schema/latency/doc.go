// Package latency turns request timelines into TTFT, TPOT, ITL and E2EL and their statistics.
//
// In: [Request] values. Out: a [Set] of samples and rates. The builtin client and the readers that recompute a tool's
// statistics from per-request arrays both use it, so that there is one definition of each. Times are milliseconds
// throughout. It must not know tools or files.
//
// Definitions follow vLLM's serving benchmark since v0.5.0 (vllm/benchmarks/serve.py): TPOT is (E2EL − TTFT) / (output
// tokens − 1) of requests with at least two tokens; ITL pools the gaps between chunks; standard deviations are of the
// population; percentiles interpolate linearly, as NumPy does by default.
package latency
