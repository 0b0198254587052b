package library

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Kinds of contradictions.
const (
	Unattainable     = "unattainable"      // by any machine that meets the neighbours
	NeedsNoTTFT      = "needs-no-ttft"     // only a TTFT of zero would do
	LevelsInverted   = "tiers-inverted"    // a harder level asks for less
	UnmeasuredMetric = "unmeasured-metric" // no tool measures it
)

// Contradiction is something that a target says and its own neighbours rule out.
type Contradiction struct {
	Model, Device string
	Code          string          // kind
	Severity      schema.Severity // error for unattainable, warning for the others
	Target        schema.Target
	Text          string // one sentence with the arithmetic
}

// Lint looks for targets that cannot be met, or that demand less than they seem to: errors first.
func (l *Library) Lint() (out []Contradiction) {
	for _, e := range l.List() {
		out = append(out, LintEntry(e)...)
	}
	slices.SortStableFunc(out, func(a, b Contradiction) int {
		return slices.Index(schema.Severities(), a.Severity) - slices.Index(schema.Severities(), b.Severity)
	})
	return out
}

// at identifies the targets of one workload and level.
type at struct{ key, level string }

// LintEntry looks for contradictions among the targets of one model and device.
func LintEntry(e Entry) []Contradiction {
	by := map[at]map[string]schema.Target{}
	for _, t := range e.Targets {
		id := at{t.Key.String(), t.Level}
		if by[id] == nil {
			by[id] = map[string]schema.Target{}
		}
		by[id][t.Metric] = t
	}
	var out []Contradiction
	add := func(severity schema.Severity, code string, t schema.Target, format string, args ...any) {
		out = append(out, Contradiction{e.Model, e.Device, code, severity, t, fmt.Sprintf(format, args...)})
	}
	for _, t := range e.Targets {
		if t.Key.IsEval() {
			continue
		}
		near := by[at{t.Key.String(), t.Level}]
		if info, known := schema.MetricByName(t.Metric); !known || info.Better == schema.Neither {
			add(schema.SevWarning, UnmeasuredMetric, t, "no tool measures %s: this target grades nothing", t.Metric)
			continue
		}
		if t.Metric == "output_tps" {
			throughput(t, near, add)
		}
		if inv, ok := stricter(t, by); ok {
			add(schema.SevWarning, LevelsInverted, t, "%s asks for %s %s and the more demanding %s for %s: a "+
				"value can meet the harder one alone", t.Level, t.Metric, num(t.Value), inv.Level, num(inv.Value))
		}
	}
	return out
}

// report takes one contradiction.
type report func(severity schema.Severity, code string, t schema.Target, format string, args ...any)

// throughput holds a target rate against what its own users can take.
func throughput(t schema.Target, near map[string]schema.Target, add report) {
	user, hasUser := near["tps_user"]
	if !hasUser || t.Key.Concurrency == nil {
		return
	}
	c := *t.Key.Concurrency
	if ceiling := user.Value * c; t.Value > ceiling*(1+1e-9) {
		add(schema.SevError, Unattainable, t, "tput %s tok/s is %s times %s tok/s/user × %s users = %s tok/s",
			num(t.Value), num(t.Value/ceiling), num(user.Value), num(c), num(ceiling))
		return
	}
	ttft, hasTTFT := near["ttft"]
	if !hasTTFT || t.Key.OSL == nil || *t.Key.OSL < 2 {
		return
	}
	osl := *t.Key.OSL
	seconds := ttft.Value/1000 + (osl-1)/user.Value
	if reach := c * osl / seconds; t.Value > reach*(1+1e-9) {
		add(schema.SevWarning, NeedsNoTTFT, t, "tput %s tok/s cannot be met by meeting the others exactly: %s "+
			"users × %s tokens / (TTFT %s s + %s / %s tok/s) = %s tok/s", num(t.Value), num(c), num(osl),
			num(ttft.Value/1000), num(osl-1), num(user.Value), num(reach))
	}
}

// stricter finds a more demanding level with a less demanding value of the same number.
func stricter(t schema.Target, by map[at]map[string]schema.Target) (schema.Target, bool) {
	levels := schema.Levels()
	info, _ := schema.MetricByName(t.Metric)
	own := slices.Index(levels, t.Level)
	if own < 0 {
		return schema.Target{}, false
	}
	for _, l := range levels[own+1:] {
		o, ok := by[at{t.Key.String(), l}][t.Metric]
		if ok && o.Stat == t.Stat && (info.Better == schema.Lower && o.Value > t.Value ||
			info.Better == schema.Higher && o.Value < t.Value) {
			return o, true
		}
	}
	return schema.Target{}, false
}

// num is a number of a message, with four digits.
func num(v float64) string { return fmt.Sprintf("%.4g", v) }
