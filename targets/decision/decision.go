package decision

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
)

// Policy is what people configure: which changes matter, and their decisions.
type Policy struct {
	Effects    map[string]float64 // relative, by metric; the default is [DefaultEffect]
	EvalPoint  float64            // percentage points of an eval that matter; 0: 1 or 2, see package judge
	TargetRule TargetRule
	Decisions  []Decision
	Today      time.Time // for the expiry of decisions; zero: none expires

	runs map[string]bool // that exist
}

// For returns the policy for a history: it then knows which runs exist. A nil policy decides nothing.
func (p *Policy) For(runs []columns.RunHead) *Policy {
	out := Policy{}
	if p != nil {
		out = *p
	}
	out.runs = map[string]bool{}
	for i := range runs {
		out.runs[runs[i].ID] = true
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

// EvalEffect is the least change of an eval that matters, as a share: .02 for two percentage points, unless stated.
func (p *Policy) EvalEffect() float64 {
	if p.EvalPoint > 0 {
		return p.EvalPoint / 100
	}
	return .02
}

// Decision is what a person decided, as ttreport.yaml holds it.
type Decision struct {
	ID      string              `yaml:"id"`
	Kind    schema.DecisionKind `yaml:"kind"`
	Select  Select              `yaml:"select"`
	Release string              `yaml:"release"` // the release that it covers, a glob; "" for all
	Reason  string              `yaml:"reason"`
	Owner   string              `yaml:"owner"`
	Expires string              `yaml:"expires"` // YYYY-MM-DD
	By      string              `yaml:"by"`      // of supersede: the run that replaces
}

// Select says what a decision covers. An empty field selects everything; others are globs.
type Select struct {
	Verdict  string `yaml:"verdict"` // id
	Change   string `yaml:"change"`  // id
	Lint     string `yaml:"lint"`    // id of a check
	Run      string `yaml:"run"`
	Model    string `yaml:"model"`
	Device   string `yaml:"device"`
	Workload string `yaml:"workload"` // as pages write it: 2048/128/30
	Tool     string `yaml:"tool"`
	Metric   string `yaml:"metric"`
	Task     string `yaml:"task"`  // of an eval
	Level    string `yaml:"level"` // of a target
}

// Match reports whether a glob of a selection matches; "" matches everything. A workload holds slashes, which a glob's
// star does not cross; they are no separators here.
func Match(pattern, s string) bool {
	if pattern == "" || pattern == s {
		return true
	}
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x01") }
	return glob.Match(flat(pattern), flat(s))
}

// matchDevice is [Match] for device names, whose case is ignored.
func matchDevice(pattern, device string) bool {
	return Match(schema.FoldDevice(pattern), schema.FoldDevice(device))
}

// Holds reports whether a decision has not expired: it is valid through the day that it names.
func (p *Policy) Holds(d Decision) bool {
	if d.Expires == "" || p.Today.IsZero() {
		return true
	}
	last, err := time.Parse(time.DateOnly, d.Expires)
	return err == nil && p.Today.Before(last.AddDate(0, 0, 1))
}

// Shown returns a decision in the form that verdicts carry.
func (p *Policy) Shown(d Decision) *schema.Decision {
	return &schema.Decision{
		ID: d.ID, Kind: d.Kind, Reason: d.Reason, Owner: d.Owner, Expires: d.Expires, Expired: !p.Holds(d),
	}
}

// ExcludesRun returns the decision that excludes a whole run, or nil. A run is superseded only if the run that
// replaces it exists.
func (p *Policy) ExcludesRun(h *columns.RunHead) *Decision {
	return p.first(func(d *Decision) bool {
		s := &d.Select
		return (d.Kind == schema.Invalidate || d.Kind == schema.Supersede && p.runs[d.By]) &&
			s.Workload+s.Metric+s.Tool+s.Task+s.Verdict+s.Change == "" && d.IsOf(h.Release, h.ID, h.Pair())
	})
}

// first returns the first decision that holds and is as asked; nil without one.
func (p *Policy) first(is func(*Decision) bool) *Decision {
	for i := range p.Decisions {
		if d := &p.Decisions[i]; is(d) && p.Holds(*d) {
			return d
		}
	}
	return nil
}

// ExcludesPoint returns the decision that excludes a point of a run, or nil.
func (p *Policy) ExcludesPoint(h *columns.RunHead, k schema.Key) *Decision {
	return p.first(func(d *Decision) bool {
		s := &d.Select
		return d.Kind == schema.Invalidate && s.Workload+s.Tool != "" && s.Metric+s.Task+s.Verdict+s.Change == "" &&
			d.IsOf(h.Release, h.ID, h.Pair()) && Match(s.Workload, k.Workload()) && Match(s.Tool, k.Tool)
	})
}

// ExcludesPoints reports whether any decision excludes single points; most histories have none and skip the check.
func (p *Policy) ExcludesPoints() bool {
	return slices.ContainsFunc(p.Decisions, func(d Decision) bool {
		return d.Kind == schema.Invalidate && (d.Select.Workload != "" || d.Select.Tool != "")
	})
}

// IsOf reports whether a decision is about a release, a run of it, and a model and device.
func (d *Decision) IsOf(release, run string, of schema.Pair) bool {
	return Match(d.Release, release) && Match(d.Select.Run, run) && Match(d.Select.Model, of.Model) &&
		matchDevice(d.Select.Device, of.Device)
}

// Dismisses reports whether any decision dismisses a level.
func (p *Policy) Dismisses() bool {
	return slices.ContainsFunc(p.Decisions, func(d Decision) bool { return d.Kind == schema.Dismiss })
}

// Level returns the valid decision of one of the given kinds that covers the level at a verdict; nil without one.
func (p *Policy) Level(v *schema.Verdict, kinds ...schema.DecisionKind) *schema.Decision {
	d := p.first(func(d *Decision) bool {
		return slices.Contains(kinds, d.Kind) && d.Select.Lint == "" && d.Covers(v)
	})
	if d == nil {
		return nil
	}
	return p.Shown(*d)
}

// Covers reports whether a decision selects a verdict.
func (d *Decision) Covers(v *schema.Verdict) bool {
	s := d.Select
	if s.Verdict != "" {
		return s.Verdict == v.ID
	}
	if s.Change != "" {
		return s.Change == v.Change
	}
	task := ""
	if v.Key.IsEval() {
		task = v.Key.Dataset
	}
	return d.IsOf(v.Release, v.Run, v.Pair()) && Match(s.Workload, v.Key.Workload()) && Match(s.Tool, v.Key.Tool) &&
		Match(s.Metric, v.Metric) && Match(s.Task, task) && Match(s.Level, v.Level)
}

// AcceptsPrompt reports whether a person decided that an eval is compared although its questions changed.
func (p *Policy) AcceptsPrompt(release string, of schema.Pair, task string) bool {
	return slices.ContainsFunc(p.Decisions, func(d Decision) bool {
		return d.Kind == schema.Accept && d.Select.Task != "" && p.Holds(d) && Match(d.Release, release) &&
			Match(d.Select.Task, task) && Match(d.Select.Model, of.Model) && matchDevice(d.Select.Device, of.Device)
	})
}

// Unused lists decisions that name a release or run that does not exist: they have no effect.
func (p *Policy) Unused(releases []string, runs []columns.RunHead) []string {
	var out []string
	for _, d := range p.Decisions {
		none := func(is func(*columns.RunHead) bool) bool {
			for i := range runs {
				if is(&runs[i]) {
					return false
				}
			}
			return true
		}
		named := func(name string) bool { return Match(d.Release, name) }
		if d.Release != "" && !slices.ContainsFunc(releases, named) {
			out = append(out, fmt.Sprintf("%s: unknown release %s", d.ID, d.Release))
		}
		if d.Select.Run != "" && none(func(h *columns.RunHead) bool { return Match(d.Select.Run, h.ID) }) {
			out = append(out, fmt.Sprintf("%s: unknown run %s", d.ID, d.Select.Run))
		}
		if d.By != "" && none(func(h *columns.RunHead) bool { return d.By == h.ID }) {
			out = append(out, fmt.Sprintf("%s: unknown run %s", d.ID, d.By))
		}
		if none(func(h *columns.RunHead) bool {
			return Match(d.Select.Model, h.Model.Name) && matchDevice(d.Select.Device, h.Device)
		}) {
			out = append(out, d.ID+": no run is of its model and device")
		}
	}
	return out
}

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
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || v*scale >= 10 || scale == 1 && v > 1 { // 5 is hardly 500 %
		return fmt.Errorf("%q is not a share such as 5%% or 0.05", text)
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
		return nil, fmt.Errorf("targets: %q: expected one of %s, %s", t.Targets, ByValue, ByInterval)
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
		return nil, fmt.Errorf("eval_points: %g is not a number of percentage points", t.EvalPoints)
	}
	return p, nil
}

// ErrNotByHand is returned for a configuration whose decisions are written in a form that is not extended safely.
var ErrNotByHand = errors.New("its decisions are not a list with one item a line")

// Text is a decision as an item of the list in a configuration, indented by so many spaces. Every text is in quotes, so
// that no name is anything else in YAML.
func (d *Decision) Text(indent int) string {
	var b strings.Builder
	lead := strings.Repeat(" ", indent)
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s  %s: %s\n", lead, name, quoted(value))
		}
	}
	fmt.Fprintf(&b, "%s- id: %s\n%s  kind: %s\n", lead, d.ID, lead, d.Kind)
	field("release", d.Release)
	var of []string
	for _, s := range []struct{ name, value string }{
		{"verdict", d.Select.Verdict}, {"change", d.Select.Change}, {"model", d.Select.Model}, {"device", d.Select.Device},
		{"workload", d.Select.Workload}, {"tool", d.Select.Tool}, {"metric", d.Select.Metric}, {"task", d.Select.Task},
		{"level", d.Select.Level},
	} {
		if s.value != "" {
			of = append(of, s.name+": "+quoted(s.value))
		}
	}
	fmt.Fprintf(&b, "%s  select: {%s}\n", lead, strings.Join(of, ", "))
	field("reason", d.Reason)
	field("owner", d.Owner)
	field("expires", d.Expires)
	return b.String()
}

