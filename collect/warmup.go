package collect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// warmOSL is the number of output tokens of a warm-up request: enough for a decode step.
const warmOSL = 4

// warm sends one request of every prompt length of the plan, so that work that a server does once for each shape,
// such as compiling kernels and capturing traces, is not measured in the first request of the first tool: most tools
// send few warm-up requests or none. A failure is only reported: the measurements will fail too.
func (s *session) warm(ctx context.Context) error {
	if s.plan.NoWarmup || s.end.URL == "" || s.end.Stack.Engine == server.SimEngine {
		return nil
	}
	var lengths []int
	for _, w := range s.plan.Workloads {
		if w.ISL > 0 && !slices.Contains(lengths, w.ISL) {
			lengths = append(lengths, w.ISL)
		}
	}
	if len(lengths) == 0 {
		return nil
	}
	began := time.Now()
	failed := ""
	for _, isl := range lengths {
		out, err := builtin.Run(ctx, builtin.Load{
			URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey,
			ISL: isl, OSL: warmOSL, Concurrency: 1, Requests: 1, Fit: true, Fits: &s.fits,
			Seed: s.plan.Seed, Timeout: s.limit(step{Item: plan.Item{Once: true}}),
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && out.Set().OK == 0 {
			err = fmt.Errorf("ISL %d: %s", isl, firstError(out))
		}
		if err != nil {
			failed = err.Error()
		}
	}
	text := fmt.Sprintf("one request of each prompt length (%d)", len(lengths))
	s.report(Event{Run: s.id, Step: "warm-up", Text: text, Took: time.Since(began), Err: failed, Final: true})
	return s.log("warm-up", "", "", failed)
}
