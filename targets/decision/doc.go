// Package decision holds what people decided about results: which changes matter, which levels they pinned or
// dismissed, which runs they excluded, which findings they accept or waive.
//
// It takes the decisions that ttreport.yaml holds and answers what they select: a run, a point, a verdict, a level.
// Every pattern of a selection is a glob of doublestar, in which * also crosses the slashes of a workload. A decision
// holds through the day of its expiry; one that has expired changes nothing and is shown.
//
// It is a package of its own because both sides need it: the judge must know what is excluded and pinned before it
// judges, the gate what is waived afterwards. It must not know how numbers are judged or what a gate fails on.
package decision
