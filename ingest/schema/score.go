package schema

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Score is the result of one eval task under one metric and filter.
type Score struct {
	Task   string `json:"task,omitzero"`
	Metric string `json:"metric,omitzero"`
	Filter string `json:"filter,omitzero"` // "" when the tool has none
	// the task with a score of its own that this one is a part of; "" when none is stated
	Group string `json:"group,omitzero"`
	// in the tool's own scale: most are fractions, some are not; never multiplied
	Value   Number `json:"value,omitzero"`
	Stderr  Number `json:"stderr,omitzero"`
	N       int    `json:"n,omitzero"`       // items scored; 0 when unknown
	Total   int    `json:"total,omitzero"`   // items in the task; 0 when unknown
	Fewshot *int   `json:"fewshot,omitzero"` // nil when not stated
	// the tool's limit option: a count, or a fraction below 1; nil for none
	Limit     *float64  `json:"limit,omitzero"`
	Direction string    `json:"direction,omitzero"` // higher, lower or "" when not stated
	Version   string    `json:"version,omitzero"`   // of the task
	From      From      `json:"from,omitzero"`      // "" for the file, else FromRecomputed
	Outcomes  *Outcomes `json:"outcomes,omitzero"`
	Items     []string  `json:"items,omitzero"` // ids of the items of Outcomes; nil where they are 0, 1, 2 …
	Start     time.Time `json:"start,omitzero"` // zero: that of its run
	Source    Source    `json:"source"`
	Unknown   Unknown   `json:",unknown"`
}

// Lower reports whether less is better: as the file says, else as the metric is defined.
func (s *Score) Lower() bool {
	kind, known := s.NoShare()
	return s.Direction == "lower" || s.Direction == "" && known && kind.Lower
}

// NoShare is what is known of a metric that is no share of right answers; ok is false where nothing is.
func (s *Score) NoShare() (kind ScoreKind, ok bool) {
	at := slices.IndexFunc(noShares, func(k ScoreKind) bool { // the metric is called so, or ends in it as a word
		at := len(s.Metric) - len(k.name)
		return at >= 0 && strings.EqualFold(s.Metric[at:], k.name) &&
			(at == 0 || strings.IndexByte("_ .-", s.Metric[at-1]) >= 0)
	})
	if at < 0 {
		return ScoreKind{}, false
	}
	return noShares[at], true
}

// ScoreKind is what a metric is that is no share of right answers.
type ScoreKind struct {
	name  string
	Lower bool // less is better
	Ends  bool // at 1, or at 100 in percent; else a change of it is relative
}

// noShares are metrics by the ends of their names: what counts mistakes or surprise, and BLEU, which is of a whole
// text.
var noShares = []ScoreKind{
	{"ppl", true, false}, {"perplexity", true, false}, {"bits_per_byte", true, false}, {"nll", true, false},
	{"kld", true, false}, {"loss", true, false}, {"likelihood_diff", true, false},
	{"wer", true, true}, {"cer", true, true}, {"ter", true, true}, {"brier", true, true},
	{"brier_score", true, true},
	{"bleu", false, true}, {"bleu_max", false, true}, {"bleu_diff", false, false},
}

// Headline is the name under which a reader marks the one of several metrics that is the score of its report.
const Headline = "headline"

// ModelSettings are the names under which files state in which numbers a model ran, and [Settings]. Scores and points
// that state different ones are not compared.
func ModelSettings() []string {
	return []string{"dtype", "quantization", "kv_cache_dtype", "load_in_4bit", "load_in_8bit", Settings}
}

// Settings is the name of what else a file states of how a model was asked, as one text.
const Settings = "settings"

// FilterMark stands between the filter of a score and what tells it from others of the same name.
const FilterMark = " | "

// FileMark stands before what the name of a file says of its scores.
const FileMark = FilterMark + "file "

// FileOf returns what the name of its file says of a score, "" for nothing.
func FileOf(filter string) string {
	_, rest, _ := strings.Cut(filter, FileMark)
	rest, _, _ = strings.Cut(rest, FilterMark)
	return rest
}

// NamedFilter is a filter without the marks of how its score was asked for, which are made again with each reading. The
// mark of a file's name stays, because the results that it was compared with may be in other runs.
func NamedFilter(filter string) string {
	own, _ := SplitFilter(filter)
	if file := FileOf(filter); file != "" {
		return own + FileMark + file
	}
	return own
}

// Asked is how a score was asked for, and of what configuration of the model, by name, as far as it is stated.
func (s *Score) Asked() map[string]string {
	out := map[string]string{}
	if s.Fewshot != nil {
		out["shots"] = strconv.Itoa(*s.Fewshot)
	}
	if s.Limit != nil {
		out["limit"] = strconv.FormatFloat(*s.Limit, 'g', -1, 64)
	}
	if s.Version != "" {
		out["version"] = s.Version
	}
	for _, name := range append(ModelSettings(), "num_fewshot") {
		if text := s.Unknown.Text(name); text != "" {
			out[name] = text
		}
	}
	return out
}

