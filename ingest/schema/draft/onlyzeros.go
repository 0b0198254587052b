package draft

import (
	"maps"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// withoutNumber leaves a failed point without numbers, and fails one whose latencies and rates are all 0: a client that
// ended early or received nothing writes them. It was attempted, which is not the same as one that nobody measured.
func (d *Draft) withoutNumber() {
	switch d.Status {
	case schema.StatusFailed:
		d.Fail("no request completed")
		return
	case schema.StatusInvalid:
		return
	}
	var zeros []string
	for _, name := range slices.Sorted(maps.Keys(d.Metrics)) {
		stats := d.Metrics[name].Stats
		if len(stats) == 0 || !isMeasurement(name) || name == "isl" || name == "osl" {
			continue // counts and lengths say what was sent, not how fast
		}
		for _, s := range stats {
			if s.Value != 0 {
				return
			}
		}
		if !strings.Contains(distributions, " "+name+" ") {
			return // a metric whose 0 is a number
		}
		zeros = append(zeros, name)
	}
	if len(zeros) == 0 {
		return
	}
	d.Fail(zeroWhy)
	p := d.Problem(schema.SevWarning, "only-zeros", d.at, "0 for every latency and rate: "+strings.Join(zeros, ", "))
	p.Expected, p.Used = "a measurement above 0", "an attempted measurement without a number"
	p.Hint = "the client may have ended early, or received no answers; look at its log and the server's"
}
