// Package inferenceperf reads the lifecycle reports of kubernetes-sigs/inference-perf: stage_N_lifecycle_metrics.json
// and summary_lifecycle_metrics.json, in JSON or YAML.
//
// It takes one decoded value and returns a [schema.Reading] with one point. Source: inference_perf/reportgen, 2025 and
// 2026.
//
// Units are seconds throughout.
//
// Traps: "time_per_output_token" and "inter_token_latency" are over chunks, not tokens: a server that sends two chunks
// a token makes both half of TPOT, so neither is taken for it; a stage is a load of its own and the summary pools all
// of them, so it counts only where the stages are missing; failures are in an object of their own and the statistics
// over successes only; nothing says which model or device was measured.
package inferenceperf
