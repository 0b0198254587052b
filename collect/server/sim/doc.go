// Package sim is an inference server without a model: its answers take the time that a continuous-batching scheduler
// would need.
//
// In: requests with a prompt and a length. Out: tokens on a schedule made of steps. Each step produces one token for
// every running sequence and spends the rest of its token budget on prefill; its duration grows with both. Batch,
// queue and KV limits saturate it as they do a real server. The same seed gives the same durations.
//
// [Server] is an OpenAI-compatible HTTP server on the machine's clock, on loopback only. [Virtual] computes the same
// schedule on a clock of its own, for numbers that do not depend on the machine.
//
// Its numbers do not describe any device; results carry the device "simulated".
package sim
