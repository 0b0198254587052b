// Package decision holds the decisions of people about results: which changes matter, which levels are pinned or
// dismissed, which runs are excluded, which findings are accepted or waived.
//
// It takes the decisions in ttreport.yaml and reports what they select: a run, a point, a verdict, a level. Every
// pattern of a selection is a glob of doublestar, in which * also crosses the slashes of a workload. A decision is
// valid through the day of its expiry; an expired one has no effect and is shown.
//
// It is a package of its own because both sides need it: the judge must know what is excluded and pinned before it
// judges, the gate what is waived afterwards. It must not know how numbers are judged or what a gate fails on.
package decision
