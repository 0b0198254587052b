package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/collect/capacity"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Workload is one measurement to make.
type Workload struct {
	ISL, OSL, Concurrency, Requests int     // lengths are 0 where the dataset has its own
	Rate                            float64 // requests a second; 0: closed loop
	Dataset                         string  // "" for random prompts
	Path                            string  // file of the dataset, where it is one
	// Shape is what differs between the requests. Only the builtin client makes it.
	Shape      traffic.Shape
	Speed      float64 // of a trace, as a multiple of the recorded one; 0: 1
	Block      int     // tokens of a block of a trace; 0: 512
	Unanswered int     // requests of a trace that have no answer and are left out
	// SLO asks for the largest concurrency that holds it, in place of a load; with FindRate for the largest rate.
	SLO      capacity.SLO
	FindRate bool
	// Most is the most concurrency that a search tries. 0: unknown.
	Most int
	// Context is the most tokens of a request that the server takes: drawn lengths beyond it are cut. 0: unknown.
	Context int
	// Dims are further dimensions of the workload, such as the degree of parallelism. They are part of its name in
	// history.
	Dims map[string]string
	// Extra are arguments for the tool that makes the load.
	Extra []string
}

// rateMax asks for the largest rate within an SLO.
const rateMax = "rate=max"

// DatasetTrace is the dataset of a recorded load, which the builtin client replays.
const DatasetTrace = "trace"

// shapeFields are the fields of a workload that may vary from request to request, in the order of its text.
var shapeFields = []string{
	schema.DimISL, schema.DimOSL, schema.DimArrivals, schema.DimBurstiness, schema.DimPrefix,
	schema.DimPrefixes, schema.DimHit,
	schema.DimEndpoint, schema.DimTurns, schema.DimThink, schema.DimCancel, schema.DimTimeout,
	schema.DimImage, schema.DimTools, schema.DimToolChoice,
}

// Same reports whether two workloads are the same load, whatever their numbers of requests.
func (w Workload) Same(o Workload) bool {
	return w.ISL == o.ISL && w.OSL == o.OSL && w.Concurrency == o.Concurrency && w.Rate == o.Rate &&
		w.Dataset == o.Dataset && w.Path == o.Path && w.Speed == o.Speed && w.Block == o.Block &&
		slices.Equal(w.Extra, o.Extra) && maps.Equal(w.Dims, o.Dims) && maps.Equal(w.Shape.Dims(), o.Shape.Dims()) &&
		w.SLO.String() == o.SLO.String() && w.FindRate == o.FindRate
}

// join appends workloads that are not in a list yet.
func join(list []Workload, more ...Workload) []Workload {
	for _, w := range more {
		if !slices.ContainsFunc(list, w.Same) {
			list = append(list, w)
		}
	}
	return list
}