// quoted is a text in double quotes: JSON strings are YAML.
func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return `""` // a string is always JSON
	}
	return string(data)
}

var (
	listRE  = lazyregexp.New(`(?m)^decisions:[ \t]*(\[\][ \t]*)?(#.*)?$`)
	anyRE   = lazyregexp.New(`(?m)^["']?decisions["']?[ \t]*:`)
	itemRE  = lazyregexp.New(`^( *)- `)
	otherRE = lazyregexp.New(`^[^\s#-]`)
)

// Append adds decisions at the end of the list in the text of a configuration; everything else stays as it is, comments
// too. A configuration without a list gets one at its end.
func Append(config string, list []Decision) (string, error) {
	text := func(indent int) (out string) {
		for i := range list {
			out += list[i].Text(indent)
		}
		return out
	}
	if config != "" && !strings.HasSuffix(config, "\n") {
		config += "\n"
	}
	at := listRE.FindStringSubmatchIndex(config)
	switch {
	case at == nil && anyRE.MatchString(config):
		return "", ErrNotByHand
	case at == nil:
		return config + "decisions:\n" + text(2), nil
	case at[2] >= 0: // an empty list
		return config[:at[2]] + config[at[3]:at[1]] + "\n" + text(2) + config[min(len(config), at[1]+1):], nil
	}
	head, rest := config[:min(len(config), at[1]+1)], config[min(len(config), at[1]+1):]
	end, indent, known := 0, 2, false
	offset := 0
	for line := range strings.Lines(rest) {
		offset += len(line)
		if otherRE.MatchString(line) {
			break
		}
		if m := itemRE.FindStringSubmatch(line); m != nil && !known {
			indent, known = len(m[1]), true
		}
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#") {
			end = offset
		}
	}
	return head + rest[:end] + text(indent) + rest[end:], nil
}

