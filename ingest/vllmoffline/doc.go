// Package vllmoffline reads what vLLM measures without clients: "vllm bench throughput", "vllm bench latency" and "vllm
// bench startup" with --output-json.
//
// It takes one decoded value and returns a [schema.Reading]: one point, or one for each part of a start-up. Source:
// vllm/benchmarks/{throughput,latency,startup}.py, v0.4.3 to 2026.
//
// Units are seconds.
//
// Traps: none of the files says which model, device, lengths or batch was measured; tokens_per_second counts prompt and
// output tokens together and is no output throughput; the latency is of a whole batch; percentiles have keys such as
// "99".
package vllmoffline
