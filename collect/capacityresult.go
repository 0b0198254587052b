package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/ttreport/ttreport/collect/capacity"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// found is the result of a search, whose steps are of a unit: one request at a time, or a part of a rate.
type found struct {
	answer capacity.Answer
	probes []probed
	unit   float64
}

// holds is the largest concurrency or rate that held, fails the smallest that did not, 0 for none.
func (f found) holds() float64 { return f.exact(f.answer.Holds) }
func (f found) fails() float64 { return f.exact(f.answer.Fails) }

func (f found) exact(steps int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(steps)*f.unit, 'g', 5, 64), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// searchFailed ends a search without a result. Where its time ended first, what is known is said; it is no capacity,
// which history would compare with those of whole searches.
func (s *session) searchFailed(ctx, limited context.Context, st step, f found, err error) error {
	if ctx.Err() == nil && limited.Err() != nil {
		return s.failed(st, fmt.Errorf("%w (%s)%s", process.ErrLimit, s.limit(st), f.known(st.Load)))
	}
	return s.loadFailed(ctx, limited, st, err)
}

// known says what a search knows that did not end: "; by then 41.5 req/s held, and 43.8 did not".
func (f found) known(w plan.Workload) string {
	_, unit := metricOf(w)
	switch holds, fails := f.holds(), f.fails(); {
	case holds > 0 && fails > 0:
		return fmt.Sprintf("; by then %.4g %s held, and %.4g did not", holds, unit, fails)
	case holds > 0:
		return fmt.Sprintf("; by then %.4g %s held, and no larger one was measured", holds, unit)
	case fails > 0:
		return fmt.Sprintf("; by then %.4g %s did not hold", fails, unit)
	}
	return ""
}

// capacityDone writes the result of a search: metrics of our own, and every measurement behind them.
func (s *session) capacityDone(st step, f found) error {
	type metric struct {
		Value  float64 `json:"value"`
		Unit   string  `json:"unit"`
		Better string  `json:"better,omitempty"`
	}
	var at probed // the slowest of the measurements of the answer
	for i, p := range f.probes {
		if f.answer.Probes[i].Concurrency == f.answer.Holds && (at.Requests == 0 || p.OutputTPS < at.OutputTPS) {
			at = p
		}
	}
	name, unit := metricOf(st.Load)
	raw, err := json.MarshalIndent(map[string]any{
		"metrics": map[string]metric{
			name:         {f.holds(), unit, "higher"},
			"duration_s": {s.now().Sub(st.began).Seconds(), "s", ""},
			"output_tps": {at.OutputTPS, "tok/s", ""}, "goodput_rps": {at.Goodput, "req/s", ""},
		},
		"slo": st.Load.SLO.String(), "holds": f.holds(), "fails": f.fails(), "settled": f.answer.Settled, "probes": f.probes,
	}, "", " ")
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	side := manifest.Sidecar{
		Result: st.Name + ".json", Tool: builtin.Name, ToolVersion: builtin.Version, Workload: st.Load.Manifest(),
		Argv: s.argv(st.Load, s.plan.Seed), Start: st.began.UTC(), End: s.now().UTC(),
		Conditions: map[string]string{"seed": strconv.FormatUint(s.plan.Seed, 10)}, Client: f.client(),
	}
	if err := s.store(side.Result, append(raw, '\n'), side); err != nil {
		return err
	}
	s.out.Points = append(s.out.Points, PointOutcome{Workload: st.Load, TTFT: at.TTFT, TPOT: at.TPOT})
	e := s.event(st)
	e.Took, e.Final, e.TTFT, e.TPOT = s.now().Sub(st.began), true, at.TTFT, at.TPOT
	e.Note = fmt.Sprintf("holds at %.4g", f.holds())
	if f.answer.Fails > 0 {
		e.Note += fmt.Sprintf(", not at %.4g", f.fails())
	}
	if st.Load.FindRate {
		e.Note += " req/s"
	}
	if !f.answer.Settled {
		e.Note += "; measurements near the limit contradict each other"
	}
	s.report(e)
	return s.log("point-done", st.Name, "raw/"+side.Result, "")
}

// client is what a search says about its answer.
func (f found) client() map[string]string {
	exact := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	out := map[string]string{schema.ClientSettled: "0", schema.ClientHolds: exact(f.holds())}
	if f.answer.Settled {
		out[schema.ClientSettled] = "1"
	}
	if f.answer.Fails > 0 {
		out[schema.ClientFails] = exact(f.fails())
	}
	return out
}

// metricOf is the name and the unit of what a search finds.
func metricOf(w plan.Workload) (name, unit string) {
	if w.FindRate {
		return schema.RateMetric, "req/s"
	}
	return schema.CapacityMetric, "requests"
}
