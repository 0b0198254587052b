package duplicate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Agreement is how much two points have in common: statistics that do not follow from each other, and their significant
// digits in total. Tools print three digits or seventeen, so a count of equal statistics alone says little.
type Agreement struct{ Statistics, Digits int }

// Agree reports that two points agree in as much as is needed.
func Agree(a, b *schema.Point, needed Agreement) bool {
	is := agreement(a, b)
	return is.Statistics >= needed.Statistics && is.Digits >= needed.Digits
}

// Mark is what measurements that may be one have in common. One is compared with the last of those that have it.
type Mark struct {
	Text string
	Last int
}

// Once goes through n measurements and asks about each and those before it with which it has a mark in common. settle
// says which of the two is dropped, -1 where they are not one. Marks are asked for when a measurement is reached, so
// that what was learned of it until then counts: those under which it is looked for, and those under which it is found.
func Once(n int, marks func(i int) (seek, found []Mark), settle func(a, b int) (dropped int)) {
	by, dropped := map[uint64][]int32{}, make([]bool, n) // by a hash of the mark: texts would be most of the memory
	seed := maphash.MakeSeed()
	for i := range n {
		seek, found := marks(i)
		for _, mark := range seek {
			list := by[maphash.String(seed, mark.Text)]
			for _, j := range list[max(0, len(list)-mark.Last):] {
				if dropped[i] || dropped[j] {
					continue
				}
				if drop := settle(int(j), i); drop >= 0 {
					dropped[drop] = true
				}
			}
		}
		if dropped[i] {
			continue
		}
		for _, mark := range found {
			hash := maphash.String(seed, mark.Text)
			by[hash] = append(by[hash], int32(i))
		}
	}
}

const (
	tolerance = 1e-6 // relative difference of two statistics that are equal
	width     = 2e-5 // of the numbers under one mark
)

// Marks are what points that are one measurement have in common: a centre that is equal to a millionth, or, where
// numbers that a tool printed are among them, the throughput as printed, or where tables are, about as high.
func Marks(p *schema.Point, hasPrinted, hasTables bool) (out []string) {
	exact := []string{"e2el", "ttft", "tpot", "rps"}
	if hasTables { // which may have no other
		exact = append(exact, "output_tps")
	}
	for _, metric := range exact {
		if mean := center(p, metric); mean > 0 {
			from, to := math.Floor(math.Log(mean*(1-tolerance))/width), math.Floor(math.Log(mean*(1+tolerance))/width)
			for at := from; at <= to; at++ {
				out = append(out, metric+strconv.FormatFloat(at, 'f', 0, 64))
			}
		}
	}
	if k := p.Key; !p.Start.IsZero() {
		k = schema.Key{Tool: k.Tool, ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency}
		out = append(out, fmt.Sprint(p.Start.Unix(), " ", k.String()))
	}
	if hasPrinted { // rounded up or down: a stored number has lost digits before
		if p.Status == schema.StatusFailed {
			out = append(out, p.Key.Tool+" failed")
		}
		for _, x := range []float64{cmp.Or(center(p, "output_tps"), center(p, "input_tps")), center(p, "e2el")} {
			if x > 0 {
				out = append(out, fmt.Sprint("printed ", math.Floor(x*100)), fmt.Sprint("printed ", math.Ceil(x*100)))
			}
		}
	}
	if hasTables { // which may have any unit, and few digits of it
		for _, metric := range []string{"e2el", "ttft", "output_tps"} {
			if x := center(p, metric); x > 0 {
				for _, at := range []float64{math.Floor(math.Log(x) * 50), math.Ceil(math.Log(x) * 50)} {
					out = append(out, fmt.Sprint("about ", metric, at))
				}
			}
		}
	}
	return out
}

// IsCut reports a load test that printed what it was to do, and no number.
func IsCut(p *schema.Point) bool { return p.Status == schema.StatusFailed && len(p.Metrics) == 0 }

// Printed reports that every number that a tool printed is that of its file, rounded. What ends before its numbers says
// nothing against the file of such a load beside it.
func Printed(file, printed *schema.Point) bool {
	isFailed := printed.Status == schema.StatusFailed
	isBelow := strings.HasPrefix(file.Source.Path, path.Dir(printed.Source.Path)+"/")
	switch {
	case !sameTool(&file.Key, &printed.Key) || !sameLoad(&file.Key, &printed.Key):
		return false
	case IsCut(printed): // there is nothing else to know it by
		return isBelow && mayBeOfLoad(file, printed)
	case isFailed || file.Status == schema.StatusFailed:
		return isBelow && isFailed && file.Status == schema.StatusFailed
	}
	agrees, _ := agreesRounded(file, printed, .006, 1e-4)
	return agrees
}

