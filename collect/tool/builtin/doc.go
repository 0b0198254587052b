// Package builtin is a streaming load client for OpenAI-compatible servers with vLLM's metric definitions, and a small
// arithmetic eval.
//
// In: a server's address and a load: lengths, a number of requests, and either a concurrency (closed loop) or a rate
// (open loop, Poisson arrivals). Out: timelines, written in the form of vLLM's own result file, so that they are read
// like any other. It must not know plans or run folders.
//
// What makes it exact: one connection per stream, read by one goroutine without a transport in between, and each chunk
// is stamped with the time of its arrival. Open-loop requests are sent on schedule whether or not earlier ones have
// been answered, so a slow server does not get a lower load (coordinated omission); how late the sends were is
// recorded.
//
// [RunVirtual] sends the same load to a server on a clock of its own.
package builtin
