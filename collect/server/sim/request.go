package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// textOf returns the text of the prompt of a request, whose words are its tokens; of a list of tokens their ids.
func textOf(request decode.Value) (string, error) {
	var parts []string
	messages, prompt := request.Get("messages"), request.Get("prompt")
	if input := request.Get("input"); input.Index(0).Kind() == decode.Object {
		messages = input
	} else if input.Kind() != decode.Invalid {
		prompt = input
	}
	ids, isList := prompt.Floats()
	switch documents := request.Get("documents"); {
	case messages.Len() > 0:
		for m := range messages.Items() {
			content := m.Get("content")
			text := content.Str()
			for part := range content.Items() { // of a list the texts count
				text += part.Get("text").Str()
			}
			switch parts = append(parts, text); content.Kind() {
			case decode.Number, decode.Bool, decode.Object:
				return "", errors.New("content must be a string or a list of parts")
			}
		}
	case documents.Len() > 0:
		parts = append(parts, request.Get("query").Str())
		for d := range documents.Items() {
			parts = append(parts, d.Str())
		}
	case prompt.Kind() == decode.String:
		parts = append(parts, prompt.Str())
	case isList && len(ids) > 0:
		parts = append(parts, strings.Trim(fmt.Sprint(ids), "[]"))
	default:
		return "", errors.New("prompt must be a string or a list of token ids")
	}
	return strings.Join(parts, "\n"), nil
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

// mostTokens is the longest answer: a client that asks for more means none that a machine has room for.
const mostTokens = 1 << 20

func (s *Server) complete(w http.ResponseWriter, r *http.Request, to traffic.Endpoint) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20))
	req := decode.Parse(body, 100)
	if err != nil || req.Kind() != decode.Object || !json.Valid(body) {
		replyError(w, http.StatusBadRequest, "the body is not a completion request")
		return
	}
	text, err := textOf(req)
	if err != nil {
		replyError(w, http.StatusBadRequest, err.Error())
		return
	}
	st := &stream{s: s, w: w, api: to, calls: req.Has("tools") && req.Get("tool_choice").Str() == "required"}
	all := strings.Fields(string(req.Get("tools").Raw()) + " " + text)
	prompt, want := max(1, len(all)), 0
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
		n, _ := req.Get(name).Int()
		want = max(want, n)
	}
	if want > mostTokens {
		replyError(w, http.StatusBadRequest, fmt.Sprintf("%d tokens are asked for; at most %d", want, mostTokens))
		return
	}
	if want == 0 {
		want = 16
	}
	st.streams, _ = req.Get("stream").Truth()
	st.counts, _ = req.At("stream_options", "include_usage").Truth()
	if to.Pools() { // the answer is ready when the prompt is read
		want, st.streams = 1, false
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
	if s.cfg.ITL > 0 {
		go s.cfg.fixed(r.Context(), q, time.Now())
	} else if !s.sched.submit(q) {
		replyError(w, http.StatusServiceUnavailable, "the queue is full")
		return
	}
	st.run(r.Context(), q, tokens)
}

// fixed answers on a fixed schedule.
func (c Config) fixed(ctx context.Context, q *sequence, came time.Time) {
	defer q.end()
	for k := range q.want {
		if process.Sleep(ctx, c.TTFT+time.Duration(k)*c.ITL-time.Since(came)) != nil {
			return
		}
		q.token(k)
	}
}

func replyError(w http.ResponseWriter, code int, message string) {
	reply(w, code, object{"error": object{"message": message}})
}

// stream writes one answer, as server-sent events or as one JSON document.
type stream struct {
	s    *Server
	w    http.ResponseWriter
	api  traffic.Endpoint
	text []string

	streams, counts, calls bool // it is streamed, its end has the usage, the answer is a call of a tool
}

func (st *stream) run(ctx context.Context, q *sequence, tokens <-chan int) {
	if st.streams {
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
			case !more && st.streams:
				_, _ = st.w.Write(st.ending(q, produced)) // fails if the client disconnected
				return
			case !more:
				reply(st.w, http.StatusOK, st.document(q, produced, whole.String()))
				return
			case !st.streams:
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
