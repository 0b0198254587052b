package sim

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
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
	began time.Time
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
	for path, to := range apis() {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, to) })
	}
	s.http = &http.Server{Handler: s.guarded(mux), ReadHeaderTimeout: 10 * time.Second,
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
func (s *Server) guarded(next http.Handler) http.Handler {
	if s.cfg.Key == "" {
		return next
	}
	want := []byte("Bearer " + s.cfg.Key)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := []byte(r.Header.Get("Authorization"))
		if strings.HasPrefix(r.URL.Path, "/v1/") && subtle.ConstantTimeCompare(got, want) != 1 {
			http.Error(w, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
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
	for _, p := range []struct{ v, def *time.Duration }{
		{&c.StepBase, &d.StepBase}, {&c.PerSequence, &d.PerSequence}, {&c.PerPrefill, &d.PerPrefill},
	} {
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
	model := map[string]any{
		"id": s.cfg.Model, "object": "model", "owned_by": "ttreport-sim", "max_model_len": s.cfg.KVTokens,
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": []any{model}})
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.sched.snapshot()
	for _, m := range []struct {
		name, kind string
		value      float64
	}{
		{"num_requests_running", "gauge", float64(st.Running)}, {"num_requests_waiting", "gauge", float64(st.Waiting)},
		{"kv_cache_usage_perc", "gauge", float64(st.KV) / float64(s.cfg.KVTokens)},
		{"request_success_total", "counter", float64(st.Finished)},
	} {
		fmt.Fprintf(w, "# TYPE vllm:%s %s\nvllm:%s %g\n", m.name, m.kind, m.name, m.value)
	}
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // fails if the client disconnected
}
