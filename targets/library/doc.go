// Package library holds target files: it takes their content and returns the targets in force for a model on a
// device.
//
// It reads tt-inference-server's model_performance_reference.json and overrides of the same shape, files of our own
// (targets/*.yaml) and requirements documents 2.x, each with problems where something is damaged or contradicts
// itself. Targets are looked up by architecture key, the first weight of the architecture. A target that its own
// neighbours rule out is unattainable and is named.
//
// Targets in force are stored with a run and never looked up again: files are edited, and a verdict on an old release
// must not change with them. The package must not know files on disk, measured numbers or pages.
package library
