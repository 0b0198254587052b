package sim

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
)

// Server is a running simulator.
type Server struct {
	http.Handler // what answers at its address
	cfg          Config
	sched        *scheduler
	http         *http.Server
	ln           net.Listener
	stop         context.CancelFunc
	done         sync.WaitGroup
	seen         atomic.Uint64 // requests
}

// Start listens on a free port of the loopback interface and serves until Stop.
func Start(cfg Config) (*Server, error) {
	cfg = withDefaults(cfg)
	ln, err := net.Listen("tcp", cmp.Or(cfg.Addr, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{cfg: cfg, sched: &scheduler{batch: newBatch(cfg), wake: make(chan struct{}, 1)}, ln: ln, stop: cancel}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, object{"version": cfg.Version})
	})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, object{"object": "list", "data": []any{object{
			"id": cfg.Model, "object": "model", "owned_by": "ttreport-sim", "max_model_len": cfg.KVTokens,
		}}})
	})
	mux.HandleFunc("GET /metrics", s.metrics)
	for path, to := range map[string]traffic.Endpoint{
		"/v1/completions": traffic.Completions, "/v1/chat/completions": traffic.Chat, "/v1/responses": traffic.Responses,
		"/v1/embeddings": traffic.Embeddings, "/v1/rerank": traffic.Rerank,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, to) })
	}
	want := []byte("Bearer " + cfg.Key)
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Below /v1 the key is needed, as at vLLM; the other paths need none.
		got := []byte(r.Header.Get("Authorization"))
		if cfg.Key != "" && strings.HasPrefix(r.URL.Path, "/v1/") && subtle.ConstantTimeCompare(got, want) != 1 {
			http.Error(w, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
	s.http = &http.Server{Handler: s.Handler, ReadHeaderTimeout: 10 * time.Second}
	s.done.Go(func() { s.sched.loop(ctx) })
	s.done.Go(func() {
		if err := s.http.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			cancel()
		}
	})
	return s, nil
}

func withDefaults(c Config) Config {
	d := Defaults()
	c.Model, c.Version = cmp.Or(c.Model, d.Model), cmp.Or(c.Version, d.Version)
	c.StepBase, c.PerSequence = cmp.Or(c.StepBase, d.StepBase), cmp.Or(c.PerSequence, d.PerSequence)
	c.PerPrefill, c.ChunkTokens = cmp.Or(c.PerPrefill, d.PerPrefill), cmp.Or(c.ChunkTokens, d.ChunkTokens)
	c.MaxBatch, c.MaxQueue = cmp.Or(c.MaxBatch, d.MaxBatch), cmp.Or(c.MaxQueue, d.MaxQueue)
	c.KVTokens, c.CacheBlock = cmp.Or(c.KVTokens, d.KVTokens), cmp.Or(c.CacheBlock, d.CacheBlock)
	return c
}

// URL returns the server's address.
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() }

// Stop ends every connection and waits until nothing runs any more.
func (s *Server) Stop() {
	s.stop()
	_ = s.http.Close() // an error of closing the listener does not matter here
	s.done.Wait()
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	type metric struct {
		name, kind string
		value      float64
	}
	s.sched.mu.Lock()
	b := &s.sched.batch
	list := []metric{
		{"num_requests_running", "gauge", float64(len(b.running))},
		{"num_requests_waiting", "gauge", float64(len(s.sched.queue))},
		{"kv_cache_usage_perc", "gauge", float64(b.tokens()) / float64(s.cfg.KVTokens)},
		{"request_success_total", "counter", float64(s.sched.finished)},
		{"request_queue_time_seconds_sum", "counter", b.waited.Seconds()},
		{"request_queue_time_seconds_count", "counter", float64(b.queued)},
	}
	if c := b.cache; c != nil {
		list = append(list, metric{"prefix_cache_queries_total", "counter", float64(c.queried)},
			metric{"prefix_cache_hits_total", "counter", float64(c.hits)})
	}
	if n := len(b.byPlace); n > 0 {
		list = append(list, metric{"spec_decode_num_drafts_total", "counter", float64(b.drafts)},
			metric{"spec_decode_num_draft_tokens_total", "counter", float64(n * b.drafts)},
			metric{"spec_decode_num_accepted_tokens_total", "counter", float64(b.accepted)})
		for i, accepted := range b.byPlace {
			name := fmt.Sprintf("spec_decode_num_accepted_tokens_per_pos_total{position=\"%d\"}", i)
			list = append(list, metric{name, "counter", float64(accepted)})
		}
	}
	s.sched.mu.Unlock()
	for _, m := range list {
		family, _, _ := strings.Cut(m.name, "{")
		fmt.Fprintf(w, "# TYPE vllm:%s %s\nvllm:%s %g\n", family, m.kind, m.name, m.value)
	}
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // fails if the client disconnected
}

// Events of a stream. Answers of chat and responses can begin with reasoning, and can be calls of a tool. The model's
// name is the only text in them that comes from outside, and it is escaped.
const (
	chatEvent = "data: {\"id\":\"sim\",\"object\":\"chat.completion.chunk\",\"model\":%q,\"choices\":[" +
		"{\"index\":0,\"delta\":{%s},\"finish_reason\":null}]}\n\n"
	textEvent = "data: {\"id\":\"sim\",\"object\":\"text_completion\",\"model\":%q,\"choices\":[" +
		"{\"index\":0,\"text\":%q,\"finish_reason\":null}]}\n\n"
	responseEvent = "event: response.%[1]s.delta\ndata: {\"type\":\"response.%[1]s.delta\",\"delta\":%[2]q}\n\n"
)

