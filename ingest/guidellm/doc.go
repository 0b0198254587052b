// Package guidellm reads the reports of GuideLLM: benchmarks.json of 0.1 to 0.3, of 0.4 to 0.6 (metadata version 1) and
// of 0.7 and later (version 2). Its CSV and console tables repeat them.
//
// It takes one decoded value and returns a [schema.Reading] with one point for each benchmark, since a report holds all
// strategies and rates of a sweep. Source: guidellm/benchmark/schemas, 2025 and 2026.
//
// Units: times are milliseconds by their names, but request_latency is seconds.
//
// Traps: "time_per_output_token_ms" includes the first token, which is NTPOT here; "inter_token_latency_ms" is the mean
// gap of a request, weighted by its tokens, and its mean is that of TPOT; its "count" counts tokens, not requests;
// request_latency ends with the response and not with the last token; every statistic exists for successful, errored,
// incomplete and all requests, and a block of count 0 is all zeros, which is no data; p001 is the 0.1th percentile.
// Requests are kept as a sample only, with their texts; neither is read.
package guidellm
