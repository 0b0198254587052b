// Package perfref reads the performance reference entries of tt-inference-server, which state targets for a workload:
// {isl, osl, max_concurrency, task_type, …, targets: {level: {ttft_ms, tput_user, tput, tolerance}}}.
//
// The same entries are in model_performance_reference.json, in override files and in runtime specs, so the reader of
// runs and the reader of targets share this package. Where only a theoretical value is given, three levels follow
// from it: functional at 10 %, complete at 50 % and target at 100 % of the theoretical performance, which divides a
// latency and multiplies a rate. Source: tt-inference-server, benchmarking/benchmark_targets.
package perfref
