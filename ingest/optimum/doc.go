// Package optimum reads what optimum-benchmark writes (0.2 to 0.6): benchmark.json with configuration and report, and
// benchmark_report.json alone. Prefill is the time to the first token of a batch; decoding gives the rate of the whole
// batch, and the latency of each token where the tool measured it.
package optimum
