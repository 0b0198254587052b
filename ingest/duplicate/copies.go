package duplicate

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Pair is two points, by their index in the list that [Copies] was given, that are one measurement. Drop has no more
// statistics than Keep.
type Pair struct{ Keep, Drop int }

// Copies finds the points that are one measurement. needed returns how many statistics of two points must agree; 0
// means that they cannot be one, whatever their numbers. merge is called for each pair as it is found, so that what
// the copy states, such as a part of the workload, is used in later comparisons.
//
// A tool writes at least six digits, so equal numbers are one measurement.
func Copies(points []*schema.Point, needed func(a, b int) int, merge func(Pair)) {
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
			if agreeing == 0 { // nearly all pairs: one number of two measurements is close by chance
				continue
			}
			if enough := needed(a.point, b.point); enough == 0 || agreeing < enough {
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

// agreement counts the measured statistics in which two points of one tool and load agree to a millionth; 0 when they
// differ in any.
func agreement(a, b *schema.Point) int {
	if !sameLoad(&a.Key, &b.Key) {
		return 0
	}
	n := 0
	for name, m := range a.EachMetric() {
		def, has := b.Definition(name)
		if !has || !sameDefinition(m.Def, def) {
			continue
		}
		for _, s := range m.Stats {
			x, ok := b.Value(name, s.Name)
			if !ok || s.Name == "std" { // some tools divide by n − 1
				continue
			}
			if math.Abs(x-s.Value) > tolerance*math.Max(math.Abs(x), math.Abs(s.Value)) {
				return 0
			}
			if x != math.Trunc(x) && !isCount(name) {
				n++
			}
		}
	}
	return n
}

// sameLoad reports whether two points have the same tool and no different number of the workload where both state it.
func sameLoad(a, b *schema.Key) bool {
	if a.Tool != b.Tool {
		return false
	}
	same := func(x, y *float64) bool { return x == nil || y == nil || *x == *y }
	return same(a.ISL, b.ISL) && same(a.OSL, b.OSL) && same(a.Concurrency, b.Concurrency) && same(a.Rate, b.Rate)
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
