package ingest

import "testing"

// The words that are looked for first are in every line that matches, in either case.
func TestWordsOfMeasuredLines(t *testing.T) {
	for _, line := range []string{
		"Mean TTFT: 12 ms", "tpot 3", "P99 ITL (ms): 9", "E2EL 100", "Time to first token 1.5", "inter-token latency 4",
		"time per output token: 8", "120 tok/s 3", "Tokens/s: 7", "tokens per sec 5", "Request throughput: 3.1",
		"req/s = 4", "requests/s 5", "mean latency 20", "p95_latency=3", "latency average 7", "Latency_p50: 9",
	} {
		if at := measuredAt([]byte(line), false); at < 0 || !mayBeMeasured([]byte(line)) {
			t.Errorf("%q: matches %d, words %v", line, at, mayBeMeasured([]byte(line)))
		}
	}
	if mayBeMeasured([]byte("INFO 06-20 10:00:00 engine.py:310] Added 8 to the batch")) {
		t.Error("a line of a server's log has such a word")
	}
}
