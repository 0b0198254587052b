package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

// measured measures a load on a simulator over the network.
func measured(t *testing.T, cfg sim.Config, l builtin.Load) builtin.Outcome {
	t.Helper()
	srv, err := sim.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	l.URL, l.Model, l.Fit = srv.URL(), "sim-8b", true
	out, err := builtin.Run(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sum(list []float64) float64 {
	total := 0.
	for _, v := range list {
		total += v
	}
	return total
}

func drawn(t *testing.T, text string, n int) builtin.Load {
	t.Helper()
	l := builtin.Load{Seed: 1}
	all := fmt.Sprintf("isl=60,osl=12,c=2,n=%d,%s", n, strings.ReplaceAll(text, " ", ","))
	if strings.Contains(text, "embeddings") || strings.Contains(text, "rerank") {
		all = strings.Replace(all, "osl=12,", "", 1)
	}
	if err := l.Parse(all); err != nil {
		t.Fatal(err)
	}
	l.Each = l.Random(n, 1)
	return l
}

// Every endpoint is asked in its own form: prompts have the tokens that were asked, as the server counts them, and
// answers too. Reasoning and calls of tools are tokens; the answer begins behind the reasoning.
func TestEndpointsAreAsked(t *testing.T) {
	for _, c := range []struct {
		endpoint        string
		cfg             sim.Config
		reasons, pooled bool
	}{
		{"completions", sim.Config{}, false, false}, {"chat", sim.Config{}, false, false},
		{"chat", sim.Config{Reasoning: 5}, true, false}, {"chat tools=3 tool_choice=required", sim.Config{}, false, false},
		{"responses", sim.Config{}, false, false}, {"responses", sim.Config{Reasoning: 5}, true, false},
		{"responses tools=1 tool_choice=required", sim.Config{}, false, false}, {"embeddings", sim.Config{}, false, true},
		{"rerank", sim.Config{}, false, true},
	} {
		l := drawn(t, "endpoint="+c.endpoint, 8)
		out := measured(t, c.cfg, l)
		for i, q := range out.Requests {
			switch {
			case !q.OK || q.In != 60:
				t.Errorf("%s: request %d: %+v; want 60 tokens", c.endpoint, i, q)
			case c.pooled && (q.E2EL <= 0 || q.Out != 0 || q.TTFT != 0):
				t.Errorf("%s: request %d: %+v", c.endpoint, i, q)
			case !c.pooled && (q.Out != 12 || len(q.ITL) != 11):
				t.Errorf("%s: request %d has %d tokens and %d gaps, want 12 and 11", c.endpoint, i, q.Out, len(q.ITL))
			case c.reasons && math.Abs(q.Answer-q.TTFT-sum(q.ITL[:5])) > 1e-6:
				t.Errorf("%s: request %d: 5 tokens of reasoning, TTFT %g, answer at %g", c.endpoint, i, q.TTFT, q.Answer)
			case !c.reasons && !c.pooled && q.Answer != q.TTFT:
				t.Errorf("%s: request %d: no reasoning, TTFT %g, answer at %g", c.endpoint, i, q.TTFT, q.Answer)
			}
		}
		raw, err := out.Result(l)
		if err != nil || strings.Contains(string(raw), "ttfo") != c.reasons ||
			strings.Contains(string(raw), "ttft") == c.pooled {
			t.Errorf("%s: %v, %.300s", c.endpoint, err, raw)
		}
	}
}

// A conversation's turns follow each other, each with all that was said before, and the time to think between them.
func TestConversations(t *testing.T) {
	l := drawn(t, "endpoint=chat turns=4 think=40ms", 16)
	out := measured(t, sim.Config{}, l)
	var gaps []float64
	for i, q := range out.Requests {
		turn := i % 4
		if want := 60*(turn+1) + 12*turn; !q.OK || q.In < want-turn-1 || q.In > want+turn+1 {
			t.Errorf("request %d, turn %d: %d tokens, want %d (%s)", i, turn+1, q.In, want, q.Error)
		}
		if turn == 0 {
			continue
		}
		before := out.Requests[i-1]
		gap := q.Sent - before.Sent - time.Duration(before.E2EL*float64(time.Millisecond))
		if gaps = append(gaps, gap.Seconds()); gap < 40*time.Millisecond {
			t.Errorf("request %d: %s after the answer before it, want 40 ms", i, gap)
		}
	}
	if s := median(gaps); s > .4 { // a machine may stop now and then
		t.Errorf("%g s after the answer before it, want 40 ms", s)
	}
	if out.Peak != 2 {
		t.Errorf("%d in flight, of two conversations", out.Peak)
	}
	v, err := builtin.RunVirtual(l, virtual(sim.Defaults()))
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Later float64   `json:"later_turns_ttft"`
		Took  float64   `json:"conversation_duration"`
		Turns []float64 `json:"ttft_by_turn"`
	}
	later, took, turns := 0., 0., make([]float64, 4)
	for i, q := range v.Requests {
		if turns[i%4] += q.TTFT / 4; i%4 > 0 {
			later += q.TTFT / 12
		}
		if i%4 == 3 {
			took += (q.End() - v.Requests[i-3].Sent).Seconds() / 4
		}
	}
	if raw, err := v.Result(l); err != nil || json.Unmarshal(raw, &said) != nil || math.Abs(said.Later-later) > 1e-9 ||
		math.Abs(said.Took-took) > 1e-9 || took < .12 ||
		!slices.EqualFunc(said.Turns, turns, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("%+v, want %g ms and %g s: %v", said, later, took, err)
	}
	for i, q := range v.Requests {
		want := 60*(i%4+1) + 12*(i%4)
		if !q.OK || q.In != want || i%4 > 0 && q.Sent < v.Requests[i-1].Sent+40*time.Millisecond {
			t.Errorf("on its own clock, request %d: %d tokens, want %d, sent at %s", i, q.In, want, q.Sent)
		}
	}
}

// Where a turn fails, those behind it fail too, and say why.
func TestBrokenConversations(t *testing.T) {
	out := measured(t, sim.Config{Errors: .5}, drawn(t, "endpoint=chat turns=4", 40))
	broken, said := false, 0
	for i, q := range out.Requests {
		if i%4 == 0 {
			broken = false
		}
		if broken && !strings.HasPrefix(q.Error, "an earlier turn failed: HTTP 500") {
			t.Errorf("request %d: %q behind a turn that failed", i, q.Error)
		} else if broken {
			said++
		}
		broken = broken || q.Error != ""
	}
	if said == 0 {
		t.Error("no turn failed")
	}
}

// Clients that go away are counted apart: they neither completed nor failed, and the server goes on.
func TestCancellations(t *testing.T) {
	l := drawn(t, "cancel=30%", 60)
	want := 0
	for _, q := range l.Each {
		if q.GiveUp > 0 {
			want++
		}
	}
	v, err := builtin.RunVirtual(l, virtual(sim.Defaults()))
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]builtin.Outcome{"network": measured(t, sim.Config{}, l), "own clock": v} {
		set := out.Set()
		if want < 10 || out.Gone != want || len(out.Requests) != 60-want || set.Failed > 0 || set.OK != 60-want {
			t.Errorf("%s: %d went away of %d, %d left, %d failed", name, out.Gone, want, len(out.Requests), set.Failed)
		}
	}
}

