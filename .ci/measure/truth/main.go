package main

import (
	"bufio"
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
	if err := run(ctx, *addr, *path, schedule{*ttft, *itl}, *model); err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, then writes out the log.
func run(ctx context.Context, addr, path string, s schedule, model string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(f, 1<<20) // the disk must not delay an answer
	server := &http.Server{
		Handler:     newHandler(s, model, &requestLog{w: buffer}),
		ConnContext: arrival.ConnContext,
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(err, f.Close())
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
	return errors.Join(err, buffer.Flush(), f.Close())
}

// record is a line of the log. Times are nanoseconds since 1970.
type record struct {
	Path         string `json:"path"`
	Arrival      int64  `json:"arrival_ns"`
	First        int64  `json:"first_ns"` // after the flush of the first token
	Last         int64  `json:"last_ns"`  // after the flush of the last token
	Want         int    `json:"want"`     // tokens asked for
	Chunks       int    `json:"chunks"`   // tokens flushed
	PromptTokens int    `json:"prompt_tokens"`
	Stream       bool   `json:"stream"`
	Latest       int64  `json:"late_max_us"` // how far behind its schedule a token was at worst
}

// requestLog writes records from many requests.
type requestLog struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *requestLog) add(r *record) {
	line, err := json.Marshal(r)
	if err != nil {
		panic(err) // a struct of numbers and strings always encodes
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(append(line, '\n')) // the flush at the end reports the error
}
