package sim

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// stream writes one answer, as server-sent events or as one JSON document.
type stream struct {
	s    *Server
	w    http.ResponseWriter
	id   string
	chat bool
	req  *request
	text []string
	log  Sent
	cut  int // tokens after which a fault ends the answer
}

func (st *stream) run(ctx context.Context, q *sequence, tokens <-chan int) {
	if st.req.Stream {
		st.w.Header().Set("Content-Type", "text/event-stream")
	}
	flush := http.NewResponseController(st.w)
	produced := 0
	var whole strings.Builder
	for {
		select {
		case <-ctx.Done():
			return
		case n, more := <-tokens:
			if !more {
				st.finish(q, produced, whole.String())
				return
			}
			if produced >= st.cut {
				continue // a fault: the tokens are produced and never sent
			}
			word := st.word(n)
			if !st.req.Stream {
				whole.WriteString(word)
				produced++
				continue
			}
			st.log.Chunks = append(st.log.Chunks, time.Now())
			if _, err := st.w.Write(st.chunk(word)); err != nil {
				return
			}
			if err := flush.Flush(); err != nil {
				return
			}
			if produced++; produced == st.cut {
				st.keep()
				panic(http.ErrAbortHandler) // a cut stream: the connection ends without the closing chunk
			}
		}
	}
}

func (st *stream) word(n int) string {
	if n < len(st.text) {
		return st.text[n]
	}
	return " w" + strconv.Itoa(n%1000)
}

// chunk is one event. The model's name is the only text in it that comes from outside, and it is escaped.
func (st *stream) chunk(word string) []byte {
	const chat = "data: {\"id\":\"sim\",\"object\":\"chat.completion.chunk\",\"model\":%q,\"choices\":[" +
		"{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":null}]}\n\n"
	const text = "data: {\"id\":\"sim\",\"object\":\"text_completion\",\"model\":%q,\"choices\":[" +
		"{\"index\":0,\"text\":%q,\"finish_reason\":null}]}\n\n"
	if st.chat {
		return fmt.Appendf(nil, chat, st.s.cfg.Model, word)
	}
	return fmt.Appendf(nil, text, st.s.cfg.Model, word)
}

func (st *stream) keep() {
	if st.id == "" {
		return
	}
	st.s.mu.Lock()
	st.s.sent[st.id] = st.log
	st.s.mu.Unlock()
}

func (st *stream) finish(q *sequence, produced int, whole string) {
	st.keep()
	usage := map[string]any{"prompt_tokens": q.prompt, "completion_tokens": produced, "total_tokens": q.prompt + produced}
	if !st.req.Stream {
		choice := map[string]any{"index": 0, "text": whole, "finish_reason": "length"}
		if st.chat {
			choice = map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": whole},
				"finish_reason": "length"}
		}
		reply(st.w, http.StatusOK, map[string]any{"id": "sim", "model": st.s.cfg.Model, "choices": []any{choice},
			"usage": usage})
		return
	}
	var b []byte
	if st.req.StreamOptions.IncludeUsage {
		const text = "data: {\"id\":\"sim\",\"model\":%q,\"choices\":[],\"usage\":" +
			"{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n"
		b = fmt.Appendf(b, text, st.s.cfg.Model, q.prompt, produced, q.prompt+produced)
	}
	_, _ = st.w.Write(append(b, "data: [DONE]\n\n"...)) // fails if the client disconnected
}
