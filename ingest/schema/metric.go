package schema

import (
	"bytes"
	"cmp"
	_ "embed" // metrics.txt
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unique"
)

// Kind is what a metric of a point is, all but its numbers. A tree has hundreds of thousands of metrics of few kinds,
// and memory holds each kind once.
type Kind struct {
	Name string `json:"-"` // see [MetricByName]
	Unit string `json:"unit,omitzero"`
	Def  string `json:"def,omitzero"`     // definition id: one of the Def constants
	From From   `json:"from,omitzero"`    // "" for the file, else FromRecomputed or FromDerived
	Why  string `json:"missing,omitzero"` // why there is no number, when there is none

	place int // in the registry
}

// Metric is one measured quantity of a point: what it is, and its statistics.
type Metric struct {
	kind  unique.Handle[Kind]
	Stats Stats // mean, median, std, min, max, p1 … p99.9, value
	N     int   `json:"n,omitzero"` // sample size behind the statistics; 0 when unknown
	more  *Detail
}

// Detail is what few metrics have beside their statistics.
type Detail struct {
	SE        Number                `json:"se,omitzero"`        // standard error of the mean
	CI        map[string][2]float64 `json:"ci,omitempty"`       // 95 % interval by statistic
	Quantiles []float64             `json:"quantiles,omitzero"` // 33 at i/32, i = 0 … 32, when per-request data existed
	Unknown   Unknown               `json:"-"`                  // members of a newer version
}

// NewMetric returns a metric with statistics.
func NewMetric(k Kind, stats ...Stat) Metric {
	var m Metric
	m.Set(k)
	for _, s := range stats {
		m.Stats.Set(s.Name(), s.Value)
	}
	return m
}

// Of returns a metric of the registry with one statistic.
func Of(metric, stat string, v float64) Metric {
	return NewMetric(Kind{Name: metric, Unit: Unit(metric)}, NewStat(stat, v))
}

// Kind returns what the metric is.
func (m *Metric) Kind() Kind {
	if m.kind == (unique.Handle[Kind]{}) {
		return Kind{}
	}
	return m.kind.Value()
}

// IsOf reports whether two metrics are of one kind.
func (m *Metric) IsOf(o *Metric) bool { return m.kind == o.kind }

// Name returns the name of the metric.
func (m *Metric) Name() string { return m.Kind().Name }

// Set makes the metric one of another kind; its numbers stay.
func (m *Metric) Set(k Kind) {
	is := m.Kind()
	if k.place = is.place; k.Name != is.Name || k.Name == "" {
		k.place = metricPlace(k.Name)
	}
	if k != is || m.kind == (unique.Handle[Kind]{}) {
		m.kind = unique.Make(k)
	}
}

// Sourced returns the metric with another source.
func (m Metric) Sourced(f From) Metric {
	k := m.Kind()
	k.From = f
	m.Set(k)
	return m
}

// Detail returns what the metric has beside its statistics.
func (m *Metric) Detail() Detail {
	if m.more == nil {
		return Detail{}
	}
	return *m.more
}

// SetDetail replaces what the metric has beside its statistics.
func (m *Metric) SetDetail(d Detail) { m.more = &d }

// Stat returns a statistic of the metric, or the reason why there is none.
func (m *Metric) Stat(name string) Number {
	if v, ok := m.Stats.Get(name); ok {
		return Num(v)
	}
	return Missing(cmp.Or(m.Kind().Why, "not in the file"))
}

// Primary returns the statistic that verdicts use: the mean, else the median, else the single value.
func (m *Metric) Primary() (string, Number) {
	for _, name := range CenterStats() {
		if v, ok := m.Stats.Get(name); ok {
			return name, Num(v)
		}
	}
	return "mean", m.Stat("mean")
}

// Without returns a metric of the same name, unit and definition that has a reason in place of numbers.
func (m *Metric) Without(why string) Metric {
	k := m.Kind()
	return NewMetric(Kind{Name: k.Name, Unit: k.Unit, Def: k.Def, Why: why})
}

// MetricList are the metrics of a point, in the order of the registry, then others by name; each name once.
type MetricList []Metric

// Get returns a metric by name.
func (l MetricList) Get(name string) (Metric, bool) {
	for i := range l {
		if l[i].Name() == name {
			return l[i], true
		}
	}
	return Metric{}, false
}

