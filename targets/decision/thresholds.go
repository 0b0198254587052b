package decision

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Thresholds are the least changes that matter, as ttreport.yaml states them.
type Thresholds struct {
	Effects    map[string]Percent `yaml:"effects"`     // by metric, as "5%" or 0.05
	EvalPoints float64            `yaml:"eval_points"` // of an eval, in percentage points
	Targets    TargetRule         `yaml:"targets"`     // what misses a target; "" for the default
}

// TargetRule says when a number beyond the limit of its target misses it.
type TargetRule string

// Rules of targets. The default is by value, as those who agreed on a tolerance read it: a release must show that it
// meets a target. By interval, a number misses only if chance cannot explain it.
const (
	ByValue    TargetRule = "value"
	ByInterval TargetRule = "interval"
)

// MissesByInterval reports whether a target is missed only where the whole interval of the number is beyond its limit.
func (p *Policy) MissesByInterval() bool { return p != nil && p.TargetRule == ByInterval }

// Percent is a share that is written as 5% or 0.05.
type Percent float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Percent) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	scale := 1.
	if t, ok := strings.CutSuffix(s, "%"); ok {
		s, scale = strings.TrimSpace(t), .01
	}
	var v float64
	if _, err := fmt.Sscanf(s, "%g", &v); err != nil || !(v > 0) || v*scale >= 10 {
		return fmt.Errorf("%q is no share such as 5%% or 0.05", text)
	}
	*p = Percent(v * scale)
	return nil
}

// ErrNoMetric is returned for the name of a metric that does not exist.
var ErrNoMetric = errors.New("no metric is called")

// NewPolicy is the policy of thresholds and decisions; today decides which decisions have expired. The decisions are
// not checked: [Policy.Check] does.
func NewPolicy(t Thresholds, list []Decision, today time.Time) (*Policy, error) {
	if t.Targets != "" && t.Targets != ByValue && t.Targets != ByInterval {
		return nil, fmt.Errorf("targets: %q is none of %s, %s", t.Targets, ByValue, ByInterval)
	}
	p := &Policy{
		Effects: map[string]float64{}, EvalPoint: t.EvalPoints, TargetRule: t.Targets, Decisions: list, Today: today,
	}
	for metric, v := range t.Effects {
		if _, ok := schema.MetricByName(metric); !ok {
			return nil, fmt.Errorf("effects: %w %q", ErrNoMetric, metric)
		}
		p.Effects[metric] = float64(v)
	}
	if t.EvalPoints < 0 || t.EvalPoints >= 100 {
		return nil, fmt.Errorf("eval_points: %g is no number of percentage points", t.EvalPoints)
	}
	return p, nil
}
