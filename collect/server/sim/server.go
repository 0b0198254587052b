package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strconv"
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
	began time.Time
	done  sync.WaitGroup

	mu   sync.Mutex
	seen int
	sent map[string]Sent
}

// Sent is what the server really did for one request, for checking a client. Times are of this process's monotonic clock.
type Sent struct {
	Arrived time.Time   // when the request reached this machine
	Chunks  []time.Time // when each token's chunk was handed to the connection
	Prompt  int
}

// listener hands out connections that know when a request reached this machine: a handler among 256 starts late.
type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return arrival.Wrap(c), nil
}

type connKey struct{}

// arrived is when the request came in, by its connection.
func arrived(r *http.Request) time.Time {
	if c, ok := r.Context().Value(connKey{}).(*arrival.Conn); ok {
		return c.At()
	}
	return time.Now()
}

// Start listens on a free port of the loopback interface and serves until Stop.
func Start(cfg Config) (*Server, error) {
	cfg = withDefaults(cfg)
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{cfg: cfg, sched: newScheduler(cfg), ln: ln, stop: cancel, began: time.Now(), sent: map[string]Sent{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /version", s.version)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, false) })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, true) })
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }}
	s.done.Go(func() { s.sched.loop(ctx) })
	s.done.Go(func() {
		if err := s.http.Serve(listener{ln}); err != nil && !errors.Is(err, http.ErrServerClosed) {
			cancel()
		}
	})
	return s, nil
}

func withDefaults(c Config) Config {
	d := Defaults()
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	if c.Model == "" {
		c.Model = d.Model
	}
	if c.Version == "" {
		c.Version = d.Version
	}
	for _, p := range []struct{ v, def *time.Duration }{{&c.StepBase, &d.StepBase}, {&c.PerSequence, &d.PerSequence}, {&c.PerPrefill, &d.PerPrefill}} {
		if *p.v == 0 {
			*p.v = *p.def
		}
	}
	set(&c.ChunkTokens, d.ChunkTokens)
	set(&c.MaxBatch, d.MaxBatch)
	set(&c.MaxQueue, d.MaxQueue)
	set(&c.KVTokens, d.KVTokens)
	return c
}

// URL is the server's address.
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() }

// Stop ends every connection and waits until nothing runs any more.
func (s *Server) Stop() {
	s.stop()
	_ = s.http.Close() // closing the listener cannot fail in a way that matters here
	s.done.Wait()
}

// Log returns what was sent, by the X-Request-Id that the client chose.
func (s *Server) Log() map[string]Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]Sent, len(s.sent))
	for id, x := range s.sent {
		out[id] = x
	}
	return out
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if time.Since(s.began) < s.cfg.Fault.ReadyAfter {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"version": s.cfg.Version})
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": s.cfg.Model, "object": "model", "owned_by": "ttreport-sim", "max_model_len": s.cfg.KVTokens}}})
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.sched.snapshot()
	fmt.Fprintf(w, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running %d\n# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting %d\n", st.Running, st.Waiting)
	fmt.Fprintf(w, "# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc %g\n# TYPE vllm:request_success_total counter\nvllm:request_success_total %d\n", float64(st.KV)/float64(s.cfg.KVTokens), st.Finished)
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client has gone when this fails
}

// request is the part of a completion request that matters here.
type request struct {
	Prompt        json.RawMessage `json:"prompt"`
	Messages      []message       `json:"messages"`
	MaxTokens     int             `json:"max_tokens"`
	MaxCompletion int             `json:"max_completion_tokens"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a text, or a list of parts of which the texts count.
type content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("content must be a string or a list of parts")
	}
	for _, p := range parts {
		*c += content(p.Text)
	}
	return nil
}

// text joins what was asked, and counts its tokens: words of a text, or the ids of a token list.
func (r *request) text() (string, int, error) {
	if len(r.Messages) > 0 {
		var parts []string
		for _, m := range r.Messages {
			parts = append(parts, string(m.Content))
		}
		t := strings.Join(parts, "\n")
		return t, max(1, len(strings.Fields(t))), nil
	}
	var t string
	if json.Unmarshal(r.Prompt, &t) == nil {
		return t, max(1, len(strings.Fields(t))), nil
	}
	var ids []int
	if json.Unmarshal(r.Prompt, &ids) == nil && len(ids) > 0 {
		return "", len(ids), nil
	}
	return "", 0, errors.New("prompt must be a string or a list of token ids")
}

var sum = regexp.MustCompile(`(\d{1,6})\s*\+\s*(\d{1,6})`)

// answer is what the model says: the sum where one is asked for, right in a fixed share of questions, else filler.
func (s *Server) answer(question string) []string {
	m := sum.FindStringSubmatch(question)
	if m == nil {
		return nil
	}
	a, _ := strconv.Atoi(m[1])
	b, _ := strconv.Atoi(m[2])
	if s.draw(question) >= s.cfg.EvalAccuracy {
		b++
	}
	return []string{strconv.Itoa(a + b)}
}

// draw is a number in [0,1) that depends on the seed and a text alone.
func (s *Server) draw(text string) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s", s.cfg.Seed, s.cfg.Version, text)
	return float64(h.Sum64()>>11) / float64(1<<53)
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, chat bool) {
	came := arrived(r) // before the body is read, since then the connection waits for the next request
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 32<<20)).Decode(&req); err != nil {
		reply(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": "the body is not a completion request: " + err.Error()}})
		return
	}
	text, prompt, err := req.text()
	if err != nil {
		reply(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": err.Error()}})
		return
	}
	s.mu.Lock()
	s.seen++
	n := s.seen
	s.mu.Unlock()
	if after := s.cfg.Fault.StallAfter; after > 0 && n > after {
		<-r.Context().Done()
		return
	}
	fault := float64(rand.NewPCG(s.cfg.Seed, uint64(n)).Uint64()>>11) / (1 << 53)
	if fault < s.cfg.Fault.ErrorShare {
		reply(w, http.StatusInternalServerError, map[string]any{"error": map[string]any{"message": "injected failure"}})
		return
	}
	said := s.answer(text)
	want := req.MaxTokens
	if want == 0 {
		want = req.MaxCompletion
	}
	if want <= 0 || said != nil {
		want = 16
	}
	if said != nil {
		want = len(said)
	}
	cut := math.MaxInt
	switch fault -= s.cfg.Fault.ErrorShare; {
	case fault < s.cfg.Fault.BreakShare:
		cut = 1
	case fault < s.cfg.Fault.BreakShare+s.cfg.Fault.HollowShare:
		cut = 0
	}
	q := &sequence{prompt: prompt, want: want, tokens: make(chan int, want), gone: r.Context().Done()}
	if !s.sched.submit(q) {
		reply(w, http.StatusServiceUnavailable, map[string]any{"error": map[string]any{"message": "the queue is full"}})
		return
	}
	st := &stream{s: s, w: w, id: r.Header.Get("X-Request-Id"), chat: chat, req: &req, said: said, log: Sent{Arrived: came, Prompt: prompt}, cut: cut}
	st.run(r.Context(), q)
}
