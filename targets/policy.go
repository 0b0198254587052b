package targets

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Policy is what people set: which changes matter, and what they decided.
type Policy struct {
	Effects   map[string]float64 // relative, by metric; the default is [DefaultEffect]
	EvalPoint float64            // percentage points of an eval that matter; 0: the default of 5
	Decisions []Decision
	Today     time.Time // for the expiry of decisions; zero: none expires

	copies map[*columns.RunHead]copied // runs that count for nothing because they stand there already
	runs   map[string]bool             // that exist
}

// beside is the policy beside a history, which it then knows the copies of.
func (p *Policy) beside(c *columns.Columns) *Policy {
	out := Policy{}
	if p != nil {
		out = *p
	}
	out.copies, out.runs = copies(c), map[string]bool{}
	for i := range c.Runs {
		out.runs[c.Runs[i].ID] = true
	}
	return &out
}

// DefaultEffect is the least relative change of a mean or a rate that matters.
const DefaultEffect = .05

// Effect is the least relative change of a metric that matters.
func (p *Policy) Effect(metric string) float64 {
	if v, ok := p.Effects[metric]; ok {
		return v
	}
	return DefaultEffect
}

// EvalEffect is the least change of an eval that matters, as a share: .05 for five percentage points.
func (p *Policy) EvalEffect() float64 {
	if p.EvalPoint > 0 {
		return p.EvalPoint / 100
	}
	return .05
}

// Decision is what a person decided, as ttreport.yaml holds it.
type Decision struct {
	ID      string
	Kind    string
	Select  Select
	Release string // the release it speaks of; "" for all
	Reason  string
	Owner   string
	Expires string // YYYY-MM-DD
	By      string // of supersede: the run that replaces
}

// Kinds of decisions.
const (
	Pin        = "pin"        // a new level starts at the release
	Dismiss    = "dismiss"    // no new level starts at the release
	Accept     = "accept"     // the change is wanted: it does not fail, and a new level starts
	Waive      = "waive"      // the verdict or lint does not fail
	Invalidate = "invalidate" // the run or point is void
	Supersede  = "supersede"  // the run is replaced by another
)

// DecisionKinds lists the kinds.
func DecisionKinds() []string { return []string{Pin, Dismiss, Accept, Waive, Invalidate, Supersede} }

// Select says what a decision speaks of. An empty field selects everything; others are globs.
type Select struct {
	Verdict  string // id
	Lint     string // id of a check
	Run      string
	Model    string
	Device   string
	Workload string // as pages write it: 2048/128/30
	Tool     string
	Metric   string
	Task     string // of an eval
	Level    string // of a target
}

func (s Select) empty() bool { return s == Select{} }

func glob(pattern, s string) bool {
	if pattern == "" || pattern == s {
		return true
	}
	// A workload holds slashes, which a glob's star does not cross; they are no separators here.
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x01"), strings.ReplaceAll(s, "/", "\x01"))
	return err == nil && ok
}

// Check reports what is wrong with the decisions of a configuration. lints are the ids that exist.
func (p *Policy) Check(lints []string) error {
	seen := map[string]bool{}
	for i, d := range p.Decisions {
		at := fmt.Sprintf("decisions[%d]", i)
		if d.ID != "" {
			at += " " + d.ID
		}
		switch {
		case d.ID == "":
			return fmt.Errorf("%s: an id is needed, so that pages can name it", at)
		case seen[d.ID]:
			return fmt.Errorf("%s: the id stands twice", at)
		case !slices.Contains(DecisionKinds(), d.Kind):
			return fmt.Errorf("%s: kind %q is none of %s", at, d.Kind, strings.Join(DecisionKinds(), ", "))
		case strings.TrimSpace(d.Reason) == "":
			return fmt.Errorf("%s: a reason is needed; it is shown wherever the decision is", at)
		case (d.Kind == Waive || d.Kind == Accept) && strings.TrimSpace(d.Owner) == "":
			return fmt.Errorf("%s: an owner is needed for what is waived or accepted", at)
		case d.Kind == Waive && d.Expires == "":
			return fmt.Errorf("%s: a waiver needs an expiry date (expires: 2027-01-31)", at)
		case d.Kind == Supersede && (d.Select.Run == "" || d.By == ""):
			return fmt.Errorf("%s: supersede needs select.run and by, the run that replaces it", at)
		case d.Kind == Supersede && d.Select.Run == d.By:
			return fmt.Errorf("%s: a run cannot replace itself", at)
		case d.Kind == Invalidate && d.Select.Run == "" && d.Release == "":
			return fmt.Errorf("%s: invalidate needs select.run or a release", at)
		case d.Kind == Invalidate && (d.Select.Metric != "" || d.Select.Task != "" || d.Select.Verdict != "" || d.Select.Lint != "" || d.Select.Level != ""):
			return fmt.Errorf("%s: invalidate speaks of runs and points: run, model, device, workload and tool select them", at)
		case d.Select.Lint != "" && (d.Select.Verdict != "" || d.Select.Tool != "" || d.Select.Metric != "" || d.Select.Level != ""):
			return fmt.Errorf("%s: a lint is selected by lint, run, model, device, workload or task: it has no metric, tool, level or verdict", at)
		case (d.Kind == Pin || d.Kind == Dismiss || d.Kind == Accept) && d.Release == "" && d.Select.Verdict == "":
			return fmt.Errorf("%s: %s needs the release at which the level starts", at, d.Kind)
		case d.Select.Lint != "" && d.Kind != Waive:
			return fmt.Errorf("%s: a lint can be waived, and nothing else", at)
		case d.Select.empty() && d.Kind != Invalidate:
			return fmt.Errorf("%s: select must say what it speaks of", at)
		case d.Select.Lint != "" && !slices.ContainsFunc(lints, func(id string) bool { return glob(d.Select.Lint, id) }):
			return fmt.Errorf("%s: no lint is called %q; there are %s", at, d.Select.Lint, strings.Join(lints, ", "))
		}
		seen[d.ID] = true
		if d.Expires != "" {
			if _, err := time.Parse(time.DateOnly, d.Expires); err != nil {
				return fmt.Errorf("%s: expires %q is not of the form 2027-01-31", at, d.Expires)
			}
		}
	}
	return nil
}

