package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

// counting serves completions and counts prompts as a tokenizer would. It refuses a field, and prompts beyond a
// context.
type counting struct {
	count   func(prompt string) int
	refuses string
	context int
	usage   bool
	mu      sync.Mutex
	prompts []string
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	if _, has := body[c.refuses]; has {
		http.Error(w, fmt.Sprintf(`{"error": "Unexpected keys: {'%s'}"}`, c.refuses), http.StatusBadRequest)
		return
	}
	prompt, _ := body["prompt"].(string)
	n := c.count(prompt)
	if c.context > 0 && n > c.context {
		http.Error(w, "the prompt is longer than the context", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.prompts = append(c.prompts, prompt)
	c.mu.Unlock()
	out, _ := body["max_tokens"].(float64)
	for range int(out) {
		fmt.Fprintf(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\n")
	}
	if c.usage {
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\n", n, int(out))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// sent returns the last n prompts.
func (c *counting) sent(n int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.prompts[len(c.prompts)-n:])
}

// served returns the number of requests so far.
func (c *counting) served() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.prompts)
}

func words(p string) int { return len(strings.Fields(p)) }

// Prompts are as long as asked by the server's own count, whatever its tokenizer is.
func TestPromptsFitTheServersCount(t *testing.T) {
	for name, c := range map[string]*counting{
		"a token a word":        {count: words},
		"and one to begin with": {count: func(p string) int { return words(p) + 1 }},
		"with a template":       {count: func(p string) int { return words(p) + 37 }},
		"bytes":                 {count: func(p string) int { return len(p) + 1 }, context: 9000},
		"two tokens a word":     {count: func(p string) int { return 2 * words(p) }},
		"words of many tokens":  {count: func(p string) int { return len(p) - 2*strings.Count(p, "h") }},
		"refuses ignore_eos":    {count: words, refuses: "ignore_eos"},
	} {
		c.usage = true
		srv := httptest.NewServer(c)
		for _, isl := range []int{40, 128, 1000, 8000} {
			before := c.served()
			l := builtin.Load{
				Workload: traffic.Workload{ISL: isl, OSL: 3, Concurrency: 2, Requests: 6},
				URL:      srv.URL, Model: "m", Warmups: 1, Fit: true,
			}
			out, err := builtin.Run(context.Background(), l)
			if err != nil || !out.Counted || (len(out.Refused) > 0) != (c.refuses != "") {
				t.Fatalf("%s: %v, counted %t, refused %v", name, err, out.Counted, out.Refused)
			}
			seen := map[string]bool{}
			for _, q := range out.Requests {
				if q.In != isl || q.Out != 3 {
					t.Errorf("%s: %d tokens where %d were asked, %d out, error %q", name, q.In, isl, q.Out, q.Error)
				}
			}
			for _, p := range c.sent(6) {
				seen[p[:min(31, len(p))]] = true
			}
			if len(seen) != 6 && isl > 100 {
				t.Errorf("%s: %d beginnings of 6 prompts", name, len(seen))
			}
			if c.context > 0 && isl > 100 && c.served()-before > 6+1+6 {
				t.Errorf("%s: %d requests to fit prompts", name, c.served()-before-7)
			}
		}
		srv.Close()
	}
	// A server that counts nothing: a word for a token, and nothing said of the count.
	srv := httptest.NewServer(&counting{count: words})
	defer srv.Close()
	out, err := builtin.Run(context.Background(),
		builtin.Load{
			Workload: traffic.Workload{ISL: 50, OSL: 2, Concurrency: 1, Requests: 2},
			URL:      srv.URL, Model: "m", Fit: true,
		})
	if err != nil || out.Counted || out.Requests[0].Error != "" {
		t.Errorf("%v %+v", err, out)
	}
}

// What one load counted the next ones know: a prompt that is not longer costs no request, a longer one a single one
// where the count is as expected. Another endpoint or server is asked anew.
func TestFitsAreKept(t *testing.T) {
	for name, c := range map[string]*counting{
		"words":              {count: func(p string) int { return words(p) + 37 }},
		"bytes":              {count: func(p string) int { return len(p) + 1 }},
		"refuses ignore_eos": {count: words, refuses: "ignore_eos"},
	} {
		c.usage = true
		srv := httptest.NewServer(c)
		fits := builtin.Fits{}
		for _, x := range []struct{ isl, most int }{{1000, 40}, {1000, 0}, {300, 0}, {4000, 1}, {4000, 0}} {
			before := c.served()
			l := builtin.Load{
				Workload: traffic.Workload{ISL: x.isl, OSL: 3, Concurrency: 2, Requests: 6},
				URL:      srv.URL, Model: "m", Fit: true, Fits: fits,
			}
			out, err := builtin.Run(context.Background(), l)
			asked := c.served() - before - 6
			if err != nil || !out.Counted || asked > x.most || x.isl == 4000 && asked < x.most {
				t.Errorf("%s, %d tokens: %d requests that count, want at most %d, %v", name, x.isl, asked, x.most, err)
			}
			if len(out.Refused) > 0 != (c.refuses != "") {
				t.Errorf("%s: refused %v", name, out.Refused)
			}
			for _, q := range out.Requests {
				if q.In != x.isl || q.Out != 3 {
					t.Errorf("%s: %d tokens where %d were asked, error %q", name, q.In, x.isl, q.Error)
				}
			}
		}
		srv.Close()
	}
}

// A count of the longest prompt that failed is asked for again by the next load: short prompts alone mislead where a
// server counts long ones otherwise.
func TestFailedCountIsNotKept(t *testing.T) {
	var failures atomic.Int32
	c := &counting{usage: true, count: func(p string) int { return words(p) + max(0, words(p)-100)/4 }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 3000 && failures.CompareAndSwap(0, 1) {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		c.ServeHTTP(w, r)
	}))
	defer srv.Close()
	fits := builtin.Fits{}
	for load := range 2 {
		l := builtin.Load{
			Workload: traffic.Workload{ISL: 1000, OSL: 3, Concurrency: 1, Requests: 3},
			URL:      srv.URL, Model: "m", Fit: true, Fits: fits,
		}
		out, err := builtin.Run(context.Background(), l)
		if err != nil || failures.Load() != 1 {
			t.Fatal(err, failures.Load())
		}
		if in := out.Requests[0].In; load == 1 && in != 1000 {
			t.Errorf("%d tokens where 1000 were asked", in)
		}
	}
}

// Requests of a load differ in length and share what they are to share.
func TestRequestsOfALoadDiffer(t *testing.T) {
	c := &counting{count: func(p string) int { return len(p) + 1 }, usage: true}
	srv := httptest.NewServer(c)
	defer srv.Close()
	each := []traffic.Request{
		{ISL: 3000, OSL: 5, Blocks: []uint64{1, 2}, BlockTokens: 512},
		{ISL: 2000, OSL: 2, Blocks: []uint64{1, 3}, BlockTokens: 512},
		{ISL: 600, OSL: 1, Blocks: []uint64{4}, BlockTokens: 512}, {ISL: 5, OSL: 1, Text: "say \"hello\""},
	}
	out, err := builtin.Run(context.Background(),
		builtin.Load{
			Workload: traffic.Workload{Concurrency: 1, Requests: 4},
			URL:      srv.URL, Model: "m", Each: each, Fit: true,
		})
	if err != nil {
		t.Fatal(err)
	}
	sent := c.sent(4)
	for i, q := range out.Requests[:3] {
		if q.In != each[i].ISL || q.Out != each[i].OSL {
			t.Errorf("request %d: %d in, %d out, want %d and %d", i, q.In, q.Out, each[i].ISL, each[i].OSL)
		}
	}
	if sent[0][:511] != sent[1][:511] || sent[0][:600] == sent[1][:600] || sent[0][:20] == sent[2][:20] {
		t.Error("prompts do not share what their blocks say")
	}
	if sent[3] != `say "hello"` {
		t.Errorf("%q", sent[3])
	}
}
