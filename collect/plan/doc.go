// Package plan turns a request into a [Plan]: workloads, tools and evals for one model on one device.
//
// In: [Options], one struct per subject, that a caller fills from flags; entries of plan files, nm-vllm
// configurations and the gate's rechecks, which [Options.With] uses for what the options leave open; what
// specifications state about the model ([spec.Model]); and what target files state ([Targets]). Out: a [Plan], its
// measurements in order ([Plan.Items]), how long it may take ([Estimate]), and notes on what was assumed or left out.
// Everything is typed: a workload is parsed from text once, on input.
//
// It must not start servers, run tools or write results: package collect does, from the plan. It must not read target
// files or history documents: their content comes in as data.
package plan