// Kinds lists the kinds of decisions.
func Kinds() []schema.DecisionKind {
	return []schema.DecisionKind{
		schema.Pin, schema.Dismiss, schema.Accept, schema.Waive, schema.Invalidate, schema.Supersede,
	}
}

// kindList names the kinds of decisions, for messages.
func kindList() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// Check reports what is wrong with the decisions of a configuration. lints are the ids of checks that exist.
func (p *Policy) Check(lints []string) error {
	if len(p.Decisions) > mostDecisions {
		return fmt.Errorf("%d decisions; at most %d are read: one with globs can cover many", len(p.Decisions), mostDecisions)
	}
	seen := map[string]bool{}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		at := fmt.Sprintf("decisions[%d]", i)
		if d.ID != "" {
			at += " " + d.ID
		}
		if seen[d.ID] {
			return fmt.Errorf("%s: the id is used twice", at)
		}
		seen[d.ID] = true
		if err := cmp.Or(d.checkGlobs(), d.check(lints)); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return nil
}

// mostDecisions bounds the decisions of a configuration: each is tried with every verdict.
const mostDecisions = 500

// checkGlobs refuses patterns that match nothing because they are malformed, or take long.
func (d *Decision) checkGlobs() error {
	s := d.Select
	for _, pattern := range []string{
		d.Release, s.Lint, s.Run, s.Model, s.Device, s.Workload, s.Tool, s.Metric, s.Task, s.Level,
	} {
		if err := glob.Check(pattern); err != nil {
			return err
		}
	}
	return nil
}

