// Package sglang reads the JSON Lines of sglang's serving benchmark, "python -m sglang.bench_serving --output-file".
//
// It takes one decoded line and returns a [schema.Reading] with one point. Source: python/sglang/bench_serving.py,
// December 2024 to 2026, and forks that write fewer fields.
//
// Units: "*_ms" keys are milliseconds, the arrays of --output-details seconds.
//
// Traps: request_rate may be the literal Infinity or "trace"; there is no number of prompts asked for, no failed count,
// no date, and the model only in server_info; random_input_len and random_output_len are written whatever the dataset
// was, and with random_range_ratio below 1 lengths are drawn from a range: both count only where the dataset is random;
// without streaming TPOT is -0.00 and ITL 0, which means not measured; "concurrency" is what was measured.
package sglang
