package sim

import (
	"context"
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
	api  api
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
			if _, err := st.w.Write(st.chunk(n, word)); err != nil {
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
	if !st.req.Stream {
		reply(st.w, http.StatusOK, st.document(q.prompt, produced, whole))
		return
	}
	_, _ = st.w.Write(st.ending(q.prompt, produced)) // fails if the client disconnected
}