// check reports the first rule that a decision breaks.
func (d *Decision) check(lints []string) error {
	s, isLint := d.Select, d.Select.Lint != ""
	exists := func(id string) bool { return Match(s.Lint, id) }
	_, badDate := time.Parse(time.DateOnly, cmp.Or(d.Expires, time.DateOnly))
	is := func(kinds ...schema.DecisionKind) bool { return slices.Contains(kinds, d.Kind) }
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{d.ID == "", "an id is needed, so that pages can name it"},
		{!is(Kinds()...), fmt.Sprintf("kind %q: expected one of %s", d.Kind, kindList())},
		{strings.TrimSpace(d.Reason) == "", "a reason is needed; it is shown wherever the decision is"},
		{badDate != nil, fmt.Sprintf("expires %q does not have the form 2027-01-31", d.Expires)},
		{
			is(schema.Waive, schema.Accept) && strings.TrimSpace(d.Owner) == "",
			"an owner is needed for what is waived or accepted",
		},
		{is(schema.Waive) && d.Expires == "", "a waiver needs an expiry date (expires: 2027-01-31)"},
		{
			is(schema.Supersede) && (s.Run == "" || d.By == ""),
			"supersede needs select.run and by, the run that replaces it",
		},
		{is(schema.Supersede) && s.Run == d.By, "a run cannot replace itself"},
		{is(schema.Invalidate) && s.Run+d.Release == "", "invalidate needs select.run or a release"},
		{
			is(schema.Invalidate) && s.Metric+s.Task+s.Verdict+s.Change+s.Lint+s.Level != "",
			"invalidate applies to runs and points: select them by run, model, device, workload or tool",
		},
		{
			is(schema.Pin, schema.Dismiss, schema.Accept) && d.Release+s.Verdict+s.Change == "",
			string(d.Kind) + " needs the release at which the level starts",
		},
		{s == (Select{}) && !is(schema.Invalidate), "select must say what it covers"},
		{
			isLint && s.Verdict+s.Change+s.Tool+s.Metric+s.Level != "",
			"a lint is selected by lint, run, model, device, workload or task: it has no metric, tool, level or verdict",
		},
		{isLint && !is(schema.Waive), "a lint can only be waived"},
		{
			isLint && !slices.ContainsFunc(lints, exists),
			fmt.Sprintf("unknown lint %q; the lints are %s", s.Lint, strings.Join(lints, ", ")),
		},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}
