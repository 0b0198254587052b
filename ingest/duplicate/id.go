package duplicate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// ID is what makes a measurement the same one. Each measurement has several, and two measurements are one when they
// share any: the bytes it was read from and its place among the measurements of those bytes; those bytes and its
// numbers, whatever the key says since, unless it was collected at another time; its numbers and its time, whatever the
// bytes.
type ID struct {
	sha256               string
	workload             string // of a point
	repeat               int
	start                time.Time
	task, metric, filter string // of a score
	numbers              string // hash of what was measured
	whenever             bool   // of the bytes, whenever they were collected
}

// idsOf are the identities of a measured point: those that a run holds, or those to be found in one.
func idsOf(p *schema.Point, holds bool) []ID {
	start := p.Start.UTC().Round(0)
	ids := []ID{{sha256: p.Source.SHA256, workload: p.Key.String(), repeat: p.Repeat, start: start}}
	hash, strong := numbersOf(p)
	if p.Source.SHA256 != "" && p.Measured() { // the key may have got a dimension from other files of its run
		ids = append(ids, bytesOf(p, hash, holds)...)
	}
	switch {
	case strong:
		ids = append(ids, ID{workload: p.Key.Tool, start: start, numbers: hash})
	case !start.IsZero(): // few numbers, of one workload at one time
		ids = append(ids, ID{workload: p.Key.String(), start: start, numbers: hash})
	}
	return ids
}

// bytesOf are the identities by bytes and numbers. A tool of a user's own may write the same bytes each night: what was
// collected at two times are two measurements, and a copy without its sidecar is either.
func bytesOf(p *schema.Point, numbers string, holds bool) []ID {
	id := ID{sha256: p.Source.SHA256, numbers: numbers}
	whenever := id
	whenever.whenever = true
	collected := id
	if isCollected := len(p.Command) > 0; isCollected {
		collected.start = p.Start.UTC().Round(0)
	}
	switch {
	case holds:
		return []ID{collected, whenever}
	case collected.start.IsZero():
		return []ID{whenever}
	}
	return []ID{collected, id}
}

// idsOfScore are the identities of an eval's score of a run that began then.
func idsOfScore(s *schema.Score, start time.Time) []ID {
	filter, _ := schema.SplitFilter(s.Filter)
	id := ID{sha256: s.Source.SHA256, task: s.Task, metric: s.Metric, filter: filter}
	ids := []ID{id}
	if x, ok := s.Value.Get(); ok && IsFraction(x) && !start.IsZero() { // without a time, one score is shared by chance
		id.sha256, id.start, id.numbers = "", start.UTC().Round(0), Number(x)
		ids = append(ids, id)
	}
	return ids
}

// Number is a number as it counts for identity: to the seven digits that a stored document keeps.
func Number(x float64) string { return string(appendNumber(nil, x)) }

func appendNumber(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', 7, 64) }

// IsFraction reports a number that two measurements do not share by chance.
func IsFraction(x float64) bool { return x != math.Trunc(x) && math.Trunc(x*1000) != x*1000 }

// numbersOf is a hash of the centres of all metrics of a point; other statistics are computed again when a document is
// read. strong reports that enough of them are fractions, and none follows from another, for no two measurements to
// share them.
func numbersOf(p *schema.Point) (hash string, strong bool) {
	var text []byte // name, definition, statistic and number of each, one a line
	fractions := 0
	for name, m := range p.EachMetric() {
		for _, s := range m.Stats {
			if s.Name != "mean" && s.Name != "median" && s.Name != "value" {
				continue
			}
			text = append(append(append(append(text, name...), ' '), m.Def...), ' ')
			text = append(append(text, s.Name...), ' ')
			text = append(appendNumber(text, s.Value), '\n')
			if IsFraction(s.Value) && !isCount(name) && !follows(&m) {
				fractions++
			}
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12]), fractions >= enoughFractions
}

// enoughFractions is how many equal fractions make two measurements one.
const enoughFractions = 3

// few are the deviations of a point that has too few numbers to know it by, as text, and the digits that it adds to
// those of its file.
func few(p *schema.Point) (deviations string, digits int) {
	for name, m := range p.EachMetric() {
		for _, s := range m.Stats {
			if s.Name == "std" {
				deviations += " " + Number(s.Value)
			} else if s.Value != math.Trunc(s.Value) && !isCount(name) && !follows(&m) {
				digits += significant(s.Value)
			}
		}
	}
	return deviations, digits
}

// enoughDigits is how many digits of its points in all make a file the copy of another.
const enoughDigits = 12

// Content is a hash of everything that a reading measured, the same for the same numbers in another form; ok is false
// where there is too little of it to know a copy by.
func Content(r *schema.Reading) (hash string, ok bool) {
	var parts []string
	digits := 0
	for i := range r.Points {
		numbers, strong := numbersOf(&r.Points[i])
		if !strong {
			deviations, more := few(&r.Points[i])
			numbers += deviations
			digits += more
		}
		ok = ok || strong || digits >= enoughDigits
		parts = append(parts, r.Points[i].Key.String()+" "+numbers)
	}
	for i := range r.Scores {
		s := &r.Scores[i]
		x, has := s.Value.Get()
		ok = ok || has && IsFraction(x)
		se, _ := s.Stderr.Get()
		numbers := fmt.Sprint(Number(x), Number(se), s.N, s.Outcomes != nil)
		parts = append(parts, strings.Join([]string{s.Task, s.Metric, s.Filter, s.Version, numbers}, " "))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:12]), ok
}

// Held is the measurements of a run, to be found in another.
type Held struct {
	ids map[ID]bool
	n   int
}

// Len is how many measurements there are.
func (h Held) Len() int { return h.n }

// has reports that one of the ids is among them.
func (h Held) has(ids []ID) bool {
	return slices.ContainsFunc(ids, func(id ID) bool { return h.ids[id] })
}

// In returns the measurements of a run.
func In(r *schema.Run) Held {
	h := Held{ids: make(map[ID]bool, 4*len(r.Points)+2*len(r.Scores)), n: len(r.Points) + len(r.Scores)}
	for i := range r.Points {
		for _, id := range idsOf(&r.Points[i], true) {
			h.ids[id] = true
		}
	}
	for i := range r.Scores {
		for _, id := range idsOfScore(&r.Scores[i], r.Start) {
			h.ids[id] = true
		}
	}
	return h
}

// Without returns the run less the measurements that are held elsewhere, and how many that leaves out. The run itself
// is left as it is.
func Without(r schema.Run, held Held) (rest schema.Run, shared int) {
	rest = r
	rest.Points, rest.Scores = nil, nil
	for i := range r.Points {
		if held.has(idsOf(&r.Points[i], false)) {
			shared++
			continue
		}
		rest.Points = append(rest.Points, r.Points[i])
	}
	for i := range r.Scores {
		if held.has(idsOfScore(&r.Scores[i], r.Start)) {
			shared++
			continue
		}
		rest.Scores = append(rest.Scores, r.Scores[i])
	}
	return rest, shared
}
