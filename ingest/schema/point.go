package schema

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Point is one measured workload: the request (Key, Conditions), the result (Metrics), and the source.
type Point struct {
	Key    Key       `json:"key"`
	Status Status    `json:"status,omitzero"`
	Repeat int       `json:"repeat,omitzero"` // 1 for the first measurement of this key in the run
	Block  int       `json:"block,omitzero"`  // of an interleaved run, from 1; 0 for none
	Start  time.Time `json:"start,omitzero"`
	End    time.Time `json:"end,omitzero"`
	// what else affects the number: ignore_eos, seed, num_prompts, tokenizer …
	Conditions map[string]string `json:"conditions,omitempty"`
	Metrics    MetricList        `json:"metrics"`
	// what shows a saturated client: concurrency reached, cpu seconds …
	Client  map[string]string `json:"client,omitempty"`
	Command []string          `json:"command,omitempty"` // argv that made it, secrets removed
	Slices  Slices            `json:"slices,omitzero"`   // its course; no steps where none is known
	Source  Source            `json:"source"`
	// which source stated a part of the key that the file leaves open: "isl" by "sidecar", "manifest", "path"
	Stated  map[string]string `json:"stated,omitempty"`
	Extra   Unknown           `json:"extra,omitempty"` // foreign fields of the source that have no canonical name
	Unknown Unknown           `json:",unknown"`
}

// Metric returns a metric by name.
func (p *Point) Metric(name string) (Metric, bool) { return p.Metrics.Get(name) }

// Value returns one statistic of a metric.
func (p *Point) Value(metric, stat string) (float64, bool) { return p.Metrics.Value(metric, stat) }

// Status is how a measurement ended.
type Status string

// Statuses of a point.
const (
	StatusOK      Status = "ok"
	StatusPartial Status = "partial" // some requests failed
	StatusFailed  Status = "failed"  // no request completed
	StatusInvalid Status = "invalid"
)

// Statuses lists the statuses.
func Statuses() []Status { return []Status{StatusOK, StatusPartial, StatusFailed, StatusInvalid} }

// Source is the file that a number came from, so that it can be checked against the bytes it was read from.
type Source struct {
	Path        string `json:"path,omitzero"`   // as found, slash-separated, relative to the root it was found under
	SHA256      string `json:"sha256,omitzero"` // of the file's bytes, before any decompression
	Format      string `json:"format,omitzero"` // reader that understood it: "vllm-serve", "aiperf", …
	ToolVersion string `json:"tool_version,omitzero"`
	// facts of the run that a person stated of this file, where the provenance of the run has them of other files
	Stated  []string `json:"stated,omitempty"`
	Unknown Unknown  `json:",unknown"`
}

// Key identifies a workload. Two points with equal keys measured the same thing; versions, dates and releases are
// attributes of the run and never part of it. A nil number means "not stated".
type Key struct {
	Task        string            `json:"task" yaml:"task,omitempty"` // text, vlm, embedding …
	Tool        string            `json:"tool" yaml:"-"`              // the load generator: two tools are never one series
	ISL         *float64          `json:"isl,omitzero" yaml:"isl,omitempty"`
	OSL         *float64          `json:"osl,omitzero" yaml:"osl,omitempty"`
	Concurrency *float64          `json:"concurrency,omitzero" yaml:"concurrency,omitempty"`
	Rate        *float64          `json:"rate,omitzero" yaml:"rate,omitempty"` // req/s; nil when as fast as possible
	Dataset     string            `json:"dataset,omitzero" yaml:"dataset,omitempty"`
	Dims        map[string]string `json:"dims,omitempty" yaml:"dims,omitempty"` // what else makes it another workload
	Unknown     Unknown           `json:",unknown" yaml:"-"`
}

// String returns the canonical form of a key, used to compare, sort and store it:
// "text/vllm/isl=128/osl=128/c=1/rate=-/random" and then sorted dims as name=value.
func (k Key) String() string {
	return string(k.appendTo(make([]byte, 0, 128)))
}

// appendTo appends the canonical form.
func (k *Key) appendTo(b []byte) []byte {
	b = appendPart(b, k.Task)
	b = append(b, '/')
	b = appendPart(b, k.Tool)
	b = appendNumber(append(b, "/isl="...), k.ISL)
	b = appendNumber(append(b, "/osl="...), k.OSL)
	b = appendNumber(append(b, "/c="...), k.Concurrency)
	b = appendNumber(append(b, "/rate="...), k.Rate)
	b = append(b, '/')
	b = appendPart(b, k.Dataset)
	if len(k.Dims) == 0 { // as of most: sorting nothing takes memory, too
		return b
	}
	for _, name := range slices.Sorted(maps.Keys(k.Dims)) {
		b = append(b, '/')
		b = appendPart(b, name)
		b = append(b, '=')
		b = appendPart(b, k.Dims[name])
	}
	return b
}

