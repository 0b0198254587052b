package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
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
	Fresh  int
	GiveUp int // tokens of the answer after which the client goes away; 0: never
	// After are earlier requests of the list whose answers this one needs: it is sent neither before At nor before the
	// last of these answers and Pause, which is how long a person or a tool took.
	After []int
	Pause time.Duration
}

// Shape is what of a workload varies from request to request. The zero value is nothing: equal lengths, prompts that
// share nothing, a Poisson process if there is a rate.
type Shape struct {
	ISL, OSL   Lengths
	Arrivals   Arrivals
	Burstiness float64 // vLLM's; 0: 1, a Poisson process
	Prefix     int     // tokens that prompts share at their beginning
	Prefixes   int     // how many different ones there are; 0: 1
	Hit        float64 // share of all prompt tokens that a prefix cache without limit finds; 0: what Prefix gives
	Endpoint   Endpoint
	Turns      int           // of a conversation, each with the answers before it; 0: 1
	Think      time.Duration // between an answer and the next turn
	Cancel     float64       // share of requests whose client goes away in the middle of the answer
	Image      Image         // that each request has
	Tools      Tools         // likewise
	Timeout    time.Duration // after which a client goes away, and the request has failed; 0: none
}

// Dims returns what of the shape makes it another workload, as dimensions of the key of a point.
func (s Shape) Dims() map[string]string {
	out := map[string]string{}
	set := func(name, v string) {
		if v != "" {
			out[name] = v
		}
	}
	set(schema.DimISL, s.ISL.String())
	set(schema.DimOSL, s.OSL.String())
	set(schema.DimImage, s.Image.String())
	if s.Tools.Offered > 0 {
		set(schema.DimTools, strconv.Itoa(s.Tools.Offered))
	}
	set(schema.DimToolChoice, s.Tools.choice())
	set(schema.DimArrivals, s.Arrivals.String())
	if s.Burstiness > 0 && s.Burstiness != 1 {
		set(schema.DimBurstiness, number(s.Burstiness))
	}
	if s.Prefix > 0 {
		set(schema.DimPrefix, strconv.Itoa(s.Prefix))
	}
	if s.Prefixes > 1 && s.Prefix+int(math.Ceil(s.Hit)) > 0 {
		set(schema.DimPrefixes, strconv.Itoa(s.Prefixes))
	}
	if s.Hit > 0 {
		set(schema.DimHit, percent(s.Hit))
	}
	if s.Endpoint != Completions {
		set(schema.DimEndpoint, string(s.Endpoint))
	}
	if s.Turns > 1 {
		set(schema.DimTurns, strconv.Itoa(s.Turns))
	}
	for name, d := range map[string]time.Duration{schema.DimThink: s.Think, schema.DimTimeout: s.Timeout} {
		if d > 0 {
			set(name, d.String())
		}
	}
	if s.Cancel > 0 {
		set(schema.DimCancel, percent(s.Cancel))
	}
	return out
}

// OfDims reads a shape from the dimensions that Dims returns; others are an error.
func OfDims(dims map[string]string) (Shape, error) {
	var s Shape
	for name, text := range dims {
		var err error
		switch name {
		case schema.DimISL:
			s.ISL, err = ParseLengths(text)
		case schema.DimOSL:
			s.OSL, err = ParseLengths(text)
		case schema.DimArrivals:
			s.Arrivals, err = ParseArrivals(text)
		case schema.DimBurstiness:
			s.Burstiness, err = strconv.ParseFloat(text, 64)
		case schema.DimPrefix:
			s.Prefix, err = strconv.Atoi(text)
		case schema.DimPrefixes:
			s.Prefixes, err = strconv.Atoi(text)
		default:
			var known bool
			if known, err = s.SetClient(name, text); known {
				break
			}
			err = fmt.Errorf("no shape of a load has a dimension %q", name)
		}
		if err != nil {
			return Shape{}, err
		}
	}
	return s, nil
}

// Varies reports whether there is anything that only the builtin client makes.
func (s Shape) Varies() bool { return len(s.Dims()) > 0 }

// Base is what a workload states in plain numbers: mean token lengths, and requests a second, 0 for a closed loop.
type Base struct {
	ISL, OSL int
	Rate     float64
	Context  int // most tokens of prompt and answer together; drawn lengths are cut to it; 0: any
}

// Requests draws n requests. The same seed gives the same ones. A prefix is never longer than its prompt.
func (s Shape) Requests(b Base, n int, seed uint64) []Request {
	rng := rand.New(rand.NewPCG(seed, 0x6c656e73))
	out := make([]Request, n)
	for i := range out {
		q := Request{ISL: b.ISL, OSL: b.OSL}
		if s.ISL.Set() {
			q.ISL = s.ISL.draw(rng)
		}
		if s.OSL.Set() {
			q.OSL = s.OSL.draw(rng)
		}
		if b.Context > 0 && s.Varies() {
			q.OSL = min(q.OSL, max(1, b.Context-1))
			q.ISL = min(q.ISL, max(1, b.Context-q.OSL))
		}
		if i%max(1, s.Turns) > 0 {
			q.Fresh, q.ISL = q.ISL, q.ISL+out[i-1].ISL+out[i-1].OSL
		}
		if s.Cancel > 0 && rng.Float64() < s.Cancel {
			q.GiveUp = 1 + rng.IntN(max(1, q.OSL-1))
		}
		if s.Prefix > 0 && s.Hit == 0 && q.Fresh == 0 {
			q.Blocks, q.BlockTokens = []uint64{uint64(rng.IntN(max(1, s.Prefixes)))}, min(s.Prefix, q.ISL)
		}
		out[i] = q
	}
	if s.Hit > 0 {
		s.shared(out, rng)
	}
	if b.Rate > 0 {
		for i, at := range s.Arrivals.due(n, b.Rate, s.Burstiness, seed) {
			out[i].At = at
		}
	}
	return out
}

// Check refuses shapes that contradict themselves or the workload's rate.
func (s Shape) Check(rate float64) error {
	if err := s.checkClient(rate); err != nil {
		return err
	}
	switch {
	case (s.Arrivals.Set() || s.Burstiness > 0) && rate == 0:
		return fmt.Errorf("arrivals and burstiness need a rate: rate=10,burstiness=0.5")
	case s.Arrivals.Set() && s.Burstiness > 0:
		return fmt.Errorf("arrivals=%s and burstiness exclude each other", s.Arrivals)
	case s.Prefixes > 1 && s.Prefix == 0 && s.Hit == 0:
		return fmt.Errorf("prefixes needs the length of one, or a share: prefix=512,prefixes=4 or hit=60%%,prefixes=4")
	case s.Hit > 0 && s.Turns > 1:
		return fmt.Errorf("hit and turns exclude each other: a later turn shares all that was said before")
	}
	return nil
}
