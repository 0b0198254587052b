// Package inferenceperf reads the lifecycle reports of kubernetes-sigs/inference-perf: stage_N_lifecycle_metrics.json
// and summary_lifecycle_metrics.json, in JSON or YAML.
//
// It takes one decoded value and returns a [schema.Reading] with one point. Source: inference_perf/reportgen, 2025 and
// 2026.
//
// Units are seconds throughout.
//
// Traps: "time_per_output_token" and "inter_token_latency" are over chunks, not tokens: with a server that sends two
// chunks a token both are half of TPOT, so neither is read as TPOT; each stage is a load of its own and the summary
// pools all of them, so the summary counts only where the stages are missing; failures are in a separate object and
// the statistics cover successes only; model and device are not stated.
package inferenceperf
