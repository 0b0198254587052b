// Package llmd reads llm-d's benchmark reports, versions 0.1, 0.2 and 0.2.1, in YAML or JSON: a common form into which
// llm-d-benchmark converts the results of other tools.
//
// It takes one decoded value and returns a [schema.Reading] with one point. Source:
// llmdbenchmark/analysis/benchmark_report of llm-d/llm-d-benchmark, schemas and examples.
//
// Every distribution states its unit, which is used: s, ms, s/token, ms/token, tokens/s, queries/s.
//
// Traps: the definition of a metric is that of the converted tool: GuideLLM's time_per_output_token includes the
// first token, inference-perf's is over chunks; in 0.1 throughputs are bare numbers; failures are part of total;
// requested lengths are known only if their distribution is fixed; the pid, user and cluster of a run are not kept.
package llmd
