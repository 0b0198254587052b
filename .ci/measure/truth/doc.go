// Command truth is an OpenAI-compatible streaming server for measuring load clients. It answers on a fixed schedule
// and logs when each request reached this machine and when its tokens were flushed, to compare with what a client
// reports.
//
//	truth -addr 127.0.0.1:8000 -log truth.jsonl [-ttft 50ms] [-itl 10ms]
//
// It ends on SIGINT or SIGTERM, when all requests are in the log. Prompt tokens are counted as words: the server needs
// no tokenizer, and no client's timing depends on the count.
package main
