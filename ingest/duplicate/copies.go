package duplicate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

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