// Workload returns the short name: "2048/128/30" for ISL/OSL/concurrency, then what else distinguishes it.
func (k Key) Workload() string {
	b := appendNumber(nil, k.ISL)
	b = appendNumber(append(b, '/'), k.OSL)
	b = appendNumber(append(b, '/'), k.Concurrency)
	out := string(b)
	switch {
	case k.ISL == nil && k.OSL == nil && IsMediaTask(k.Task):
		out = k.Task
		if k.Concurrency != nil && *k.Concurrency != 1 {
			out += "/" + string(appendNumber(nil, k.Concurrency))
		}
	case k.ISL == nil && k.OSL == nil && k.Concurrency == nil:
		out = ""
	}
	var rest []string
	if k.Rate != nil {
		rest = append(rest, strconv.FormatFloat(*k.Rate, 'g', 6, 64)+" req/s")
	}
	for _, name := range slices.Sorted(maps.Keys(k.Dims)) {
		if name == DimLabel {
			rest = append(rest, k.Dims[name])
		} else {
			rest = append(rest, name+" "+k.Dims[name])
		}
	}
	if len(rest) > 0 {
		out = strings.TrimSpace(out + " " + strings.Join(rest, ", "))
	}
	if out == "" {
		return "workload not stated"
	}
	return out
}

// DimLabel is the dimension that distinguishes workloads without stated lengths.
const DimLabel = "label"

// StatedDim begins the name of a dimension among what was stated of a point.
const StatedDim = "dims."

// configures lists the dimensions that say how the system was set up: they make a configuration, and no workload. Two
// numbers with different ones are two series, which may be compared side by side. Names are those that tools write.
const configures = " tp pp dp ep cp tep dep dp_attention dcp_size pcp_size disagg num_prefill_gpu num_decode_gpu " +
	"tensor_parallel_size pipeline_parallel_size data_parallel_size replicas spec_decoding speculative batch_size " +
	"max_num_seqs max_num_batched_tokens max_model_len gpu_memory_utilization enforce_eager enable_prefix_caching " +
	"precision dtype quant quantization weights kv_cache_dtype sparsity backend backends attention_backend hipblaslt " +
	"hblt hblt0 rocwmma engine image threads batch ubatch ngl gpu_layers ncmoe cpu_moe type_k type_v fa flash_attn sm " +
	"split_mode ts tensor_split nkvo no_kv_offload mmap use_mmap cpu_strict load_mode dio direct_io config "

// Configures reports the name of a dimension that belongs to the configuration of the system.
func Configures(dim string) bool {
	return strings.Contains(configures, " "+dim+" ") || strings.HasPrefix(dim, "prefill_") ||
		strings.HasPrefix(dim, "decode_") || strings.HasPrefix(dim, DimServer)
}

// DimServer begins the name of a dimension that is a flag of the server which no tool names.
const DimServer = "server_"

// Parts returns the workload of a key, without what configures the system, and that configuration by dimension: nil
// where nothing states any.
func (k Key) Parts() (workload Key, configuration map[string]string) {
	var rest map[string]string
	for name, v := range k.Dims {
		to := &rest
		if Configures(name) {
			to = &configuration
		}
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[name] = v
	}
	k.Dims = rest
	return k, configuration
}

// Comparable reports whether the key has enough to be compared over releases: lengths, or a label in their place.
func (k Key) Comparable() bool {
	outputs := k.OSL != nil || k.Dims[DimEndpoint] != "" // which says whether there are output tokens
	return k.ISL != nil && outputs || k.Dims[DimLabel] != "" || k.Tool == ToolMedia
}

// Dimensions of a load whose requests differ: distributions of their lengths, how they follow each other, what their
// prompts share. Burstiness is vLLM's.
const (
	DimISL        = "isl"
	DimOSL        = "osl"
	DimArrivals   = "arrivals"
	DimBurstiness = "burstiness"
	DimPrefix     = "prefix"
	DimPrefixes   = "prefixes"
	DimHit        = "hit"
	DimEndpoint   = "endpoint"
	DimTurns      = "turns"
	DimThink      = "think"
	DimCancel     = "cancel"
	DimTimeout    = "timeout"
	DimImage      = "image"
	DimTools      = "tools" // functions that requests offer for calls
	DimToolChoice = "tool_choice"
	DimLoRA       = "lora" // adapters of which requests name one
)

