package ingest

import (
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// dropConsole drops what a tool printed where its own file of the same run is among the sources, and takes from the
// arguments that were printed before it what the file does not state: lengths above all.
func dropConsole(sources []*source) {
	type place struct {
		src   *source
		point int
	}
	files := map[string][]place{} // by what both must have, rounded as it is printed
	for _, s := range sources {
		for i := range s.reading.Points {
			if key := printedKey(&s.reading.Points[i]); key != "" && !isPrinted(s) {
				files[key] = append(files[key], place{s, i})
			}
		}
	}
	for _, s := range sources {
		if !isPrinted(s) {
			continue
		}
		others := map[int]*source{}
		for i := range s.reading.Points {
			q := &s.reading.Points[i]
			for _, at := range files[printedKey(q)] {
				p := &at.src.reading.Points[at.point]
				if printedAgrees(p, q) && mayBeOne(&at.src.reading.Facts, &s.reading.Facts) {
					learn(at.src, p, s, q)
					others[i] = at.src
					break
				}
			}
		}
		if len(others) > 0 {
			remove(s, others)
		}
	}
}

func isPrinted(s *source) bool { return isConsole(s.reading.Format) }

// printedKey is the throughput of a point to the two decimals that tools print, or that it failed; "" where there is
// none.
func printedKey(p *schema.Point) string {
	tps, ok := p.Value("output_tps", "value")
	switch {
	case ok:
		return fmt.Sprintf("%s %.2f", p.Key.Tool, tps)
	case p.Status == schema.StatusFailed:
		return p.Key.Tool + " failed"
	}
	return ""
}

// printedAgrees reports that every number that was printed is the file's, rounded.
func printedAgrees(file, printed *schema.Point) bool {
	if !sameLoadOf(&file.Key, &printed.Key) {
		return false
	}
	if printed.Status == schema.StatusFailed { // there is nothing else to know it by
		return strings.HasPrefix(file.Source.Path, path.Dir(printed.Source.Path)+"/")
	}
	n := 0
	for name, m := range printed.EachMetric() {
		if _, has := file.Definition(name); !has || m.From != "" || name == "tps_user" { // which follows from a rounded TPOT
			continue
		}
		for _, s := range m.Stats {
			x, ok := file.Value(name, s.Name)
			if !ok || s.Name != "mean" && s.Name != "value" { // tools compute percentiles in several ways
				continue
			}
			if math.Abs(x-s.Value) > .006+1e-4*math.Abs(x) {
				return false
			}
			n++
		}
	}
	return n >= 4
}

func sameLoadOf(a, b *schema.Key) bool {
	same := func(x, y *float64) bool { return x == nil || y == nil || *x == *y }
	return same(a.Concurrency, b.Concurrency) && same(a.Rate, b.Rate) && same(a.ISL, b.ISL) && same(a.OSL, b.OSL)
}
