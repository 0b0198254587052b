// Command truth is an OpenAI-compatible streaming server for measuring load clients. It answers on a fixed schedule
// and logs when each request reached this machine and when its tokens were flushed, to compare with what a client
// reports.
//
//	truth -addr 127.0.0.1:8000 -log truth.jsonl [-ttft 50ms] [-itl 10ms]
//
// It ends on SIGINT or SIGTERM, when all requests are in the log. Prompt tokens are counted as words: the server needs
// no tokenizer, and no client's timing depends on the count.
package main

import (
	"bufio"
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
	"strings"
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
		Handler: newHandler(s, model, &requestLog{w: buffer}), ConnContext: arrival.ConnContext,
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
	Path         string  `json:"path"`
	Arrival      int64   `json:"arrival_ns"`
	First        flushed `json:"first_ns"` // the first token
	Last         flushed `json:"last_ns"`
	Want         int     `json:"want"`   // tokens asked for
	Chunks       int     `json:"chunks"` // tokens flushed
	PromptTokens int     `json:"prompt_tokens"`
	Stream       bool    `json:"stream"`
	Latest       int64   `json:"late_max_us"` // how far behind its schedule a token was at worst
}

// flushed are the times before and after a flush. A token is on the wire in between: on a busy machine whoever reads it
// may run before the one who sent it, so that a later time than the client's is no error of the client.
type flushed [2]int64

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

// schedule defines when tokens are due: the first ttft after the arrival, each further one itl later.
type schedule struct{ ttft, itl time.Duration }

func (s schedule) due(token int) time.Duration { return s.ttft + time.Duration(token)*s.itl }

// request holds the fields of an OpenAI completion or chat completion that the server reads.
type request struct {
	Model         string          `json:"model"`
	Prompt        json.RawMessage `json:"prompt"`
	Messages      json.RawMessage `json:"messages"`
	MaxTokens     int             `json:"max_tokens"`
	MaxCompletion int             `json:"max_completion_tokens"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// promptTokens counts token ids where a prompt is a list of them, and words otherwise.
func (r request) promptTokens() int {
	var ids []int
	if json.Unmarshal(r.Prompt, &ids) == nil && len(ids) > 0 {
		return len(ids)
	}
	return len(strings.Fields(string(r.Prompt))) + len(strings.Fields(string(r.Messages)))
}

// newHandler serves the parts of the OpenAI API that load clients use.
func newHandler(s schedule, model string, log *requestLog) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		const list = `{"object":"list","data":[{"id":%q,"object":"model","created":0,"max_model_len":131072}]}`
		fmt.Fprintf(w, list, model)
	})
	for path, chat := range map[string]bool{"/v1/completions": false, "/v1/chat/completions": true} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			came := arrival.OfRequest(r) // a server that takes the time when it gets to a request hides that it was late
			var q request
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				http.Error(w, `{"error":{"message":"the body is no JSON object"}}`, http.StatusBadRequest)
				return
			}
			length := cmp.Or(max(q.MaxCompletion, 0), max(q.MaxTokens, 0), 16) // 16 where none is stated, as in the OpenAI API
			a := &answer{w: w, request: q, chat: chat, arrival: came, schedule: s, record: record{
				Path: path, Arrival: came.UnixNano(), Want: length, PromptTokens: q.promptTokens(), Stream: q.Stream,
			}}
			if q.Stream {
				a.stream(r.Context().Done())
			} else {
				a.whole()
			}
			log.add(&a.record)
		})
	}
	return mux
}

// answer is one request being answered.
type answer struct {
	w http.ResponseWriter
	request
	chat    bool
	arrival time.Time
	schedule
	record record
}

// since returns the time on the clock of the log, which is monotonic from the arrival on.
func (a *answer) since() int64 { return a.record.Arrival + int64(time.Since(a.arrival)) }

// stream sends one token per chunk, each when it is due. It ends when the client disconnects.
func (a *answer) stream(gone <-chan struct{}) {
	a.w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(a.w)
	if a.chat { // vLLM, too, sends the role before the first token, in the same flush as here
		a.event(`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`, "")
	}
	for k := range a.record.Want {
		select {
		case <-time.After(a.due(k) - time.Since(a.arrival)):
		case <-gone:
			return
		}
		a.event(a.choice(k), "")
		before := a.since()
		if flush.Flush() != nil {
			return
		}
		late := time.Since(a.arrival) - a.due(k)
		a.record.Last = flushed{before, a.since()}
		if k == 0 {
			a.record.First = a.record.Last
		}
		a.record.Latest = max(a.record.Latest, late.Microseconds())
		a.record.Chunks++
	}
	if a.StreamOptions.IncludeUsage {
		a.event("", a.usage())
	}
	_, _ = io.WriteString(a.w, "data: [DONE]\n\n")
}

// whole answers in one piece, when the last token is due.
func (a *answer) whole() {
	time.Sleep(a.due(a.record.Want-1) - time.Since(a.arrival))
	text, object := strings.Repeat(" word", a.record.Want), "text_completion"
	choice := fmt.Sprintf(`{"index":0,"text":%q,"finish_reason":"length"}`, text)
	if a.chat {
		object = "chat.completion"
		choice = fmt.Sprintf(`{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"length"}`, text)
	}
	a.w.Header().Set("Content-Type", "application/json")
	const body = `{"id":"c","object":%q,"created":0,"model":%q,"choices":[%s],"usage":%s}`
	fmt.Fprintf(a.w, body, object, a.Model, choice, a.usage())
	a.record.First = flushed{a.since(), a.since()}
	a.record.Last, a.record.Chunks = a.record.First, a.record.Want
}

// choice returns the k-th token in the form of a chunk. Tokens differ, so that no client merges two.
func (a *answer) choice(k int) string {
	finish := "null"
	if k == a.record.Want-1 {
		finish = `"length"`
	}
	text := [...]string{" time", " year", " day", " man", " thing", " world", " life", " hand"}[k%8]
	if a.chat {
		return fmt.Sprintf(`{"index":0,"delta":{"content":%q},"finish_reason":%s}`, text, finish)
	}
	return fmt.Sprintf(`{"index":0,"text":%q,"finish_reason":%s}`, text, finish)
}

func (a *answer) usage() string {
	n, p := a.record.Want, a.record.PromptTokens
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, p, n, p+n)
}

// event writes a server-sent event; an empty usage is left out.
func (a *answer) event(choice, usage string) {
	object := "text_completion"
	if a.chat {
		object = "chat.completion.chunk"
	}
	if usage != "" {
		usage = `,"usage":` + usage
	}
	const data = `data: {"id":"c","object":%q,"created":0,"model":%q,"choices":[%s]%s}` + "\n\n"
	fmt.Fprintf(a.w, data, object, a.Model, choice, usage)
}
