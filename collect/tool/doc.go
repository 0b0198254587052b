// Package tool knows the benchmark and eval tools of others: the command line that makes each of them measure a job,
// and how its result file shows success.
//
// In: a [Job], which is one workload or one eval task on a server that is ready. Out: a [Command] to run, and after it
// a [Summary]. An [Adapter] knows the flags of its tool and where the tool leaves its result; it must not know servers,
// run folders or journals. It reads of a result only what tells success from failure and how the client itself did,
// because several tools exit 0 after failing. The numbers are read by ingest, later, from the same file.
//
// One file holds one family: serving.go clients that load a server, offline.go benchmarks that bring their own engine,
// evals.go eval harnesses, script.go command lines from ttreport.yaml.
package tool
