// Package sim is an inference server without a model: an OpenAI-compatible HTTP server whose answers take the time that
// a continuous-batching scheduler would take.
//
// In flow requests with a prompt and a length; out flow streamed words on a schedule made of steps. Each step serves
// every running sequence one token and spends what is left of its token budget on prefill; its duration grows with
// both. Batch limit, queue and KV limit give the knee and the cliff that real servers have. Seeded: the same seed gives
// the same durations. Faults can be injected. What was really sent, and when, is kept for whoever wants to check a
// client.
//
// Nothing measured on it says anything about any device; results carry the device "simulated". It listens on loopback
// only.
package sim
