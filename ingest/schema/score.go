package schema

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// Score is the result of one eval task under one metric and filter.
type Score struct {
	Task      string
	Metric    string
	Filter    string // "" when the tool has none
	Group     string // the task with a score of its own that this one is a part of; "" when none is stated
	Value     Number // in the tool's own scale: most are fractions, some are not; never multiplied
	Stderr    Number
	N         int      // items scored; 0 when unknown
	Total     int      // items in the task; 0 when unknown
	Fewshot   *int     // nil when not stated
	Limit     *float64 // the tool's limit option: a count, or a fraction below 1; nil for none
	Direction string   // higher, lower or "" when not stated
	Version   string   // of the task
	From      From     // "" for the file, else FromRecomputed
	Outcomes  *Outcomes
	Source    Source
	Unknown   Unknown
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
}

// Text returns the compact form of outcomes: the items' hash, their number, and the bits as base64, the first item
// highest.
func (o *Outcomes) Text() string {
	bits := make([]byte, (len(o.Right)+7)/8)
	for i, right := range o.Right {
		if right {
			bits[i/8] |= 0x80 >> (i % 8)
		}
	}
	return o.Items + ":" + strconv.Itoa(len(o.Right)) + ":" + base64.RawStdEncoding.EncodeToString(bits)
}

// ParseOutcomes reads the compact form; ok is false for any other text.
func ParseOutcomes(s string) (o *Outcomes, ok bool) {
	parts := strings.SplitN(s, ":", 3)
	if len(parts) != 3 {
		return nil, false
	}
	n, err := strconv.Atoi(parts[1])
	bits, err2 := base64.RawStdEncoding.DecodeString(parts[2])
	if err != nil || err2 != nil || n < 0 || len(bits) != (n+7)/8 {
		return nil, false
	}
	o = &Outcomes{Items: parts[0], Right: make([]bool, n)}
	for i := range o.Right {
		o.Right[i] = bits[i/8]&(0x80>>(i%8)) != 0
	}
	return o, true
}