// Rounded reports that the numbers of two points that were both printed are the same, of each unit with fewer decimals
// in one of the two: seconds in one file, milliseconds in a table of the same runs.
func Rounded(a, b *schema.Point) bool {
	if !sameTool(&a.Key, &b.Key) || !sameLoad(&a.Key, &b.Key) || !SameWhereStated(ownDims(a), ownDims(b)) {
		return false
	}
	agrees, isCoarse := agreesRounded(a, b, 0, tolerance)
	return agrees && isCoarse
}

// agreesRounded reports that every mean and rate that was printed is that of its file, rounded, and that they and the
// percentiles that are so are enough; and whether some have fewer decimals in one of the two, by which they differ more
// than by slack and share. Counts are equal in different measurements of one workload.
func agreesRounded(file, printed *schema.Point, slack, share float64) (agrees, isCoarse bool) {
	n, digits, of, in := 0, 0, lastPlaces(file), lastPlaces(printed)
	for i := range printed.Metrics {
		m := &printed.Metrics[i]
		k := m.Kind()
		measured, _ := file.Metric(k.Name)
		if k.From != "" || k.Name == "tps_user" || isCount(k.Name) { // the first follows from a rounded TPOT
			continue
		}
		isOurs := measured.Kind().From == schema.FromDerived // perhaps of another window than the tool's
		unit, half := schema.Unit(k.Name), 0.
		if of[unit] != in[unit] {
			half = .505 * math.Pow10(max(of[unit], in[unit]))
		}
		for _, s := range m.Stats {
			x, ok := measured.Stats.Get(s.Name())
			switch apart := math.Abs(x - s.Value); {
			case !ok:
			case apart <= slack+share*math.Abs(x):
				n, digits = n+1, digits+min(significant(s.Value), significant(x))
			case apart <= half:
				n, digits, isCoarse = n+1, digits+min(significant(s.Value), significant(x)), true
			case !isOurs && (s.Is("mean") || s.Is("value")): // percentiles are computed in several ways: they speak for it alone
				return false, false
			}
		}
	}
	return n >= 4 && (!isCoarse || digits >= enoughDigits), isCoarse
}

// lastPlaces are the places of the last digits of a point's numbers by unit, as powers of ten: -2 for hundredths.
func lastPlaces(p *schema.Point) map[string]int {
	out := map[string]int{}
	for i := range p.Metrics {
		name := p.Metrics[i].Kind().Name
		for _, s := range p.Metrics[i].Stats {
			if s.Value == 0 || isCount(name) {
				continue
			}
			at := int(math.Floor(math.Log10(math.Abs(s.Value)))) - significant(s.Value) + 1
			if is, has := out[schema.Unit(name)]; !has || at < is {
				out[schema.Unit(name)] = at
			}
		}
	}
	return out
}

// mayBeOfLoad reports that what a file counted does not contradict the lengths that a load asked for. A template adds a
// few tokens to prompts, and answers may end early.
func mayBeOfLoad(file, load *schema.Point) bool {
	isl, hasIn := file.Value("isl", "mean")
	osl, hasOut := file.Value("osl", "mean")
	k := &load.Key
	return (!hasIn || k.ISL == nil || math.Abs(isl-*k.ISL) <= math.Max(.05**k.ISL, 32)) &&
		(!hasOut || k.OSL == nil || osl <= 1.05**k.OSL)
}

// center returns the first of mean, median and value that is above zero; 0 when none is.
func center(p *schema.Point, metric string) float64 {
	for _, stat := range schema.CenterStats() {
		if x, ok := p.Value(metric, stat); ok && x > 0 {
			return x
		}
	}
	return 0
}

// agreement counts the measured statistics in which two points of one tool and load agree to a millionth; none when
// they differ in any.
func agreement(a, b *schema.Point) Agreement {
	if !sameSetup(a, b) {
		return Agreement{}
	}
	var out, whole Agreement
	var numbers []float64 // each once: of answers of one token TTFT and E2EL are one
	rate := 0             // digits of the most precise of the rates, which are one number where lengths are fixed
	equal := eachShared(a, b, func(k *schema.Kind, isStd bool, x float64) {
		switch isWhole := x == math.Trunc(x); {
		case isStd || isCount(k.Name) || follows(k):
		case isWhole && schema.IsOwn(k.Name): // a setting, for all that is known of it
		case isWhole:
			whole.Statistics++
			whole.Digits += significant(x)
		case slices.Contains(rates, k.Name):
			rate = max(rate, significant(x))
		case slices.Contains(numbers, x):
		default:
			numbers = append(numbers, x)
			out.Statistics++
			out.Digits += significant(x)
		}
	})
	if !equal {
		return Agreement{}
	}
	out = Agreement{out.Statistics + min(rate, 1), out.Digits + rate}
	const fractional = 6 // digits beside which 244 is 244.0; of whole milliseconds it is a coincidence
	if out.Statistics > 1 && out.Digits >= fractional {
		out = Agreement{out.Statistics + whole.Statistics, out.Digits + whole.Digits}
	}
	return out
}

