package lmeval

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// series is the values of one metric under one filter, item by item.
type series struct {
	seriesID
	ids    []itemID
	values []float64
}

// seriesID identifies a series of a task.
type seriesID struct{ metric, filter string }

// itemID identifies an item: its number, and a hash of the harness's hashes of its document, prompt and answer.
type itemID struct {
	doc  int
	id   uint64
	text string // a hash of the text that it is about
}

// readSamples turns the lines of a task into scores with outcomes.
func readSamples(f *decode.File, r *schema.Reading) {
	var list []*series // in order of occurrence
	known := map[seriesID]*series{}
	seen, n, tooMany := map[int]bool{}, 0, false
	lines := f.Values()
	if f.First.Kind() == decode.Array { // of 0.4.0
		lines = f.First.Items()
	}
	for v := range lines {
		if !isSample(v) {
			continue
		}
		id := identify(v)
		filter := v.Get("filter").Str()
		if !v.Has("filter") { // when a document occurs again, the next filter has begun
			if seen[id.doc] {
				n++
				clear(seen)
			}
			seen[id.doc] = true
			filter = fmt.Sprintf("#%d", n)
		}
		for _, m := range v.Members() {
			x, ok := outcome(m.Val)
			if !ok || !isMetric(v, m.Key) {
				continue
			}
			of := seriesID{m.Key, filter}
			s := known[of]
			if s == nil && len(list) < decode.MostSeries {
				s = &series{seriesID: of}
				known[of], list = s, append(list, s)
			}
			if s == nil || len(s.ids) == decode.MostItems {
				tooMany = true
				continue
			}
			s.ids, s.values = append(s.ids, id), append(s.values, x)
		}
	}
	for _, s := range list {
		r.Scores = append(r.Scores, s.score(f, TaskOf(f.Path)))
	}
	if tooMany {
		draft.Problem(f, r, schema.SevError, "too-many-results", decode.Value{},
			"more metrics, filters or items than a task has",
			fmt.Sprintf("at most %d and %d", decode.MostSeries, decode.MostItems), "the first of them")
	}
}

func identify(v decode.Value) itemID {
	n, _ := v.Get("doc_id").Int()
	id := cmp.Or(v.Get("doc_hash").Str(), v.Get("doc_id").Text())
	h := fnv.New64a()
	fmt.Fprint(h, id, " ", v.Get("prompt_hash").Str(), " ", v.Get("target_hash").Str())
	x := itemID{doc: n, id: h.Sum64()}
	for _, name := range about {
		if text := v.At("doc", name).Str(); text != "" {
			h.Reset()
			fmt.Fprint(h, text)
			x.text = string(h.Sum(nil))
			break
		}
	}
	return x
}

// about are the members of a document with a text that several questions are about, as in DROP, RACE, SQuAD or MultiRC.
var about = []string{"passage", "paragraph", "article", "story", "context", "premise"}

// notOutcomes are the members of a line that are part of the format.
var notOutcomes = draft.Names(`doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash
	target_hash input schema_version`)

// isMetric reports the metrics of a line: those it lists, else every member that is not part of the format.
func isMetric(v decode.Value, key string) bool {
	list := v.Get("metrics")
	for x := range list.Items() {
		if x.Str() == key {
			return true
		}
	}
	return list.Kind() != decode.Array && !notOutcomes(key)
}

// outcome returns the value of one item: a number or a boolean. Pairs and texts are aggregated by rules that only the
// harness has.
func outcome(v decode.Value) (float64, bool) {
	if b, ok := v.Truth(); ok {
		return map[bool]float64{true: 1}[b], true
	}
	x, ok := v.Float()
	return x, ok && v.Kind() == decode.Number
}

// score returns the mean of a series, its standard error, and its outcomes if each item is right or wrong.
func (s *series) score(f *decode.File, task string) schema.Score {
	order := make([]int, len(s.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.ids[a].doc, s.ids[b].doc) })
	out := schema.Score{
		Task: task, Metric: s.metric, Filter: s.filter, N: len(s.values), Source: f.Source(Samples),
		From: schema.FromRecomputed,
	}
	sum, zeroOne := 0., true
	for _, x := range s.values {
		sum += x
		zeroOne = zeroOne && (x == 0 || x == 1)
	}
	n := float64(len(s.values))
	mean, sq := sum/n, 0.
	for _, x := range s.values {
		sq += (x - mean) * (x - mean)
	}
	out.Value, out.Stderr = schema.Num(mean), schema.Missing("one item")
	if n > 1 {
		out.Stderr = schema.Num(math.Sqrt(sq/(n-1)) / math.Sqrt(n))
	}
	if zeroOne {
		ids := sha256.New()
		bits, texts := make([]bool, len(order)), make([]string, len(order))
		for i, at := range order {
			ids.Write(binary.BigEndian.AppendUint64(nil, s.ids[at].id))
			bits[i], texts[i] = s.values[at] == 1, s.ids[at].text
			if s.ids[at].doc != i && out.Items == nil {
				out.Items = make([]string, len(order))
			}
		}
		for i := range out.Items {
			out.Items[i] = strconv.Itoa(s.ids[order[i]].doc)
		}
		out.Outcomes = &schema.Outcomes{Items: hex.EncodeToString(ids.Sum(nil)[:8]), Right: bits}
		if !slices.Contains(texts, "") {
			out.Outcomes.Cluster(texts)
		}
	}
	return out
}

