// Package vllm reads results of vLLM's serving benchmark: benchmark_serving.py and, since v0.8, "vllm bench serve", its
// Rust client, its forks (TensorRT-LLM's trtllm-serve benchmark, InferenceX), the pooling and embedding variant, and
// the trees of "vllm bench sweep"; and its offline benchmarks, "vllm bench throughput", "latency" and "startup".
//
// It takes one decoded value and returns a [schema.Reading] with one point, or one for each run of a sweep's
// summary.json. Source of the format: vllm/benchmarks/serve.py and its predecessors, rust/src/bench, 2023 to 2026.
//
// Units: latencies in "*_ms" keys are milliseconds; the per-request arrays (ttfts, itls) are seconds.
//
// Eras and their traps:
//
//   - before v0.5.0 "tpot" is E2EL / output tokens, first token included: that is NTPOT here, and no ITL exists;
//   - v0.6.0 to v0.6.3 swap mean and median of E2EL: the arrays show it, and where there are none the era does;
//   - until v0.6.3 a response without tokens counts as completed (hollow success) and lowers TTFT;
//   - v0.6.4 to v0.9.1 write the key "request_goodput:" with a colon;
//   - until v0.7 the arrays are always there, since v0.8 only with --save-detailed;
//   - "failed" exists since v0.11.1; before, it is num_prompts − completed;
//   - a run in which nothing completed is written as zeros: a zero latency means no data, never the best value;
//   - "date" is local time without a zone, taken after the run; "backend" is the client's protocol, not the server's
//     software;
//   - --metadata writes strings under any name, replacing the tool's own keys;
//   - "max_concurrent_requests" is a peak over a second and may exceed max_concurrency;
//   - a sweep's run=N.json has the parameters that were varied at its top level: they are dimensions of the workload,
//     and summary.json has the same runs again.
//
// Offline benchmarks (vllm/benchmarks/{throughput,latency,startup}.py, v0.4.3 on) are in seconds. Their files do not
// state model, device, lengths or batch; tokens_per_second counts prompt and output tokens together and is not output
// throughput; the latency is of a whole batch; percentiles have keys such as "99".
//
// Where the arrays exist, every statistic is recomputed from them and the recomputed value is used; a stated value
// that differs by more than 1 % is a problem that shows both. Prompts and generated text are never kept.
package vllm
