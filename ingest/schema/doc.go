// Package schema is the vocabulary of ttreport: what a run, a point, a score, a metric, a target and a verdict are.
//
// All stages use it and none owns it: readers produce a [Reading] per file, ingest groups readings into [Run] values,
// history stores runs, targets turns runs into [Verdict] values, render shows all of it.
//
// Three rules are decided here, once:
//
//   - Absent is not zero. A statistic is a [Number]: a value, or a reason why there is none.
//   - A metric carries its unit and the id of its definition, because tools give one name to different things.
//   - Identity (model, device, engine, release …) is stated by a source or it is unknown; [Origin] names the source.
//
// The package imports the standard library only and knows no file format, no page and no clock. The JSON form of a
// run, schema "ttreport/v1", is described by run.schema.json beside this file and written by package history.
package schema
