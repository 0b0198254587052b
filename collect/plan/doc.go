// Package plan turns a request into what is measured: a [Plan] of workloads, tools and evals for one model on one
// device.
//
// In: [Options], one struct a subject, that a caller fills from flags; entries of plan files, nm-vllm configurations
// and the gate's rechecks, which [Options.With] lays below the options; what specifications state of the model
// ([spec.Model]); and what target files state ([Targets]). Out: a [Plan], its measurements in order ([Plan.Items]), how
// long it may take ([Estimate]), and notes on what was assumed or left out. Everything is typed: a workload is read
// from text at the border, once.
//
// It must not start servers, run tools or write results: package collect does, from the plan. It must not know target
// files or history documents: what they say comes in as data.
package plan
