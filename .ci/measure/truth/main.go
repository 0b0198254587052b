// Command truth is the simulator on a fixed schedule, for measuring load clients: it logs when each request reached
// this machine and when its tokens were flushed, to compare with what a client reports.
//
//	truth -addr 127.0.0.1:8000 -log truth.jsonl [-ttft 50ms] [-itl 10ms]
//
// It ends on SIGINT or SIGTERM, when all requests are in the log.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/ttreport/ttreport/collect/arrival"
	"github.com/ttreport/ttreport/collect/server/sim"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8000", "address to listen on")
	path := flag.String("log", "truth.jsonl", "log file: one JSON object a request")
	ttft := flag.Duration("ttft", 50*time.Millisecond, "time from a request's arrival to its first token")
	itl := flag.Duration("itl", 10*time.Millisecond, "time between tokens")
	model := flag.String("model", "m", "name of the model")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *path, sim.Config{Model: *model, TTFT: *ttft, ITL: *itl}); err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, then writes out the log.
func run(ctx context.Context, addr, path string, cfg sim.Config) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	simulator, err := sim.Start(cfg)
	if err != nil {
		return err
	}
	defer simulator.Stop()
	buffer := bufio.NewWriterSize(f, 1<<20) // the disk must not delay an answer
	server := &http.Server{Handler: logged(simulator, cfg.Model, buffer), ConnContext: arrival.ConnContext}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(arrival.Listener{Listener: l}) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err = server.Shutdown(end)
	}
	return errors.Join(err, buffer.Flush())
}

// record is a line of the log. Times are nanoseconds since 1970.
type record struct {
	Path    string  `json:"path"`
	Arrival int64   `json:"arrival_ns"`
	First   flushed `json:"first_ns"` // the first token
	Last    flushed `json:"last_ns"`
	Want    int     `json:"want"`   // tokens asked for
	Chunks  int     `json:"chunks"` // tokens flushed
}

// flushed are the times before and after a flush. A token is on the wire in between: on a busy machine whoever reads it
// may run before the one who sent it, so that a later time than the client's is no error of the client.
type flushed [2]int64

// logged answers as the simulator does, which is not to be taken for one, and logs its streams.
func logged(simulator http.Handler, model string, log io.Writer) http.Handler {
	var writing sync.Mutex
	mux := http.NewServeMux()
	mux.Handle("/", simulator)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q,"object":"model","max_model_len":131072}]}`, model)
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		came := arrival.OfRequest(r) // a server that takes the time when it gets to a request hides that it was late
		text, err := io.ReadAll(r.Body)
		var q struct {
			MaxTokens     int `json:"max_tokens"`
			MaxCompletion int `json:"max_completion_tokens"`
		}
		if err = errors.Join(err, json.Unmarshal(text, &q)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		a := &answer{ResponseWriter: w, came: came, record: record{
			Path: r.URL.Path, Arrival: came.UnixNano(), Want: cmp.Or(q.MaxCompletion, q.MaxTokens),
		}}
		simulator.ServeHTTP(a, r)
		line, err := json.Marshal(a.record)
		if err != nil {
			panic(err) // a struct of numbers and strings always encodes
		}
		writing.Lock()
		defer writing.Unlock()
		_, _ = log.Write(append(line, '\n')) // the flush at the end reports the error
	})
	return mux
}

// answer is one request being answered: the simulator flushes each token.
type answer struct {
	http.ResponseWriter
	came   time.Time
	record record
}

// FlushError is what http.ResponseController calls.
func (a *answer) FlushError() error {
	now := func() int64 { return a.record.Arrival + int64(time.Since(a.came)) } // monotonic from the arrival on
	before := now()
	err := http.NewResponseController(a.ResponseWriter).Flush()
	if a.record.Last = (flushed{before, now()}); a.record.Chunks == 0 {
		a.record.First = a.record.Last
	}
	a.record.Chunks++
	return err
}
