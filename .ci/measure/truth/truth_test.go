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
)

// A stream keeps its schedule, and the log holds when tokens were sent.
func TestStream(t *testing.T) {
	s := schedule{ttft: 20 * time.Millisecond, itl: 5 * time.Millisecond}
	for path, body := range map[string]string{
		"/v1/completions":      `{"prompt":"a b c","max_tokens":4,"stream":true,"stream_options":{"include_usage":true}}`,
		"/v1/chat/completions": `{"messages":[{"role":"user","content":"a"}],"max_completion_tokens":4,"stream":true}`,
	} {
		var log bytes.Buffer
		text := post(t, newHandler(s, "m", &requestLog{w: &log}), path, body)
		var r record
		if err := json.Unmarshal(log.Bytes(), &r); err != nil {
			t.Fatalf("%s: log %q: %v", path, log.String(), err)
		}
		first, last := time.Duration(r.First[0]-r.Arrival), time.Duration(r.Last[1]-r.Arrival)
		if r.Want != 4 || r.Chunks != 4 || first < s.due(0) || last < s.due(3) || last < first {
			t.Errorf("%s: %+v: first after %v, last after %v", path, r, first, last)
		}
		if !strings.HasSuffix(text, "data: [DONE]\n\n") || strings.Contains(text, `"usage"`) != strings.Contains(body,
			"usage") {
			t.Errorf("%s: %s", path, text)
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n\n") {
			data := strings.TrimPrefix(line, "data: ")
			if data != "[DONE]" && !json.Valid([]byte(data)) {
				t.Errorf("%s: event is no JSON: %s", path, line)
			}
		}
	}
}

func TestWhole(t *testing.T) {
	var log bytes.Buffer
	h := newHandler(schedule{time.Millisecond, time.Millisecond}, "m", &requestLog{w: &log})
	for path, body := range map[string]string{"/v1/completions": `{"prompt":[1,2,3]}`,
		"/v1/chat/completions": `{"max_tokens":2}`} {
		var v struct {
			Choices []json.RawMessage
			Usage   struct {
				PromptTokens int `json:"prompt_tokens"`
			}
		}
		text := post(t, h, path, body)
		if err := json.Unmarshal([]byte(text), &v); err != nil || len(v.Choices) != 1 {
			t.Errorf("%s: %s: %v", path, text, err)
		}
		if strings.Contains(body, "prompt") && v.Usage.PromptTokens != 3 {
			t.Errorf("%d prompt tokens of 3", v.Usage.PromptTokens)
		}
	}
	if post(t, h, "/v1/completions", "nonsense") != "400" || strings.Count(log.String(), "\n") != 2 {
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
