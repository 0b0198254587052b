package duplicate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Pair is two points, by their index in the list that [Copies] was given, that are one measurement. Drop has no more
// statistics than Keep.
type Pair struct{ Keep, Drop int }

// Agreement is how much two points have in common: statistics that do not follow from each other, and their significant
// digits in total. Tools print three digits or seventeen, so a count of equal statistics alone says little.
type Agreement struct{ Statistics, Digits int }

// enough reports that two points that agree so much are one measurement.
func (a Agreement) enough(needed Agreement) bool {
	return needed.Statistics > 0 && a.Statistics >= needed.Statistics && a.Digits >= needed.Digits
}

// Copies finds the points that are one measurement. needed returns how much two points must agree; no statistics mean
// that they cannot be one, whatever their numbers. merge is called for each pair as it is found, so that what
// the copy states, such as a part of the workload, is used in later comparisons.
func Copies(points []*schema.Point, needed func(a, b int) Agreement, merge func(Pair)) {
	list := anchors(points)
	dropped := make([]bool, len(points))
	for i, a := range list {
		for _, b := range list[i+1 : min(len(list), i+neighbours)] {
			if b.metric != a.metric || b.mean > a.mean*(1+tolerance) {
				break
			}
			if dropped[a.point] || dropped[b.point] {
				continue
			}
			agreeing := agreement(points[a.point], points[b.point])
			if agreeing.Statistics == 0 { // nearly all pairs: one number of two measurements is close by chance
				continue
			}
			if !agreeing.enough(needed(a.point, b.point)) {
				continue
			}
			pair := Pair{Keep: a.point, Drop: b.point}
			if richness(points[pair.Drop]) > richness(points[pair.Keep]) {
				pair.Keep, pair.Drop = pair.Drop, pair.Keep
			}
			merge(pair)
			dropped[pair.Drop] = true
		}
	}
}

const (
	tolerance  = 1e-6 // relative difference of two statistics that are equal
	neighbours = 20   // how many neighbours in the order of an anchor are compared
)

// anchor is a number by which copies of a measurement are found: sorted by it, copies are neighbours.
type anchor struct {
	point  int
	metric string
	mean   float64
}

func anchors(points []*schema.Point) []anchor {
	var list []anchor
	for i, p := range points {
		for _, metric := range []string{"e2el", "ttft", "tpot", "rps"} {
			if mean := center(p, metric); mean > 0 {
				list = append(list, anchor{i, metric, mean})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b anchor) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.mean, b.mean))
	})
	return list
}

// center returns the first of mean, median and value that is above zero; 0 when none is.
func center(p *schema.Point, metric string) float64 {
	for _, stat := range []string{"mean", "median", "value"} {
		if x, ok := p.Value(metric, stat); ok && x > 0 {
			return x
		}
	}
	return 0
}

// agreement counts the measured statistics in which two points of one tool and load agree to a millionth; none when
// they differ in any.
func agreement(a, b *schema.Point) Agreement {
	if !sameLoad(a, b) {
		return Agreement{}
	}
	var out Agreement
	rate := 0 // digits of the most precise of the rates, which are one number where lengths are fixed
	for name, m := range a.EachMetric() {
		def, has := b.Definition(name)
		if !has || !sameDefinition(m.Def, def) {
			continue
		}
		for _, s := range m.Stats {
			x, ok := b.Value(name, s.Name)
			switch {
			case !ok:
				continue
			case s.Name == "std" && !sameDeviation(s.Value, x, sizeOf(a, m.N)), s.Name != "std" && !same(s.Value, x):
				return Agreement{}
			case s.Name == "std" || x == math.Trunc(x) || isCount(name) || follows(&m):
			case isRate(name):
				rate = max(rate, significant(x))
			default:
				out.Statistics++
				out.Digits += significant(x)
			}
		}
	}
	if rate > 0 {
		out.Statistics++
		out.Digits += rate
	}
	return out
}

// same reports that two numbers are equal to a millionth.
func same(x, y float64) bool { return math.Abs(x-y) <= tolerance*math.Max(math.Abs(x), math.Abs(y)) }

// sameDeviation reports that two standard deviations are of one sample of n values: some tools divide by n − 1.
func sameDeviation(x, y, n float64) bool {
	if same(x, y) {
		return true
	}
	between := math.Max(x, y) / math.Min(x, y)
	return n > 1 && math.Abs(between-math.Sqrt(n/(n-1))) <= 1e-5
}

// sizeOf is the size of a metric's sample; 0 when nothing states it.
func sizeOf(p *schema.Point, n int) float64 {
	if n > 0 {
		return float64(n)
	}
	ok, _ := p.Value("requests_ok", "value")
	return ok
}

// follows reports a metric whose numbers follow from those of another.
func follows(m *schema.Metric) bool {
	return m.From == schema.FromDerived || m.Def == schema.DefRecipMeanTPOT || m.Def == schema.DefRecipMedianTPOT
}

// isRate reports metrics that follow from one duration where all requests have the same lengths.
func isRate(metric string) bool {
	switch metric {
	case "rps", "output_tps", "total_tps", "duration_s":
		return true
	}
	return false
}

// significant counts the significant digits of a number, up to the seven that a stored document keeps.
func significant(x float64) int {
	var room [32]byte
	n := 0
	for _, c := range strconv.AppendFloat(room[:0], math.Abs(x), 'e', -1, 64) {
		if c == 'e' {
			break
		}
		if c != '.' {
			n++
		}
	}
	return min(7, n)
}

// sameLoad reports whether two points have the same tool and state nothing different of their workload and conditions.
func sameLoad(p, q *schema.Point) bool {
	a, b := &p.Key, &q.Key
	if a.Tool != b.Tool || a.Dataset != "" && b.Dataset != "" && a.Dataset != b.Dataset {
		return false
	}
	equal := func(x, y *float64) bool { return x == nil || y == nil || *x == *y }
	return equal(a.ISL, b.ISL) && equal(a.OSL, b.OSL) && equal(a.Concurrency, b.Concurrency) && equal(a.Rate, b.Rate) &&
		sameWhereStated(p.Conditions, q.Conditions) && sameDims(p, q)
}

// sameDims reports that two points state the same dimensions. A reader leaves out what is a tool's default, so two
// points of one format must have all of them in common.
func sameDims(p, q *schema.Point) bool {
	if p.Source.Format == q.Source.Format && p.Source.Format != "" {
		return maps.Equal(p.Key.Dims, q.Key.Dims)
	}
	return sameWhereStated(p.Key.Dims, q.Key.Dims)
}

func sameWhereStated(a, b map[string]string) bool {
	for name, v := range a {
		if w, has := b[name]; has && v != w {
			return false
		}
	}
	return true
}

// sameDefinition reports whether two definitions are equal, or one is unknown.
func sameDefinition(a, b string) bool {
	unknown := func(def string) bool { return def == "" || def == schema.DefNotStated }
	return a == b || unknown(a) || unknown(b)
}

// isCount reports metrics whose numbers are equal in different measurements of one workload.
func isCount(metric string) bool {
	switch metric {
	case "isl", "osl", "requests_ok", "requests_failed", "error_rate", "correct_rate":
		return true
	}
	return false
}

// richness orders copies: measured requests before statistics, then by how many there are.
func richness(p *schema.Point) int {
	n := 0
	for _, m := range p.EachMetric() {
		n += len(m.Stats)
		if m.From == schema.FromRecomputed {
			n += 100
		}
	}
	return n
}

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
