package sim_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

// counters reads what a simulator counted, by the names of vLLM.
func counters(t *testing.T, s *sim.Server) map[string]float64 {
	t.Helper()
	resp, err := http.Get(s.URL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			if out[strings.TrimPrefix(name, "vllm:")], err = strconv.ParseFloat(value, 64); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	return out
}

// quick is a simulator that takes next to no time.
func quick() sim.Config {
	return sim.Config{StepBase: 20 * time.Microsecond, PerSequence: 1, PerPrefill: 1, ChunkTokens: 1 << 20}
}

// recorded makes a trace in the shape of Mooncake's: sessions whose prompts go on where the last one of them ended, all
// behind one of a few beginnings, mixed at random.
func recorded(t *testing.T, seed uint64) []traffic.Request {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	const block, requests = 64, 40
	next, sessions, lines := 100, map[int][]int{}, ""
	for i := range requests {
		of := rng.IntN(2 + int(seed%7))
		for more := 1 + rng.IntN(3); more > 0; more-- {
			if len(sessions[of]) == 0 {
				sessions[of] = []int{rng.IntN(3), 10 + rng.IntN(3)}
			}
			sessions[of], next = append(sessions[of], next), next+1
		}
		ids := strings.Join(strings.Fields(fmt.Sprint(sessions[of])), ", ")
		lines += fmt.Sprintf(`{"timestamp": %d, "input_length": %d, "output_length": 1, "hash_ids": %s}`+"\n",
			i, len(sessions[of])*block+rng.IntN(block), ids)
	}
	trace, err := traffic.ReadTrace([]byte(lines), block)
	if err != nil {
		t.Fatal(err)
	}
	return trace.Requests
}

// oracle is the share of the tokens of prompts that an exact cache finds, which keeps so many blocks and forgets those
// that were used longest ago, of a prompt its end first.
func oracle(list []traffic.Request, block, blocks int) float64 {
	type name = [sha256.Size]byte // of a block with all before it
	used, now := map[name]int{}, 0
	found, all := 0, 0
	for i, q := range list {
		var names []name
		var last name
		for k := range q.ISL / block {
			text := fmt.Sprintf("%x own %d", last, i)
			if at := k * block / q.BlockTokens; at < len(q.Blocks) {
				text = fmt.Sprintf("%x %d %d", last, q.Blocks[at], k%(q.BlockTokens/block))
			}
			last = sha256.Sum256([]byte(text))
			names = append(names, last)
		}
		for k, name := range names {
			if _, kept := used[name]; !kept || (k+1)*block >= q.ISL {
				break
			}
			found += block
		}
		for _, name := range slices.Backward(names) {
			now++
			used[name] = now
		}
		if times := slices.Sorted(maps.Values(used)); len(times) > blocks {
			oldest := times[len(times)-blocks]
			maps.DeleteFunc(used, func(_ name, at int) bool { return at < oldest })
		}
		all += q.ISL
	}
	return float64(found) / float64(all)
}

// What the cache of the simulator finds in a trace is what an exact one finds, by its counters and by its answers, and
// only what it does not find takes time.
func TestPrefixCache(t *testing.T) {
	t.Parallel()
	lowest, highest := 1., 0.
	for seed := range uint64(50) {
		block, blocks := 16<<(seed%2), 60+40*int(seed%5)
		want := found(t, recorded(t, seed), block, blocks, seed)
		lowest, highest = min(lowest, want), max(highest, want)
	}
	if lowest > .2 || highest < .7 {
		t.Errorf("the traces have shares from %.2f to %.2f: too much alike to tell a wrong cache", lowest, highest)
	}
}

// The same in public traces of coding agents (callanjfox/kv-cache-tester): TTREPORT_TRACES names a folder with them.
// Their prompts are as long as they were; those of 200,000 tokens and more are left out.
func TestPrefixCacheOfPublicTraces(t *testing.T) {
	dir := os.Getenv("TTREPORT_TRACES")
	if dir == "" {
		t.Skip("TTREPORT_TRACES is not set: a folder with traces of kv-cache-tester")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := traffic.ReadTrace(data, 0)
		if err != nil {
			t.Fatal(file, err)
		}
		var each []traffic.Request
		for _, q := range trace.Requests {
			if q.After, q.At, q.OSL = nil, 0, 1; q.ISL < 200_000 && len(each) < 60 {
				each = append(each, q)
			}
		}
		if len(each) < 5 {
			continue
		}
		n++
		want := found(t, each, 64, 500+500*(i%5), uint64(i))
		t.Logf("%s: %d requests, %.4f of the tokens", filepath.Base(file), len(each), want)
	}
	if n < 50 {
		t.Errorf("%d traces in %s, want 50 and more", n, dir)
	}
}

// found sends requests one after the other to a simulator with so many blocks of cache, checks what it says that it
// found and returns what an exact cache finds.
func found(t *testing.T, each []traffic.Request, block, blocks int, seed uint64) float64 {
	t.Helper()
	cfg := quick()
	cfg.CacheTokens, cfg.CacheBlock = block*blocks, block
	s := start(t, cfg)
	defer s.Stop()
	l := builtin.Load{Workload: traffic.Workload{Concurrency: 1, Requests: len(each)}, URL: s.URL(), Model: "sim-8b",
		Each: each, Seed: seed}
	out, err := builtin.Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	want, c := oracle(each, block, blocks), counters(t, s)
	got := c["prefix_cache_hits_total"] / c["prefix_cache_queries_total"]
	if said, _, ok := out.Cached(); !ok || math.Abs(said-got) > 1e-9 || math.Abs(got-want) > .005 {
		t.Errorf("trace %d: %.4f of the tokens found, %.4f in answers, want %.4f", seed, got, said, want)
	}
	return want
}

func TestFoundPromptTakesNoPrefill(t *testing.T) {
	t.Parallel()
	cfg := quick()
	cfg.PerPrefill, cfg.CacheTokens = time.Millisecond, 4096
	s := start(t, cfg)
	ask := func(want string) time.Duration {
		began := time.Now()
		body := `{"prompt":"` + strings.Repeat("word ", 1008) + `","max_tokens":1}`
		if _, text := post(t, s, "/v1/completions", body); !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
		return time.Since(began)
	}
	unseen, found := ask(`"cached_tokens":0`), time.Hour
	for range 5 { // the last token is not found, and so is its block; another process may have the machine once
		found = min(found, ask(`"cached_tokens":992`))
	}
	if unseen < time.Second || found > unseen/2 {
		t.Errorf("it took %s, and %s when it was found", unseen, found)
	}
}

// Drafts are accepted as often as is stated, by position, and a step yields as many tokens.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	for _, rates := range [][]float64{{.8, .6, .4}, {.3}, {.95, .9, .85, .7, .5}} {
		cfg := quick()
		cfg.Acceptance = rates
		s := start(t, cfg)
		l := builtin.Load{Workload: traffic.Workload{ISL: 8, OSL: 4000, Concurrency: 8, Requests: 16}, URL: s.URL(),
			Model: "sim-8b"}
		out, err := builtin.Run(t.Context(), l)
		if err != nil || out.Set().Out != 16*4000 {
			t.Fatalf("%d tokens, %v", out.Set().Out, err)
		}
		c := counters(t, s)
		drafts, want := c["spec_decode_num_drafts_total"], 1.
		for i, rate := range rates {
			want += rate
			name := fmt.Sprintf(`spec_decode_num_accepted_tokens_per_pos_total{position="%d"}`, i)
			if got := c[name] / drafts; math.Abs(got-rate) > .02 {
				t.Errorf("%v: position %d: %.3f accepted", rates, i, got)
			}
		}
		if got := 1 + c["spec_decode_num_accepted_tokens_total"]/drafts; math.Abs(got-want) > .01*want {
			t.Errorf("%v: acceptance length %.3f, want %.3f", rates, got, want)
		}
		if got := c["spec_decode_num_draft_tokens_total"] / drafts; got != float64(len(rates)) {
			t.Errorf("%v: %g tokens a draft", rates, got)
		}
		if steps := drafts / 16; math.Abs(4000/steps-want) > .03*want {
			t.Errorf("%v: %.3f tokens a step, want %.3f", rates, 4000/steps, want)
		}
		s.Stop()
	}
}
