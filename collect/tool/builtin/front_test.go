package builtin_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/arrival"
	"github.com/ttreport/ttreport/collect/server/sim"
)

// front serves a simulator at another address, where a handler stands before it.
func front(tb testing.TB, cfg sim.Config, before func(next http.Handler) http.Handler) (url string) {
	tb.Helper()
	srv, err := sim.Start(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(srv.Stop)
	f := httptest.NewUnstartedServer(before(srv))
	f.Listener, f.Config.ConnContext = arrival.Listener{Listener: f.Listener}, arrival.ConnContext
	f.Start()
	tb.Cleanup(f.Close)
	return f.URL
}

// chunks calls a function before each chunk with a token; one of which it reports false is not sent.
type chunks struct {
	http.ResponseWriter
	next func() bool
}

func (c chunks) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(`"text":`)) && !c.next() {
		return len(p), nil
	}
	return c.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (c chunks) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// answered is a request as the server saw it.
type answered struct {
	arrived time.Time   // at this machine
	limit   int         // its max_tokens
	chunks  []time.Time // when each was handed to the connection
}

// logged serves a simulator that logs what it answers.
func logged(tb testing.TB, cfg sim.Config) (url string, log func() []*answered) {
	var writing sync.Mutex
	var list []*answered
	url = front(tb, cfg, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			one := &answered{arrived: arrival.OfRequest(r)}
			text, _ := io.ReadAll(r.Body)
			var body struct {
				Limit int `json:"max_tokens"`
			}
			_ = json.Unmarshal(text, &body)
			one.limit, r.Body = body.Limit, io.NopCloser(bytes.NewReader(text))
			writing.Lock()
			list = append(list, one)
			writing.Unlock()
			next.ServeHTTP(chunks{w, func() bool {
				writing.Lock()
				defer writing.Unlock()
				one.chunks = append(one.chunks, time.Now())
				return true
			}}, r)
		})
	})
	return url, func() []*answered {
		writing.Lock()
		defer writing.Unlock()
		return slices.Clone(list)
	}
}
