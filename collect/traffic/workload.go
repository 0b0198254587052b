package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Workload is one measurement to make. Fields that are zero are not stated.
type Workload struct {
	ISL, OSL         int     // tokens; means where lengths are drawn, 0 where the dataset has its own
	ISLDist, OSLDist Lengths // of which lengths are drawn
	Concurrency      int
	Requests         int
	Rate             float64 // requests a second; 0: closed loop
	Dataset          string  // "" for random prompts
	Path             string  // file of the dataset, where it is one
	Speed            float64 // of a trace, as a multiple of the recorded one; 0: 1
	Block            int     // tokens of a block of a trace; 0: 512
	Unanswered       int     // requests of a trace that have no answer and are left out

	// What only the builtin client makes.
	Arrivals   Arrivals
	Burstiness float64 // vLLM's; 0: 1, a Poisson process
	Prefix     int     // tokens that prompts share at their beginning
	Prefixes   int     // how many different ones there are; 0: 1
	Hit        float64 // share of all prompt tokens that a prefix cache without limit finds; 0: what Prefix gives
	Endpoint   Endpoint
	Turns      int           // of a conversation, each with the answers before it; 0: 1
	Think      time.Duration // between an answer and the next turn
	Cancel     float64       // share of requests whose client goes away in the middle of the answer
	Timeout    time.Duration // after which a client goes away, and the request has failed; 0: none
	Image      Image         // that each request of a chat has
	Tools      Tools         // that each request offers
	LoRA       Adapters      // of which each request names one

	// SLO asks for the largest concurrency that holds it, in place of a load; with FindRate for the largest rate.
	SLO      SLO
	Unloaded bool // lengths without a load: only a search can measure it
	FindRate bool

	Most    int // concurrency that a search tries; 0: unknown
	Context int // tokens of a request that the server takes: drawn lengths are cut to it; 0: unknown
	// Dims are further dimensions of the workload, such as the degree of parallelism. They are part of its name in
	// history.
	Dims  map[string]string
	Extra []string // arguments for the tool that makes the load
}

// Datasets that are read from a file: a recorded load, and conversations, in the file that nm-vllm fetched.
const (
	DatasetTrace = "trace"
	ShareGPT     = "sharegpt"
	ShareGPTFile = "ShareGPT_V3_unfiltered_cleaned_split.json"
)

// field is a field of a workload's text. The text, its errors, sameness and the dimensions of the key are made of the
// table of fields.
type field struct {
	name, example string // the example is for errors; "" where they have one
	value
	dim    bool // it makes another workload, so that the key of its points has it
	unsaid bool // its value is what holds without it
}

// value is what the text of a workload has of a field, "" for none, and what reads it.
type value struct {
	text func() string
	read func(string) error
}

// at is the value of a variable.
func at[T any](v *T, text func(T) string, read func(string) (T, error)) value {
	return value{
		func() string { return text(*v) },
		func(text string) (err error) { *v, err = read(text); return err },
	}
}

// fields lists the fields of a workload in the order of the text.
func (w *Workload) fields() []field {
	const dim = true
	word := func(v *string) value {
		return value{func() string { return *v }, func(text string) error { *v = text; return nil }}
	}
	count := func(v *int) value { return at(v, counted, whole) }
	number := func(v *float64) value { return at(v, printed, above) }
	span := func(v *time.Duration) value { return at(v, lasting, lasts) }
	return []field{
		{"dataset", "", word(&w.Dataset), !dim, false},
		{"path", "", word(&w.Path), !dim, false},
		{schema.DimISL, "128", lengths(&w.ISL, &w.ISLDist), w.ISLDist.Set(), w.Dataset == DatasetTrace},
		{schema.DimOSL, "128", lengths(&w.OSL, &w.OSLDist), w.OSLDist.Set(), w.Dataset == DatasetTrace},
		{schema.DimArrivals, "", at(&w.Arrivals, Arrivals.String, ParseArrivals), dim, false},
		{schema.DimBurstiness, "0.5", number(&w.Burstiness), dim, w.Burstiness == 1},
		{schema.DimPrefix, "512", count(&w.Prefix), dim, false},
		{schema.DimPrefixes, "8", count(&w.Prefixes), dim, w.Prefixes == 1 || w.Prefix == 0 && w.Hit == 0},
		{schema.DimHit, "60%", share(&w.Hit, "the prompts' tokens"), dim, false},
		{schema.DimEndpoint, "chat", at(&w.Endpoint, Endpoint.String, ParseEndpoint), dim, false},
		{schema.DimTurns, "5", count(&w.Turns), dim, w.Turns == 1},
		{schema.DimThink, "2s", span(&w.Think), dim, false},
		{schema.DimCancel, "10%", share(&w.Cancel, "the requests"), dim, false},
		{schema.DimTimeout, "2s", span(&w.Timeout), dim, false},
		{schema.DimImage, "1024x768", at(&w.Image, Image.String, ParseImage), dim, false},
		{schema.DimTools, "4", count(&w.Tools.Offered), dim, false},
		{schema.DimToolChoice, "required", choice(&w.Tools.Required), dim, false},
		{schema.DimLoRA, "", at(&w.LoRA, Adapters.String, ParseAdapters), dim, false},
		{"n", "8", count(&w.Requests), !dim, false},
		{"c", "8", count(&w.Concurrency), !dim, false},
		{"speed", "8", number(&w.Speed), !dim, false},
		{"block", "512", count(&w.Block), !dim, false},
		{"rate", "2.5", value{w.rateText, w.readRate}, !dim, false},
		{schema.DimSLO, "", at(&w.SLO, SLO.String, ParseSLO), !dim, false},
	}
}

