package traffic_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
)

// agents has a session with a subagent, and one that shares nothing with it.
const agents = `{"id": "a", "block_size": 64, "hash_id_scope": "local", "requests": [
  {"t": 0.0, "type": "s", "in": 150, "out": 9, "hash_ids": [1, 2, 3]},
  {"t": 20.5, "type": "subagent", "requests": [{"t": 1.5, "type": "n", "in": 70, "out": 5, "hash_ids": [1]}]},
  {"t": 30, "type": "s", "in": 200, "out": 0, "hash_ids": [1, 2, 4]},
  {"t": 40, "type": "s", "in": 200, "out": 7, "hash_ids": [1, 2, 4]}]}
{"id": "b", "block_size": 64, "requests": [{"t": 2, "type": "s", "in": 64, "out": 1, "hash_ids": [1]}]}
`

// Lengths, times and shared blocks of each public format.
func TestTraceFormats(t *testing.T) {
	type request struct {
		isl, osl, blocks int
		at               time.Duration
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		text   string
		want   []request
		failed int
		shared float64 // of all prompt tokens
	}{
		"bailian": {`{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 33, "output_length": 132, ` +
			`"type": "text", "turn": 1, "hash_ids": [1089, 1090, 1091]}` + "\n" +
			`{"chat_id": 160, "parent_chat_id": 159, "timestamp": 61.5, ` +
			`"input_length": 40, "output_length": 1, "hash_ids": [1089, 7]}`,
			[]request{{33, 132, 2, 0}, {40, 1, 2, 386 * ms}}, 0, 16. / 73},
		"sessions": {agents, []request{{150, 9, 2, 0}, {64, 1, 1, 2 * time.Second}, {70, 5, 1, 22 * time.Second},
			{200, 7, 3, 40 * time.Second}}, 1, 192. / 484},
		"azure": {"\ufeffTIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n" +
			"2023-11-16 18:15:50.9951690,396,109\r\n",
			[]request{{374, 44, 0, 0}, {396, 109, 0, 4314579 * time.Microsecond}}, 0, 0},
		"azure 2024": {"TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,2162,5\n" +
			"2024-05-10 00:00:00.017335+00:00,2399,6\n",
			[]request{{2162, 5, 0, 0}, {2399, 6, 0, 7405 * time.Microsecond}}, 0, 0},
		"burstgpt": {"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n" +
			"5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,API log\n118,GPT-4,417,276,693,API log\n",
			[]request{{472, 18, 0, 0}, {417, 276, 0, 113 * time.Second}}, 1, 0},
		"burstgpt 3": {"Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n" +
			"5.5,x,1,m,4,2.0,6,API log\n", []request{{4, 2, 0, 0}}, 0, 0},
	} {
		tr, err := traffic.ReadTrace([]byte(c.text), 0)
		if err != nil || !tr.Timed || tr.Failed != c.failed {
			t.Errorf("%s: %+v, %v", name, tr, err)
			continue
		}
		var got []request
		for _, q := range tr.Requests {
			got = append(got, request{q.ISL, q.OSL, len(q.Blocks), q.At.Round(100 * time.Nanosecond)})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, expected %v", name, got, c.want)
		}
		if s := traffic.HitShare(tr.Requests); math.Abs(s-c.shared) > 1e-9 {
			t.Errorf("%s: %g of the prompts shared, expected %g", name, s, c.shared)
		}
	}
}

// Each error says where, what was expected, and has an example.
func TestWrongTraces(t *testing.T) {
	for _, c := range [][2]string{
		{"", "expected one of"},
		{"a,b\n1,2", `"a,b" is not the start of a known trace`},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\nnoon,1,2", `: TIMESTAMP: "noon" is not a time; expected one like`},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,x,2",
			`line 2: ContextTokens "x" is not a number of tokens`},
		{"Timestamp,Request tokens,Response tokens\n7,1,2\n5,1,2",
			"line 3: its Timestamp is before that of the line above"},
		{"Timestamp,Request tokens,Response tokens\n7,1,0", "no request that was answered, of 1"},
		{"Timestamp,Request tokens,Response tokens\n7,1", "line 2: it has 2 columns; expected one like 5,ChatGPT"},
		{`{"requests": [{"t": 0, "in": 1, "out": 1}]}`,
			"session 1: block_size is not a number of tokens; expected one like"},
		{`{"block_size": 64, "requests": [{"in": 1, "out": 1}]}`, "session 1: request 1: t must be a time in seconds"},
		{`{"block_size": 64, "requests": [{"t": 0, "in": -1, "out": 1}]}`,
			"request 1: in -1 or out 1 is not a number of tokens"},
		{`{"chat_id": 1, "input_length": 5}`, "line 1: input_length or output_length"},
	} {
		text, want := c[0], c[1]
		_, err := traffic.ReadTrace([]byte(text), 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; expected %q", text, err, want)
		}
	}
}