// Text returns a workload in the form that --workload and plan files take: "isl=128,osl=128,n=8,c=1". It omits Dims
// and Extra.
func (w Workload) Text() string {
	var parts []string
	if w.Dataset != "" {
		parts = append(parts, "dataset="+w.Dataset)
	}
	if w.Path != "" {
		parts = append(parts, "path="+w.Path)
	}
	number := func(name string, v float64) {
		if v > 0 {
			parts = append(parts, name+"="+strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	varies := w.Shape.Dims()
	for name, v := range map[string]int{schema.DimISL: w.ISL, schema.DimOSL: w.OSL} {
		if varies[name] == "" && w.Dataset != DatasetTrace && v > 0 {
			varies[name] = strconv.Itoa(v)
		}
	}
	for _, name := range shapeFields {
		if v := varies[name]; v != "" {
			parts = append(parts, name+"="+v)
		}
	}
	if w.SLO.Set() {
		if w.FindRate {
			parts = append(parts, rateMax)
		}
		return strings.Join(append(parts, schema.DimSLO+"="+w.SLO.String()), ",")
	}
	number("n", float64(w.Requests))
	number("c", float64(w.Concurrency))
	number("speed", w.Speed)
	number("block", float64(w.Block))
	switch {
	case w.Dataset == DatasetTrace || w.Shape.Arrivals.Rate() > 0: // they have their own
	case w.Rate > 0:
		number("rate", w.Rate)
	case w.Concurrency == 0:
		parts = append(parts, "rate=inf")
	}
	return strings.Join(parts, ",")
}

// MarshalText implements encoding.TextMarshaler, for plan files.
func (w Workload) MarshalText() ([]byte, error) {
	if len(w.Dims)+len(w.Extra) > 0 {
		return nil, fmt.Errorf("workload %s has arguments of its tool, which a plan file cannot state", w)
	}
	return []byte(w.Text()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. It reads what [Workload.Text] writes. If the number of requests
// is not stated, it is four waves, at least eight; rate=inf sends all at once.
func (w *Workload) UnmarshalText(text []byte) error {
	var out Workload
	burst, stated := false, map[string]bool{}
	for _, part := range traffic.Split(string(text)) {
		name, _, _ := strings.Cut(part, "=")
		if stated[name] {
			return fmt.Errorf("workload %q: %s is stated twice", text, name)
		}
		stated[name] = true
		switch {
		case part == "rate=inf":
			burst = true
		case part == rateMax:
			out.FindRate = true
		default:
			if err := out.set(part); err != nil {
				return fmt.Errorf("workload %q: %w", text, err)
			}
		}
	}
	if err := out.complete(burst); err != nil {
		return fmt.Errorf("workload %q: %w", text, err)
	}
	*w = out
	if w.Dataset != DatasetTrace {
		*w = out.WithRequests()
	}
	return nil
}

// complete fills in what the shape states and refuses a workload that lacks something or contradicts itself.
func (w *Workload) complete(burst bool) error {
	if r := w.Shape.Arrivals.Rate(); r > 0 {
		if w.Rate > 0 && w.Rate != r {
			return fmt.Errorf("rate=%g and arrivals=%s, whose mean rate is %g, contradict each other",
				w.Rate, w.Shape.Arrivals, r)
		}
		w.Rate = r
	}
	if (w.Speed > 0 || w.Block > 0) && w.Dataset != DatasetTrace {
		return errors.New("speed and block are of a trace: dataset=trace,path=FILE.jsonl,speed=2")
	}
	if w.Path != "" && w.Dataset == "" {
		return errors.New("path is the file of a dataset: dataset=sharegpt,path=FILE,osl=128,c=8 or dataset=trace,path=FILE")
	}
	if w.Dataset == DatasetTrace {
		if w.Path == "" || w.ISL+w.OSL > 0 || w.Rate > 0 || w.Shape.Varies() {
			return errors.New("a trace has its own lengths, times and prefixes: dataset=trace,path=FILE.jsonl,n=500,speed=2")
		}
		return nil
	}
	if w.Dataset != "" && w.Shape.Prefix+int(math.Ceil(w.Shape.Hit)) > 0 {
		return fmt.Errorf("dataset=%s has prompts of its own: leave prefix and hit out", w.Dataset)
	}
	if w.SLO.Set() {
		if w.Concurrency+w.Requests > 0 || w.Rate > 0 || burst || w.ISL == 0 || w.OSL == 0 {
			return errors.New("an slo searches for the concurrency: isl=2000,osl=128,slo=ttft_p99<500ms tpot_mean<50ms; " +
				"with rate=max for the rate")
		}
		if w.FindRate {
			return w.Shape.Check(1) // any
		}
		return w.Shape.Check(0)
	}
	if w.FindRate {
		return errors.New("rate=max is the largest rate within an slo: isl=2000,osl=128,rate=max,slo=ttft_p99<500ms")
	}
	pools := w.Shape.Endpoint.Pools()
	if pools && w.OSL > 0 {
		return fmt.Errorf("endpoint=%s has no output tokens: isl=128,c=8,endpoint=%[1]s", w.Shape.Endpoint)
	}
	noLength := w.Dataset == "" && (w.ISL == 0 || w.OSL == 0 && !pools)
	if noLength || !burst && w.Concurrency == 0 && w.Rate == 0 {
		return errors.New("expected isl, osl and c or rate, as in isl=128,osl=128,c=1,n=8")
	}
	return errors.Join(w.checkPrefix(), w.Shape.Check(w.Rate))
}

// checkPrefix refuses a prefix that is longer than the prompts, or too short for the share that is asked for.
func (w *Workload) checkPrefix() error {
	prefix, hit := w.Shape.Prefix, w.Shape.Hit
	if prefix > w.ISL && w.ISL > 0 {
		return fmt.Errorf("prefix=%d is more than the prompt that it begins, isl=%d, as in isl=2000,prefix=512",
			prefix, w.ISL)
	}
	if prefix > 0 && float64(prefix) < hit*float64(w.ISL) {
		return fmt.Errorf("prefix=%d of isl=%d is less than hit=%.4g%% of a prompt; leave it out, as in isl=2000,hit=60%%",
			prefix, w.ISL, 100*hit)
	}
	return nil
}

// Changing reports that requests do not arrive at one mean rate: a trace, a ramp, steps.
func (w Workload) Changing() bool { return w.Dataset == DatasetTrace || w.Shape.Arrivals.Changes() }

// WithRequests returns the workload with a number of requests where none is stated: four waves, at least eight, and as
// many as a share of hits needs.
func (w Workload) WithRequests() Workload {
	if w.Requests == 0 && !w.SLO.Set() {
		w.Requests, _ = w.requestsToHit(max(8, 4*w.Concurrency), mostUnsaid) // the plan refuses what no number reaches
	}
	if t := w.Shape.Turns; t > 1 { // whole conversations
		w.Requests = (w.Requests + t - 1) / t * t
	}
	return w
}

// String describes a workload.
func (w Workload) String() string {
	s := fmt.Sprintf("ISL %d OSL %d", w.ISL, w.OSL)
	if w.Shape.Endpoint.Pools() {
		s = fmt.Sprintf("ISL %d", w.ISL)
	}
	if w.Dataset != "" {
		s = w.Dataset
		if w.OSL > 0 {
			s += fmt.Sprintf(" OSL %d", w.OSL)
		}
	}
	if w.Shape.Varies() {
		s += ", " + w.Varies() + ","
	}
	if w.SLO.Set() {
		if w.FindRate {
			s += " largest rate"
		}
		return s + " within " + w.SLO.String()
	}
	if w.Rate > 0 {
		return s + fmt.Sprintf(" at %.4g req/s", w.Rate)
	}
	if w.Concurrency == 0 {
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
	dims := w.Shape.Dims()
	if w.Unanswered > 0 {
		parts = append(parts, fmt.Sprintf("without %d that were not answered", w.Unanswered))
	}
	for _, name := range shapeFields {
		if v := dims[name]; v != "" {
			parts = append(parts, name+" "+v)
		}
	}
	if w.SLO.Set() {
		if w.FindRate {
			parts = append(parts, "largest rate")
		}
		parts = append(parts, "within "+w.SLO.String())
	}
	return strings.Join(parts, ", ")
}

// mostConcurrency bounds a search where nothing states how many sequences the server takes.
const mostConcurrency = 1024

// MostConcurrency returns the most concurrency that a search for a capacity tries.
func (w Workload) MostConcurrency() int { return cmp.Or(w.Most, mostConcurrency) }

// RequestsOfProbe is how many requests of a workload measure one concurrency of a search: those that its statistics
// need, at least four waves, and a wave of warm-up at both ends.
func (w Workload) RequestsOfProbe(c int) int {
	const waves, most = 4, 6000
	return min(most, 2*c+max(w.SLO.Needs(), waves*c))
}

// Manifest returns a workload in the form of sidecars and manifests.
func (w Workload) Manifest() manifest.Workload {
	isl, osl := float64(w.ISL), float64(w.OSL)
	out := manifest.Workload{Task: "text", Dataset: "random", Dims: w.Dims}
	if w.Shape.Endpoint.Pools() {
		out.Task = schema.TaskPooling
	}
	if w.Shape.Image.Width > 0 {
		out.Task = schema.TaskVLM
	}
	if w.Shape.Varies() {
		out.Dims = w.Shape.Dims()
		maps.Copy(out.Dims, w.Dims)
	}
	if w.SLO.Set() {
		dims := map[string]string{schema.DimSLO: w.SLO.String()}
		if w.FindRate {
			dims[schema.DimFind] = "rate"
		}
		maps.Copy(dims, out.Dims)
		out.Dims = dims
	}
	if w.Dataset != "" {
		out.Dataset = w.Dataset
	}
	if w.ISL > 0 {
		out.ISL = &isl
	}
	if w.OSL > 0 {
		out.OSL = &osl
	}
	if w.Concurrency > 0 {
		c := float64(w.Concurrency)
		out.Concurrency = &c
	}
	if w.Rate > 0 {
		out.Rate = &w.Rate
	}
	return out
}

// fileName returns a workload as part of a file name.
func (w Workload) fileName() string {
	s := fmt.Sprintf("isl%d-osl%d", w.ISL, w.OSL)
	if w.Shape.Endpoint.Pools() {
		s = fmt.Sprintf("isl%d", w.ISL)
	}
	if w.Dataset != "" {
		s = fileSafe(w.Dataset)
		if w.OSL > 0 {
			s += fmt.Sprintf("-osl%d", w.OSL)
		}
	}
	dims := w.Shape.Dims()
	for _, name := range shapeFields {
		if v := dims[name]; v != "" {
			s += "-" + name + strings.NewReplacer("(", "-", ")", "", ",", "-", "%", "").Replace(v)
		}
	}
	switch {
	case w.SLO.Set():
		if w.FindRate {
			s += "-rate"
		}
		return s + "-" + strings.NewReplacer("<", "-", " ", "-").Replace(w.SLO.String())
	case w.Rate > 0:
		return s + "-rate" + strconv.FormatFloat(w.Rate, 'g', -1, 64)
	case w.Concurrency > 0:
		return s + fmt.Sprintf("-c%d", w.Concurrency)
	}
	return s + fmt.Sprintf("-n%d", w.Requests)
}

// Fields whose value is a number, and what is no field because it is a flag.
var (
	numberFields = []string{"isl", "osl", "c", "n", "rate", "speed", "block", schema.DimBurstiness, schema.DimPrefix,
		schema.DimPrefixes}
	flagFields = []string{"until", "ci", "tail", "most", "budget", "repeat", "seed"}
)

// set reads a field of a workload.
func (w *Workload) set(part string) error {
	name, value, _ := strings.Cut(part, "=")
	switch name {
	case "dataset":
		w.Dataset = value
		return nil
	case "path":
		w.Path = value
		return nil
	case schema.DimSLO:
		var err error
		w.SLO, err = capacity.ParseSLO(value)
		return err
	case schema.DimArrivals:
		var err error
		if w.Shape.Arrivals, err = traffic.ParseArrivals(value); err != nil {
			return fmt.Errorf("%s=%w", name, err)
		}
		return nil
	case schema.DimISL, schema.DimOSL:
		if strings.ContainsAny(value, "(abcdfghijklmnopqrstuvwxyz") { // e may be of a number
			return w.setLengths(name, value)
		}
	}
	if known, err := w.Shape.SetClient(name, value); known {
		return err
	}
	if err := unknown(part, name); err != nil {
		return err
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v > 0) || v > 1e9 {
		return fmt.Errorf("%q is not a number above zero, as in %s=%s", part, name, exampleOf(name))
	}
	if at := map[string]*float64{
		"rate": &w.Rate, schema.DimBurstiness: &w.Shape.Burstiness, "speed": &w.Speed,
	}[name]; at != nil {
		*at = v
		return nil
	}
	at := map[string]*int{
		"isl": &w.ISL, "osl": &w.OSL, "c": &w.Concurrency, "n": &w.Requests, "block": &w.Block,
		schema.DimPrefix: &w.Shape.Prefix, schema.DimPrefixes: &w.Shape.Prefixes,
	}[name]
	if *at = int(v); float64(*at) != v {
		return fmt.Errorf("%q is not a whole number, as in %s=%s", part, name, exampleOf(name))
	}
	return nil
}

// unknown is the error about a part of a workload whose name is no field.
func unknown(part, name string) error {
	switch {
	case slices.Contains(flagFields, name):
		return fmt.Errorf("%q is a flag of its own, for all workloads: --until ci=2%% --budget 30m", name)
	case part != "" && !slices.Contains(numberFields, name):
		return fmt.Errorf("%q is none of %s, c, n, rate, dataset, path, speed, block, slo", name,
			strings.Join(shapeFields, ", "))
	}
	return nil
}

// setLengths reads a distribution. The mean stands for it where one number is needed.
func (w *Workload) setLengths(name, value string) error {
	l, err := traffic.ParseLengths(value)
	if err != nil {
		return fmt.Errorf("%s=%w", name, err)
	}
	if name == schema.DimISL {
		w.Shape.ISL, w.ISL = l, l.Mean()
	} else {
		w.Shape.OSL, w.OSL = l, l.Mean()
	}
	return nil
}

// exampleOf is a value of a numeric field.
func exampleOf(name string) string {
	switch name {
	case "isl", "osl":
		return "128"
	case "rate":
		return "2.5"
	case schema.DimPrefix, "block":
		return "512"
	case schema.DimBurstiness:
		return "0.5"
	}
	return "8"
}

// WorkloadList reads workloads from text, one at a time: it is a value of a flag that may be repeated.
type WorkloadList []Workload

// Set adds a workload.
func (l *WorkloadList) Set(text string) error {
	var w Workload
	if err := w.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	*l = append(*l, w)
	return nil
}

// Type names the value for a command's help.
func (l *WorkloadList) Type() string { return "workload" }

// String is the list as it was given.
func (l *WorkloadList) String() string {
	var out []string
	for _, w := range *l {
		out = append(out, w.Text())
	}
	return strings.Join(out, " ")
}

// GetSlice returns the workloads as they are given one at a time.
func (l *WorkloadList) GetSlice() []string { return strings.Fields(l.String()) }

// fileSafe returns a name without characters that separate folders.
func fileSafe(name string) string {
	return strings.NewReplacer("/", "_", "\\", "_", ":", "_").Replace(name)
}