// printed is a number as texts have it; "" for zero.
func printed(v float64) string {
	if v <= 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// above reads a number above zero.
func above(text string) (float64, error) {
	const most = 1e9
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || v > most {
		return 0, errors.New("expected a number above zero")
	}
	return v, nil
}

// counted is a whole number as texts have it; "" for zero.
func counted(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// whole reads a whole number above zero.
func whole(text string) (int, error) {
	v, err := above(text)
	if err == nil && v != math.Trunc(v) {
		err = errors.New("expected a whole number")
	}
	return int(v), err
}

// lasting is a time as texts have it; "" for zero.
func lasting(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return d.String()
}

// lasts reads a time above zero.
func lasts(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("expected a time above zero")
	}
	return d, nil
}

// lengths is a number of tokens, or a distribution of such numbers: its mean stands for it where one is needed.
func lengths(mean *int, dist *Lengths) value {
	return value{
		func() string { return cmp.Or(dist.String(), counted(*mean)) },
		func(text string) (err error) {
			if !strings.ContainsAny(text, "(abcdfghijklmnopqrstuvwxyz") { // e may be of a number
				*mean, err = whole(text)
				return err
			}
			if *dist, err = ParseLengths(text); err == nil {
				*mean = dist.Mean()
			}
			return err
		},
	}
}

// share is a share between 0 and 1: "10%" or 0.1. It is what its text says, which has four decimals of a percent.
func share(v *float64, of string) value {
	percent := func(v float64) string {
		if v == 0 {
			return ""
		}
		return printed(math.Round(v*1e6)/1e4) + "%"
	}
	return at(v, percent, func(text string) (float64, error) {
		digits, isPercent := strings.CutSuffix(text, "%")
		v, err := strconv.ParseFloat(digits, 64)
		if isPercent {
			v /= 100
		}
		if v = math.Round(v*1e6) / 1e6; err != nil || !(v > 0 && v < 1) {
			return v, fmt.Errorf("expected a share of %s below 1, at least 0.0001%%", of)
		}
		return v, nil
	})
}

// choice is whether a tool must be called; auto is the default of the API and has no text.
func choice(required *bool) value {
	texts := map[bool]string{true: "required"}
	return at(required, func(is bool) string { return texts[is] }, func(text string) (bool, error) {
		if text != "required" && text != "auto" {
			return false, errors.New("expected auto or required")
		}
		return text == "required", nil
	})
}

// rateText is a number, or inf for all requests at once, or max for a search.
func (w *Workload) rateText() string {
	switch {
	case w.FindRate:
		return "max"
	case w.SLO.Set() || w.Dataset == DatasetTrace || w.Arrivals.Rate() > 0: // they have their own
		return ""
	case w.Rate == 0 && w.Concurrency == 0:
		return "inf"
	}
	return printed(w.Rate)
}

func (w *Workload) readRate(text string) (err error) {
	switch text {
	case "inf":
		w.Rate = math.Inf(1)
	case "max":
		w.FindRate = true
	default:
		w.Rate, err = above(text)
	}
	return err
}

// dims are the fields that make it another workload; only the builtin client makes those.
func (w *Workload) dims() []field {
	return slices.DeleteFunc(w.fields(), func(f field) bool { return !f.dim || f.unsaid || f.text() == "" })
}

// Varying returns what of a workload only the builtin client makes, as dimensions of the key of a point.
func (w Workload) Varying() map[string]string {
	out := map[string]string{}
	for _, f := range w.dims() {
		out[f.name] = f.text()
	}
	return out
}

// OnlyBuiltin reports whether only the builtin client makes the workload.
func (w Workload) OnlyBuiltin() bool {
	return len(w.dims()) > 0 || w.SLO.Set() || w.Dataset == DatasetTrace
}

// Text returns a workload in the form that --workload and plan files take: "isl=128,osl=128,n=8,c=1". It omits Dims
// and Extra.
func (w Workload) Text() string {
	var parts []string
	for _, f := range w.fields() {
		if text := f.text(); !f.unsaid && text != "" {
			parts = append(parts, f.name+"="+text)
		}
	}
	return strings.Join(parts, ",")
}

// Parse reads what [Workload.Text] writes. If the number of requests is not stated, it is four waves, at least eight;
// rate=inf sends all at once.
func (w *Workload) Parse(text string) error {
	var out Workload
	stated := map[string]bool{}
	for _, part := range Split(text) {
		name, value, _ := strings.Cut(part, "=")
		if stated[name] {
			return fmt.Errorf("workload %q: %s is stated twice", text, name)
		}
		stated[name] = true
		if err := out.Set(name, value); err != nil {
			return fmt.Errorf("workload %q: %w", text, err)
		}
	}
	if err := out.complete(); err != nil {
		return fmt.Errorf("workload %q: %w", text, err)
	}
	if *w = out; w.Dataset != DatasetTrace {
		*w = out.WithRequests()
	}
	return nil
}

// Set sets a field by its name.
func (w *Workload) Set(name, value string) error {
	var names []string
	for _, f := range w.fields() {
		if f.name != name {
			names = append(names, f.name)
			continue
		}
		switch err := f.read(value); {
		case err == nil:
			return nil
		case f.example == "":
			return fmt.Errorf("%s=%s: %w", name, value, err)
		default:
			return fmt.Errorf("%s=%s: %w, as in %[1]s=%[4]s", name, value, err, f.example)
		}
	}
	if slices.Contains([]string{"until", "ci", "tail", "most", "budget", "repeat", "seed"}, name) {
		return fmt.Errorf("%q is a flag of its own, for all workloads: --until ci=2%% --budget 30m", name)
	}
	return fmt.Errorf("%q: expected one of %s", name, strings.Join(names, ", "))
}

// OfKey returns the workload of a key that has lengths, to be measured again. A dimension that is no field is an error.
func OfKey(k schema.Key) (Workload, error) {
	var w Workload
	for name, text := range k.Dims {
		if err := w.Set(name, text); err != nil {
			return Workload{}, err
		}
	}
	zero := 0.
	value := func(v *float64) float64 { return *cmp.Or(v, &zero) }
	w.ISL, w.OSL, w.Concurrency, w.Rate = int(value(k.ISL)), int(value(k.OSL)), int(value(k.Concurrency)), value(k.Rate)
	return w, nil
}

// Same reports whether two workloads are the same load, whatever their numbers of requests.
func (w Workload) Same(o Workload) bool {
	w.Requests, o.Requests = 0, 0
	return w.Text() == o.Text() && w.ISL == o.ISL && w.OSL == o.OSL && w.Rate == o.Rate &&
		slices.Equal(w.Extra, o.Extra) && maps.Equal(w.Dims, o.Dims)
}

// complete fills in the rate of arrivals, and refuses a workload that lacks something or contradicts itself.
func (w *Workload) complete() error {
	burst := math.IsInf(w.Rate, 1)
	if burst {
		w.Rate = 0
	}
	if r := w.Arrivals.Rate(); r > 0 {
		if w.Rate > 0 && w.Rate != r {
			return fmt.Errorf("rate=%g contradicts arrivals=%s, whose mean rate is %g",
				w.Rate, w.Arrivals, r)
		}
		w.Rate = r
	}
	w.Unloaded = !burst && w.Concurrency == 0 && w.Rate == 0 && w.Dataset != DatasetTrace && !w.SLO.Set()
	return w.check(burst)
}

// ErrNoLoad is of a workload without lengths, or without a concurrency or a rate and no search for one.
var ErrNoLoad = errors.New("expected isl, osl and c or rate, as in isl=128,osl=128,c=1,n=8")

// contradictions are what a workload cannot have: all of some fields or facts, of which one of several in alternatives
// is enough, and "!" is one that it lacks. The first one counts. Fields in braces are replaced by their texts; "" is
// [ErrNoLoad].
var contradictions = [...]struct{ has, says string }{
	{"speed|block !trace", "speed and block need a trace: dataset=trace,path=FILE.jsonl,speed=2"},
	{"path !dataset", "path is the file of a dataset: dataset=sharegpt,path=FILE,osl=128,c=8 or dataset=trace,path=FILE"},
	{"trace !path|isl|osl|rate|varies",
		"a trace has its own lengths, times and prefixes: dataset=trace,path=FILE.jsonl,n=500,speed=2"},
	{"dataset !trace prefix|hit", "dataset={dataset} has prompts of its own: leave prefix and hit out"},
	{"slo !trace c|n|rate|unlimited|!isl|!osl", "an slo searches for the concurrency: " +
		"isl=2000,osl=128,slo=ttft_p99<500ms tpot_mean<50ms; with rate=max for the rate"},
	{"max !slo !trace", "rate=max is the largest rate within an slo: isl=2000,osl=128,rate=max,slo=ttft_p99<500ms"},
	{"pools osl !slo", "endpoint={endpoint} has no output tokens: isl=128,c=8,endpoint={endpoint}"},
	{"!dataset !isl", ""}, {"!dataset !osl !pools", ""}, {"unloaded dataset|pools", ""}, // which no search measures

	{"arrivals|burstiness !open", "arrivals and burstiness need a rate: rate=10,burstiness=0.5"},
	{"arrivals burstiness", "arrivals={arrivals} and burstiness cannot be combined"},
	{"turns !talks", "turns need a conversation: endpoint=chat,turns={turns}"},
	{"turns open", "turns follow each other in c conversations at once: endpoint=chat,turns={turns},c=8"},
	{"turns cancel", "cancel and turns cannot be combined: a conversation needs its answers"},
	{"turns image", "image needs endpoint=chat, without turns: endpoint=chat,image={image}"},
	{"turns tools|tool_choice", "tools and turns cannot be combined: results of calls are not invented"},
	{"turns hit", "hit and turns cannot be combined: a later turn repeats everything before it"},
	{"think !turns", "think needs turns: endpoint=chat,turns=5,think=2s"},
	{"cancel pools", "cancel needs an answer of tokens, which endpoint={endpoint} does not have"},
	{"tool_choice !tools",
		"tool_choice needs tools: endpoint=chat,tools=4,tool_choice=required"},
	{"tools !talks", "tools need endpoint=chat or endpoint=responses: endpoint=chat,tools={tools}"},
	{"image !chat", "image needs endpoint=chat, without turns: endpoint=chat,image={image}"},
	{"image prefix|hit", "each message begins with an image of its own: prompts with image={image} share no prefix"},
	{"prefixes !prefix !hit",
		"prefixes needs the length of one, or a share: prefix=512,prefixes=4 or hit=60%,prefixes=4"},
	{"isl prefix-longer",
		"prefix={prefix} is more than the prompt that it begins, isl={mean}, as in isl=2000,prefix=512"},
	{"prefix prefix-shorter",
		"prefix={prefix} of isl={mean} is less than hit={hit} of a prompt; leave it out, as in isl=2000,hit=60%"},
}

// check refuses workloads whose fields contradict each other; burst is a rate without a limit.
func (w *Workload) check(burst bool) error {
	has, texts := map[string]bool{}, []string{"{mean}", strconv.Itoa(w.ISL)}
	for _, f := range w.fields() {
		has[f.name] = f.text() != ""
		texts = append(texts, "{"+f.name+"}", f.text())
	}
	maps.Copy(has, map[string]bool{
		"turns": w.Turns > 1, "prefixes": w.Prefixes > 1, "rate": w.Rate > 0, "max": w.FindRate,
		"trace": w.Dataset == DatasetTrace, "varies": len(w.dims()) > 0, "unloaded": w.Unloaded,
		"unlimited": burst, "open": w.Rate > 0 || w.FindRate, "chat": w.Endpoint == Chat,
		"pools": w.Endpoint.Pools(), "talks": w.Endpoint.Talks(),
		"prefix-longer": w.Prefix > w.ISL, "prefix-shorter": float64(w.Prefix) < w.Hit*float64(w.ISL),
	})
	for _, c := range contradictions {
		lacks := func(alternatives string) bool {
			return !slices.ContainsFunc(strings.Split(alternatives, "|"), func(name string) bool {
				name, not := strings.CutPrefix(name, "!")
				return has[name] != not
			})
		}
		switch {
		case slices.ContainsFunc(strings.Fields(c.has), lacks):
		case c.says == "":
			return ErrNoLoad
		default:
			return errors.New(strings.NewReplacer(texts...).Replace(c.says))
		}
	}
	return nil
}

// WithRequests returns the workload with a number of requests where none is stated: four waves, at least eight, and as
// many as a share of hits needs.
func (w Workload) WithRequests() Workload {
	if w.Requests == 0 && !w.SLO.Set() {
		w.Requests, _ = w.RequestsToHit(max(8, 4*w.Concurrency), MostUnsaid) // the plan refuses what no number reaches
	}
	if t := w.Turns; t > 1 { // whole conversations
		w.Requests = (w.Requests + t - 1) / t * t
	}
	return w
}

// heading is the dataset and the lengths, which begin a workload's description and file name.
func (w Workload) heading(isl, osl, between string) string {
	switch {
	case w.Dataset != "" && w.OSL > 0:
		return fmt.Sprintf("%s%s%s%d", w.Dataset, between, osl, w.OSL)
	case w.Dataset != "":
		return w.Dataset
	case w.Endpoint.Pools():
		return fmt.Sprintf("%s%d", isl, w.ISL)
	}
	return fmt.Sprintf("%s%d%s%s%d", isl, w.ISL, between, osl, w.OSL)
}

// String describes a workload.
func (w Workload) String() string {
	s := w.heading("ISL ", "OSL ", " ")
	if len(w.dims()) > 0 {
		s += ", " + w.Varies() + ","
	}
	switch {
	case w.SLO.Set() && w.FindRate:
		return s + " largest rate within " + w.SLO.String()
	case w.SLO.Set():
		return s + " within " + w.SLO.String()
	case w.Rate > 0:
		return s + fmt.Sprintf(" at %.4g req/s", w.Rate)
	case w.Concurrency == 0:
		return s + " all at once"
	}
	return s + fmt.Sprintf(" concurrency %d", w.Concurrency)
}

// Varies describes the dataset, and what differs between the requests; "" for prompts of equal length.
func (w Workload) Varies() string {
	var parts []string
	if w.Dataset != "" {
		parts = append(parts, w.Dataset)
	}
	if w.Unanswered > 0 {
		parts = append(parts, fmt.Sprintf("without %d that were not answered", w.Unanswered))
	}
	for _, f := range w.dims() {
		parts = append(parts, f.name+" "+f.text())
	}
	if w.SLO.Set() {
		if w.FindRate {
			parts = append(parts, "largest rate")
		}
		parts = append(parts, "within "+w.SLO.String())
	}
	return strings.Join(parts, ", ")
}

// FileName returns a workload as part of a file name.
func (w Workload) FileName() string {
	w.Dataset = FileSafe(w.Dataset)
	parts := []string{w.heading("isl", "osl", "-")}
	for _, f := range w.dims() {
		parts = append(parts, f.name+strings.NewReplacer("(", "-", ")", "", ",", "-", "%", "").Replace(f.text()))
	}
	switch {
	case w.SLO.Set():
		if w.FindRate {
			parts = append(parts, "rate")
		}
		parts = append(parts, strings.NewReplacer("<", "-", " ", "-").Replace(w.SLO.String()))
	case w.Rate > 0:
		parts = append(parts, "rate"+printed(w.Rate))
	case w.Concurrency > 0:
		parts = append(parts, fmt.Sprintf("c%d", w.Concurrency))
	default:
		parts = append(parts, fmt.Sprintf("n%d", w.Requests))
	}
	return strings.Join(parts, "-")
}

// FileSafe returns a name without characters that separate folders.
func FileSafe(name string) string {
	return strings.NewReplacer("/", "_", "\\", "_", ":", "_").Replace(name)
}

// RequestsOfProbe is how many requests of a workload measure one concurrency of a search: those that its statistics
// need, at least four waves, and a wave of warm-up at both ends.
func (w Workload) RequestsOfProbe(c int) int {
	const waves, most = 4, 6000
	return min(most, 2*c+max(w.SLO.Needs(), waves*c))
}

// Manifest returns a workload in the form of sidecars and manifests.
func (w Workload) Manifest() manifest.Workload {
	stated := func(v float64) *float64 {
		if v > 0 {
			return &v
		}
		return nil
	}
	out := manifest.Workload{
		Task: "text", Dataset: "random", ISL: stated(float64(w.ISL)), OSL: stated(float64(w.OSL)),
		Concurrency: stated(float64(w.Concurrency)), Rate: stated(w.Rate),
	}
	switch {
	case w.Image.Width > 0:
		out.Task = schema.TaskVLM
	case w.Endpoint.Pools():
		out.Task = schema.TaskPooling
	}
	if w.Dataset != "" {
		out.Dataset = w.Dataset
	}
	dims := w.Varying()
	if w.SLO.Set() {
		dims[schema.DimSLO] = w.SLO.String()
		if w.FindRate {
			dims[schema.DimFind] = "rate"
		}
	}
	maps.Copy(dims, w.Dims)
	if len(dims) > 0 {
		out.Dims = dims
	}
	return out
}
