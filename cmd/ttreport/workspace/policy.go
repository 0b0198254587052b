package workspace

import (
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Judge is the section that says which changes matter.
type Judge struct {
	// Effects are the least changes that matter, by metric, as "5%" or 0.05.
	Effects map[string]Percent `yaml:"effects"`
	// EvalPoints is the least change of an eval that matters, in percentage points.
	EvalPoints float64 `yaml:"eval_points"`
	// FailOn is what fails a release; --fail-on overrides it.
	FailOn []string `yaml:"fail_on"`
}

// Percent is a share written as 5% or 0.05.
type Percent float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Percent) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	scale := 1.
	if t, ok := strings.CutSuffix(s, "%"); ok {
		s, scale = strings.TrimSpace(t), .01
	}
	var v float64
	if _, err := fmt.Sscanf(s, "%g", &v); err != nil || v <= 0 || v*scale >= 10 {
		return fmt.Errorf("%q is no share such as 5%% or 0.05", text)
	}
	*p = Percent(v * scale)
	return nil
}

// Policy is which changes matter and what people decided; now decides which decisions have expired.
func (w *Workspace) Policy(now time.Time) (*decision.Policy, error) {
	j := w.Config.Judge
	p := &decision.Policy{
		Effects: map[string]float64{}, EvalPoint: j.EvalPoints, Today: now, Decisions: w.Config.Decisions,
	}
	for metric, v := range j.Effects {
		if _, ok := schema.MetricByName(metric); !ok {
			return nil, fmt.Errorf("%s: judge: effects: no metric is called %q; there are %s",
				ConfigName, metric, strings.Join(judge.PrimaryMetrics(), ", "))
		}
		p.Effects[metric] = float64(v)
	}
	if j.EvalPoints < 0 || j.EvalPoints >= 100 {
		return nil, fmt.Errorf("%s: judge: eval_points: %g is no number of percentage points", ConfigName, j.EvalPoints)
	}
	var ids []string
	for _, id := range lint.IDs() {
		ids = append(ids, string(id))
	}
	if err := p.Check(ids); err != nil {
		return nil, fmt.Errorf("%s: %w", ConfigName, err)
	}
	return p, nil
}

// FailOn is what the configuration says a gate fails on.
func (w *Workspace) FailOn() (gate.FailOn, error) {
	if len(w.Config.Judge.FailOn) == 0 {
		return gate.DefaultFailOn(), nil
	}
	on, err := gate.ParseFailOn(strings.Join(w.Config.Judge.FailOn, ","))
	if err != nil {
		return nil, fmt.Errorf("%s: judge: fail_on: %s", ConfigName, strings.TrimPrefix(err.Error(), "--fail-on "))
	}
	return on, nil
}