// DimSLO is the dimension of a search for a capacity: the service level objective. CapacityMetric is its result, the
// largest concurrency that held the objective, as a metric of an exec tool is named.
const (
	DimSLO         = "slo"
	CapacityMetric = "capacity"
	// DimFind says that the largest rate is searched for; RateMetric is its result, req/s.
	DimFind    = "find"
	RateMetric = "capacity_rps"
)

// TaskPooling is the task of requests that are answered by vectors or scores, as embeddings are.
const TaskPooling = "pooling"

// TaskStartup is the task of a server that starts.
const TaskStartup = "startup"

// IsOurStart reports whether a key is of a server that ttreport itself started: a number beside what was asked for.
func (k Key) IsOurStart() bool { return k.Task == TaskStartup && k.Tool == ToolBuiltin }

// TaskVLM is the task of prompts with images.
const TaskVLM = "vlm"

// ToolBuiltin is the load client of this program, in keys.
const ToolBuiltin = "builtin"

// ToolTable stands in keys for the tool of a table whose mapping names none.
const ToolTable = "table"

// ToolMedia are the clients of tt-inference-server for models that do not write text. Their workloads are told apart
// by the task: each client sends the inputs that it has for it.
const ToolMedia = "media-client"

// IsMediaTask reports the tasks of these clients, as target files name them.
func IsMediaTask(task string) bool {
	return slices.Contains([]string{"cnn", "image", "video", "asr", "tts", "embedding"}, task)
}

// Metrics of models that do not write text.
const (
	MetricSteps        = "inference_steps{1/s,higher}" // of an image or a video
	MetricRealTime     = "rtr{x,higher}"               // seconds of sound by seconds of work
	MetricRequestsUser = "rps_user{req/s,higher}"      // 1 / mean latency: images, videos, answers a second of one user
	MetricInputRate    = "input{tok/s,higher}"         // tokens that are embedded, of all users
	MetricInputUser    = "input_user{tok/s,higher}"    // the same, of one user
)

// ConditionSeed and ConditionText state what draws depend on: lengths, times and which prompts share what; the words of
// prompts. They make no other measurement.
const (
	ConditionSeed = "seed"
	ConditionText = "text_seed"
)

// ConditionISL says how the lengths of prompts were made; ISLCounted: by the server's own count, so they are exact.
const (
	ConditionISL = "isl"
	ISLCounted   = "counted by the server"
)

// ConditionWindow says which part of a measurement its numbers are of. WindowSteady: without the warm-up, and without
// what was still in flight at the end. Where it is not stated, they are of the whole.
const (
	ConditionWindow = "window"
	WindowSteady    = "steady"
)

// ConditionSteps is how many steps an image or a video takes.
const ConditionSteps = "inference_steps"

// Facts of a client that measured until the means were known. Shares are percents.
const (
	ClientWarmup  = "warmup_requests" // that were cut
	ClientCIAsked = "ci_asked"        // half width of the 95 % interval, of the mean
	ClientCI      = "ci_"             // that was reached, and the metric: ci_ttft
	ClientDrift   = "drift_"          // change over the measurement, and the metric; absent where it is noise
	// ClientOverload is the number of requests after which an open loop ended, because they arrived faster than they left.
	ClientOverload = "overload_after"
	ClientSteady   = "steady" // 1, or 0 where the measurement did not settle
	// ClientCached is the share of the prompts' tokens that the server found in its cache, as it counted.
	ClientCached = "prompt_cached"
)

// Facts of a search for the largest load.
const (
	ClientHolds   = "capacity_holds"   // largest load that held
	ClientFails   = "capacity_fails"   // smallest load that did not hold; absent where every one did
	ClientSettled = "capacity_settled" // 1, or 0 where measurements of an end contradicted each other
)

// MostlyCached is the share of cached tokens from which prompts that share nothing with each other were known to the
// server before, as those of an earlier measurement with the same seed are: TTFT is then that of its cache. What a chat
// template puts before each prompt is less.
const MostlyCached = .7

