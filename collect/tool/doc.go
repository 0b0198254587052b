// Package tool adapts external benchmark and eval tools: the command line with which each of them measures a job, and
// how its result file shows success.
//
// In: a [Job], which is one workload or one eval task on a server that is ready. Out: a [Command] to run, and after
// it a [Summary]. An [Adapter] knows the flags of its tool and where the tool writes its result; it must not know
// servers, run folders or journals. From a result it reads only whether the tool succeeded and whether the client
// kept up, because several tools exit 0 after failing. Package ingest reads the numbers later, from the same file.
//
// adapters.go has the tools by family: load clients, benchmarks with an engine of their own, eval harnesses;
// commands.tmpl has their command lines. tool.go has what they share, and command lines from ttreport.yaml.
// environment.go finds the programs, or installs them from pinned requirements.
package tool
