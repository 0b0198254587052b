// Package console reads what load tools print at their end: the block "Serving Benchmark Result" of vLLM's and
// sglang's clients (vLLM 0.5 to 0.33, sglang to 0.5), and "PERFORMANCE OVERVIEW" of trtllm-bench (0.13 to 1.0), out of
// logs with anything around them. The Namespace(…) that the clients print before they begin states the workload.
//
// The numbers are rounded to two decimals. Where the tool's own file is among the sources, package ingest keeps that.
package console
