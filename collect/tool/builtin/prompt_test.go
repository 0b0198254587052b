package builtin

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/traffic"
)

// Every request begins differently, so that a prefix cache does not help, and has the requested length in words.
func TestPromptsDiffer(t *testing.T) {
	l, _ := Load{Workload: traffic.Workload{ISL: 40, OSL: 7, Concurrency: 1, Requests: 2000},
		Model: `odd "name"`}.complete()
	p, err := newPrompts(l)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := -2; i < 2000; i++ {
		var body struct {
			Model  string
			Prompt string
			Max    int `json:"max_tokens"`
			Stream bool
		}
		if err := json.Unmarshal(p.body(i, traffic.Request{ISL: 40, OSL: 7}, nil), &body); err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(body.Prompt)
		if len(words) != 40 || body.Model != `odd "name"` || body.Max != 7 || !body.Stream {
			t.Fatalf("%+v", body)
		}
		seen[strings.Join(words[:headWords], " ")] = true
	}
	if len(seen) < 2000 {
		t.Errorf("%d beginnings of 2002 requests", len(seen))
	}
	l, _ = Load{Workload: traffic.Workload{ISL: 3, OSL: 1, Concurrency: 1, Requests: 1}}.complete()
	short, err := newPrompts(l)
	if err != nil || bytes.Count(short.body(0, traffic.Request{ISL: 3, OSL: 1}, nil), []byte(" ")) != 2 {
		t.Errorf("%+v, %v", short, err)
	}
}

// A later turn of a conversation has its own length, also where it is longer than every first turn.
func TestLaterTurnsAreWhole(t *testing.T) {
	each := []traffic.Request{{ISL: 100, OSL: 4}, {ISL: 2104, Fresh: 2000, OSL: 4}}
	p, err := newPrompts(Load{
		Workload: traffic.Workload{Requests: 2, Turns: 2, Endpoint: traffic.Chat},
		Each:     each,
	})
	if err != nil {
		t.Fatal(err)
	}
	said := &talk{}
	for i, want := range []int{100, 2000} {
		if p.body(i, each[i], said); len(strings.Fields(said.user)) != want {
			t.Errorf("turn %d has %d words, want %d", i+1, len(strings.Fields(said.user)), want)
		}
	}
}

// Earlier answers are written as each endpoint wants them: llama.cpp takes an assistant's message in the input of
// responses only as an output message with a list of parts.
func TestEarlierAnswersInTheirEndpointsForm(t *testing.T) {
	for endpoint, want := range map[traffic.Endpoint]string{
		traffic.Chat: `[{"content":"why","role":"user"},{"content":"a \"b\"","role":"assistant"}]`,
		traffic.Responses: `[{"content":"why","role":"user"},{"content":[{"annotations":[],"text":"a \"b\"",` +
			`"type":"output_text"}],"id":"msg_0","role":"assistant","status":"completed","type":"message"}]`,
	} {
		said := &talk{endpoint: endpoint, user: "why"}
		said.answer.WriteString(`a "b"`)
		said.said()
		got, err := json.Marshal(said.before)
		if string(got) != want || err != nil {
			t.Errorf("%s:\n%s\nwant\n%s", endpoint, got, want)
		}
	}
}

// The fast path of reading a chunk agrees with the parser.
func TestPlainTextAgreesWithJSON(t *testing.T) {
	for _, chunk := range []string{
		`{"choices":[{"text":" a","index":0}]}`, `{"choices":[{"text": "a"}],"usage":null}`, `{"choices":[{"text":""}]}`,
		`{"choices":[{"delta":{"content":"x"}}]}`, `{"choices":[{"delta":{"role":"assistant","content":""}}]}`,
		`{"choices":[{"text":"say \"text\":\"no\""}]}`, `{"choices":[{"text":"","note":"\"text\":\"x\""}]}`,
		`{"choices":[{"text":"a"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
		`{"error":{"message":"x"},"choices":[{"text":"a"}]}`, `{"choices":[]}`,
		`{"choices":[{"text":"an \"error\" and \"usage\":"}]}`,
	} {
		quick := certainText([]byte(chunk))
		var v struct {
			Choices []struct {
				Text  string
				Delta struct{ Content string }
			}
			Usage *struct{}
			Error *struct{}
		}
		if err := json.Unmarshal([]byte(chunk), &v); err != nil {
			t.Fatal(err)
		}
		full := v.Usage == nil && v.Error == nil && len(v.Choices) > 0 && v.Choices[0].Text+v.Choices[0].Delta.Content != ""
		if quick && !full {
			t.Errorf("%s is taken for plain text", chunk)
		}
	}
}
