// Package kubernetes is Kubernetes as a scheduler of jobs.
//
// In: an [engine.Submission], and the cluster of the current kubeconfig context, or the one that this program runs in.
// Out: for each group a ConfigMap with its entries and an indexed Job, as YAML that kubectl takes as well ([Manifest]);
// what the API server would refuse ([Cluster.Accepted]); and an [engine.Scheduler] with the states of pods in
// Kubernetes' words ([Cluster]).
//
// Kubernetes starts a pod again that was evicted, preempted or whose node failed, as often as the plan says, and does
// not start one again whose measurement failed: its pod failure policy says so. Jobs and pods are watched, and of each
// only what is shown is kept. A pod's run folder comes through its log; see package transfer. This package must not
// know what a run folder contains, and hands secrets on by reference only.
package kubernetes
