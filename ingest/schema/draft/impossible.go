package draft

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// slack is how far rounding may carry a number beyond its bound: tools write two decimals.
const slack = 1.001

// impossible voids the numbers that cannot be: counts below nothing, a mean outside its extremes, percentiles that
// fall, a first token after the end of the answer. One of them is wrong, and nothing says which.
func (d *Draft) impossible() {
	for _, name := range []string{"requests_ok", "requests_failed", "isl", "osl"} {
		m := d.Metrics[name]
		for _, s := range m.Stats {
			if s.Value < 0 {
				d.void(fmt.Sprintf("%s of %.6g", name, s.Value), "no less than nothing", name)
				break
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Metrics)) {
		if a, b := outOfOrder(d.Metrics[name].Stats); a.Name != "" {
			d.void(fmt.Sprintf("%s: %s %.6g above %s %.6g", name, a.Name, a.Value, b.Name, b.Value),
				"a "+a.Name+" of no more than the "+b.Name, name)
		}
	}
	for _, stat := range []string{"mean", "median", "min", "max"} {
		ttft, a := d.Metrics["ttft"].Stats.Get(stat)
		e2el, b := d.Metrics["e2el"].Stats.Get(stat)
		if a && b && ttft > slack*e2el && e2el > 0 {
			d.void(fmt.Sprintf("%s TTFT of %.6g ms and %s E2EL of %.6g ms", stat, ttft, stat, e2el),
				"the first token before the end of the answer", "ttft", "e2el")
			break
		}
	}
}

// outOfOrder finds two statistics of a distribution that cannot both be: the first ought not to be larger.
func outOfOrder(s schema.Stats) (a, b schema.Stat) {
	for _, pair := range [][2]string{
		{"mean", "max"}, {"min", "mean"}, {"median", "max"}, {"min", "median"}, {"median", "p90"}, {"median", "p95"},
		{"median", "p99"}, {"p90", "p95"}, {"p90", "p99"}, {"p95", "p99"}, {"p99", "max"},
	} {
		x, ok := s.Get(pair[0])
		y, ok2 := s.Get(pair[1])
		if ok && ok2 && x > slack*y && x-y > 1e-3 {
			return schema.Stat{Name: pair[0], Value: x}, schema.Stat{Name: pair[1], Value: y}
		}
	}
	return a, b
}

// void takes numbers out of the point and says why.
func (d *Draft) void(found, expected string, metrics ...string) {
	p := d.Problem(schema.SevError, "impossible", d.at, found)
	p.Expected, p.Used, p.Hint = expected, "no number of it", "the file was edited or damaged, or the tool has a defect"
	for _, name := range metrics {
		m := d.Metrics[name]
		d.Metrics[name] = schema.Metric{Unit: m.Unit, Def: m.Def, Why: "the file has numbers that cannot be: " + found}
	}
}
