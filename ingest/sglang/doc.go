// Package sglang reads the JSON Lines of sglang's serving benchmark, "python -m sglang.bench_serving --output-file".
//
// It takes one decoded line and returns a [schema.Reading] with one point. Source: python/sglang/bench_serving.py,
// December 2024 to 2026, and forks that write fewer fields.
//
// Units: "*_ms" keys are milliseconds, the arrays of --output-details seconds.
//
// Traps: request_rate may be the literal Infinity or "trace"; the file has no number of requested prompts, no failed
// count and no date, and the model only in server_info; random_input_len and random_output_len are written for every
// dataset, and with random_range_ratio below 1 lengths are drawn from a range: they count only if the dataset is
// random; without streaming TPOT is -0.00 and ITL 0, which means not measured; "concurrency" is the measured one.
package sglang
