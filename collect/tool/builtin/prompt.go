package builtin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/collect/traffic"
)

// vocabulary has common words of three letters. Tokenizers in use make one token of each, with the space before it;
// one that works on bytes makes four. Either way a prompt's tokens depend on its number of words alone, so that what
// the server counts in one prompt holds for all.
const vocabulary = "the and you was for are his one had but not all can her use how out day get has him see two way " +
	"who did may say she new now old any our too let put end why try ask men run own set big few got man boy"

// headWords is the number of words at the beginning that differ between prompts: a prefix cache compares from the
// beginning, so no request benefits from an earlier one.
const headWords = 8

// mostTails bounds the memory of all tails, bytes.
const mostTails = 64 << 20

// prompts makes the requests of a load: each prompt has what it shares with others, a head of its own, and one of a
// few dozen tails.
type prompts struct {
	endpoint                       traffic.Endpoint
	before, history, middle, after []byte   // of a body, around max_tokens, what was said before, and the prompt
	picture                        *picture // that each request has; nil for none
	tools                          traffic.Tools
	behindImage                    []byte   // of a body, between the picture and the prompt
	tails                          []string // each with a space before every word
	vocab                          []string
	longest, count                 int // tokens of the longest message; prompts of the load
	seed                           uint64
	fit                            fit
}

func newPrompts(l Load) (*prompts, error) {
	p := &prompts{endpoint: l.Endpoint, tools: l.Tools, vocab: strings.Fields(vocabulary),
		seed: cmp.Or(l.Text, l.Seed), fit: unfitted}
	if l.Image.Width > 0 {
		var err error
		if p.picture, err = newPicture(l.Image, p.seed); err != nil {
			return nil, err
		}
	}
	if err := p.template(l.Model, nil); err != nil {
		return nil, err
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

// template makes what the bodies of all requests have. Some servers refuse fields that others need; without are those
// that this one refused.
func (p *prompts) template(model string, without []string) error {
	all := fields(p.endpoint, model, p.picture != nil)
	if p.tools.Offered > 0 {
		offer(all, p.endpoint, p.tools)
	}
	for _, name := range without {
		delete(all, name)
	}
	body, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	p.before = []byte("{")
	if limit := formOf(p.endpoint).limit; limit != "" {
		p.before, body[0] = []byte(`{"`+limit+`":`), ','
	} else {
		body = body[1:]
	}
	p.middle, p.after, _ = bytes.Cut(body, []byte(promptMark))
	if until, rest, talks := bytes.Cut(p.middle, []byte(`"`+historyMark+`",`)); talks {
		p.history, p.middle = until, rest
	}
	if p.picture != nil {
		p.middle, p.behindImage, _ = bytes.Cut(p.middle, []byte(imageMark))
	}
	return nil
}

// body returns the body of request number i, which decides its words; warm-up requests have negative numbers.
func (p *prompts) body(i int, q traffic.Request, t *talk) []byte {
	b := slices.Grow([]byte(nil), len(p.before)+len(p.middle)+len(p.after)+max(8*q.ISL, 2*len(q.Text))+16)
	b = append(b, p.before...)
	if !p.endpoint.Pools() {
		b = strconv.AppendInt(b, int64(q.OSL), 10)
	}
	b = append(b, p.history...)
	if t != nil {
		b = append(b, t.before...)
	}
	b = append(b, p.middle...)
	if p.picture != nil {
		b = append(p.picture.appendTo(b, p.seed, i), p.behindImage...)
	}
	if q.Text != "" {
		text, _ := json.Marshal(q.Text) // strings can always be written
		return append(append(b, text[1:len(text)-1]...), p.after...)
	}
	from := len(b)
	b = p.words(b, i, q)
	if t != nil {
		t.user = append(t.user[:0], b[from:]...)
	}
	return append(b, p.after...)
}

// words appends the made-up prompt of a request.
func (p *prompts) words(b []byte, i int, q traffic.Request) []byte {
	left, pad := p.fit.words(q.ISL)
	if q.Fresh > 0 { // the base is counted with the first turn
		left, pad = max(1, p.fit.share(q.Fresh)), 0
	}
	first := true
	write := func(rng *rand.PCG, n int) {
		for range n {
			if !first {
				b = append(b, ' ')
			}
			first = false
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
	return b
}
