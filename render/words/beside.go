package words

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Shared is what the changes of a table came with, most of them alike: it is said once, above them.
type Shared struct {
	Of      string // the model on the device that all changes are of, where other rows are of others
	Build   string // what differs in the software: "version v8 → v9"
	Differs string // what differs in the measurement: "num_prompts 100 → 400"
}

// SharedOf is what several changes came with; of two texts that are as common, the first. What is common on one model
// and device says nothing of another: changes of several share what each of them came with.
func SharedOf(list []schema.Verdict) Shared {
	builds, differs := map[string]int{}, map[string]int{}
	all, with := map[schema.Pair]bool{}, map[schema.Pair]bool{}
	var s Shared
	n := 0
	for i := range list {
		v := &list[i]
		all[v.Pair()] = true
		if r, ok := v.Reason.(schema.Change); ok && changed(v) {
			with[v.Pair()] = true
			n++
			s.Build = commoner(builds, s.Build, r.Build)
			s.Differs = commoner(differs, s.Differs, r.Differs)
			s.Of = OnDevice(v.Model, v.Device)
		}
	}
	if len(with) > 1 && builds[s.Build] < n {
		s.Build = ""
	}
	if len(with) > 1 && differs[s.Differs] < n {
		s.Differs = ""
	}
	if len(with) != 1 || len(all) == 1 {
		s.Of = ""
	}
	return s
}

// commoner counts a text, and returns it where it is the most common one and not alone.
func commoner(n map[string]int, most, text string) string {
	if n[text]++; text != "" && n[text] > 1 && n[text] > n[most] {
		return text
	}
	return most
}

// Text says what is shared and by which rows: it is known of changes in load alone. "" for nothing.
func (s Shared) Text() string {
	var measured, built string
	if s.Differs != "" {
		measured = "measured with " + s.Differs
	}
	if s.Build != "" {
		built = "built with " + s.Build
	}
	out := strings.Join(nonEmpty(measured, built), " and ")
	if out == "" {
		return ""
	}
	rows := "What regressed, improved or recovered"
	if s.Of != "" {
		rows = "What regressed, improved or recovered of " + s.Of
	}
	return rows + " was " + out + ", unless its row says otherwise."
}

// WhyBeside is what a row alone knows about why a verdict was given. Its columns show the number, its baseline, the
// change and the interval, the head of its column says what comes first, and what is shared stands above the table.
func WhyBeside(v schema.Verdict, s Shared) string {
	_, compared := v.Effect.Get()
	r, change := v.Reason.(schema.Change)
	if !compared || !change {
		return why(&v, compared)
	}
	return besideChange(&v, r, s) + decided(&v)
}

// changed says whether a verdict is one that what else changed is said of.
func changed(v *schema.Verdict) bool { return v.Evidence != "" || v.Outcome == schema.Recovered }

// besideChange is the row's part of [change]: what differed in its measurement, what it is compared with, what decided,
// what differed in its build.
func besideChange(v *schema.Verdict, r schema.Change, s Shared) string {
	out := strings.Join(nonEmpty(besideBase(v, r), besideTested(v, r), besideOutcome(v, r), besideTurns(v, r)), "; ") + "."
	if r.Differs != "" && r.Differs != s.Differs {
		out = "With " + r.Differs + ": " + out
	} else if r.Differs == "" && s.Differs != "" && changed(v) {
		out += " Measured as before."
	}
	switch {
	case r.SameBuild != "":
		out += " Same build (" + r.SameBuild + "): the machine or its settings changed, not the release."
	case r.SameCommit != "":
		out += " Same " + r.SameCommit + "; the rest of the build, or the machine, changed."
	case r.StatedBuild != "":
		out += " Its files state the build of the baseline (" + r.StatedBuild + "), which excuses no pull request."
	case r.Build != "" && r.Build != s.Build:
		out += " Built with " + r.Build + "."
	case r.Build == "" && s.Build != "" && changed(v):
		out += " No other build is stated."
	}
	return out
}

