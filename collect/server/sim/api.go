package sim

import "fmt"

// api is an endpoint that answers requests.
type api int

const (
	completions api = iota
	chat
	responses
	embeddings
	rerank
)

// apis returns the endpoints by their paths.
func apis() map[string]api {
	return map[string]api{
		"/v1/completions": completions, "/v1/chat/completions": chat, "/v1/responses": responses,
		"/v1/embeddings": embeddings, "/v1/rerank": rerank,
	}
}

func (a api) pools() bool { return a == embeddings || a == rerank }

// Events of a stream. Answers of chat and responses can begin with reasoning, and can be calls of a tool. The model's
// name is the only text in them that comes from outside, and it is escaped.
const (
	chatEvent = "data: {\"id\":\"sim\",\"object\":\"chat.completion.chunk\",\"model\":%q,\"choices\":[" +
		"{\"index\":0,\"delta\":{%s},\"finish_reason\":null}]}\n\n"
	textEvent = "data: {\"id\":\"sim\",\"object\":\"text_completion\",\"model\":%q,\"choices\":[" +
		"{\"index\":0,\"text\":%q,\"finish_reason\":null}]}\n\n"
	responseEvent = "event: response.%[1]s.delta\ndata: {\"type\":\"response.%[1]s.delta\",\"delta\":%[2]q}\n\n"
)

// chunk is the event of the n-th token.
func (st *stream) chunk(n int, word string) []byte {
	thinks := n < st.s.cfg.Reasoning
	calls := st.req.calls()
	model := st.s.cfg.Model
	switch {
	case st.api == chat && thinks:
		return fmt.Appendf(nil, chatEvent, model, fmt.Sprintf("\"reasoning_content\":%q,\"content\":null", word))
	case st.api == chat && calls:
		const call = "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":%q}}]"
		return fmt.Appendf(nil, chatEvent, model, fmt.Sprintf(call, word))
	case st.api == chat:
		return fmt.Appendf(nil, chatEvent, model, fmt.Sprintf("\"content\":%q", word))
	case st.api == responses && thinks:
		return fmt.Appendf(nil, responseEvent, "reasoning_text", word)
	case st.api == responses && calls:
		return fmt.Appendf(nil, responseEvent, "function_call_arguments", word)
	case st.api == responses:
		return fmt.Appendf(nil, responseEvent, "output_text", word)
	}
	return fmt.Appendf(nil, textEvent, model, word)
}

// ending is what follows the last token of a stream.
func (st *stream) ending(prompt, produced int) []byte {
	if st.api == responses {
		const done = "event: response.output_text.done\n" +
			"data: {\"type\":\"response.output_text.done\",\"text\":\"all of it\"}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"model\":%q,\"usage\":" +
			"{\"input_tokens\":%d,\"output_tokens\":%d,\"total_tokens\":%d}}}\n\n"
		return fmt.Appendf(nil, done, st.s.cfg.Model, prompt, produced, prompt+produced)
	}
	var b []byte
	if st.req.StreamOptions.IncludeUsage {
		const text = "data: {\"id\":\"sim\",\"model\":%q,\"choices\":[],\"usage\":" +
			"{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n"
		b = fmt.Appendf(b, text, st.s.cfg.Model, prompt, produced, prompt+produced)
	}
	return append(b, "data: [DONE]\n\n"...)
}

// document is an answer that is not streamed.
func (st *stream) document(prompt, produced int, text string) map[string]any {
	usage := map[string]any{"prompt_tokens": prompt, "completion_tokens": produced, "total_tokens": prompt + produced}
	out := map[string]any{"id": "sim", "model": st.s.cfg.Model, "usage": usage}
	switch st.api {
	case embeddings:
		out["usage"] = map[string]any{"prompt_tokens": prompt, "total_tokens": prompt}
		out["data"] = []any{map[string]any{"index": 0, "embedding": []float64{.6, .8}}}
	case rerank:
		out["usage"] = map[string]any{"total_tokens": prompt}
		out["results"] = []any{map[string]any{"index": 0, "relevance_score": .5}}
	case responses:
		out["usage"] = map[string]any{"input_tokens": prompt, "output_tokens": produced, "total_tokens": prompt + produced}
		out["output"] = []any{map[string]any{"type": "message", "role": "assistant",
			"content": []any{map[string]any{"type": "output_text", "text": text}}}}
	case chat:
		out["choices"] = []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text},
			"finish_reason": "length"}}
	default:
		out["choices"] = []any{map[string]any{"index": 0, "text": text, "finish_reason": "length"}}
	}
	return out
}