var sampleFile = lazyregexp.New(`^(?:.*?_)?samples_(.+?)(?:_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?|` +
	`_\d{8}_\d{6})?$`)

// TaskOf reads the task from a file's name: samples_<task>_<time>.jsonl, <time>_samples_<task>.jsonl, <task>.jsonl.
func TaskOf(name string) string {
	stem := path.Base(name)
	for _, ext := range []string{".gz", ".zst", ".jsonl", ".json"} {
		stem = strings.TrimSuffix(stem, ext)
	}
	return cmp.Or(argument(sampleFile, stem), stem)
}

// Combine merges the items of one task with the results that they belong to, and reports whether they belong to any
// score. A score that differs from that of the items by more than 1 % is replaced by it, and a problem shows both.
func Combine(results *schema.Reading, items schema.Reading) bool {
	joined := false
	for _, it := range items.Scores {
		order := 0
		for i := range results.Scores {
			s := &results.Scores[i]
			if s.Task != it.Task || s.Metric != it.Metric {
				continue
			}
			if it.Filter != s.Filter && it.Filter != fmt.Sprintf("#%d", order) {
				order++
				continue
			}
			joined = true
			results.Problems = append(results.Problems, overlay(s, it)...)
			break
		}
	}
	return joined
}

func overlay(s *schema.Score, it schema.Score) []schema.Problem {
	if s.N > 0 && s.N != it.N {
		return []schema.Problem{{Severity: schema.SevWarning, Path: it.Source.Path, Code: "fewer-records",
			Found:    fmt.Sprintf("outcomes of %d items of %s", it.N, s.Task),
			Expected: fmt.Sprintf("%d, as the results count", s.N), Used: "the results, not recomputed"}}
	}
	stated, ok := s.Value.Get()
	now, _ := it.Value.Get()
	p := differs(s, schema.SevWarning, "", stated, now)
	if it.Outcomes == nil { // how grades between 0 and 1 are aggregated depends on the task: by weight, by exponent
		if !ok || !draft.Disagree(stated, now) {
			return nil
		}
		p.Severity, p.Used, p.Hint = schema.SevNote, fmt.Sprintf("the stated %.6g", stated),
			"the task may weigh its items; if it takes their mean, one of the two files is of another run"
		return []schema.Problem{p}
	}
	s.Outcomes, s.Items, s.N = it.Outcomes, it.Items, it.N
	if ok && !draft.Disagree(stated, now) {
		return overlayError(s, it)
	}
	if !ok {
		p.Found = fmt.Sprintf("%s %s has no number, its own items give %.6g", s.Task, s.Metric, now)
	}
	s.Value, s.Stderr, s.From = it.Value, it.Stderr, schema.FromRecomputed
	return []schema.Problem{p}
}

// overlayError compares the stated standard error with that of the items, or fills it in if none is stated.
func overlayError(s *schema.Score, it schema.Score) []schema.Problem {
	stated, ok := s.Stderr.Get()
	now, has := it.Stderr.Get()
	if !has || ok && !draft.Disagree(stated, now) {
		return nil
	}
	if s.Stderr = it.Stderr; !ok {
		return nil
	}
	p := differs(s, schema.SevNote, "the standard error of ", stated, now)
	p.Hint = "the harness may have drawn it by bootstrap"
	return []schema.Problem{p}
}

// differs is the problem of a stated number that the items of a score do not give.
func differs(s *schema.Score, severity schema.Severity, what string, stated, now float64) schema.Problem {
	return schema.Problem{
		Severity: severity, Path: s.Source.Path, Code: "disagreement", Expected: "the two within 1 %",
		Found: fmt.Sprintf("%s%s %s is %.6g, its own items give %.6g", what, s.Task, s.Metric, stated, now),
		Used:  fmt.Sprintf("the recomputed %.6g", now),
	}
}
