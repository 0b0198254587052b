// Package sim is an inference server without a model: its answers take the time that a continuous-batching scheduler
// would take.
//
// In: requests with a prompt and a length. Out: tokens on a schedule made of steps. Each step serves every running
// sequence one token and spends what is left of its token budget on prefill; its duration grows with both. Batch limit,
// queue and KV limit give the knee and the cliff that real servers have. Seeded: the same seed gives the same
// durations.
//
// [Server] is an OpenAI-compatible HTTP server on the machine's clock, on loopback only; faults can be injected, and
// what it really sent, and when, is kept to check a client against. [Virtual] computes the same schedule on a clock of
// its own, for numbers that do not depend on the machine.
//
// What is measured on it holds for no device; results carry the device "simulated".
package sim
