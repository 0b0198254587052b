package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
)

// A stream keeps its schedule, and the log holds when tokens were sent.
func TestStream(t *testing.T) {
	const ttft, itl = 20 * time.Millisecond, 5 * time.Millisecond
	simulator, err := sim.Start(sim.Config{TTFT: ttft, ITL: itl})
	if err != nil {
		t.Fatal(err)
	}
	defer simulator.Stop()
	for path, body := range map[string]string{
		"/v1/completions":      `{"prompt":"a b c","max_tokens":4,"stream":true,"stream_options":{"include_usage":true}}`,
		"/v1/chat/completions": `{"messages":[{"role":"user","content":"a"}],"max_completion_tokens":4,"stream":true}`,
	} {
		var log bytes.Buffer
		text := post(t, logged(simulator, "m", &log), path, body)
		var r record
		if err := json.Unmarshal(log.Bytes(), &r); err != nil {
			t.Fatalf("%s: log %q: %v", path, log.String(), err)
		}
		first, last := time.Duration(r.First[0]-r.Arrival), time.Duration(r.Last[1]-r.Arrival)
		if r.Want != 4 || r.Chunks != 4 || first < ttft || last < ttft+3*itl || last < first {
			t.Errorf("%s: %+v: first after %v, last after %v", path, r, first, last)
		}
		if !strings.HasSuffix(text, "data: [DONE]\n\n") || strings.Contains(text, `"usage"`) != strings.Contains(body,
			"usage") {
			t.Errorf("%s: %s", path, text)
		}
	}
	var log bytes.Buffer
	if post(t, logged(simulator, "m", &log), "/v1/completions", "nonsense") != "400" || log.Len() > 0 {
		t.Errorf("a bad request is answered or logged: %s", log.String())
	}
}

// post returns the body of an answer, or the status where that is not 200.
func post(t *testing.T, h http.Handler, path, body string) string {
	server := httptest.NewServer(h)
	defer server.Close()
	answer, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return answer.Status[:3]
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