// Value returns one statistic of a metric.
func (l MetricList) Value(metric, stat string) (float64, bool) {
	m, _ := l.Get(metric)
	return m.Stats.Get(stat)
}

// Put adds a metric, or replaces that of its name.
func (l *MetricList) Put(m Metric) {
	k := m.Kind()
	at := len(*l)
	for ; at > 0; at-- {
		before := (*l)[at-1].Kind()
		if before.Name == k.Name {
			(*l)[at-1] = m
			return
		}
		if before.place < k.place || before.place == k.place && before.Name < k.Name {
			break
		}
	}
	*l = slices.Insert(*l, at, m)
}

// Drop removes a metric by name.
func (l *MetricList) Drop(name string) {
	*l = slices.DeleteFunc(*l, func(m Metric) bool { return m.Name() == name })
}

// Better is the direction in which a metric improves.
type Better int

const (
	Neither Better = iota
	Lower
	Higher
)

// String returns the text that is shown with a metric: "lower is better".
func (b Better) String() string {
	switch b {
	case Lower:
		return "lower is better"
	case Higher:
		return "higher is better"
	}
	return "neither is better"
}

// MetricInfo holds the fixed facts about a canonical metric, whichever tool measured it.
type MetricInfo struct {
	Name   string // canonical, as in columns and documents
	Label  string // as on a page
	Unit   string
	Better Better
	Means  string // one sentence for the glossary

	Latency  bool     // a time of each request, or of each of its tokens: it has every statistic, others have "value"
	Judged   bool     // its mean has verdicts against history
	Zero     bool     // its 0 is a measurement, which is shown and not compared
	Asked    bool     // tools give it where a goal was asked for: a point without it was asked for none
	Tail     bool     // its P99 has verdicts too, where [TailHolds]
	StandIns []string // judged in its place where a point lacks it, best first
	Column   bool     // tables of results have its statistics, where a point fills them
	Always   []string // statistics that files of results have, filled or not
}

// MetricTTFO is the time to the first token that is not reasoning. It is stated where a request reasoned.
const MetricTTFO = "ttfo"

// Metrics of the machine: what a measurement took from the supply, its memory, and how long a server took to start.
const (
	MetricPower   = "power_w"
	MetricEnergy  = "energy_token"
	MetricMemory  = "accelerator_memory"
	MetricStartup = "startup_s"
)

// Energy of a token at wider boundaries than what was measured. Nothing judges them against history, as with costs.
const (
	MetricEnergyChassis  = "energy_token_chassis"
	MetricEnergyFacility = "energy_token_facility"
)

// Places is how many tokens of a draft, and turns of a conversation, have a metric of their own: [MetricAccepted] and
// [MetricTurn] of 1 on.
const Places = 8

// MetricAccepted is the share of drafts of which the token at a place was accepted; all places are the histogram of
// accepted lengths, summed from its end.
func MetricAccepted(place int) string { return "acceptance_rate_" + strconv.Itoa(place) }

// MetricTurn is the mean TTFT of a turn of conversations.
func MetricTurn(turn int) string { return "ttft_turn_" + strconv.Itoa(turn) }

// Metrics of what tokens cost. Nothing judges them against history: a price that is edited is no regression.
const (
	MetricCostOutput = "usd_per_mtok_output"
	MetricCostInput  = "usd_per_mtok_input"
	MetricCostTotal  = "usd_per_mtok_total"
)

//go:embed metrics.txt
var metricsText string

// catalogue are the metrics, and gauges what is read beside a measurement, as metrics.txt has them.
var catalogue, gauges = readCatalogue(metricsText)

func readCatalogue(text string) (metrics, gauges []MetricInfo) {
	to := &metrics
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[gauges]") {
			to = &gauges
		}
		for place := range Places {
			one := strings.ReplaceAll(line, "#", strconv.Itoa(place+1))
			if cells := strings.Split(one, "|"); len(cells) == 6 && line[0] != '#' {
				*to = append(*to, readMetric(cells))
			}
			if one == line {
				break
			}
		}
	}
	return metrics, gauges
}

