package builtin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// vocabulary has short and common words, so that most tokenizers make one token of each.
const vocabulary = "the of and to in is it you that he was for on are with as his they be at one have this from or " +
	"had by hot word but what some we can out other were all there when up use your how said an each she"

// headWords is the number of words at the beginning that differ between prompts: a prefix cache compares from the
// beginning, so no request benefits from an earlier one.
const headWords = 8

// prompts makes the requests of a load: each has a head of its own and one of a few dozen tails.
type prompts struct {
	before, after []byte   // of the prompt in a body
	tails         []string // each with the space before it
	vocab         []string
	isl           int
	seed          uint64
}

func newPrompts(l Load) (*prompts, error) {
	p := &prompts{vocab: strings.Fields(vocabulary), isl: l.ISL, seed: l.Seed}
	const mark = "THE-PROMPT"
	body, err := json.Marshal(map[string]any{
		"model": l.Model, "prompt": mark, "max_tokens": l.OSL, "temperature": 0, "ignore_eos": true,
		"stream": true, "stream_options": map[string]any{"include_usage": true},
	})
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	p.before, p.after, _ = bytes.Cut(body, []byte(mark))
	rng := rand.New(rand.NewPCG(l.Seed, 0x70726f6d))
	for range min(l.Requests+l.Warmups, 64) {
		var tail strings.Builder
		for range max(0, l.ISL-headWords) {
			tail.WriteByte(' ')
			tail.WriteString(p.vocab[rng.IntN(len(p.vocab))])
		}
		p.tails = append(p.tails, tail.String())
	}
	return p, nil
}

// body returns the body of request i; warm-up requests have negative numbers.
func (p *prompts) body(i int) []byte {
	tail := p.tails[((i%len(p.tails))+len(p.tails))%len(p.tails)]
	b := make([]byte, 0, len(p.before)+len(tail)+len(p.after)+headWords*6)
	b = append(b, p.before...)
	rng := rand.NewPCG(p.seed, uint64(int64(i)))
	for k := range min(headWords, p.isl) {
		if k > 0 {
			b = append(b, ' ')
		}
		b = append(b, p.vocab[rng.Uint64()%uint64(len(p.vocab))]...)
	}
	return append(append(b, tail...), p.after...)
}
