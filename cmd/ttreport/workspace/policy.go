package workspace

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Judge is the section that says which changes matter, and what fails a release; --fail-on overrides the latter.
type Judge struct {
	decision.Thresholds `yaml:",inline"`
	FailOn              []string `yaml:"fail_on"`
}

// Policy is which changes matter and what people decided; now decides which decisions have expired.
func (w *Workspace) Policy(now time.Time) (*decision.Policy, error) {
	p, err := decision.NewPolicy(w.Config.Judge.Thresholds, w.Config.Decisions, now)
	switch {
	case errors.Is(err, decision.ErrNoMetric):
		return nil, fmt.Errorf("%s: judge: %w; there are %s",
			ConfigName, err, strings.Join(judge.PrimaryMetrics(), ", "))
	case err != nil:
		return nil, fmt.Errorf("%s: judge: %w", ConfigName, err)
	}
	var lints []string
	for _, id := range lint.IDs() {
		lints = append(lints, string(id))
	}
	if err := p.Check(lints); err != nil {
		return nil, fmt.Errorf("%s: %w", ConfigName, err)
	}
	return p, nil
}

// FailOn is what the configuration says a gate fails on; nil where it says nothing.
func (w *Workspace) FailOn() (gate.FailOn, error) {
	if w.Config.Judge.FailOn == nil {
		return nil, nil
	}
	on, err := gate.ParseFailOn(strings.Join(w.Config.Judge.FailOn, ","))
	if err != nil {
		return nil, fmt.Errorf("%s: judge: fail_on: %s", ConfigName, strings.TrimPrefix(err.Error(), "--fail-on "))
	}
	return on, nil
}
