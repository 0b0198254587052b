// Package nmvllm reads the results of neuralmagic/nm-vllm: BenchmarkResult JSON, and the data.js stores of
// github-action-benchmark into which they were published.
//
// It takes one decoded value and returns readings: a store holds a run for each commit, GPU and model. Source:
// neuralmagic/benchmarks of nm-vllm, 2024; benchmark-action/github-action-benchmark.
//
// Every metric states its unit.
//
// Traps: a store's "name" and "extra" are JSON within strings; versions of libraries are part of the name, so that
// each upgrade would begin new series: here they are attributes; a commit that was measured again has a further entry
// and counts as a repeat; "date" in extra ends in a zone's abbreviation, the store's own is milliseconds since 1970;
// TPOT includes the first token before vLLM 0.5.0; the number of prompts and the rate were varied together as
// nr_qps_pair_.
//
// Stores of other projects are read too: each value is a point whose workload is its name and suite, with a metric of
// its own unit and direction.
package nmvllm
