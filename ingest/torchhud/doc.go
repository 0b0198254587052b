// Package torchhud reads records of PyTorch's benchmark database: the *.pytorch.json that vLLM writes next to a
// result when SAVE_TO_PYTORCH_BENCHMARK_FORMAT is set, and the rows (schema v3) that its CI uploads.
//
// It takes one decoded array and returns readings with a point for each set of arguments. Source: convert_to_pytorch_
// benchmark_format of vllm/benchmarks, 2025 and 2026, and the wiki of pytorch/test-infra.
//
// Units are those of vLLM's own keys: "*_ms" milliseconds, latencies of the offline benchmark seconds.
//
// Traps: a record is one metric of one benchmark; several values are repeats, of which the mean counts; "inf" is a
// string; the result next to it has the same numbers, which count once, but the client's arguments are only here.
package torchhud
