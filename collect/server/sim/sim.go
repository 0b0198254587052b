package sim

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/arrival"
)

// Server is a running simulator.
type Server struct {
	cfg   Config
	sched *scheduler
	http  *http.Server
	ln    net.Listener
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu   sync.Mutex
	seen int
	sent map[string]Sent
}

// Sent records what the server did for one request, for checking a client. Times are of this process's monotonic
// clock.
type Sent struct {
	Arrived time.Time   // when the request reached this machine
	Chunks  []time.Time // when each token's chunk was handed to the connection
	Prompt  int
}

// Start listens on a free port of the loopback interface and serves until Stop.
func Start(cfg Config) (*Server, error) {
	cfg = withDefaults(cfg)
	ln, err := net.Listen("tcp", cmp.Or(cfg.Addr, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{cfg: cfg, sched: &scheduler{batch: newBatch(cfg), wake: make(chan struct{}, 1)}, ln: ln, stop: cancel,
		sent: map[string]Sent{}}
	began := time.Now()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		if time.Since(began) < cfg.Fault.ReadyAfter {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, object{"version": cfg.Version})
	})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, object{"object": "list", "data": []any{object{
			"id": cfg.Model, "object": "model", "owned_by": "ttreport-sim", "max_model_len": cfg.KVTokens,
		}}})
	})
	mux.HandleFunc("GET /metrics", s.metrics)
	for path, to := range map[string]api{
		"/v1/completions": completions, "/v1/chat/completions": chat, "/v1/responses": responses,
		"/v1/embeddings": embeddings, "/v1/rerank": rerank,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, to) })
	}
	s.http = &http.Server{Handler: guarded(cfg.Key, mux), ReadHeaderTimeout: 10 * time.Second,
		ConnContext: arrival.ConnContext}
	s.done.Go(func() { s.sched.loop(ctx) })
	s.done.Go(func() {
		if err := s.http.Serve(arrival.Listener{Listener: ln}); err != nil && !errors.Is(err, http.ErrServerClosed) {
			cancel()
		}
	})
	return s, nil
}

// guarded refuses requests below /v1 without the key, as vLLM does; the other paths need none.
func guarded(key string, next http.Handler) http.Handler {
	want := []byte("Bearer " + key)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := []byte(r.Header.Get("Authorization"))
		if key != "" && strings.HasPrefix(r.URL.Path, "/v1/") && subtle.ConstantTimeCompare(got, want) != 1 {
			http.Error(w, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func withDefaults(c Config) Config {
	d := Defaults()
	c.Model, c.Version = cmp.Or(c.Model, d.Model), cmp.Or(c.Version, d.Version)
	c.StepBase, c.PerSequence = cmp.Or(c.StepBase, d.StepBase), cmp.Or(c.PerSequence, d.PerSequence)
	c.PerPrefill, c.ChunkTokens = cmp.Or(c.PerPrefill, d.PerPrefill), cmp.Or(c.ChunkTokens, d.ChunkTokens)
	c.MaxBatch, c.MaxQueue = cmp.Or(c.MaxBatch, d.MaxBatch), cmp.Or(c.MaxQueue, d.MaxQueue)
	c.KVTokens = cmp.Or(c.KVTokens, d.KVTokens)
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

// Log returns what was sent, by the X-Request-Id of the request.
func (s *Server) Log() map[string]Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.sent)
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	s.sched.mu.Lock()
	running, waiting, kv, finished := len(s.sched.running), len(s.sched.queue), s.sched.tokens(), s.sched.finished
	s.sched.mu.Unlock()
	for _, m := range []struct {
		name, kind string
		value      float64
	}{
		{"num_requests_running", "gauge", float64(running)}, {"num_requests_waiting", "gauge", float64(waiting)},
		{"kv_cache_usage_perc", "gauge", float64(kv) / float64(s.cfg.KVTokens)},
		{"request_success_total", "counter", float64(finished)},
	} {
		fmt.Fprintf(w, "# TYPE vllm:%s %s\nvllm:%s %g\n", m.name, m.kind, m.name, m.value)
	}
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // fails if the client disconnected
}

// api is an endpoint that answers requests.
type api int

const (
	completions api = iota
	chat
	responses
	embeddings
	rerank
)

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
	case st.req.calls():
		delta, event = "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":%q}}]", "function_call_arguments"
	}
	switch st.api {
	case chat:
		return fmt.Appendf(nil, chatEvent, st.s.cfg.Model, fmt.Sprintf(delta, word))
	case responses:
		return fmt.Appendf(nil, responseEvent, event, word)
	}
	return fmt.Appendf(nil, textEvent, st.s.cfg.Model, word)
}

// ending is what follows the last token of a stream.
func (st *stream) ending(prompt, produced int) []byte {
	const done = "event: response.output_text.done\n" +
		"data: {\"type\":\"response.output_text.done\",\"text\":\"all of it\"}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"model\":%q,\"usage\":" +
		"{\"input_tokens\":%d,\"output_tokens\":%d,\"total_tokens\":%d}}}\n\n"
	const usage = "data: {\"id\":\"sim\",\"model\":%q,\"choices\":[],\"usage\":" +
		"{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n"
	switch {
	case st.api == responses:
		return fmt.Appendf(nil, done, st.s.cfg.Model, prompt, produced, prompt+produced)
	case st.req.StreamOptions.IncludeUsage:
		return fmt.Appendf(nil, usage+"data: [DONE]\n\n", st.s.cfg.Model, prompt, produced, prompt+produced)
	}
	return []byte("data: [DONE]\n\n")
}

// object is a JSON object.
type object = map[string]any

// document is an answer that is not streamed.
func (st *stream) document(prompt, produced int, text string) object {
	usage, all := object{"prompt_tokens": prompt, "completion_tokens": produced}, prompt+produced
	name, value := "choices", object{"index": 0, "text": text, "finish_reason": "length"}
	switch st.api {
	case chat:
		value = object{"index": 0, "message": object{"role": "assistant", "content": text}, "finish_reason": "length"}
	case embeddings:
		usage, all = object{"prompt_tokens": prompt}, prompt
		name, value = "data", object{"index": 0, "embedding": []float64{.6, .8}}
	case rerank:
		usage, all = object{}, prompt
		name, value = "results", object{"index": 0, "relevance_score": .5}
	case responses:
		usage = object{"input_tokens": prompt, "output_tokens": produced}
		name, value = "output", object{"type": "message", "role": "assistant",
			"content": []any{object{"type": "output_text", "text": text}}}
	}
	usage["total_tokens"] = all
	return object{"id": "sim", "model": st.s.cfg.Model, "usage": usage, name: []any{value}}
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

	Fault Fault
}

// Fault injects failures.
type Fault struct {
	ErrorShare float64       // of requests answered 500
	BreakShare float64       // of streams cut after the first token
	EmptyShare float64       // of requests answered with no token at all
	StallAfter int           // requests after which the server stops answering; 0: never
	ReadyAfter time.Duration // /health answers 503 until then
}

// Defaults returns a small model on a small device: about 9 ms to the first token of a 128-token prompt and 4 ms a
// token.
func Defaults() Config {
	return Config{
		Model: "sim-8b", Version: "0", Seed: 1,
		StepBase: 3900 * time.Microsecond, PerSequence: 60 * time.Microsecond, PerPrefill: 18 * time.Microsecond,
		ChunkTokens: 512, MaxBatch: 64, MaxQueue: 2048, KVTokens: 1 << 20, Noise: .01, Drift: .002, EvalAccuracy: .9,
	}
}
