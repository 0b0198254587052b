package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/plaintext"
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

var endpoints = []Endpoint{"completions", Chat, Responses, Embeddings, Rerank}

// Pools reports whether answers are vectors or scores instead of tokens.
func (e Endpoint) Pools() bool { return e == Embeddings || e == Rerank }

// Talks reports whether requests are lists of messages.
func (e Endpoint) Talks() bool { return e == Chat || e == Responses }

const (
	mostTurns    = 1000
	longestPause = 24 * time.Hour
)

// SetClient sets a field that says what clients do, from its text; known is false for the name of any other field.
func (s *Shape) SetClient(name, text string) (known bool, err error) {
	switch name {
	case schema.DimEndpoint:
		if s.Endpoint = Endpoint(text); !slices.Contains(endpoints, s.Endpoint) {
			var names []string
			for _, e := range endpoints {
				names = append(names, string(e))
			}
			return true, fmt.Errorf("endpoint=%s is none of %s", text, strings.Join(names, ", "))
		}
		if text == string(endpoints[0]) {
			s.Endpoint = Completions
		}
	case schema.DimTurns:
		if s.Turns, err = strconv.Atoi(text); err != nil || s.Turns < 1 || s.Turns > mostTurns {
			return true, fmt.Errorf("turns=%s is no number of turns up to %d, as in turns=5", text, mostTurns)
		}
	case schema.DimThink:
		s.Think, err = pause(name, text)
	case schema.DimImage:
		s.Image, err = ParseImage(text)
	case schema.DimTools:
		err = s.Tools.setOffered(text)
	case schema.DimToolChoice:
		err = s.Tools.setChoice(text)
	case schema.DimTimeout:
		s.Timeout, err = pause(name, text)
	case schema.DimCancel:
		s.Cancel, err = share(name, text, "the requests", "10%")
	case schema.DimHit:
		s.Hit, err = share(name, text, "the prompts' tokens", "60%")
	default:
		return false, nil
	}
	return true, err
}

func pause(name, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > longestPause {
		return 0, fmt.Errorf("%s=%s is no time above zero, as in %s=2s", name, text, name)
	}
	return d, nil
}

// share reads a share between 0 and 1: "10%" or 0.1. It is what its text says, which has four decimals of a percent.
func share(name, text, of, example string) (float64, error) {
	digits, isPercent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if isPercent {
		v /= 100
	}
	if v = math.Round(v*1e6) / 1e6; err != nil || !(v > 0 && v < 1) {
		return 0, fmt.Errorf("%s=%s is no share of %s below 1, at least 0.0001%%, as in %[1]s=%[4]s", name, text, of, example)
	}
	return v, nil
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'g', -1, 64) + "%"
}

// checkClient refuses what clients cannot do.
func (s Shape) checkClient(rate float64) error {
	switch {
	case s.Turns > 1 && !s.Endpoint.Talks():
		return fmt.Errorf("turns are of a conversation: endpoint=chat,turns=%d", s.Turns)
	case s.Turns > 1 && (rate > 0 || s.Arrivals.Set()):
		return fmt.Errorf("turns follow each other in c conversations at once: endpoint=chat,turns=%d,c=8", s.Turns)
	case s.Turns > 1 && s.Cancel > 0:
		return fmt.Errorf("cancel and turns exclude each other: a conversation needs its answers")
	case s.Think > 0 && s.Turns < 2:
		return fmt.Errorf("think is the time between turns: endpoint=chat,turns=5,think=2s")
	case s.Image != (Image{}) && (s.Endpoint != Chat || s.Turns > 1):
		return fmt.Errorf("an image is part of a message of chat, without turns: endpoint=chat,image=%s", s.Image)
	case s.Image != (Image{}) && s.Prefix+int(math.Ceil(s.Hit)) > 0:
		return fmt.Errorf("an image begins its message, and each is another: prompts with image=%s share no prefix", s.Image)
	case s.Cancel > 0 && s.Endpoint.Pools():
		return fmt.Errorf("cancel is for answers of tokens, and endpoint=%s has none", s.Endpoint)
	}
	return s.Tools.check(s)
}

