package traffic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Trace is a recorded load.
type Trace struct {
	Requests []Request
	Timed    bool   // requests have times
	ID       string // of the content: the first 8 digits of its SHA-256
}

// traceLine is a line of a trace as Mooncake publishes them (github.com/kvcache-ai/Mooncake, FAST25-release/traces),
// which AIPerf and Dynamo read too. Timestamps are milliseconds.
type traceLine struct {
	Timestamp *float64 `json:"timestamp"`
	Input     *int     `json:"input_length"`
	Output    *int     `json:"output_length"`
	Hashes    []uint64 `json:"hash_ids"`
}

// MooncakeBlock is the number of tokens for which a hash of a Mooncake trace stands.
const MooncakeBlock = 512

// ReadTrace reads a trace of JSON lines with input_length, output_length, timestamp and hash_ids. block is how many
// tokens a hash stands for; 0: Mooncake's 512. Lengths and what prompts share are exact; the text is made up.
func ReadTrace(data []byte, block int) (Trace, error) {
	sum := sha256.Sum256(data)
	t := Trace{Timed: true, ID: hex.EncodeToString(sum[:4])}
	if block == 0 {
		block = MooncakeBlock
	}
	var last time.Duration
	for i, line := range bytes.Split(data, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		q, err := traceRequest(line, block)
		if err != nil {
			return Trace{}, fmt.Errorf("line %d: %w", i+1, err)
		}
		if q.At < 0 {
			t.Timed = false
		} else if q.At < last {
			return Trace{}, fmt.Errorf("line %d: its timestamp is before that of the line above", i+1)
		}
		last = q.At
		t.Requests = append(t.Requests, q)
	}
	if len(t.Requests) == 0 {
		return Trace{}, fmt.Errorf("the trace has no requests")
	}
	if first := t.Requests[0].At; t.Timed {
		for i := range t.Requests {
			t.Requests[i].At -= first
		}
	}
	return t, nil
}

// traceRequest reads one line; At is negative where the line has no time.
func traceRequest(line []byte, block int) (Request, error) {
	const example = `expected one like {"timestamp": 0, "input_length": 6755, "output_length": 500, "hash_ids": [1, 2]}`
	var l traceLine
	if err := json.Unmarshal(line, &l); err != nil {
		return Request{}, fmt.Errorf("%w; %s", err, example)
	}
	if l.Input == nil || l.Output == nil || *l.Input < 1 || *l.Output < 1 || *l.Input > longest || *l.Output > longest {
		return Request{}, fmt.Errorf("input_length or output_length is not a number of tokens; %s", example)
	}
	q := Request{ISL: *l.Input, OSL: *l.Output, At: -1, BlockTokens: block}
	q.Blocks = l.Hashes[:min(len(l.Hashes), *l.Input/block)] // a block that is not full is the request's own
	if l.Timestamp != nil {
		if !(*l.Timestamp >= 0) || *l.Timestamp > 1e12 {
			return Request{}, fmt.Errorf("timestamp is not in milliseconds from the start; %s", example)
		}
		q.At = time.Duration(*l.Timestamp * float64(time.Millisecond))
	}
	return q, nil
}

// Mean returns the mean lengths, whole tokens.
func (t Trace) Mean() (isl, osl int) {
	for _, q := range t.Requests {
		isl, osl = isl+q.ISL, osl+q.OSL
	}
	n := max(1, len(t.Requests))
	return (isl + n/2) / n, (osl + n/2) / n
}

// Rate returns the requests a second of a timed trace; 0 for any other.
func (t Trace) Rate() float64 {
	if n := len(t.Requests); t.Timed && n > 1 && t.Requests[n-1].At > 0 {
		return float64(n-1) / t.Requests[n-1].At.Seconds()
	}
	return 0
}

// Take returns the first n requests, all if n is 0, at a multiple of the speed at which they were recorded.
func (t Trace) Take(n int, speed float64) []Request {
	if n == 0 || n > len(t.Requests) {
		n = len(t.Requests)
	}
	out := make([]Request, n)
	copy(out, t.Requests)
	for i := range out {
		if !t.Timed {
			out[i].At = 0
		} else if speed > 0 {
			out[i].At = time.Duration(float64(out[i].At) / speed)
		}
	}
	return out
}

// conversation is an entry of a ShareGPT file.
type conversation struct {
	Conversations []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
}

// ReadConversations returns the first question of each conversation of a ShareGPT file, a JSON list.
func ReadConversations(data []byte) ([]string, error) {
	var list []conversation
	if err := json.Unmarshal(data, &list); err != nil {
		const example = `[{"conversations": [{"from": "human", "value": "…"}]}]`
		return nil, fmt.Errorf("%w; expected a list like %s", err, example)
	}
	var out []string
	for _, c := range list {
		if len(c.Conversations) > 1 && c.Conversations[0].Value != "" {
			out = append(out, c.Conversations[0].Value)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it has no conversation of two turns or more")
	}
	return out, nil
}