// eachShared goes through the statistics that two points have, and ends with false at one in which they differ and that
// was not derived for one of the two.
func eachShared(a, b *schema.Point, do func(k *schema.Kind, isStd bool, x float64)) (equal bool) {
	isUnknown := func(def string) bool { return def == "" || def == schema.DefNotStated }
	for i := range a.Metrics {
		m := &a.Metrics[i]
		k := m.Kind()
		other, has := b.Metric(k.Name)
		if def := other.Kind().Def; !has || def != k.Def && !isUnknown(def) && !isUnknown(k.Def) {
			continue
		}
		isOurs := k.From == schema.FromDerived || other.Kind().From == schema.FromDerived // perhaps of another window
		for _, s := range m.Stats {
			x, ok := other.Stats.Get(s.Name())
			isStd := s.Is("std")
			switch {
			case !ok:
			case !same(s.Value, x) && !(isStd && sameDeviation(s.Value, x, a, m.N)):
				if !isOurs {
					return false
				}
			default:
				do(&k, isStd, x)
			}
		}
	}
	return true
}

// same reports that two numbers are equal to a millionth.
func same(x, y float64) bool { return math.Abs(x-y) <= tolerance*math.Max(math.Abs(x), math.Abs(y)) }

// sameDeviation reports that two standard deviations of a point's metric are of one sample of n values, 0 for as many
// as there were requests: some tools divide by n − 1.
func sameDeviation(x, y float64, p *schema.Point, n int) bool {
	size := float64(n)
	if n == 0 {
		size, _ = p.Value("requests_ok", "value")
	}
	between := math.Max(x, y) / math.Min(x, y)
	return size > 1 && math.Abs(between-math.Sqrt(size/(size-1))) <= 1e-5
}

// follows reports a metric whose numbers follow from those of another.
func follows(k *schema.Kind) bool {
	return k.From == schema.FromDerived || k.Def == schema.DefRecipMeanTPOT || k.Def == schema.DefRecipMedianTPOT
}

// rates follow from one duration where all requests have the same lengths, and counts are equal in different
// measurements of one workload.
var (
	rates  = []string{"rps", "output_tps", "total_tps", "duration_s"}
	counts = []string{"isl", "osl", "requests_ok", "requests_failed", "error_rate", "correct_rate"}
)

func isCount(metric string) bool { return slices.Contains(counts, metric) }

// significant counts the significant digits of a number, up to the seven that a stored document keeps.
func significant(x float64) int {
	text, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', 6, 64), "e")
	return max(1, len(strings.TrimRight(strings.Replace(text, ".", "", 1), "0")))
}

// sameSetup reports that two points state nothing different of their workload and conditions. A reader leaves out what
// is a tool's default, so two points of one format must have all dimensions in common; tables are of many makes.
func sameSetup(p, q *schema.Point) bool {
	a, b := &p.Key, &q.Key
	isOneFormat := p.Source.Format == q.Source.Format && p.Source.Format != "" && a.Tool != schema.ToolTable
	return SameWorkload(p, q) && (a.Dataset == "" || b.Dataset == "" || a.Dataset == b.Dataset) &&
		SameWhereStated(p.Conditions, q.Conditions) && (!isOneFormat || maps.Equal(ownDims(p), ownDims(q)))
}

// SameWorkload reports that two points of one tool state no different lengths, loads and dimensions.
func SameWorkload(p, q *schema.Point) bool {
	return sameTool(&p.Key, &q.Key) && sameLoad(&p.Key, &q.Key) && SameWhereStated(ownDims(p), ownDims(q))
}

// ownDims are the dimensions of a point without those that tell it apart from others by the names of their files.
func ownDims(p *schema.Point) map[string]string {
	dims, isOwn := p.Key.Dims, false
	for name, from := range p.Stated {
		dim, isMade := strings.CutPrefix(name, schema.StatedDim)
		isAdded := from == string(schema.FromDerived) || from == string(schema.FromRows)
		if isMade && isAdded || name == schema.DimLabel && from == string(schema.FromPath) {
			if !isOwn {
				dims, isOwn = maps.Clone(dims), true
			}
			delete(dims, dim)
		}
	}
	return dims
}

