package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

// prefixCache is a server with a prefix cache without limit, whose tokens are words.
type prefixCache struct {
	mu    sync.Mutex
	known map[uint64]bool // beginnings of prompts
	terse bool            // says nothing of a prompt of which it knows nothing, as many versions of vLLM do
}

// find returns how many words of a prompt an earlier one began with, and of how many.
func (c *prefixCache) find(prompt string) (found, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := fnv.New64a()
	words := strings.Fields(prompt)
	for i, w := range words {
		fmt.Fprint(h, w, " ")
		if c.known[h.Sum64()] && found == i {
			found++
		}
		c.known[h.Sum64()] = true
	}
	return found, len(words)
}

func (c *prefixCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct{ Prompt string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found, all := c.find(q.Prompt)
	w.Header().Set("Content-Type", "text/event-stream")
	details := fmt.Sprintf(`{"cached_tokens":%d}`, found)
	if c.terse && found == 0 {
		details = "null"
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,"+
		"\"completion_tokens\":1,\"prompt_tokens_details\":%s}}\n\ndata: [DONE]\n\n", all, details)
}

// What a server's prefix cache finds is the share that was asked for, in few requests too, and warm-ups leave nothing
// in the cache. The client reports what the server says.
func TestStatedHitShare(t *testing.T) {
	isl, err := traffic.ParseLengths("uniform(200,900)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		traffic.Workload
		n int
	}{
		{traffic.Workload{Hit: .6}, 120}, {traffic.Workload{Hit: .8, Prefixes: 3}, 120},
		{traffic.Workload{Hit: .2, Prefix: 200}, 120}, {traffic.Workload{Hit: .4, ISLDist: isl}, 120},
		{traffic.Workload{Hit: .6}, 8}, {traffic.Workload{Hit: .9}, 12}, {traffic.Workload{Hit: .05}, 8},
		{traffic.Workload{Hit: .6, Prefixes: 8}, 8}, {traffic.Workload{Prefix: 400, Prefixes: 2}, 8},
	} {
		c.ISL, c.OSL = 500, 1
		each := c.Random(c.n, 3)
		want := c.Hit
		if want == 0 || c.Prefixes == c.n { // out of reach, which a plan refuses
			want = traffic.HitShare(each)
		}
		server := httptest.NewServer(&prefixCache{known: map[uint64]bool{}})
		l := builtin.Load{
			Workload: traffic.Workload{ISL: 500, OSL: 1, Concurrency: 1, Requests: c.n},
			URL:      server.URL, Model: "m", Seed: 3, Each: each, Warmups: 2,
		}
		out, err := builtin.Run(context.Background(), l)
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		got, err := strconv.ParseFloat(out.Client(l)["prompt_cached"], 64)
		if err != nil || math.Abs(got-want) > .02 {
			t.Errorf("%v, %d requests: the server found %g of the prompts, not %g: %v", c.Varying(), c.n, got, want, err)
		}
	}
}

// Replayed sessions share on the wire what their hashes say.
func TestReplayedBlocks(t *testing.T) {
	trace, err := traffic.ReadTrace([]byte(`
		{"block_size": 64, "requests": [{"t": 0, "in": 150, "out": 1, "hash_ids": [1, 2]},
		{"t": 1, "in": 300, "out": 1, "hash_ids": [1, 2, 3, 4]}, {"t": 2, "in": 320, "out": 1, "hash_ids": [1, 9, 3, 4]}]}
		{"block_size": 64, "requests": [{"t": 3, "in": 130, "out": 1, "hash_ids": [1, 2]}]}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	cache := &prefixCache{known: map[uint64]bool{}}
	server := httptest.NewServer(cache)
	defer server.Close()
	l := builtin.Load{
		Workload: traffic.Workload{Concurrency: 1, Requests: 4},
		URL:      server.URL, Model: "m", Each: trace.Requests,
	}
	out, err := builtin.Run(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Possible float64 `json:"prefix_hits_possible"`
	}
	if raw, err := out.Result(l); err != nil || json.Unmarshal(raw, &said) != nil ||
		math.Abs(said.Possible-100*(128.+64)/(150+300+320+130)) > 1e-9 {
		t.Errorf("%g %% of the prompts could be found: %v", said.Possible, err)
	}
	for i, want := range []int{0, 128, 64, 0} {
		q := out.Requests[i]
		if q.Cached == nil || *q.Cached != want || q.In != trace.Requests[i].ISL {
			t.Errorf("request %d: %+v, %d cached expected", i, q, want)
		}
	}
}

// A server that leaves out a count of 0 has said it by stating the others; one that states none has said nothing.
func TestCachedTokensLeftOut(t *testing.T) {
	own := traffic.Request{ISL: 200, OSL: 1}
	shared := traffic.Request{ISL: 200, OSL: 1, Blocks: []uint64{1}, BlockTokens: 100}
	for _, c := range []struct {
		each            []traffic.Request
		share, unstated string
	}{
		{[]traffic.Request{shared, shared, shared, own}, "0.2500", "2"},
		{[]traffic.Request{shared}, "", ""},
	} {
		server := httptest.NewServer(&prefixCache{known: map[uint64]bool{}, terse: true})
		l := builtin.Load{
			Workload: traffic.Workload{Concurrency: 1, Requests: len(c.each)},
			URL:      server.URL, Model: "m", Each: c.each,
		}
		out, err := builtin.Run(context.Background(), l)
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		facts := out.Client(l)
		if facts["prompt_cached"] != c.share || facts["prompt_cached_unstated"] != c.unstated {
			t.Errorf("%d requests: %v", len(c.each), facts)
		}
	}
}

// What answers of llama.cpp say of drafts is the share of them that was accepted.
func TestDraftsOfAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\n"+
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":9},"+
			"\"timings\":{\"draft_n\":10,\"draft_n_accepted\":4}}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	l := builtin.Load{Workload: traffic.Workload{ISL: 8, OSL: 9, Concurrency: 1, Requests: 3}, URL: server.URL, Model: "m"}
	out, err := builtin.Run(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Rate float64 `json:"spec_decode_acceptance_rate"`
	}
	raw, err := out.Result(l)
	if err != nil || json.Unmarshal(raw, &said) != nil || said.Rate != 40 {
		t.Errorf("%+v, want 40 %%: %v", said, err)
	}
}
