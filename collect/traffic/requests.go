package traffic

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/rootfs"
)

// Request is one request of a load.
type Request struct {
	ISL, OSL int
	At       time.Duration // open loop: when it is sent, after the first one
	// Blocks are what the prompt begins with: pieces of BlockTokens tokens, equal where the numbers are equal, so that
	// a prefix cache finds what it would find in the original. The rest of the prompt is the request's own.
	Blocks      []uint64
	BlockTokens int
	Text        string // the prompt itself, where a dataset has texts; ISL is not known then
	// Fresh is the number of tokens of the new message where a conversation goes on; ISL is with all before it. 0: there
	// is nothing before it.
	Fresh   int
	Adapter string // LoRA adapter that it names in the model's place; "" for none
	GiveUp  int    // tokens of the answer after which the client goes away; 0: never
	// After are earlier requests of the list whose answers this one needs: it is sent neither before At nor before the
	// last of these answers and Pause, which is how long a person or a tool took.
	After []int
	Pause time.Duration
}

// mostRecorded bounds the file of a trace or of conversations, bytes.
const mostRecorded = 1 << 30

// Draw returns the requests of a workload. The same seed gives the same ones.
func (w Workload) Draw(seed uint64) ([]Request, error) {
	if w.Dataset == DatasetTrace {
		t, err := w.Trace()
		return t.Take(w.Requests, w.Speed), err
	}
	list := w.Random(w.Requests, seed)
	if w.Dataset != ShareGPT {
		return list, nil
	}
	data, err := rootfs.ReadFile(w.Path, mostRecorded)
	if err != nil {
		return nil, fmt.Errorf("the path of dataset=sharegpt: %w", err)
	}
	texts, err := questions(data)
	if err != nil {
		return nil, fmt.Errorf("the conversations %s: %w", w.Path, err)
	}
	order := rand.New(rand.NewPCG(seed, 0x7368617265)).Perm(len(texts))
	for i := range list {
		list[i].Text = texts[order[i%len(order)]]
	}
	return list, nil
}

// Trace reads the recorded load that a workload replays.
func (w Workload) Trace() (Trace, error) {
	data, err := rootfs.ReadFile(w.Path, mostRecorded)
	if err != nil {
		return Trace{}, fmt.Errorf("the path of dataset=trace: %w", err)
	}
	t, err := ReadTrace(data, w.Block)
	if err != nil {
		return t, fmt.Errorf("the trace %s: %w", w.Path, err)
	}
	return t, nil
}

// Random draws n requests with made-up prompts. The same seed gives the same ones. A prefix is never longer than its
// prompt.
func (w Workload) Random(n int, seed uint64) []Request {
	rng := rand.New(rand.NewPCG(seed, 0x6c656e73))
	out := make([]Request, n)
	cut := w.Context > 0 && len(w.Varying()) > 0
	for i := range out {
		q := Request{ISL: w.ISL, OSL: w.OSL}
		if w.ISLDist.Set() {
			q.ISL = w.ISLDist.draw(rng)
		}
		if w.OSLDist.Set() {
			q.OSL = w.OSLDist.draw(rng)
		}
		q.Adapter = w.LoRA.of(i/max(1, w.Turns), rng) // a conversation has one
		if cut {
			q.OSL = min(q.OSL, max(1, w.Context-1))
			q.ISL = min(q.ISL, max(1, w.Context-q.OSL))
		}
		if i%max(1, w.Turns) > 0 {
			q.Fresh, q.ISL = q.ISL, q.ISL+out[i-1].ISL+out[i-1].OSL
		}
		if w.Cancel > 0 && rng.Float64() < w.Cancel {
			q.GiveUp = 1 + rng.IntN(max(1, q.OSL-1))
		}
		if w.Prefix > 0 && w.Hit == 0 && q.Fresh == 0 {
			q.Blocks, q.BlockTokens = []uint64{uint64(rng.IntN(max(1, w.Prefixes)))}, min(w.Prefix, q.ISL)
		}
		out[i] = q
	}
	if w.Hit > 0 {
		w.shareBeginnings(out, rng)
	}
	if w.Rate > 0 {
		for i, at := range w.Arrivals.due(n, w.Rate, w.Burstiness, seed) {
			out[i].At = at
		}
	}
	return out
}

