// Package trtllm reads TensorRT-LLM's own benchmarks: the "[BENCHMARK]" lines of benchmarks/python/benchmark.py and
// of the C++ programs, anywhere in a log, the CSV that benchmark.py appends to, and the report of trtllm-bench.
//
// It takes one file, text or decoded, and returns a [schema.Reading] with a point for each record. Source:
// benchmarks/python/base_benchmark.py, gpt_benchmark.py, benchmarks/cpp, tensorrt_llm/bench, versions 0.5 to 1.x.
//
// Units are in the keys: "latency(ms)", "gpu_peak_mem(gb)"; those of trtllm-bench end in _ms or _s.
//
// Traps: a line has pairs of words after the tag; their order, and whether model_name or engine_dir comes first,
// differ by version; "None", "n/a" and a memory or build time of 0 are not measured; latency and percentiles (by
// nearest rank) are of a whole static batch; tokens_per_sec counts output; generation times are 0 where one token was
// generated; the CSV repeats its header at each append; gptManagerBenchmark writes one pair per line, and num_samples
// twice; with several ranks lines have a prefix. trtllm-bench writes "-1" or NaN for missing values, no date, and the
// concurrency that was reached, not the requested one; its per-user speed is output tokens over E2EL and includes the
// first token.
package trtllm
