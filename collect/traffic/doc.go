// Package traffic says what requests a load consists of: how long each one is, what it shares with others, and when it
// is sent.
//
// In: the fields of a workload that vary ([Shape]), as text such as "lognormal(2000,0.4)" or a trace file, and a seed.
// Out: [Request]s, the same ones for the same seed. It must not know servers, prompts as text, or results: the client
// makes words of the lengths and sends them.
package traffic
