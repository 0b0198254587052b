// Package manifest reads and writes what stands beside result files: sidecars, run manifests, journals; and it reads
// path patterns. They are the contract between collect, which writes them, and ingest, which reads them.
//
//   - A sidecar, "<result file>.ttreport.json", says of one result what the tool does not: the exact command, the nominal
//     lengths, the conditions, times in UTC, the exit code.
//   - A run manifest, "ttreport.manifest.yaml", says of all results below its folder what they share: model, device,
//     stack, release. People may write one for foreign results.
//   - A journal, "journal.jsonl", says what a collection did, line by line, as it did it.
//   - A path pattern says which identity the folders and names of foreign results carry.
//
// All of it is stated by somebody; nothing here is inferred. The package knows no result format.
package manifest
