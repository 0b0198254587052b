// Package aiperf reads what NVIDIA's AIPerf writes: profile_export_aiperf.json of all output eras, and the
// per-request profile_export.jsonl next to it.
//
// It takes one decoded file and returns a [schema.Reading]. [Combine] merges a summary with the records of the same
// run, so that they count once and every statistic is recomputed where records exist.
//
// Eras: E0 (0.1) wraps metrics in "records" and names TTFT "ttft"; E1 (0.2, 0.3) has them flat, unused ones null; E2
// (0.4 to 0.8) adds schema_version and drops nulls; E3 (0.9 on) replaces input_config by a BenchmarkConfig with
// models, datasets and phases; E4 (0.12 on) adds warm-up metrics and more telemetry. Source: aiperf's exporters and
// files of each era.
//
// Traps:
//
//   - "inter_token_latency" is one value a request, which is TPOT here; "inter_chunk_latency" is ITL;
//   - times are milliseconds but benchmark_duration is seconds: the unit of each number decides, not its name;
//   - request_count excludes failures; a run in which all requests failed has no latency metric at all;
//   - start_time is local time without a zone; the epoch nanoseconds of the records are the only clock without that
//     doubt;
//   - phases include the warm-up: the load is read from the last phase that counts;
//   - the average of per-user speeds is a mean of reciprocals and differs from 1000 / mean TPOT.
package aiperf