// chunk is the event of the n-th token.
func (st *stream) chunk(n int, word string) []byte {
	delta, event := "\"content\":%q", "output_text"
	switch {
	case n < st.s.cfg.Reasoning:
		delta, event = "\"reasoning_content\":%q,\"content\":null", "reasoning_text"
	case st.calls:
		delta, event = "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":%q}}]", "function_call_arguments"
	}
	switch st.api {
	case traffic.Chat:
		return fmt.Appendf(nil, chatEvent, st.s.cfg.Model, fmt.Sprintf(delta, word))
	case traffic.Responses:
		return fmt.Appendf(nil, responseEvent, event, word)
	}
	return fmt.Appendf(nil, textEvent, st.s.cfg.Model, word)
}

// ending is what follows the last token of a stream.
func (st *stream) ending(q *sequence, produced int) []byte {
	const output = "event: response.output_text.done\n" +
		"data: {\"type\":\"response.output_text.done\",\"text\":\"all of it\"}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"model\":%q,\"usage\":%s}}\n\n"
	const last, done = "data: {\"id\":\"sim\",\"model\":%q,\"choices\":[],\"usage\":%s}\n\n", "data: [DONE]\n\n"
	usage, _ := json.Marshal(st.usage(q, produced)) // numbers can always be written
	switch {
	case st.api == traffic.Responses:
		return fmt.Appendf(nil, output, st.s.cfg.Model, usage)
	case st.counts:
		return fmt.Appendf(nil, last+done, st.s.cfg.Model, usage)
	}
	return []byte(done)
}

// usage says how many tokens a prompt and its answer had, and of a prefix cache how many of the prompt it knew.
func (st *stream) usage(q *sequence, produced int) object {
	in, out := "prompt", "completion"
	if st.api == traffic.Responses {
		in, out = "input", "output"
	}
	u := object{in + "_tokens": q.prompt, out + "_tokens": produced, "total_tokens": q.prompt + produced}
	switch st.api {
	case traffic.Embeddings:
		u = object{"prompt_tokens": q.prompt, "total_tokens": q.prompt}
	case traffic.Rerank:
		return object{"total_tokens": q.prompt}
	}
	if st.s.sched.cache != nil {
		u[in+"_tokens_details"] = object{"cached_tokens": q.cached}
	}
	return u
}

// object is a JSON object.
type object = map[string]any

// document is an answer that is not streamed.
func (st *stream) document(q *sequence, produced int, text string) object {
	name, value := "choices", object{"index": 0, "text": text, "finish_reason": "length"}
	switch st.api {
	case traffic.Chat:
		value = object{"index": 0, "message": object{"role": "assistant", "content": text}, "finish_reason": "length"}
	case traffic.Embeddings:
		name, value = "data", object{"index": 0, "embedding": []float64{.6, .8}}
	case traffic.Rerank:
		name, value = "results", object{"index": 0, "relevance_score": .5}
	case traffic.Responses:
		name, value = "output", object{"type": "message", "role": "assistant",
			"content": []any{object{"type": "output_text", "text": text}}}
	}
	return object{"id": "sim", "model": st.s.cfg.Model, "usage": st.usage(q, produced), name: []any{value}}
}

// Config describes the simulated system. The zero value of a field takes the default of [Defaults].
type Config struct {
	Addr    string // to listen on; "" for a free port of the loopback interface
	Model   string // served name
	Version string // version of the stack, in /version and in results
	Key     string // that requests below /v1 must have; "" for none
	Seed    uint64

	StepBase     time.Duration // duration of a step with nothing in it
	PerSequence  time.Duration // added for each sequence that decodes in the step
	PerPrefill   time.Duration // added for each prompt token prefilled in the step
	ChunkTokens  int           // prompt tokens that one step may prefill
	MaxBatch     int           // sequences that run at once
	MaxQueue     int           // requests that may wait; more are refused with 503
	KVTokens     int           // tokens that running sequences may hold together
	Noise        float64       // coefficient of variation of a step's duration
	Drift        float64       // a factor for the whole life of the server, drawn once: exp(N(0, Drift))
	Reasoning    int           // tokens of reasoning before an answer of chat or responses
	EvalAccuracy float64       // share of arithmetic questions answered right
	CacheTokens  int           // that the prefix cache holds; 0: there is none
	CacheBlock   int           // tokens of a block of it
	Acceptance   []float64     // of each token of a draft, the share of drafts in which it is accepted; none: no drafts
	Errors       float64       // share of requests that are answered with 500

	// TTFT and ITL are a fixed schedule that each request has by itself, in place of the batch's. 0: none.
	TTFT, ITL time.Duration
}

// Defaults returns a small model on a small device: about 9 ms to the first token of a 128-token prompt and 4 ms a
// token.
func Defaults() Config {
	return Config{
		Model: "sim-8b", Version: "0", Seed: 1,
		StepBase: 3900 * time.Microsecond, PerSequence: 60 * time.Microsecond, PerPrefill: 18 * time.Microsecond,
		ChunkTokens: 512, MaxBatch: 64, MaxQueue: 2048, KVTokens: 1 << 20, Noise: .01, Drift: .002, EvalAccuracy: .9,
		CacheBlock: 16,
	}
}
