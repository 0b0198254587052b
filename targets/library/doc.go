// Package library holds target files: it takes their content and returns the targets in force for a model on a
// device.
//
// It reads tt-inference-server's model_performance_reference.json and overrides of the same shape, files of our own
// (targets/*.yaml) and requirements documents 2.x, each with problems where something is damaged or contradicts
// itself. Targets are looked up by architecture key, the first weight of the architecture. A target that other
// targets of the same workload rule out is reported as unattainable.
//
// The targets in force are stored with a run and never looked up again, so that editing a file does not change a
// verdict on an old release. The package must not know files on disk, measured numbers or pages.
package library