// sameTool reports that two keys state no different tools.
func sameTool(a, b *schema.Key) bool {
	return a.Tool == b.Tool || a.Tool == schema.ToolTable || b.Tool == schema.ToolTable
}

// sameLoad reports that two keys state no different lengths and loads.
func sameLoad(a, b *schema.Key) bool {
	same := func(x, y *float64) bool { return x == nil || y == nil || *x == *y }
	return same(a.ISL, b.ISL) && same(a.OSL, b.OSL) && same(a.Concurrency, b.Concurrency) && same(a.Rate, b.Rate)
}

// SameWhereStated reports that two lists of texts have the same under each name that both have.
func SameWhereStated(a, b map[string]string) bool {
	for name, v := range a {
		if w, has := b[name]; has && v != w {
			return false
		}
	}
	return true
}

// Richness orders copies: measured requests before statistics, then by how many there are.
func Richness(p *schema.Point) int {
	n := 0
	for i := range p.Metrics {
		n += len(p.Metrics[i].Stats)
		if p.Metrics[i].Kind().From == schema.FromRecomputed {
			n += 100
		}
	}
	return n
}

// Digits counts the significant digits of all numbers of a point.
func Digits(p *schema.Point) (n int) {
	for i := range p.Metrics {
		for _, s := range p.Metrics[i].Stats {
			n += significant(s.Value)
		}
	}
	return n
}

// Numbers identifies the centres of all metrics of a point: two points with equal ones have the same text.
func Numbers(p *schema.Point) string {
	hash, _ := numbersOf(p)
	return hash
}

// Number is a number as it counts for identity: to the seven digits that a stored document keeps.
func Number(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }

// IsFraction reports a number that two measurements do not share by chance.
func IsFraction(x float64) bool { return x != math.Trunc(x) && math.Trunc(x*1000) != x*1000 }

// numbersOf is a hash of the centres of all metrics of a point; other statistics are computed again when a document is
// read. strong reports that enough of them are fractions, and none follows from another, for no two measurements to
// share them.
func numbersOf(p *schema.Point) (hash string, strong bool) {
	const enoughFractions = 3 // how many equal fractions make two measurements one
	var text []byte           // name, definition, statistic and number of each, one a line
	fractions := 0
	for i := range p.Metrics {
		k := p.Metrics[i].Kind()
		for _, s := range p.Metrics[i].Stats {
			if !slices.Contains(schema.CenterStats(), s.Name()) {
				continue
			}
			text = fmt.Appendf(text, "%s %s %s %.7g\n", k.Name, k.Def, s.Name(), s.Value)
			if IsFraction(s.Value) && !isCount(k.Name) && !follows(&k) {
				fractions++
			}
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12]), fractions >= enoughFractions
}

// enoughDigits is how many digits of its points in all make a file the copy of another.
const enoughDigits = 12

// precise is how many digits a score has that is no count of a few hundred.
const precise = 6

// Content is a hash of everything that a reading measured, the same for the same numbers in another form; ok is false
// where there is too little of it to know a copy by.
func Content(r *schema.Reading) (hash string, ok bool) {
	var parts []string
	digits := 0
	for i := range r.Points {
		numbers, strong := numbersOf(&r.Points[i])
		for _, m := range r.Points[i].Metrics { // too few numbers to know it by: deviations count, and digits of all
			k := m.Kind()
			for _, s := range m.Stats {
				switch {
				case strong:
				case s.Is("std"):
					numbers += " " + Number(s.Value)
				case s.Value != math.Trunc(s.Value) && !isCount(k.Name) && !follows(&k):
					digits += significant(s.Value)
				}
			}
		}
		ok = ok || strong || digits >= enoughDigits
		parts = append(parts, numbers)
	}
	for i := range r.Scores {
		s := &r.Scores[i]
		x, _ := s.Value.Get()
		se, _ := s.Stderr.Get()
		if IsFraction(x) { // 345 of 400 is 207 of 240
			digits += significant(x)
			ok = ok || significant(x) >= precise || digits >= enoughDigits
		}
		numbers := fmt.Sprint(Number(x), Number(se), s.N, s.Outcomes != nil)
		parts = append(parts, strings.Join([]string{s.Task, s.Metric, s.Filter, s.Version, numbers}, " "))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:12]), ok
}
