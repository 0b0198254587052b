package builtin

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/collect/traffic"
)

// fit says how many words a prompt needs for a number of tokens as the server counts them: tokens = base + perWord ×
// words. The base is what the server adds, such as a token for the beginning; a tokenizer of bytes has four tokens a
// word.
type fit struct {
	base, perWord float64
	counted       bool // by the server; else a word is taken for a token
}

var unfitted = fit{perWord: 1}

// words returns the number of words of a prompt, and of letters behind the last one where a word is several tokens.
func (f fit) words(isl int) (words, pad int) {
	exact := (float64(isl) - f.base) / f.perWord
	if f.perWord < 1.5 {
		return max(1, int(math.Round(exact))), 0
	}
	words = max(1, int(math.Floor(exact+1e-9)))
	return words, max(0, isl-int(math.Round(f.base+f.perWord*float64(words))))
}

// share returns the number of words of a part of a prompt.
func (f fit) share(tokens int) int { return int(math.Round(float64(tokens) / f.perWord)) }

// Prompts that are counted first. The short ones cost the server next to nothing.
const (
	fewWords, someWords = 8, 72
	mostCounts          = 4 // of the longest prompt
)

// optional are the fields that some servers refuse.
var optional = [...]string{"ignore_eos", "stream_options", "temperature"}

// fitPrompts asks the server how many tokens it counts in prompts of a few lengths, so that prompts are as long as they
// are meant to be. Failures are left to the measurement, which has them as well.
func (r *runner) fitPrompts(ctx context.Context) {
	if r.prompts.longest == 0 || r.knownFit(ctx) {
		return
	}
	high, ok := r.count(ctx, someWords)
	if !ok {
		return
	}
	if other, ok := r.count(ctx, someWords); ok && other != high { // words differ in tokens
		if !r.alikeWords(ctx) {
			return
		}
		if high, ok = r.count(ctx, someWords); !ok {
			return
		}
	}
	low, ok := r.count(ctx, fewWords)
	if !ok || high <= low {
		return
	}
	if r.fitLongest(ctx, fit{}.through(fewWords, low, someWords, high), high) {
		r.load.Fits.put(r, high)
	}
}

// through returns the fit of two counts.
func (fit) through(words1, tokens1, words2, tokens2 int) fit {
	f := fit{counted: true, perWord: float64(tokens2-tokens1) / float64(words2-words1)}
	f.base = float64(tokens2) - f.perWord*float64(words2)
	return f
}

// fitLongest corrects a fit of short prompts with the longest one, where an error would be largest; false where the
// server did not count it.
func (r *runner) fitLongest(ctx context.Context, f fit, high int) bool {
	isl := r.prompts.longest
	r.prompts.fit = f
	for range mostCounts {
		words, pad := f.words(isl)
		got, ok := r.countWhole(ctx, isl)
		if !ok || got == isl || words <= someWords {
			return ok
		}
		if f = f.through(someWords, high, words, got-pad); !(f.perWord > 0) {
			return true
		}
		r.prompts.fit = f
	}
	return true
}

// alikeWords keeps the words that have the same number of tokens, of those numbers the one that most words have.
// Tokenizers of real models take three common letters for one token, each of them; small ones do not.
func (r *runner) alikeWords(ctx context.Context) bool {
	byTokens := map[int][]string{}
	most := 0
	for _, word := range r.prompts.vocab {
		text := strings.TrimSpace(strings.Repeat(" "+word, 2*fewWords))
		t := r.attempt(ctx, r.nextCount(), traffic.Request{OSL: fitOSL, Text: text})
		if t.In == 0 {
			return false
		}
		if byTokens[t.In] = append(byTokens[t.In], word); len(byTokens[t.In]) > len(byTokens[most]) {
			most = t.In
		}
	}
	const enough = 4 // for heads that differ: 4 to the 8th
	if len(byTokens[most]) >= enough {
		r.prompts.vocab = byTokens[most]
		r.prompts.makeTails()
	}
	return true
}

// nextCount is the number of the next request that counts; like those of warm-up requests, it is negative.
func (r *runner) nextCount() int {
	r.counts++
	return -1000 - r.counts
}

// countWhole counts a prompt that is to have a length.
func (r *runner) countWhole(ctx context.Context, isl int) (int, bool) {
	t := r.attempt(ctx, r.nextCount(), traffic.Request{ISL: isl, OSL: fitOSL})
	return t.In, t.In > 0
}

// fitOSL is the number of tokens that are asked for beside a count. An answer without text has its count, too.
const fitOSL = 1

// count returns the tokens of a prompt of a number of words.
func (r *runner) count(ctx context.Context, words int) (int, bool) {
	kept := r.prompts.fit
	r.prompts.fit = unfitted
	defer func() { r.prompts.fit = kept }()
	for {
		t := r.attempt(ctx, r.nextCount(), traffic.Request{ISL: words, OSL: fitOSL})
		if t.In > 0 || ctx.Err() != nil || !r.drop(t.Error) {
			return t.In, t.In > 0
		}
	}
}

// drop leaves out the field that a server refuses, from now on; false when the failure is another.
func (r *runner) drop(failure string) bool {
	if !strings.HasPrefix(failure, "HTTP 4") {
		return false
	}
	for _, name := range optional {
		if strings.Contains(failure, name) && !slices.Contains(r.out.Refused, name) {
			r.out.Refused = append(r.out.Refused, name)
			return r.prompts.template(r.load.Model, r.out.Refused) == nil
		}
	}
	return false
}