func nonEmpty(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// besideBase is what a number is compared with, as the column is headed: "5 releases, noise 2 %".
func besideBase(v *schema.Verdict, r schema.Change) string {
	if t := r.Turns; t != nil && (r.Why == schema.WhyInTurns || r.Why == schema.WhyTurnsOpen) {
		out := "In turns with " + t.Baseline + ", " + Plural(t.Blocks, "block")
		if t.Kept {
			out += ", both servers kept running"
		}
		return out
	}
	out := Plural(max(r.Releases, 1), "release")
	if r.Noise > 0 {
		out += ", noise " + Percent(r.Noise)
	}
	return out
}

// besideTurns is a paired difference beside which history decided.
func besideTurns(v *schema.Verdict, r schema.Change) string {
	if r.Turns == nil || r.Why == schema.WhyInTurns || r.Why == schema.WhyTurnsOpen {
		return ""
	}
	return "in turns with " + r.Turns.Baseline + " " + Signed(v.Metric, r.Turns.Effect) + ", which decides nothing"
}

// besideTested says where the change is that of the first run, and the number beside it the mean of several.
func besideTested(v *schema.Verdict, r schema.Change) string {
	value, _ := v.Value.Get()
	ref, has := v.Ref.Get()
	effect, _ := v.Effect.Get()
	if info, _ := schema.MetricByName(v.Metric); info.Better == schema.Higher {
		effect = -effect
	}
	if !has || ref == 0 || r.Turns != nil || math.Abs(effect-(value/ref-1)) < .0005 {
		return ""
	}
	return "change of the first run"
}

// besideOutcome is what decided; "" where the verdict's word and the interval say it.
func besideOutcome(v *schema.Verdict, r schema.Change) string {
	limit := digits(100*r.Limit) + Thin + "%"
	switch r.Why {
	case schema.WhyGate:
		return besideRare(v)
	case schema.WhyRecheck:
		return "a re-run saw it again (first " + first(v, r) + ")"
	case schema.WhyAgain:
		return "first seen in " + v.First + besideRuns(v.Metric, r.Together)
	case schema.WhyBackAgain:
		return "back at the level before a confirmed change"
	case schema.WhyEquivalent:
		return "within ±" + limit
	case schema.WhyNotSignificant:
		return "beyond " + limit + ", not rare among so many numbers"
	case schema.WhyWide:
		return besideSettle(r)
	case schema.WhyNoRegression:
		return strings.Join(nonEmpty("no regression", besideSettle(r)), "; ")
	case schema.WhyNoImprovement:
		return strings.Join(nonEmpty("no improvement", besideSettle(r)), "; ")
	case schema.WhyBelowLimit:
		return strings.TrimSpace("less than " + limit + " " + since(v.First))
	case schema.WhyShift:
		return "all of " + v.Device + " moved " + shift(r)
	case schema.WhyRunShift:
		return "all of " + OnDevice(v.Model, v.Device) + " moved " + shift(r)
	case schema.WhyInTurns:
		if history := byHistory(r.Turns); history != word(v.Outcome, v.Evidence) {
			return "by history alone " + history
		}
		return ""
	case schema.WhyTurnsOpen:
		return "too few blocks to decide" + moreBlocks(r.Turns.Needed)
	}
	return besideDoubt(v, r)
}

// besideDoubt is what keeps a change from being said for certain.
func besideDoubt(v *schema.Verdict, r schema.Change) string {
	switch r.Why {
	case schema.WhyOneMoreRun:
		return strings.TrimSpace("suspected "+since(v.First)) + "; one more run is needed"
	case schema.WhyOtherHost:
		return "seen on host " + cmp.Or(r.Host, "unknown") + " alone; needs another host"
	case schema.WhyAgainstShift, schema.WhyDidNotMove:
		return "all of " + v.Device + " moved " + shift(r) + ", which hides its own change"
	case schema.WhyNotSeenAgain:
		return "first " + first(v, r) + ", not seen again"
	case schema.WhyHostMoved:
		return "first " + first(v, r) + "; other workloads moved in the re-run, too"
	case schema.WhyRunsDisagree:
		return "a later run of the release; the first gave " + first(v, r)
	case schema.WhyTwoModes:
		return "its history has two levels, and this is one of them"
	case schema.WhyOneEach:
		return "too few to know the noise"
	case schema.WhyBaseSuspect:
		return "the base has it since " + v.First + ", not this build"
	}
	return strings.TrimSuffix(withoutBaseline(v.Metric, r), ".")
}

// besideRare is how rare a change is that one run shows, and what a later release made of it.
func besideRare(v *schema.Verdict) string {
	out := "seen once"
	switch {
	case v.Follow.Release != "":
		out = "first seen here" + followed(v)
	case v.First != "":
		out = v.First + " lies as far out"
	}
	if q, ok := v.Q.Get(); ok {
		is := fmt.Sprintf("%.2g", q)
		if q < .0001 {
			is = "under 0.0001"
		}
		return "q " + is + "; " + out
	}
	return out
}

// besideRuns is what the runs that confirmed a change show together.
func besideRuns(metric string, t *schema.Together) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("; %d runs together %s (%s)", t.Runs, Signed(metric, t.Effect), Interval(metric, t.Interval))
}

// besideSettle is what would settle an inconclusive number.
func besideSettle(r schema.Change) string {
	switch {
	case r.Repeats > 0:
		return "about " + Plural(r.Repeats, "repeat") + " would decide"
	case r.More > 0:
		return "about " + Plural(r.More, "more release") + " would decide"
	}
	return ""
}

func since(release string) string {
	if release == "" {
		return ""
	}
	return "since " + release
}
