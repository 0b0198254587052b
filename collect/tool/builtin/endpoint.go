package builtin

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// form is what the requests of an endpoint look like.
type form struct {
	path  string
	limit string // field of the output tokens; "" for none
	name  string // that vLLM has for it
}

func formOf(e traffic.Endpoint) form {
	return map[traffic.Endpoint]form{
		traffic.Completions: {"/v1/completions", "max_tokens", "openai"},
		traffic.Chat:        {"/v1/chat/completions", "max_tokens", "openai-chat"},
		traffic.Responses:   {"/v1/responses", "max_output_tokens", "openai-responses"},
		traffic.Embeddings:  {"/v1/embeddings", "", "openai-embeddings"},
		traffic.Rerank:      {"/v1/rerank", "", "vllm-rerank"},
	}[e]
}

type object = map[string]any

// body returns the body of request number i, which decides its words; warm-up requests have negative numbers.
func (p *prompts) body(i int, q traffic.Request, t *talk) []byte {
	text, e := q.Text, p.load.Endpoint
	if text == "" {
		text = p.words(i, q)
	}
	body := object{"model": cmp.Or(q.Adapter, p.load.Model), "temperature": 0, "stream": true, "ignore_eos": true}
	switch e {
	case traffic.Embeddings:
		body = object{"model": body["model"], "input": text}
	case traffic.Rerank:
		body = object{"model": body["model"], "query": "which one", "documents": []string{text}}
	case traffic.Completions:
		body["prompt"] = text
	default:
		content, messages := any(text), []any(nil)
		if p.picture != nil {
			url := "data:image/png;base64," + p.picture.of(p.seed, i)
			content = []any{object{"type": "image_url", "image_url": object{"url": url}}, object{"type": "text", "text": text}}
		}
		if t != nil {
			t.user, messages = text, t.before
		}
		body["messages"] = append(messages[:len(messages):len(messages)], object{"role": "user", "content": content})
		if e == traffic.Responses {
			body["input"] = body["messages"]
			delete(body, "messages")
		}
	}
	if e != traffic.Responses && !e.Pools() { // the last event of responses has the usage
		body["stream_options"] = object{"include_usage": true}
	}
	if limit := formOf(e).limit; limit != "" {
		body[limit] = q.OSL
	}
	if p.load.Tools.Offered > 0 {
		body["tools"] = offered(e, p.load.Tools.Offered)
	}
	if p.load.Tools.Required {
		body["tool_choice"] = "required"
	}
	for _, name := range p.without {
		delete(body, name)
	}
	out, _ := json.Marshal(body) // texts and numbers can always be written
	return out
}

// offered are so many functions for calls, in the form of an endpoint.
func offered(e traffic.Endpoint, n int) (list []any) {
	for i := range n {
		function := object{
			"name": fmt.Sprintf("search_%d", i+1), "description": fmt.Sprintf("Searches source %d for a text.", i+1),
			"parameters": object{"type": "object", "required": []string{"query"},
				"properties": object{"query": object{"type": "string"}}},
		}
		if e == traffic.Responses {
			function["type"] = "function"
			list = append(list, function)
		} else {
			list = append(list, object{"type": "function", "function": function})
		}
	}
	return list
}

// delta is what one event of a stream brings.
type delta struct {
	tokens    bool   // it has tokens
	reasoning bool   // of the reasoning before the answer; a call of a tool is part of the answer
	call      bool   // it is of a call of a tool
	text      string // of the answer, where it was parsed
	in, out   int    // usage; 0 where it states none
	cached    *int   // of in; nil where it states none
	drafted   int    // tokens of drafts, of speculative decoding
	accepted  int    // of drafted
	problem   string
}

