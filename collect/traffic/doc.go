// Package traffic says what a workload is, and what requests it consists of: how long each one is, what it shares with
// others, and when it is sent.
//
// In: a [Workload] as text such as "isl=lognormal(2000,0.4),osl=128,c=8", or a trace file, and a seed. Out: its key in
// history, and [Request]s, the same ones for the same seed. A field is a row of one table, from which the text, its
// errors, sameness and the key are made. It must not know servers, prompts as text, or results: the client makes words
// of the lengths and sends them.
package traffic