// The mean TTFT that is shown meanwhile is that of the requests that completed, however many clients went away.
func TestProgressOfCancellations(t *testing.T) {
	l := drawn(t, "cancel=60%", 60)
	var last builtin.SoFar
	l.Progress = func(s builtin.SoFar) { last = s }
	out, err := builtin.RunVirtual(l, virtual(sim.Defaults()))
	if err != nil {
		t.Fatal(err)
	}
	if set := out.Set(); last.Done != 60 || set.OK > 40 || math.Abs(last.TTFT-set.TTFT.Mean) > .01 {
		t.Errorf("%+v at the end; %d completed with a mean of %.2f ms", last, set.OK, set.TTFT.Mean)
	}
}

// A client that waits no longer has failed, and says for how long it waited.
func TestTimeouts(t *testing.T) {
	l := drawn(t, "timeout=200ms", 4)
	l.OSL = 400
	l.Each = traffic.Workload{ISL: 60, OSL: 400}.Random(4, 1)
	v, err := builtin.RunVirtual(l, virtual(sim.Defaults()))
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]builtin.Outcome{"network": measured(t, sim.Config{}, l), "own clock": v} {
		set, said := out.Set(), fmt.Sprint(out.Requests[0].Error)
		if set.Failed != 4 || !strings.Contains(said, "not answered within 200ms") || strings.Contains(said, "i/o") {
			t.Errorf("%s: %d failed: %s", name, set.Failed, out.Requests[0].Error)
		}
	}
}

func TestResultOfReasoning(t *testing.T) {
	l := drawn(t, "endpoint=chat", 6)
	raw, err := measured(t, sim.Config{Reasoning: 4}, l).Result(l)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		TTFT  float64   `json:"mean_ttft_ms"`
		TTFO  float64   `json:"mean_ttfo_ms"`
		Each  []float64 `json:"ttfos"`
		Which string    `json:"backend"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || r.TTFO <= r.TTFT || len(r.Each) != 6 || r.Which != "openai-chat" {
		t.Errorf("%v: %+v", err, r)
	}
}

// Requests that reason up to their limit have no answer, and a result of them has no time to one.
func TestReasoningWithoutAnswers(t *testing.T) {
	l := drawn(t, "endpoint=chat", 4)
	out := measured(t, sim.Config{Reasoning: 20}, l) // of 12 tokens
	raw, err := out.Result(l)
	if err != nil || out.Set().OK != 4 || strings.Contains(string(raw), "ttfo") {
		t.Errorf("%v: %s", err, raw)
	}
}

// Results of every endpoint state the load that was made in the same words.
func TestResultsStateTheLoad(t *testing.T) {
	for endpoint, name := range map[string]string{
		"completions": "openai", "chat": "openai-chat", "responses": "openai-responses",
		"embeddings": "openai-embeddings", "rerank": "vllm-rerank",
	} {
		l := drawn(t, "endpoint="+endpoint, 6)
		l.Rate, l.Burstiness, l.Concurrency = 50, .5, 3
		out, err := builtin.RunVirtual(l, virtual(sim.Defaults()))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := out.Result(l)
		var r map[string]any
		if err != nil || json.Unmarshal(raw, &r) != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		for field, want := range map[string]any{"backend": name, "endpoint_type": name, "request_rate": 50., "burstiness": .5,
			"max_concurrency": 3., "max_concurrent_requests": float64(out.Peak), "completed": 6., "num_prompts": 6.} {
			if r[field] != want {
				t.Errorf("%s: %s is %v, want %v", endpoint, field, r[field], want)
			}
		}
	}
}

func median(v []float64) float64 {
	sort.Float64s(v)
	return v[len(v)/2]
}
