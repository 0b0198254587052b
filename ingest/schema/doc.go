// Package schema is the vocabulary of ttreport: runs, points, scores, metrics, targets and verdicts.
//
// All stages use it: readers produce a [Reading] per file, ingest groups readings into [Run] values, history stores
// runs, targets turns runs into [Verdict] values, render shows them.
//
// Three rules have their home here:
//
//   - Absent is not zero. A statistic is a [Number]: a value, or a reason why there is none.
//   - A metric carries its unit and the id of its definition, because tools use one name for different quantities.
//   - Identity (model, device, engine, release …) is stated by a source or unknown; [Origin] names the source.
//
// The package imports only the standard library. It must not know file formats, pages or the time of day. The JSON
// form of a run, schema "ttreport/v1", is described by run.schema.json in this folder and written by package history.
package schema
