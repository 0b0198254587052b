// Package evalscope reads ModelScope's evalscope: summaries, percentiles and arguments of evalscope perf (0.8 to 1.14)
// and the reports of its evals (reports/<model>/<dataset>.json).
//
// The three files of a load test are one measurement: package ingest joins them by [Combine]. A time's unit stands
// in the name of its field, and changed from seconds to milliseconds.
package evalscope