// holds reports whether a decision has not expired: it holds through the day it names.
func (p *Policy) holds(d Decision) bool {
	if d.Expires == "" || p.Today.IsZero() {
		return true
	}
	last, err := time.Parse(time.DateOnly, d.Expires)
	return err == nil && p.Today.Before(last.AddDate(0, 0, 1))
}

// shown is a decision as verdicts carry it.
func (p *Policy) shown(d Decision) *schema.Decision {
	return &schema.Decision{ID: d.ID, Kind: d.Kind, Reason: d.Reason, Owner: d.Owner, Expires: d.Expires, Expired: !p.holds(d)}
}

// void reports whether a whole run counts for nothing.
func (p *Policy) void(h *columns.RunHead) bool {
	if _, copy := p.copies[h]; copy {
		return true
	}
	return p.voidBy(h) != nil
}

// voidBy is the decision that voids a whole run, or nil.
func (p *Policy) voidBy(h *columns.RunHead) *Decision {
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Kind != Invalidate && d.Kind != Supersede || !p.holds(*d) || d.Kind == Supersede && !p.runs[d.By] {
			continue // what nobody replaces is not replaced
		}
		s := d.Select
		if s.Workload != "" || s.Metric != "" || s.Tool != "" || s.Task != "" || s.Verdict != "" {
			continue
		}
		if glob(s.Run, h.ID) && glob(d.Release, h.Release) && glob(s.Model, h.Model.Name) && glob(s.Device, h.Device) {
			return d
		}
	}
	return nil
}

// voidPoint is the decision that voids a point of a run, or nil.
func (p *Policy) voidPoint(h *columns.RunHead, k schema.Key) *Decision {
	for i := range p.Decisions {
		d := &p.Decisions[i]
		s := d.Select
		if d.Kind != Invalidate || s.Metric != "" || s.Task != "" || s.Verdict != "" || s.Workload == "" && s.Tool == "" || !p.holds(*d) {
			continue
		}
		if glob(s.Run, h.ID) && glob(d.Release, h.Release) && glob(s.Model, h.Model.Name) && glob(s.Device, h.Device) && glob(s.Workload, k.Workload()) && glob(s.Tool, k.Tool) {
			return d
		}
	}
	return nil
}

// voidsPoints reports whether any decision speaks of single points, so that most histories need not ask.
func (p *Policy) voidsPoints() bool {
	return slices.ContainsFunc(p.Decisions, func(d Decision) bool {
		return d.Kind == Invalidate && (d.Select.Workload != "" || d.Select.Tool != "")
	})
}

// dismisses reports whether any decision dismisses a level.
func (p *Policy) dismisses() bool {
	return slices.ContainsFunc(p.Decisions, func(d Decision) bool { return d.Kind == Dismiss })
}

