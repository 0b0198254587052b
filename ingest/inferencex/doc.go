// Package inferencex reads results of SemiAnalysis' InferenceX (before 2026 InferenceMAX): aggregated rows agg_*.json,
// and the raw files of its experiments, which are those of a vLLM fork in other units.
//
// It takes one decoded value and returns a [schema.Reading] with a point for each row. Source: utils/process_result.py
// and experimental/, 2025 and 2026.
//
// Traps: every latency is in seconds, which no key states; throughputs of aggregated rows are per accelerator and
// have to be multiplied by their number; where prefill and decode run on separate accelerators, output throughput is
// per decoding accelerator and total throughput per accelerator; "*_intvty" is 1000 over a statistic of TPOT, so that
// p99_intvty is the first percentile of the speed; aggregated rows do not state failures.
package inferencex