// deltaOf reads one event.
func deltaOf(e traffic.Endpoint, data []byte) delta {
	v := decode.Parse(data, 32)
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
		timings := v.Get("timings") // of llama.cpp
		c.drafted, _ = timings.Get("draft_n").Int()
		c.accepted, _ = timings.Get("draft_n_accepted").Int()
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

// picture makes PNGs of one size whose pixels differ from request to request, so that no cache of a server knows them.
// They are encoded once: what changes is the palette, a chunk of its own with a checksum (PNG specification, 5.3 and
// 11.2).
type picture struct {
	file    []byte
	palette int // place of the palette's content
	colours int
}

const pictureSquares = 32 // pixels of a side of the squares that a picture is made of

func newPicture(size traffic.Image, seed uint64) (*picture, error) {
	const colours = 64
	rng := rand.New(rand.NewPCG(seed, 0x696d616765))
	palette := make(color.Palette, colours)
	for i := range palette {
		palette[i] = color.RGBA{uint8(i), uint8(i), uint8(i), 255}
	}
	img := image.NewPaletted(image.Rect(0, 0, size.Width, size.Height), palette)
	across := size.Width/pictureSquares + 1
	squares := make([]uint8, across*(size.Height/pictureSquares+1))
	for i := range squares {
		squares[i] = uint8(rng.IntN(colours))
	}
	for y := range size.Height {
		for x := range size.Width {
			img.Pix[y*img.Stride+x] = squares[y/pictureSquares*across+x/pictureSquares]
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	at := bytes.Index(b.Bytes(), []byte("PLTE"))
	if at < 0 {
		return nil, fmt.Errorf("picture: it has no palette")
	}
	return &picture{b.Bytes(), at + 4, colours}, nil
}

// of is the picture of a request, in base64.
func (p *picture) of(seed uint64, i int) string {
	file := bytes.Clone(p.file)
	rng := rand.NewPCG(seed, uint64(int64(i)))
	colours := file[p.palette : p.palette+3*p.colours]
	for k := range colours {
		colours[k] = byte(rng.Uint64())
	}
	end := p.palette + 3*p.colours
	binary.BigEndian.PutUint32(file[end:], crc32.ChecksumIEEE(file[p.palette-4:end]))
	return base64.StdEncoding.EncodeToString(file)
}

// vocabulary has common words of three letters. Tokenizers in use make one token of each, with the space before it;
// one that works on bytes makes four. Either way a prompt's tokens depend on its number of words alone, so that what
// the server counts in one prompt holds for all.
const vocabulary = "the and you was for are his one had but not all can her use how out day get has him see two way " +
	"who did may say she new now old any our too let put end why try ask men run own set big few got man boy"

// headWords is the number of words at the beginning that differ between prompts: a prefix cache compares from the
// beginning, so no request benefits from an earlier one.
const headWords = 8

// prompts makes the requests of a load: each prompt has what it shares with others, a head of its own, and one of a
// few dozen tails.
type prompts struct {
	load           *Load
	without        []string // fields that this server refuses, and others need
	picture        *picture // that each request has; nil for none
	tails          []string // each with a space before every word
	vocab          []string
	longest, count int // tokens of the longest message; prompts of the load
	seed           uint64
	fit            fit
}

func newPrompts(l Load) (*prompts, error) {
	p := &prompts{load: &l, vocab: strings.Fields(vocabulary), seed: cmp.Or(l.Text, l.Seed), fit: unfitted}
	if l.Image.Width > 0 {
		var err error
		if p.picture, err = newPicture(l.Image, p.seed); err != nil {
			return nil, err
		}
	}
	for _, q := range l.Each {
		p.longest = max(p.longest, cmp.Or(q.Fresh, q.ISL)) // of a later turn what is new
	}
	p.count = l.Requests + l.Warmups
	p.makeTails()
	return p, nil
}

// makeTails makes the tails of the words in use.
func (p *prompts) makeTails() {
	const mostTails = 64 << 20 // bytes of all tails
	rng := rand.New(rand.NewPCG(p.seed, 0x70726f6d))
	p.tails = nil
	for range min(p.count, 64, 1+mostTails/(4*max(1, p.longest))) {
		var tail strings.Builder
		for range max(p.longest, someWords) {
			tail.WriteByte(' ')
			tail.WriteString(p.vocab[rng.IntN(len(p.vocab))])
		}
		p.tails = append(p.tails, tail.String())
	}
}

// words is the made-up prompt of a request.
func (p *prompts) words(i int, q traffic.Request) string {
	b := make([]byte, 0, 8*q.ISL)
	left, pad := p.fit.words(q.ISL)
	if q.Fresh > 0 { // the base is counted with the first turn
		left, pad = max(1, p.fit.share(q.Fresh)), 0
	}
	write := func(rng *rand.PCG, n int) {
		for range n {
			if len(b) > 0 {
				b = append(b, ' ')
			}
			b = append(b, p.vocab[rng.Uint64()%uint64(len(p.vocab))]...)
		}
	}
	for _, block := range q.Blocks {
		n := min(p.fit.share(q.BlockTokens), left)
		write(rand.NewPCG(p.seed^0x626c6f636b, block), n)
		left -= n
	}
	head := min(headWords, left)
	write(rand.NewPCG(p.seed, uint64(int64(i))), head)
	tail := p.tails[((i%len(p.tails))+len(p.tails))%len(p.tails)]
	const word = 4 // letters, with the space
	b = append(b, tail[:min(len(tail), word*(left-head))]...)
	for range pad {
		b = append(b, 'e')
	}
	return string(b)
}