// about finds the decision that speaks of a verdict: one that excuses it, else one that did and has expired, else the pin or
// dismissal at its release, whose reason readers need to understand the level. Where nothing can fail there is nothing to excuse:
// a number that met its target was not waived.
func (p *Policy) about(v *schema.Verdict) *schema.Decision {
	var expired *schema.Decision
	kind := KindOf(v)
	for _, d := range p.Decisions {
		if d.Kind != Waive && d.Kind != Accept || d.Select.Lint != "" || kind == "" || kind == NoCase || !d.speaksOf(v) {
			continue
		}
		if p.holds(d) {
			return p.shown(d)
		}
		expired = p.shown(d)
	}
	if expired != nil || v.Against != schema.AgainstHistory {
		return expired
	}
	return p.levelBy(v, Pin, Dismiss)
}

// levelBy finds the decision of one of some kinds that holds and speaks of the level at a verdict.
func (p *Policy) levelBy(v *schema.Verdict, kinds ...string) *schema.Decision {
	for i := range p.Decisions {
		if d := &p.Decisions[i]; slices.Contains(kinds, d.Kind) && d.Select.Lint == "" && p.holds(*d) && d.speaksOf(v) {
			return p.shown(*d)
		}
	}
	return nil
}

func (d *Decision) speaksOf(v *schema.Verdict) bool {
	s := d.Select
	if s.Verdict != "" {
		return s.Verdict == v.ID
	}
	task := ""
	if v.Key.Task == evalTask {
		task = v.Key.Dataset
	}
	return glob(d.Release, v.Release) && glob(s.Run, v.Run) && glob(s.Model, v.Model) && glob(s.Device, v.Device) && glob(s.Workload, v.Key.Workload()) && glob(s.Tool, v.Key.Tool) &&
		glob(s.Metric, v.Metric) && glob(s.Task, task) && glob(s.Level, v.Level)
}

// aboutLint finds the waiver of a lint.
func (p *Policy) aboutLint(l *schema.Lint) *schema.Decision {
	var expired *schema.Decision
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Kind != Waive || d.Select.Lint == "" || !d.speaksOfLint(l) {
			continue
		}
		if p.holds(*d) {
			return p.shown(*d)
		}
		expired = p.shown(*d)
	}
	return expired
}

// speaksOfLint reports whether a decision selects a lint. One that stands for several cases is not of one workload or task.
func (d *Decision) speaksOfLint(l *schema.Lint) bool {
	s := d.Select
	if (s.Workload != "" || s.Task != "") && (l.Count > 1 || !glob(s.Workload, l.Subject) || !glob(s.Task, l.Subject)) {
		return false
	}
	return glob(s.Lint, l.ID) && glob(d.Release, l.Release) && glob(s.Run, l.Run) && glob(s.Model, l.Model) && glob(s.Device, l.Device)
}

// mark puts pins, acceptances and dismissals of people on the observations they speak of.
func (p *Policy) mark(series []Series, releases []Release) {
	byName := map[string]int{}
	for i, r := range releases {
		byName[r.Name] = i
	}
	for _, d := range p.Decisions {
		if d.Kind != Pin && d.Kind != Accept && d.Kind != Dismiss || !p.holds(d) {
			continue
		}
		at, ok := byName[d.Release]
		if !ok {
			continue
		}
		for i := range series {
			s := &series[i]
			v := schema.Verdict{Release: d.Release, Model: s.Model, Device: s.Device, Key: s.Key, Metric: s.Metric}
			if obs := s.find(at); obs >= 0 && d.Select.Verdict == "" && d.Select.Lint == "" && d.speaksOf(&v) {
				o := &s.table.Obs[obs]
				o.Pin = o.Pin || d.Kind == Pin
				o.Accept = o.Accept || d.Kind == Accept
				o.Dismiss = o.Dismiss || d.Kind == Dismiss
			}
		}
	}
}

// Unused lists decisions that name a release or run which does not exist: they look as if they did something.
func (p *Policy) Unused(releases []Release, runs []columns.RunHead) []string {
	var out []string
	for _, d := range p.Decisions {
		if d.Release != "" && !slices.ContainsFunc(releases, func(r Release) bool { return glob(d.Release, r.Name) }) {
			out = append(out, d.ID+": no release is called "+d.Release)
		}
		if d.Select.Run != "" && !slices.ContainsFunc(runs, func(h columns.RunHead) bool { return glob(d.Select.Run, h.ID) }) {
			out = append(out, d.ID+": no run is called "+d.Select.Run)
		}
		if d.By != "" && !slices.ContainsFunc(runs, func(h columns.RunHead) bool { return d.By == h.ID }) {
			out = append(out, d.ID+": no run is called "+d.By)
		}
		if !selects(d.Select, runs) {
			out = append(out, d.ID+": no run is of its model and device")
		}
	}
	return out
}

// selects reports whether any run is of the model and device that a decision names.
func selects(s Select, runs []columns.RunHead) bool {
	return slices.ContainsFunc(runs, func(h columns.RunHead) bool { return glob(s.Model, h.Model.Name) && glob(s.Device, h.Device) })
}
