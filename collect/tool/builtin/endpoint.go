package builtin

import (
	"bytes"
	"fmt"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Marks of a body, which requests replace by what is their own.
const (
	promptMark  = "THE-PROMPT"
	historyMark = "THE-HISTORY"
	imageMark   = "THE-IMAGE"
)

// form is what the requests of an endpoint look like.
type form struct {
	path  string
	limit string // field of the output tokens; "" for none
	name  string // that vLLM has for it
}

func formOf(e traffic.Endpoint) form {
	switch e {
	case traffic.Chat:
		return form{"/v1/chat/completions", "max_tokens", "openai-chat"}
	case traffic.Responses:
		return form{"/v1/responses", "max_output_tokens", "openai-responses"}
	case traffic.Embeddings:
		return form{"/v1/embeddings", "", "openai-embeddings"}
	case traffic.Rerank:
		return form{"/v1/rerank", "", "vllm-rerank"}
	}
	return form{"/v1/completions", "max_tokens", "openai"}
}

// rerankQuery is what documents are ranked for; the prompt is the document.
const rerankQuery = "which one"

// fields returns the body of a request, with marks.
func fields(e traffic.Endpoint, model string, image bool) map[string]any {
	content := any(promptMark)
	if image {
		content = []any{
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64," + imageMark}},
			map[string]any{"type": "text", "text": promptMark},
		}
	}
	messages := []any{historyMark, map[string]any{"role": "user", "content": content}}
	body := map[string]any{"model": model}
	if e.Pools() {
		if body["input"] = promptMark; e == traffic.Rerank {
			delete(body, "input")
			body["query"], body["documents"] = rerankQuery, []string{promptMark}
		}
		return body
	}
	body["temperature"], body["stream"], body["ignore_eos"] = 0, true, true
	switch e {
	case traffic.Chat:
		body["messages"] = messages
	case traffic.Responses: // its last event has the usage
		body["input"] = messages
		return body
	default:
		body["prompt"] = promptMark
	}
	body["stream_options"] = map[string]any{"include_usage": true}
	return body
}

// offer adds the functions that the model may call.
func offer(body map[string]any, e traffic.Endpoint, t traffic.Tools) {
	var list []any
	for i := range t.Offered {
		function := map[string]any{
			"name": fmt.Sprintf("search_%d", i+1), "description": fmt.Sprintf("Searches source %d for a text.", i+1),
			"parameters": map[string]any{"type": "object", "required": []string{"query"},
				"properties": map[string]any{"query": map[string]any{"type": "string"}}},
		}
		if e == traffic.Responses {
			function["type"] = "function"
			list = append(list, function)
			continue
		}
		list = append(list, map[string]any{"type": "function", "function": function})
	}
	if body["tools"] = list; t.Required {
		body["tool_choice"] = "required"
	}
}

// delta is what one event of a stream brings.
type delta struct {
	tokens    bool   // it has tokens
	reasoning bool   // of the reasoning before the answer; a call of a tool is part of the answer
	call      bool   // it is of a call of a tool
	text      string // of the answer, where it was parsed
	in, out   int    // usage; 0 where it states none
	cached    *int   // of in; nil where it states none
	problem   string
}

// deltaOf reads one event.
func deltaOf(e traffic.Endpoint, data []byte) delta {
	v := decode.NewScanner(data, 32).Value()
	if x := v.Get("error"); x.Kind() == decode.Object {
		return delta{problem: "the server reports: " + x.Get("message").Str()}
	}
	if e == traffic.Responses {
		return responsesDelta(v)
	}
	var c delta
	thought := false
	for choice := range v.Get("choices").Items() {
		d := choice.Get("delta")
		c.text += choice.Get("text").Str() + d.Get("content").Str()
		thought = thought || d.Get("reasoning_content").Str() != "" || d.Get("reasoning").Str() != ""
		c.call = c.call || d.Get("tool_calls").Len() > 0
	}
	c.tokens = c.call || c.text != ""
	c.reasoning = thought && !c.tokens
	c.tokens = c.tokens || thought
	if u := v.Get("usage"); u.Kind() == decode.Object {
		c.in, _ = u.Get("prompt_tokens").Int()
		c.out, _ = u.Get("completion_tokens").Int()
		c.cached = cachedOf(u.Get("prompt_tokens_details"))
	}
	return c
}

// responsesDelta reads an event of the Responses API, whose type says what it brings.
func responsesDelta(v decode.Value) delta {
	c := delta{}
	switch v.Get("type").Str() {
	case "response.output_text.delta":
		c.text = v.Get("delta").Str()
		c.tokens = c.text != ""
	case "response.function_call_arguments.delta":
		c.tokens = v.Get("delta").Str() != ""
		c.call = c.tokens
	case "response.refusal.delta":
		c.tokens = v.Get("delta").Str() != ""
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		c.tokens = v.Get("delta").Str() != ""
		c.reasoning = c.tokens
	case "error":
		c.problem = "the server reports: " + v.Get("message").Str()
	case "response.failed":
		c.problem = "the server reports: " + v.At("response", "error", "message").Str()
	case "response.completed", "response.incomplete": // incomplete: it ended at the limit
		u := v.At("response", "usage")
		c.in, _ = u.Get("input_tokens").Int()
		c.out, _ = u.Get("output_tokens").Int()
		c.cached = cachedOf(u.Get("input_tokens_details"))
	}
	return c
}

// cachedOf reads the details of a usage, which say how much of the prompt was cached.
func cachedOf(details decode.Value) *int {
	if n, ok := details.Get("cached_tokens").Int(); ok && n >= 0 {
		return &n
	}
	return nil
}

// pooled reads the answer of an endpoint without tokens: how many of the prompt it counted.
func pooled(data []byte) (in int, problem string) {
	v := decode.NewScanner(data, 32).Value()
	if x := v.Get("error"); x.Kind() == decode.Object {
		return 0, "the server reports: " + x.Get("message").Str()
	}
	answers := max(v.Get("data").Len(), v.Get("results").Len())
	if answers == 0 {
		return 0, "the answer has no content"
	}
	u := v.Get("usage")
	if in, _ = u.Get("prompt_tokens").Int(); in == 0 {
		in, _ = u.Get("total_tokens").Int()
	}
	return in, ""
}

// certainText reports whether a chunk certainly has text of the answer and no usage, without parsing it as JSON,
// because tens of thousands arrive each second. Quotation marks within a JSON string are escaped, so the bytes that are
// searched for are members wherever they occur.
func certainText(data []byte) bool {
	if bytes.Contains(data, []byte(`"error"`)) {
		return false
	}
	if _, usage, found := bytes.Cut(data, []byte(`"usage":`)); found {
		if !bytes.HasPrefix(bytes.TrimLeft(usage, " "), []byte("null")) {
			return false
		}
	}
	for _, member := range []string{`"text":"`, `"text": "`, `"content":"`, `"content": "`} {
		if at := bytes.Index(data, []byte(member)); at >= 0 {
			rest := data[at+len(member):]
			return len(rest) > 0 && rest[0] != '"'
		}
	}
	return false
}

// leave takes out the requests whose clients went away: they neither completed nor failed.
func (o *Outcome) leave() {
	kept, late := o.Requests[:0], o.Late[:0]
	whole := 0
	for i, t := range o.Requests {
		if t.Gone {
			o.Gone++
			o.goneBusy += t.E2EL / 1000
			continue
		}
		if i < o.Whole {
			whole++
		}
		kept = append(kept, t)
		if i < len(o.Late) {
			late = append(late, o.Late[i])
		}
	}
	if o.Gone > 0 {
		o.Requests, o.Late, o.Whole = kept, late, whole
	}
}