// SplitFilter returns the filter that the tool wrote and, from the first mark on, what tells the score apart.
func SplitFilter(filter string) (own, apart string) {
	if i := strings.Index(filter, FilterMark); i >= 0 {
		return filter[:i], filter[i:]
	}
	return filter, ""
}

// MeanOf returns the name of a metric that is the mean of several of the same task.
func MeanOf(metrics ...string) string { return "mean(" + strings.Join(metrics, ", ") + ")" }

// PartsOfMean returns the metrics of which one is the mean, or nil.
func PartsOfMean(metric string) []string {
	rest, ok := strings.CutPrefix(metric, "mean(")
	if !ok || !strings.HasSuffix(rest, ")") {
		return nil
	}
	return strings.Split(strings.TrimSuffix(rest, ")"), ", ")
}

// Outcomes holds which items were right, for paired tests: two scores with equal Items have the same questions in the
// same words.
type Outcomes struct {
	Items string // 16 hex digits of the hash of the ordered item ids
	Right []bool
	// Samples is how many answers in a row are to the same item; 0 for one.
	Samples int
	// Clusters is the group of each item by number: items of one group, such as questions about one text, depend on each
	// other. nil where each stands for itself.
	Clusters []int
}

// ItemID is the id of an item in the results.
func (s *Score) ItemID(item int) string {
	if item < len(s.Items) {
		return s.Items[item]
	}
	return strconv.Itoa(item)
}

// Cluster sets the groups of the items from their names; nothing where all are of one group, or each has its own.
func (o *Outcomes) Cluster(names []string) {
	number := map[string]int{}
	groups := make([]int, len(names))
	for i, name := range names {
		if _, known := number[name]; !known {
			number[name] = len(number)
		}
		groups[i] = number[name]
	}
	if len(number) > 1 && len(number) < len(names) {
		o.Clusters = groups
	}
}

// Shares are the shares of right answers by item, and how many answers each has.
func (o *Outcomes) Shares() (shares []float64, samples int) {
	samples = max(1, o.Samples)
	shares = make([]float64, len(o.Right)/samples)
	for i := range shares {
		for _, right := range o.Right[i*samples : (i+1)*samples] {
			if right {
				shares[i] += 1 / float64(samples)
			}
		}
	}
	return shares, samples
}

// MarshalText returns the compact form of outcomes: the items' hash, the number of answers, the bits as base64, the
// first highest, and where there are any the samples of each item and the groups, each with how many items follow that
// are of it.
func (o *Outcomes) MarshalText() ([]byte, error) {
	bits := make([]byte, (len(o.Right)+7)/8)
	for i, right := range o.Right {
		if right {
			bits[i/8] |= 0x80 >> (i % 8)
		}
	}
	text := fmt.Appendf(nil, "%s:%d:%s", o.Items, len(o.Right), base64.RawStdEncoding.EncodeToString(bits))
	if o.Samples > 1 || o.Clusters != nil {
		text = fmt.Appendf(text, ":%d", max(1, o.Samples))
	}
	mark := ":"
	for from, to := 0, 0; from < len(o.Clusters); from, mark = to, "," {
		for to < len(o.Clusters) && o.Clusters[to] == o.Clusters[from] {
			to++
		}
		text = fmt.Appendf(text, "%s%d*%d", mark, o.Clusters[from], to-from)
	}
	return text, nil
}

// UnmarshalText reads the compact form.
func (o *Outcomes) UnmarshalText(text []byte) error {
	parts := append(strings.Split(string(text), ":"), "", "", "", "")
	n, err := strconv.Atoi(parts[1])
	bits, err2 := base64.RawStdEncoding.DecodeString(parts[2])
	samples := 0
	if err == nil && parts[3] != "" {
		samples, err = strconv.Atoi(parts[3])
	}
	if err != nil || err2 != nil || n < 0 || len(bits) != (n+7)/8 || samples < 0 || samples > 0 && n%samples != 0 {
		return fmt.Errorf("outcomes %.40q", text)
	}
	*o = Outcomes{Items: parts[0], Right: make([]bool, n), Samples: samples}
	for i := range o.Right {
		o.Right[i] = bits[i/8]&(0x80>>(i%8)) != 0
	}
	if parts[4] == "" {
		return nil
	}
	return o.readClusters(parts[4], n/max(1, samples))
}

func (o *Outcomes) readClusters(text string, items int) error {
	for run := range strings.SplitSeq(text, ",") {
		var c, k int
		if _, err := fmt.Sscanf(run, "%d*%d", &c, &k); err != nil || k < 0 || k > items-len(o.Clusters) {
			return fmt.Errorf("groups of items %.40q", run)
		}
		o.Clusters = append(o.Clusters, slices.Repeat([]int{c}, k)...)
	}
	if len(o.Clusters) != items {
		return fmt.Errorf("groups of %d items, of %d", len(o.Clusters), items)
	}
	return nil
}