// The share of the prompts that a cache finds is the one that was asked for, whatever the lengths.
func TestHitShare(t *testing.T) {
	isl, err := traffic.ParseLengths("lognormal(2000,0.4)")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []traffic.Workload{
		{Hit: .1}, {Hit: .6}, {Hit: .9}, {Hit: .6, Prefixes: 4}, {Hit: .3, Prefix: 1000}, {Hit: .5, ISLDist: isl},
		{Hit: .25, ISLDist: isl, Prefixes: 3}, {Hit: .2, Prefix: 900, Prefixes: 4},
	} {
		s.ISL, s.OSL = 2000, 10
		list := s.Random(200, 7)
		if got := traffic.HitShare(list); math.Abs(got-s.Hit) > .01 {
			t.Errorf("%v: %.4f", s.Varying(), got)
		}
		for i, q := range list {
			if len(q.Blocks) > 0 && q.BlockTokens >= q.ISL {
				t.Errorf("%v: request %d shares %d of %d tokens", s.Varying(), i, q.BlockTokens, q.ISL)
			}
		}
	}
}

// What a request of a session needs is answered before it: the answers that were there when it was sent, and what a
// person or a tool took behind the last of them. A request that was sent before an answer cannot have needed it.
func TestSessionsWaitForAnswers(t *testing.T) {
	const text = `{"block_size": 64, "requests": [
  {"t": 0, "in": 64, "out": 9, "api_time": 2},
  {"t": 5, "in": 65, "out": 9, "api_time": 10},
  {"type": "subagent", "requests": [
    {"t": 6, "in": 66, "out": 9, "api_time": 1},
    {"t": 8, "in": 67, "out": 9, "api_time": 30}]},
  {"t": 16, "in": 68, "out": 9, "think_time": 1},
  {"t": 50, "in": 69, "out": 9}]}
{"block_size": 64, "requests": [{"t": 1, "in": 70, "out": 9}, {"t": 9, "in": 71, "out": 9, "think_time": 3}]}`
	trace, err := traffic.ReadTrace([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	type order struct {
		after []int // by ISL
		pause time.Duration
	}
	want := map[int]order{
		64: {}, 65: {[]int{64}, 3 * time.Second}, 66: {[]int{64}, 4 * time.Second}, 67: {[]int{66}, time.Second},
		68: {[]int{65}, time.Second}, 69: {[]int{67, 68}, 12 * time.Second}, 70: {}, 71: {[]int{70}, 3 * time.Second},
	}
	twice := trace.Take(0, 2)
	for i, q := range trace.Requests {
		var after []int
		for _, j := range q.After {
			if after = append(after, trace.Requests[j].ISL); j >= i {
				t.Errorf("%d waits for a later one", q.ISL)
			}
		}
		slices.Sort(after)
		if w := want[q.ISL]; !slices.Equal(after, w.after) || q.Pause != w.pause || twice[i].Pause != w.pause/2 {
			t.Errorf("%d: after %v, %s; at twice the speed %s", q.ISL, after, q.Pause, twice[i].Pause)
		}
	}
	bailian := `{"chat_id": 7, "parent_chat_id": -1, "timestamp": 1, "input_length": 33, "output_length": 2}
{"chat_id": 8, "parent_chat_id": -1, "timestamp": 2, "input_length": 33, "output_length": 2}
{"chat_id": 9, "parent_chat_id": 7, "timestamp": 3, "input_length": 33, "output_length": 2}`
	trace, err = traffic.ReadTrace([]byte(bailian), 0)
	if err != nil || trace.Requests[1].After != nil || !slices.Equal(trace.Requests[2].After, []int{0}) {
		t.Errorf("%v %+v", err, trace.Requests)
	}
}
