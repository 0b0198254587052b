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
	// FailOn is what makes a release unfit; --fail-on overrides it.
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

// Decision is what a person decided: see ttreport help decisions.
type Decision struct {
	ID      string `yaml:"id"`
	Kind    string `yaml:"kind"`
	Select  Select `yaml:"select"`
	Release string `yaml:"release"`
	Reason  string `yaml:"reason"`
	Owner   string `yaml:"owner"`
	Expires string `yaml:"expires"`
	By      string `yaml:"by"`
}

// Select says what a decision speaks of; globs, and what is left out selects everything.
type Select struct {
	Verdict  string `yaml:"verdict"`
	Lint     string `yaml:"lint"`
	Run      string `yaml:"run"`
	Model    string `yaml:"model"`
	Device   string `yaml:"device"`
	Workload string `yaml:"workload"`
	Tool     string `yaml:"tool"`
	Metric   string `yaml:"metric"`
	Task     string `yaml:"task"`
	Level    string `yaml:"level"`
}

// Policy is what the configuration says of judging; now decides which decisions have expired.
func (w *Workspace) Policy(now time.Time) (*decision.Policy, error) {
	p := &decision.Policy{Effects: map[string]float64{}, EvalPoint: w.Config.Judge.EvalPoints, Today: now}
	for metric, v := range w.Config.Judge.Effects {
		if _, ok := schema.MetricByName(metric); !ok {
			return nil, fmt.Errorf("%s: judge: effects: no metric is called %q; there are %s", ConfigName, metric, strings.Join(judge.PrimaryMetrics(), ", "))
		}
		p.Effects[metric] = float64(v)
	}
	if w.Config.Judge.EvalPoints < 0 || w.Config.Judge.EvalPoints >= 100 {
		return nil, fmt.Errorf("%s: judge: eval_points: %g is no number of percentage points", ConfigName, w.Config.Judge.EvalPoints)
	}
	for _, d := range w.Config.Decisions {
		p.Decisions = append(p.Decisions, decision.Decision{ID: d.ID, Kind: schema.DecisionKind(d.Kind), Select: decision.Select(d.Select), Release: d.Release, Reason: d.Reason, Owner: d.Owner, Expires: d.Expires, By: d.By})
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

// FailOn is what the configuration says a gate fails on; nil: the default.
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
