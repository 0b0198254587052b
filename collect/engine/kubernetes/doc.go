// Package kubernetes is Kubernetes as a scheduler of jobs.
//
// In: an [engine.Submission], and kubectl with the cluster of a kubeconfig context or of this pod. Out: a [Backend],
// which makes for each group a ConfigMap with its entries and an indexed Job (manifest.yaml.tmpl), and reads the states
// of Jobs and pods in Kubernetes' words.
//
// Kubernetes starts a pod again that was evicted, preempted or whose node failed, as often as the plan says, and does
// not start one again whose measurement failed: its pod failure policy says so. A pod's run folder comes through its
// log; see package transfer. This package must not know what a run folder contains, and hands secrets on by reference
// only.
package kubernetes
