// Package capacity finds the largest concurrency at which a server holds a service level objective.
//
// In: an objective as text, "ttft_p99<500ms tpot_mean<50ms", and a function that measures one concurrency. Out: the
// largest concurrency that holds, the smallest that does not, and every measurement on the way. It must not know
// servers, files or how load is made.
package capacity
