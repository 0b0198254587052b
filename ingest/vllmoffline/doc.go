// Package vllmoffline reads results of vLLM's offline benchmarks: "vllm bench throughput", "vllm bench latency" and
// "vllm bench startup" with --output-json.
//
// It takes one decoded value and returns a [schema.Reading]: one point, or one for each part of a start-up. Source:
// vllm/benchmarks/{throughput,latency,startup}.py, v0.4.3 to 2026.
//
// Units are seconds.
//
// Traps: the files do not state model, device, lengths or batch; tokens_per_second counts prompt and output tokens
// together and is not output throughput; the latency is of a whole batch; percentiles have keys such as "99".
package vllmoffline