// shareBeginnings gives requests beginnings that earlier requests have, so that a prefix cache without limit finds the
// share Hit of all prompt tokens, counted from the first request on. The first request with a beginning finds nothing;
// those that follow make up for it where there are enough, which [HitShare] says. With Prefix the beginnings are that
// long, and some requests have none; without, each is as long as the share needs.
func (w Workload) shareBeginnings(list []Request, rng *rand.Rand) {
	longest := map[uint64]int{} // of each beginning, so far
	all, found := 0., 0.        // tokens
	for i := range list {
		q := &list[i]
		which := uint64(rng.IntN(max(1, w.Prefixes)))
		all += float64(q.ISL)
		owed, n := w.Hit*all-found, 0 // tokens that a cache has yet to find; those of the beginning
		switch {
		case w.Prefix > 0 && owed*2 < float64(w.Prefix):
		case w.Prefix > 0:
			n = w.Prefix
		case longest[which] == 0:
			n = int(math.Ceil(w.Hit * float64(q.ISL)))
		default:
			n = int(math.Round(owed))
		}
		if n = min(n, q.ISL-1); n <= 0 { // the last token of a prompt is never found
			continue
		}
		q.Blocks, q.BlockTokens = []uint64{which}, n
		found += float64(min(n, longest[which]))
		longest[which] = max(longest[which], n)
	}
}

// HitShare returns which share of all prompt tokens a prefix cache without limit finds, if each request is answered
// before the next is sent; 0 for no requests.
func HitShare(list []Request) float64 {
	type block struct {
		before uint64 // of what stands before it
		id     uint64
	}
	longest := map[block]int{}
	all, found := 0., 0.
	for _, q := range list {
		all += float64(q.ISL)
		before, more := uint64(0), true
		for _, id := range q.Blocks {
			at := block{before, id}
			if more {
				n := min(longest[at], q.BlockTokens)
				found += float64(n)
				more = n == q.BlockTokens
			}
			longest[at] = max(longest[at], q.BlockTokens)
			before = before*0x9e3779b97f4a7c15 + id + 1
		}
	}
	if all == 0 {
		return 0
	}
	return found / all
}

const (
	mostOff  = .02 // between the share that is stated and the one that is made; of small shares a fifth
	hitDraws = 12  // that are looked at: the seed decides who begins like whom, and how long prompts are
	// MostUnsaid is how many requests are made at most so that a share is reached, where their number is not stated.
	MostUnsaid = 1000
)

// HitShare returns which share of all prompt tokens a prefix cache without limit finds in n requests of a workload, and
// whether every draw has the share that is stated.
func (w Workload) HitShare(n int) (mean float64, ok bool) {
	if w.Hit == 0 {
		return 0, true
	}
	off := 0.
	for seed := range uint64(hitDraws) {
		share := HitShare(w.Random(n, seed))
		mean += share / hitDraws
		off = max(off, math.Abs(share-w.Hit))
	}
	return mean, off <= min(mostOff, w.Hit/5)
}

// RequestsToHit returns a number of requests, at least n, that have the stated share of hits; n and false where that
// takes more than most.
func (w Workload) RequestsToHit(n, most int) (enough int, ok bool) {
	for m := n; m <= max(n, most); m += 1 + m/4 {
		if _, ok := w.HitShare(m); ok {
			return m, true
		}
	}
	return n, false
}

// Endpoint is what of an OpenAI-compatible server a request is for.
type Endpoint string

// Endpoints, by the names that they have in workloads. Embeddings and rerank answer at once and have no tokens.
const (
	Completions Endpoint = "" // the default, /v1/completions
	Chat        Endpoint = "chat"
	Responses   Endpoint = "responses"
	Embeddings  Endpoint = "embeddings"
	Rerank      Endpoint = "rerank"
)

// Pools reports whether answers are vectors or scores instead of tokens.
func (e Endpoint) Pools() bool { return e == Embeddings || e == Rerank }

// Talks reports whether requests are lists of messages.
func (e Endpoint) Talks() bool { return e == Chat || e == Responses }

// String is the name.
func (e Endpoint) String() string { return string(e) }

// ParseEndpoint reads a name.
func ParseEndpoint(text string) (Endpoint, error) {
	const completions = "completions"
	names := []string{completions, string(Chat), string(Responses), string(Embeddings), string(Rerank)}
	if !slices.Contains(names, text) {
		return "", fmt.Errorf("expected one of %s", strings.Join(names, ", "))
	}
	if text == completions {
		return Completions, nil
	}
	return Endpoint(text), nil
}

// Image is the size of a made-up picture that each request of a chat has, in pixels. The zero value is none.
type Image struct{ Width, Height int }

// ParseImage reads a size such as 1024x768.
func ParseImage(text string) (Image, error) {
	var i Image
	_, err := fmt.Sscanf(text, "%dx%d", &i.Width, &i.Height)
	if err != nil || i.Width < 1 || i.Height < 1 || i.String() != text {
		return Image{}, errors.New("expected a size in pixels")
	}
	return i, nil
}

// String is the size as ParseImage reads it.
func (i Image) String() string {
	if i.Width == 0 {
		return ""
	}
	return fmt.Sprintf("%dx%d", i.Width, i.Height)
}

// Tools are the functions that each request of chat and responses offers for calls. The zero value offers none.
type Tools struct {
	Offered  int  // made-up functions, each of which takes a text
	Required bool // tool_choice is required: the answer is a call; else it is auto, which is the model's choice
}