// readMetric is the metric of a line. A word that means nothing panics, in every test.
func readMetric(cells []string) MetricInfo {
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	m := MetricInfo{Name: cells[0], Label: cells[1], Unit: cells[2], Means: cells[5]}
	is := map[string]*bool{
		"latency": &m.Latency, "judged": &m.Judged, "zero": &m.Zero, "asked": &m.Asked, "tail": &m.Tail, "column": &m.Column,
	}
	for word := range strings.FieldsSeq(cells[3] + " " + cells[4]) {
		switch name, list, _ := strings.Cut(word, ":"); name {
		case "lower":
			m.Better = Lower
		case "higher":
			m.Better = Higher
		case "else":
			m.StandIns = strings.Split(list, ",")
		case "always":
			m.Always = strings.Split(list, ",")
		default:
			*is[name] = true
		}
	}
	return m
}

// Metrics lists the canonical metrics in reading order. Readers map to these names only; what they cannot map stays
// in Extra.
func Metrics() []MetricInfo { return slices.Clone(catalogue) }

// MetricNames lists the names of the canonical metrics that a filter keeps, in reading order.
func MetricNames(keep func(*MetricInfo) bool) []string {
	var names []string
	for i := range catalogue {
		if keep(&catalogue[i]) {
			names = append(names, catalogue[i].Name)
		}
	}
	return names
}

// metricPlace is the place of a metric in the registry; those that it lacks come behind it.
func metricPlace(name string) int {
	for i := range catalogue {
		if catalogue[i].Name == name {
			return i
		}
	}
	return len(catalogue)
}

// MetricByName returns the fixed facts of a canonical metric, or of one of the user's own, whose name states them.
func MetricByName(name string) (MetricInfo, bool) {
	if i := metricPlace(name); i < len(catalogue) {
		return catalogue[i], true
	}
	if m, ok := ownMetric(name); ok {
		return m, true
	}
	return MetricInfo{Name: name, Label: name}, false
}

// Unit returns the unit of a canonical metric, "" for any other.
func Unit(metric string) string {
	info, _ := MetricByName(metric)
	return info.Unit
}

// Definition ids. Numbers of one metric under different definitions are different series. Throughputs and counts have
// one definition, the one in [Metrics], and carry none: the duration is that
// from the first request to the last answer.
const (
	DefFirstChunk    = "first-chunk"    // TTFT: first streamed chunk, with or without content (vLLM)
	DefFirstContent  = "first-content"  // TTFT: first chunk with content (AIPerf, builtin)
	DefExclFirst     = "excl-first"     // TPOT: first token excluded
	DefInclFirst     = "incl-first"     // TPOT: E2EL / output tokens (vLLM before 0.5.0)
	DefChunkGap      = "chunk-gap"      // ITL: pooled gaps between chunks
	DefLastChunk     = "last-chunk"     // E2EL: to the last chunk
	DefLastContent   = "last-content"   // E2EL: to the last chunk with content
	DefRecipMeanTPOT = "1000/mean-tpot" // tps_user: 1000 / mean TPOT
	// tps_user: 1000 / median TPOT, where a file has no mean
	DefRecipMedianTPOT = "1000/median-tpot"
	DefMeanOfRecip     = "mean-of-1000/tpot" // tps_user: mean over requests of 1000 / TPOT
	// tps_user: mean over requests of output tokens / E2EL, TTFT included (trtllm-bench)
	DefOutOverE2EL = "osl/e2el"
	// E2EL: of a static batch as a whole (benchmark.py of TensorRT-LLM, vLLM's latency benchmark)
	DefBatch       = "whole-batch"
	DefDecodePhase = "decode-phase" // TPOT: generation time of the profiler / (output tokens − 1)
	// TPOT: mean gap between chunks of a request (inference-perf); tokens only where each chunk is one
	DefChunkMean = "mean-gap"
	// power and energy: of all accelerators of the host, as boards, packages or chips state it; of the processors
	DefBoards    = "accelerator-boards"
	DefPackages  = "accelerator-packages"
	DefChips     = "accelerator-chips"
	DefCPUs      = "cpu-packages"
	DefNotStated = "not-stated" // the source has the name and not the definition
)

// IsDefinition reports the id of a definition that a user's mapping may state.
func IsDefinition(id string) bool {
	return slices.Contains([]string{
		DefFirstChunk, DefFirstContent, DefExclFirst, DefInclFirst, DefChunkGap, DefLastChunk, DefLastContent,
		DefRecipMeanTPOT, DefMeanOfRecip, DefOutOverE2EL, DefBatch, DefDecodePhase, DefChunkMean, DefNotStated,
		DefBoards, DefPackages, DefChips, DefCPUs,
	}, id)
}

