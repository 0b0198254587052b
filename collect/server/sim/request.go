package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
)

// request holds the fields of a completion request that are used here.
type request struct {
	Prompt   json.RawMessage `json:"prompt"`
	Messages []struct {
		Content content `json:"content"`
	} `json:"messages"`
	Input         json.RawMessage `json:"input"`     // of responses and embeddings
	Query         string          `json:"query"`     // of rerank
	Documents     []string        `json:"documents"` // likewise
	MaxOutput     int             `json:"max_output_tokens"`
	MaxTokens     int             `json:"max_tokens"`
	MaxCompletion int             `json:"max_completion_tokens"`
	Stream        bool            `json:"stream"`
	Tools         json.RawMessage `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"` // only the word required matters
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// content is a text, or a list of parts of which the texts count.
type content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("content must be a string or a list of parts")
	}
	for _, p := range parts {
		*c += content(p.Text)
	}
	return nil
}

// text returns the text of the prompt, whose words are its tokens; of a list of tokens their ids.
func (r *request) text() (string, error) {
	var t string
	var ids []int
	if len(r.Input) > 0 && json.Unmarshal(r.Input, &r.Messages) != nil {
		r.Messages, r.Prompt = nil, r.Input
	}
	switch {
	case len(r.Messages) > 0:
		for i, m := range r.Messages {
			if i > 0 {
				t += "\n"
			}
			t += string(m.Content)
		}
	case len(r.Documents) > 0:
		t = strings.Join(append([]string{r.Query}, r.Documents...), "\n")
	case json.Unmarshal(r.Prompt, &t) == nil:
	case json.Unmarshal(r.Prompt, &ids) == nil && len(ids) > 0:
		t = strings.Trim(fmt.Sprint(ids), "[]")
	default:
		return "", errors.New("prompt must be a string or a list of token ids")
	}
	return t, nil
}

var sum = lazyregexp.New(`(\d{1,6})\s*\+\s*(\d{1,6})`)

// answer returns the sum if the question asks for one, right in a fixed share of questions; "" for any other
// question.
func (c Config) answer(question string) string {
	m := sum.FindStringSubmatch(question)
	if m == nil {
		return ""
	}
	a, _ := strconv.Atoi(m[1]) // six digits at most
	b, _ := strconv.Atoi(m[2])
	h := fnv.New64a() // a number in [0,1) that depends only on the seed and the question
	fmt.Fprintf(h, "%d\x00%s\x00%s", c.Seed, c.Version, question)
	if float64(h.Sum64()>>11)/float64(1<<53) >= c.EvalAccuracy {
		b++
	}
	return strconv.Itoa(a + b)
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, to traffic.Endpoint) {
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 32<<20)).Decode(&req); err != nil {
		replyError(w, http.StatusBadRequest, "the body is not a completion request: "+err.Error())
		return
	}
	text, err := req.text()
	if err != nil {
		replyError(w, http.StatusBadRequest, err.Error())
		return
	}
	all := strings.Fields(string(req.Tools) + " " + text)
	prompt := max(1, len(all))
	st := &stream{s: s, w: w, api: to, req: &req}
	want := max(req.MaxTokens, req.MaxCompletion, req.MaxOutput)
	if want <= 0 {
		want = 16
	}
	if to.Pools() { // the answer is ready when the prompt is read
		want, req.Stream = 1, false
	} else if said := s.cfg.answer(text); said != "" {
		st.text, want = []string{said}, 1
	}
	draw := rand.NewPCG(s.cfg.Seed, s.seen.Add(1)).Uint64() >> 11
	if float64(draw)/(1<<53) < s.cfg.Errors {
		replyError(w, http.StatusInternalServerError, "injected failure")
		return
	}
	tokens := make(chan int, want) // room for all, so nothing blocks
	q := &sequence{prompt: prompt, want: want, keys: s.sched.cache.keys(all), token: func(n int) { tokens <- n },
		end: func() { close(tokens) }, gone: func() bool { return r.Context().Err() != nil }}
	if !s.sched.submit(q) {
		replyError(w, http.StatusServiceUnavailable, "the queue is full")
		return
	}
	st.run(r.Context(), q, tokens)
}

func replyError(w http.ResponseWriter, code int, message string) {
	reply(w, code, object{"error": object{"message": message}})
}

// stream writes one answer, as server-sent events or as one JSON document.
type stream struct {
	s    *Server
	w    http.ResponseWriter
	api  traffic.Endpoint
	req  *request
	text []string
}

func (st *stream) run(ctx context.Context, q *sequence, tokens <-chan int) {
	if st.req.Stream {
		st.w.Header().Set("Content-Type", "text/event-stream")
	}
	flush := http.NewResponseController(st.w)
	produced := 0
	var whole strings.Builder
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case n, more := <-tokens:
			word := " w" + strconv.Itoa(n%1000)
			if n < len(st.text) {
				word = st.text[n]
			}
			switch {
			case !more && st.req.Stream:
				_, _ = st.w.Write(st.ending(q, produced)) // fails if the client disconnected
				return
			case !more:
				reply(st.w, http.StatusOK, st.document(q, produced, whole.String()))
				return
			case !st.req.Stream:
				whole.WriteString(word)
			default:
				if _, err := st.w.Write(st.chunk(n, word)); err != nil || flush.Flush() != nil {
					return
				}
			}
			produced++
		}
	}
}
