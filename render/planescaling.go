package render

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Scaling is one value over one size of the load, a line a configuration.
type Scaling struct {
	Title string        `json:"title"` // "TTFT by ISL"
	X     string        `json:"x"`     // "ISL, tok; OSL 128, concurrency 1"
	Y     string        `json:"y"`     // "TTFT, ms, lower is better"
	Lines []ScalingLine `json:"lines"`
}

// ScalingLine is a configuration.
type ScalingLine struct {
	Line   int          `json:"line"`   // of the plane, for its look
	Points [][2]float64 `json:"points"` // by x
}

// scalingKind is what a chart of sizes is made of.
type scalingKind struct {
	title, x, y string
	value       int
	over, fixed func(PlanePoint) *float64
	fixedName   string
}

// scaling adds a chart for each size that was varied over at least three values while the others stayed the same.
func (p *Plane) scaling() {
	isl, osl := func(x PlanePoint) *float64 { return x.isl }, func(x PlanePoint) *float64 { return x.osl }
	for _, k := range []scalingKind{
		{"TTFT by ISL", "ISL, tok", "TTFT, ms, lower is better", planeTTFT, isl, osl, "OSL"},
		{"E2EL by OSL", "OSL, tok", "E2EL, ms, lower is better", planeE2EL, osl, isl, "ISL"},
	} {
		if s, ok := p.scalingOf(k); ok {
			p.Scaling = append(p.Scaling, s)
		}
	}
	if s, ok := p.byConcurrency(); ok {
		p.Scaling = append(p.Scaling, s)
	}
}

// fixed is what stays the same in a chart.
type fixed struct {
	size       float64
	load, rest string
}

// scalingOf finds the other size and the load at which a size was varied most, lower loads first.
func (p *Plane) scalingOf(k scalingKind) (Scaling, bool) {
	const fewest = 3
	by := map[fixed]map[string]map[float64]float64{} // by what is fixed, line's name and size
	first, at := map[string]int{}, map[fixed]float64{}
	for i, l := range p.Lines {
		if _, ok := first[l.Name]; !ok {
			first[l.Name] = i
		}
		for _, x := range l.Points {
			size, other, v := k.over(x), k.fixed(x), x.Values[k.value]
			if size == nil || other == nil || v == nil {
				continue
			}
			f := fixed{*other, x.Load, x.rest}
			if by[f] == nil {
				by[f], at[f] = map[string]map[float64]float64{}, x.At
			}
			if by[f][l.Name] == nil {
				by[f][l.Name] = map[float64]float64{}
			}
			by[f][l.Name][*size] = *v
		}
	}
	count := func(f fixed) int { return drawnSizes(by[f], fewest) }
	order := slices.SortedFunc(maps.Keys(by), func(a, b fixed) int {
		return cmp.Or(cmp.Compare(count(b), count(a)), cmp.Compare(at[a], at[b]), cmp.Compare(a.size, b.size),
			strings.Compare(a.load, b.load), strings.Compare(a.rest, b.rest))
	})
	if len(order) == 0 || count(order[0]) == 0 {
		return Scaling{}, false
	}
	f := order[0]
	s := Scaling{Title: k.title, Y: k.y, X: k.x + "; " + k.fixedName + " " + whole(f.size) + ", " + loadText(f.load)}
	if f.rest != "" {
		s.X += ", " + f.rest
	}
	for _, name := range slices.Sorted(maps.Keys(by[f])) {
		if sizes := by[f][name]; len(sizes) >= fewest {
			s.Lines = append(s.Lines, ScalingLine{first[name], bySize(sizes)})
		}
	}
	return s, true
}

// drawnSizes counts the points of the lines that have enough of them.
func drawnSizes(lines map[string]map[float64]float64, fewest int) (n int) {
	for _, sizes := range lines {
		if len(sizes) >= fewest {
			n += len(sizes)
		}
	}
	return n
}

// bySize are the points of a line.
func bySize(sizes map[float64]float64) (out [][2]float64) {
	for _, x := range slices.Sorted(maps.Keys(sizes)) {
		out = append(out, [2]float64{x, sizes[x]})
	}
	return out
}

// byConcurrency is output over concurrency in the workload that is drawn.
func (p *Plane) byConcurrency() (Scaling, bool) {
	const fewest = 3
	s := Scaling{Title: "Output by concurrency", X: "concurrency; " + p.Workloads[0],
		Y: "output, tok/s, higher is better"}
	for i, l := range p.Lines {
		if l.Workload != p.Workloads[0] || len(l.Points) < fewest || strings.HasSuffix(l.Points[0].Load, "/s") {
			continue
		}
		line := ScalingLine{Line: i}
		for _, x := range l.Points {
			line.Points = append(line.Points, [2]float64{x.At, *x.Values[planeOutput]})
		}
		s.Lines = append(s.Lines, line)
	}
	return s, len(s.Lines) > 0
}