// OwnMetric returns the name under which a metric of the user's own is stored: "my_ms{ms,lower}". Unit and direction
// are part of the name, so that a metric whose unit changes is another series, and readers of history need no list of
// metrics. ok is false for an invalid name, unit or direction.
func OwnMetric(label, unit, better string) (name string, ok bool) {
	name = label + "{" + unit + "," + better + "}"
	_, ok = ownMetric(name)
	return name, ok
}

// IsOwn reports whether a metric is one of the user's own.
func IsOwn(name string) bool {
	_, ok := ownMetric(name)
	return ok
}

func ownMetric(name string) (MetricInfo, bool) {
	label, rest, ok := strings.Cut(name, "{")
	facts, closed := strings.CutSuffix(rest, "}")
	at := strings.LastIndexByte(facts, ',')
	if !ok || !closed || at < 0 || !plainName(label, 64, "_.-") || label == "" || !plainName(facts[:at], 16, "_.-/% ") {
		return MetricInfo{}, false
	}
	m := MetricInfo{Name: name, Label: label, Unit: facts[:at], Means: "a metric of an exec tool"}
	switch facts[at+1:] {
	case "lower":
		m.Better = Lower
	case "higher":
		m.Better = Higher
	case "neither": // an observation: it is shown, not judged
	default:
		return MetricInfo{}, false
	}
	return m, true
}

// MayBeZero reports metrics whose 0 is a measurement, as the registry states it; of the user's own counts and shares of
// what ought not to happen, such as failures. A latency or a rate of 0 is none: see [Measurable].
func MayBeZero(metric string) bool {
	if m, ok := MetricByName(metric); ok && m.Zero {
		return true
	}
	m, ok := ownMetric(metric)
	if !ok || m.Better != Lower {
		return false
	}
	switch strings.ToLower(m.Unit) {
	case "", "%", "count", "counts", "req", "reqs", "request", "requests", "error", "errors", "failure", "failures":
		return true
	}
	return false
}

// IsMeasurement reports whether a value of a metric is one: above zero, or a 0 where that is a measurement.
func IsMeasurement(metric string, v float64) bool {
	return Measurable(v) || v == 0 && MayBeZero(metric)
}

// plainName reports whether a text is short and has only letters, digits and certain signs.
func plainName(s string, most int, signs string) bool {
	isOther := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(signs, c))
	}
	return len(s) <= most && !strings.ContainsFunc(s, isOther)
}

// CouldBeMetric reports whether a name is that of a metric, or could be one that this version does not know.
func CouldBeMetric(name string) bool {
	_, known := MetricByName(name)
	return known || name != "" && plainName(name, 64, "_.-")
}

// Number is a value or a reason why there is none. The zero Number is missing without a reason.
type Number struct {
	v   float64
	ok  bool
	why string
}

// Num returns a present value. A value that is not finite is not a measurement and becomes missing.
func Num(v float64) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Missing("not a finite number")
	}
	return Number{v: v, ok: true}
}

// Missing returns an absent value with its reason, as text for people.
func Missing(why string) Number { return Number{why: why} }

// Get returns the value and whether there is one.
func (n Number) Get() (float64, bool) { return n.v, n.ok }

// IsZero reports an absent value.
func (n Number) IsZero() bool { return !n.ok }

// Why returns the reason of an absent value, or "".
func (n Number) Why() string { return n.why }

// Ptr returns a pointer to a copy of the value, nil when absent.
func (n Number) Ptr() *float64 {
	if !n.ok {
		return nil
	}
	v := n.v
	return &v
}

// JSONString returns s as a JSON string without HTML escapes.
func JSONString(s string) []byte { return AppendJSONString(make([]byte, 0, len(s)+2), s) }

// AppendJSONString appends [JSONString] to b.
func AppendJSONString(b []byte, s string) []byte {
	isEscaped := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	if !strings.ContainsFunc(s, isEscaped) { // nearly all are plain, and a document has thousands
		return append(append(append(b, '"'), s...), '"')
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return append(b, bytes.TrimRight(buf.Bytes(), "\n")...)
}

// RepeatsApart is the factor between the speeds of repeats beyond which they are not of one system.
const RepeatsApart = 1.5

// Speeds are the metrics by which repeats are known: what a request waits depends on a queue and a cold start, too.
func Speeds() []string { return []string{"output_tps", "total_tps", "input_tps", "tpot"} }
