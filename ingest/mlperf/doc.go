// Package mlperf reads mlperf_log_summary.txt, which the load generator of MLPerf Inference writes (2.0 to 5.1).
//
// The scenario and target load are the workload; who was measured is read from the folders of a submission,
// results/<system>/<benchmark>/<scenario>/performance/run_<n>. Times are in nanoseconds. A result that the load
// generator calls INVALID is invalid here, a run for accuracy measures nothing.
package mlperf