// shared gives requests beginnings that earlier requests have, so that a prefix cache without limit finds the share Hit
// of all prompt tokens, counted from the first request on. The first request with a beginning finds nothing; those that
// follow make up for it where there are enough, which [HitShare] says. With Prefix the beginnings are that long, and
// some requests have none; without, each is as long as the share needs.
func (s Shape) shared(list []Request, rng *rand.Rand) {
	longest := map[uint64]int{} // of each beginning, so far
	all, found := 0., 0.        // tokens
	for i := range list {
		q := &list[i]
		which := uint64(rng.IntN(max(1, s.Prefixes)))
		all += float64(q.ISL)
		owed := s.Hit*all - found
		n := s.beginning(q.ISL, owed, longest[which])
		if n == 0 {
			continue
		}
		q.Blocks, q.BlockTokens = []uint64{which}, n
		found += float64(min(n, longest[which]))
		longest[which] = max(longest[which], n)
	}
}

// beginning is the length of the beginning that a prompt shares. owed are the tokens that a cache has yet to find, and
// known is how long the beginning was at most before.
func (s Shape) beginning(isl int, owed float64, known int) int {
	most := max(0, isl-1) // the last token of a prompt is never found
	switch {
	case s.Prefix > 0 && owed*2 < float64(s.Prefix):
		return 0
	case s.Prefix > 0:
		return min(s.Prefix, most)
	case known == 0:
		return min(most, int(math.Ceil(s.Hit*float64(isl))))
	}
	return min(most, max(0, int(math.Round(owed))))
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

// Image is the size of a made-up picture that each request of a chat has, in pixels. The zero value is none.
type Image struct{ Width, Height int }

// mostPixels bounds a side.
const mostPixels = 4096

// ParseImage reads a size such as 1024x768.
func ParseImage(text string) (Image, error) {
	w, h, ok := strings.Cut(text, "x")
	var i Image
	var err, err2 error
	i.Width, err = strconv.Atoi(w)
	i.Height, err2 = strconv.Atoi(h)
	if !ok || err != nil || err2 != nil || i.Width < 1 || i.Height < 1 || i.Width > mostPixels || i.Height > mostPixels {
		return Image{}, fmt.Errorf("image=%s is no size in pixels up to %d, as in image=1024x768", text, mostPixels)
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

// Lengths is a distribution of token lengths. The zero value is none: all requests are as long as the workload says.
type Lengths struct {
	kind string
	a, b float64
}

// lengthKinds are the distributions, with what their two numbers are.
var lengthKinds = [...]struct{ name, numbers, example string }{
	{"uniform", "shortest and longest", "uniform(100,500)"},
	{"normal", "mean and standard deviation", "normal(2000,300)"},
	{"lognormal", "mean and standard deviation of the logarithm", "lognormal(2000,0.4)"},
}

// longest is the longest request that is drawn, tokens; it bounds the memory of a load.
const longest = 4 << 20

// ParseLengths reads a distribution: uniform(shortest,longest), normal(mean,sd) or lognormal(mean,sd of the
// logarithm). Lengths are tokens.
func ParseLengths(text string) (Lengths, error) {
	name, args, err := call(text)
	if err != nil {
		return Lengths{}, err
	}
	for _, k := range lengthKinds {
		if k.name != name {
			continue
		}
		if len(args) != 2 {
			return Lengths{}, fmt.Errorf("%q has %s: %s takes %s, as in %s",
				text, plaintext.Plural(len(args), "number"), name, k.numbers, k.example)
		}
		l := Lengths{name, args[0], args[1]}
		return l, l.check(text, k.example)
	}
	var known []string
	for _, k := range lengthKinds {
		known = append(known, k.example)
	}
	return Lengths{}, fmt.Errorf("%q is neither a whole number nor one of %s", text, strings.Join(known, ", "))
}

func (l Lengths) check(text, example string) error {
	mostSpread := longest + 0.
	if l.kind == "lognormal" {
		mostSpread = 3
	}
	switch {
	case !(l.a >= 1) || l.a > longest:
		return fmt.Errorf("%q: its first number is not between 1 and %d tokens, as in %s", text, longest, example)
	case !(l.b > 0) || l.b > mostSpread:
		return fmt.Errorf("%q: its second number is not between 0 and %g, as in %s", text, mostSpread, example)
	case l.kind == "uniform" && l.b < l.a:
		return fmt.Errorf("%q: the longest is below the shortest, unlike in %s", text, example)
	}
	return nil
}

// Set reports whether there is a distribution.
func (l Lengths) Set() bool { return l.kind != "" }

// String is the text that ParseLengths reads.
func (l Lengths) String() string {
	if !l.Set() {
		return ""
	}
	return l.kind + "(" + number(l.a) + "," + number(l.b) + ")"
}

// Mean returns the mean length in whole tokens, before draws are rounded and kept above zero.
func (l Lengths) Mean() int {
	if l.kind == "uniform" {
		return int(math.Round((l.a + l.b) / 2))
	}
	return int(math.Round(l.a))
}

// draw returns one length, at least a token.
func (l Lengths) draw(rng *rand.Rand) int {
	v := 0.
	switch l.kind {
	case "uniform":
		return int(l.a) + rng.IntN(int(l.b)-int(l.a)+1)
	case "normal":
		v = l.a + l.b*rng.NormFloat64()
	case "lognormal":
		v = math.Exp(math.Log(l.a) - l.b*l.b/2 + l.b*rng.NormFloat64())
	}
	return int(min(max(1, math.Round(v)), longest))
}

// call reads "name(1,2.5)"; a name alone has no numbers.
func call(text string) (name string, args []float64, err error) {
	name, rest, has := strings.Cut(text, "(")
	if !has {
		return text, nil, nil
	}
	rest, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return "", nil, fmt.Errorf("%q has no closing parenthesis, as in ramp(1,20) or lognormal(2000,0.4)", text)
	}
	for part := range strings.SplitSeq(rest, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return "", nil, fmt.Errorf("%q: %q is not a number, as in ramp(1,20) or lognormal(2000,0.4)", text, part)
		}
		args = append(args, v)
	}
	return name, args, nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Split cuts the fields of a workload at commas that are not within parentheses.
func Split(text string) []string {
	depth := 0
	out := []string{""}
	for _, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if c == ',' && depth <= 0 {
			out = append(out, "")
			continue
		}
		out[len(out)-1] += string(c)
	}
	return slices.Clip(out)
}

// Tools are the functions that each request of chat and responses offers for calls. The zero value offers none.
type Tools struct {
	Offered  int  // made-up functions, each of which takes a text
	Required bool // tool_choice is required: the answer is a call; else it is auto, which is the model's choice
}

const mostTools = 128 // that OpenAI takes

// Values of tool_choice.
const (
	choiceAuto     = "auto"
	choiceRequired = "required"
)

func (t *Tools) setOffered(text string) (err error) {
	if t.Offered, err = strconv.Atoi(text); err != nil || t.Offered < 1 || t.Offered > mostTools {
		return fmt.Errorf("tools=%s is no number of functions up to %d, as in endpoint=chat,tools=4", text, mostTools)
	}
	return nil
}

func (t *Tools) setChoice(text string) error {
	if text != choiceAuto && text != choiceRequired {
		return fmt.Errorf("tool_choice=%s is neither auto nor required, as in tools=4,tool_choice=required", text)
	}
	t.Required = text == choiceRequired
	return nil
}

// choice is what the text of a workload has; auto is the default of the API and has none.
func (t Tools) choice() string {
	if t.Required {
		return choiceRequired
	}
	return ""
}

// check refuses tools where no request can offer them.
func (t Tools) check(s Shape) error {
	switch {
	case t.Required && t.Offered == 0:
		return fmt.Errorf("tool_choice is of the functions that are offered: endpoint=chat,tools=4,tool_choice=required")
	case t.Offered > 0 && !s.Endpoint.Talks():
		return fmt.Errorf("tools are offered in chat or responses: endpoint=chat,tools=%d", t.Offered)
	case t.Offered > 0 && s.Turns > 1:
		return fmt.Errorf("tools and turns exclude each other: no result of a call is made up")
	}
	return nil
}
