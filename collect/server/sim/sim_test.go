package sim_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
)

func start(t *testing.T, cfg sim.Config) *sim.Server {
	t.Helper()
	s, err := sim.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func post(t *testing.T, s *sim.Server, path, body string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		text = []byte("broken: " + err.Error())
	}
	return resp, string(text)
}

func TestEndpoints(t *testing.T) {
	s := start(t, sim.Config{Version: "v9"})
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") {
		t.Errorf("it listens on %s", s.URL())
	}
	for path, want := range map[string]string{"/health": "", "/version": "v9", "/v1/models": "sim-8b",
		"/metrics": "vllm:num_requests_running 0"} {
		resp, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
}

func TestCompletions(t *testing.T) {
	s := start(t, sim.Config{})
	_, text := post(t, s, "/v1/completions",
		`{"prompt":"a b c","max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`)
	chunks, usage := 0, ""
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		if strings.Contains(sc.Text(), `"text":`) {
			chunks++
		}
		if strings.Contains(sc.Text(), `"usage":`) {
			usage = sc.Text()
		}
	}
	if chunks != 3 || !strings.Contains(usage, `"completion_tokens":3,"prompt_tokens":3`) ||
		!strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Errorf("%d chunks, usage %s", chunks, usage)
	}
	_, text = post(t, s, "/v1/chat/completions",
		`{"messages":[{"role":"user","content":[{"type":"text","text":"What is 17 + 25?"}]}]}`)
	if !strings.Contains(text, `"content":"42"`) && !strings.Contains(text, `"content":"43"`) {
		t.Errorf("content in parts: %s", text)
	}
	_, text = post(t, s, "/v1/chat/completions", `{"messages":[{"role":"user","content":"What is 17 + 25?"}]}`)
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   map[string]int
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Choices) != 1 ||
		(answer.Choices[0].Message.Content != "42" && answer.Choices[0].Message.Content != "43") {
		t.Errorf("%v %s", err, text)
	}
	for _, bad := range []string{``, `{`, `{"prompt":5}`, `[]`, `{"prompt":"a","max_tokens":999999999999999}`} {
		if resp, _ := post(t, s, "/v1/completions", bad); resp.StatusCode != 400 {
			t.Errorf("%q gives %d", bad, resp.StatusCode)
		}
	}
}

// A prompt longer than a chunk takes more steps; more sequences make a step longer; a full batch makes others wait.
func TestScheduling(t *testing.T) {
	ttft := func(cfg sim.Config, tokens string, at int) time.Duration {
		s := start(t, cfg)
		var wg sync.WaitGroup
		for range at {
			wg.Go(func() { post(t, s, "/v1/completions", `{"prompt":"`+tokens+`","max_tokens":4,"stream":true}`) })
		}
		began := time.Now()
		wg.Wait()
		return time.Since(began)
	}
	quick := sim.Config{StepBase: 2 * time.Millisecond, PerPrefill: time.Microsecond}
	long := strings.Repeat("a ", 4000)
	several := func(fine func() bool) bool { // another process may have the machine once
		return slices.ContainsFunc(make([]bool, 5), func(bool) bool { return fine() })
	}
	var a, b time.Duration
	if !several(func() bool { a, b = ttft(quick, "a", 1), ttft(quick, long, 1); return b >= a+10*time.Millisecond }) {
		t.Errorf("4,000 prompt tokens took %s, one %s", b, a)
	}
	many := sim.Config{StepBase: 10 * time.Millisecond}
	one := many
	one.MaxBatch = 1
	if !several(func() bool { a, b = ttft(many, "a", 12), ttft(one, "a", 12); return b >= 2*a }) {
		t.Errorf("twelve requests one at a time took %s, together %s", b, a)
	}
}

func TestErrors(t *testing.T) {
	const ask = `{"prompt":"a","max_tokens":3,"stream":true}`
	resp, text := post(t, start(t, sim.Config{Errors: 1}), "/v1/completions", ask)
	if resp.StatusCode != 500 {
		t.Errorf("an error is %d: %s", resp.StatusCode, text)
	}
}
