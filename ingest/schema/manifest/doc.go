// Package manifest reads and writes the files that describe results: sidecars, run manifests, journals; and it reads
// path patterns. They are the interface between collect, which writes them, and ingest, which reads them.
//
//   - A sidecar, "<result file>.ttreport.json", states about one result what its tool does not: the exact command,
//     the nominal lengths, the conditions, times in UTC, the exit code.
//   - A run manifest, "ttreport.manifest.yaml", states what all results below its folder share: model, device, stack,
//     release. People may write one for results of other tools.
//   - A journal, "journal.jsonl", records the steps of a collection, one line for each.
//   - A path pattern names the parts of a path that are a model, a device, a release and so on.
//
// Nothing here is inferred: every fact is stated by a file. The package must not know any result format.
package manifest
