package schema

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
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
	Source    Source    `json:"source"`
	Unknown   Unknown   `json:",unknown"`
}

// ModelSettings are the names under which files state in which numbers a model ran. Scores and points that state
// different ones are not compared.
func ModelSettings() []string {
	return []string{"dtype", "quantization", "kv_cache_dtype", "load_in_4bit", "load_in_8bit"}
}

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
// first highest, and the samples of each item where there are several.
func (o *Outcomes) MarshalText() ([]byte, error) {
	bits := make([]byte, (len(o.Right)+7)/8)
	for i, right := range o.Right {
		if right {
			bits[i/8] |= 0x80 >> (i % 8)
		}
	}
	text := fmt.Appendf(nil, "%s:%d:%s", o.Items, len(o.Right), base64.RawStdEncoding.EncodeToString(bits))
	if o.Samples > 1 {
		text = fmt.Appendf(text, ":%d", o.Samples)
	}
	return text, nil
}

// UnmarshalText reads the compact form.
func (o *Outcomes) UnmarshalText(text []byte) error {
	parts := strings.SplitN(string(text), ":", 4)
	if len(parts) < 3 {
		return fmt.Errorf("outcomes %.40q", text)
	}
	n, err := strconv.Atoi(parts[1])
	bits, err2 := base64.RawStdEncoding.DecodeString(parts[2])
	samples := 0
	if err == nil && len(parts) == 4 {
		samples, err = strconv.Atoi(parts[3])
	}
	if err != nil || err2 != nil || n < 0 || len(bits) != (n+7)/8 || samples < 0 || samples > 0 && n%samples != 0 {
		return fmt.Errorf("outcomes %.40q", text)
	}
	*o = Outcomes{Items: parts[0], Right: make([]bool, n), Samples: samples}
	for i := range o.Right {
		o.Right[i] = bits[i/8]&(0x80>>(i%8)) != 0
	}
	return nil
}
