// Package llamabench reads what llama-bench of llama.cpp writes (builds 1000 to 6500): JSON, JSON lines and the
// markdown table.
//
// A row is prompt processing (pp512), generation (tg128) or both (pp512+tg128) of one batch. Prompt processing gives
// the rate of input tokens, generation that of output tokens; the deviation is over the repetitions. Everything that
// was set (threads, batch, cache types, layers on the accelerator, flash attention) is a part of the workload.
package llamabench
