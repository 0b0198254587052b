// Package builtin is a streaming load client for OpenAI-compatible servers with vLLM's metric definitions, and a small
// arithmetic eval.
//
// In: a server's address and a load: lengths, a number of requests, and either a concurrency (closed loop) or a rate
// (open loop, Poisson arrivals). Out: timelines, written in the format of vLLM's own result file, so that they are
// read like any other result. It must not know plans or run folders.
//
// To be accurate it uses one connection per stream, read by one goroutine without an HTTP transport, and time stamps
// each chunk on arrival. Open-loop requests are sent on schedule whether or not earlier ones have been answered, so a
// slow server does not get a lower load (coordinated omission); how late the sends were is recorded.
//
// [RunVirtual] runs the same load against a server on a clock of its own.
package builtin
