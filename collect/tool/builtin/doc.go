// Package builtin is a streaming load client for OpenAI-compatible servers with vLLM's metric definitions, and a small
// arithmetic eval.
//
// In flow a server's address and a load: lengths, a number of requests, and either a concurrency (closed loop) or a
// rate (open loop, Poisson arrivals). Out flow timelines, written in the form of vLLM's own result file, so that they
// are read like anybody else's.
//
// What makes it exact: one connection per stream, read by one goroutine without a transport in between, and each chunk
// is stamped when the read that brought it returns. Open-loop requests are sent on schedule whether or not earlier ones
// have been answered, so a slow server is not asked less (coordinated omission); how late the sends were is recorded.
package builtin