// Restatable reports whether every dimension is one that the text of a workload states, so that the workload can be
// measured again from its key.
func (k Key) Restatable() bool {
	for name := range k.Dims {
		if !slices.Contains([]string{
			DimISL, DimOSL, DimArrivals, DimBurstiness, DimPrefix, DimPrefixes, DimHit, DimEndpoint, DimTurns, DimThink,
			DimCancel, DimTimeout, DimImage, DimTools, DimToolChoice, DimLoRA,
		}, name) {
			return false
		}
	}
	return true
}

// SharesPrompts reports whether prompts have the same beginning by the workload itself, or may have it.
func (k Key) SharesPrompts() bool {
	shared := []string{DimPrefix, DimPrefixes, DimHit, DimTurns, DimTools}
	return slices.ContainsFunc(shared, func(name string) bool { return k.Dims[name] != "" }) ||
		k.Dataset != "" && k.Dataset != "random"
}

// LengthsVary reports whether lengths were drawn from a distribution or a range, so that no single one need have the
// key's.
func (k Key) LengthsVary() bool {
	for name := range k.Dims {
		if strings.HasSuffix(name, "_stdev") || name == "range_ratio" || name == DimISL || name == DimOSL ||
			name == DimTurns {
			return true
		}
	}
	return false
}

// Load parts a key into its load, which is the concurrency or else the request rate, and the rest; load is nil where
// neither is known. Beside a concurrency, a rate is of the rest.
func (k Key) Load() (load *float64, rest Key) {
	if load = k.Concurrency; load == nil {
		load, k.Rate = k.Rate, nil
	}
	k.Concurrency = nil
	return load, k
}

// Compare orders keys by task, lengths, load, then the rest. An unknown number sorts last.
func (k Key) Compare(o Key) int {
	d := cmp.Or(strings.Compare(k.Task, o.Task), compareNumber(k.Rate, o.Rate), compareNumber(k.ISL, o.ISL),
		compareNumber(k.OSL, o.OSL), compareNumber(k.Concurrency, o.Concurrency), strings.Compare(k.Tool, o.Tool))
	if d == 0 {
		d = strings.Compare(k.String(), o.String())
	}
	return d
}

func compareNumber(a, b *float64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	case *a < *b:
		return -1
	case *a > *b:
		return 1
	}
	return 0
}

func appendNumber(b []byte, v *float64) []byte {
	if v == nil || math.IsInf(*v, 0) || math.IsNaN(*v) {
		return append(b, '-')
	}
	const whole = 1 << 53
	if n := int64(*v); 0 < *v && *v < whole && float64(n) == *v { // most are, and this is ten times as fast
		return strconv.AppendInt(b, n, 10)
	}
	return strconv.AppendFloat(b, *v, 'f', -1, 64)
}

// appendPart escapes free text so that it cannot contain separators.
func appendPart(b []byte, s string) []byte {
	if s == "" {
		return append(b, '-')
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '/', '=', '%':
			b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// Bounds beyond which the numbers of a workload are not what was asked for, whoever looks at them.
const (
	MostFailures = .01 // share of requests that may fail: statistics are of the others
	LeastAnswer  = .9  // of the length that an answer is asked for or compared with
)

// saturatedBelow is the share of the requested concurrency below which a client counts as saturated.
const saturatedBelow = .8

// Saturated reports whether a client was the bottleneck: on average it had fewer requests in flight than requested.
// asked and reached are concurrencies. A client that keeps up the load is still somewhat below it: requests ramp up
// at the beginning and down at the end, and a finished one is replaced with a delay; the margin of 20 % allows for
// that. The lint on saturated clients uses the same bound, so that the note while measuring and the lint agree.
func Saturated(asked, reached float64) bool { return reached < saturatedBelow*asked }

// NaturalCompare orders names as people do, v0.9.0 before v0.10.0: -1, 0 or 1; 0 for equal names only.
func NaturalCompare(a, b string) int {
	whole, other := a, b
	for a != "" && b != "" {
		na, ra := leadingNumber(a)
		nb, rb := leadingNumber(b)
		if na >= 0 && nb >= 0 {
			if na != nb {
				return cmp.Compare(na, nb)
			}
			a, b = ra, rb
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(whole, other))
}

func leadingNumber(s string) (int, string) {
	const most = 15 // digits, which fit
	n, end := 0, 0
	for ; end < len(s) && '0' <= s[end] && s[end] <= '9'; end++ {
		if end == most {
			return -1, s
		}
		n = 10*n + int(s[end]-'0')
	}
	if end == 0 {
		return -1, s
	}
	return n, s[end:]
}
