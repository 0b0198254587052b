// Package nmvllm writes measurements as nm-vllm's benchmark scripts do: one BenchmarkResult JSON for each point of a
// serving or a throughput benchmark, under the name that the scripts give it. What reads a folder of those files, such
// as gha_benchmark_logging.py, reads these.
//
// In come runs, as history has them. Out go files, as names and bytes. Keys, names and units of metrics and types of
// metrics are those of neuralmagic/benchmarks/scripts/logging/benchmark_result.py of nm-vllm 0.5. A number that is not
// known is left out, and so is a P99 of fewer than 100 requests. The package compares nothing.
package nmvllm
