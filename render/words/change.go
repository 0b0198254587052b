package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
)

// change says what became of a number since the releases before it: first what else changed in its measurement, last
// what changed in the software. [besideChange] is the same for a row whose columns show the change.
func change(v *schema.Verdict, r schema.Change) string {
	out := outcome(v, r)
	if r.Turns != nil && r.Why != schema.WhyInTurns && r.Why != schema.WhyTurnsOpen {
		out += " Measured in turns with " + r.Turns.Baseline + ": " + Signed(v.Metric, r.Turns.Effect) + " (" +
			turns(v.Metric, r.Turns) + "), which decides nothing."
	}
	if r.Differs != "" {
		out = "With " + r.Differs + ": " + out
	}
	switch {
	case r.SameBuild != "":
		out += " It is the build of the baseline (" + r.SameBuild + "): the machine or its settings changed, not the release."
	case r.SameCommit != "":
		out += " Its " + r.SameCommit + " is that of the baseline: what it was built with, the machine or its " +
			"settings changed."
	case r.StatedBuild != "":
		out += " Its files state the build of the baseline (" + r.StatedBuild + "), which excuses no pull request."
	case r.Build != "":
		out += " Built with " + r.Build + "."
	}
	return out
}

// outcome says how a number changed, and what decided that.
func outcome(v *schema.Verdict, r schema.Change) string {
	moved := moved(v, base(r), r.Turns == nil)
	noisy := moved + noise(r)
	limit := digits(100*r.Limit) + Thin + "%"
	switch r.Why {
	case schema.WhyGate:
		return noisy + rare(v) + once(v) + "."
	case schema.WhyRecheck:
		return noisy + fmt.Sprintf("; an independent run of the same release saw it again (first %s).", first(v, r))
	case schema.WhyAgain:
		return noisy + fmt.Sprintf("; first seen in %s, and again here%s.", v.First, ofRuns(v.Metric, r.Together))
	case schema.WhyBackAgain:
		return noisy + ": back at the level before a confirmed change."
	case schema.WhyNotSignificant:
		return noisy + ": beyond the limit of " + limit + ", and not rare among so many numbers."
	case schema.WhyEquivalent:
		return noisy + ": the whole 90" + Thin + "% interval lies inside ±" + limit + "."
	case schema.WhyWide:
		return noisy + ": neither unchanged nor regressed can be said" + settle(r) + "."
	case schema.WhyNoRegression:
		return noisy + ": no regression; whether it improved cannot be said" + settle(r) + "."
	case schema.WhyNoImprovement:
		return noisy + ": no improvement; whether it regressed cannot be said" + settle(r) + "."
	case schema.WhyOneMoreRun:
		return noisy + oneMore(v)
	case schema.WhyOtherHost:
		return noisy + onHost(r.Host)
	case schema.WhyShift:
		return moved + fmt.Sprintf(", as all of %s did (%s): one finding, counted once.", v.Device, shift(r))
	case schema.WhyRunShift, schema.WhyBelowLimit:
		return together(v, r, moved, noisy)
	case schema.WhyAgainstShift, schema.WhyDidNotMove:
		return moved + fmt.Sprintf(", while all of %s moved %s: what it did by itself is hidden by that.", v.Device, shift(r))
	case schema.WhyNotSeenAgain, schema.WhyHostMoved:
		return moved + " in the re-run, after " + first(v, r) + " in the first" + takenBack(r.Why)
	case schema.WhyRunsDisagree:
		return moved + fmt.Sprintf(" in a later run of the release, while the first gave %s.", first(v, r))
	case schema.WhyTwoModes:
		return moved + ": its history keeps changing between two levels, and this is one of them."
	case schema.WhyOneEach:
		return moved + ": every baseline has one release, so there is no noise to compare with."
	case schema.WhyInTurns, schema.WhyTurnsOpen:
		return inTurns(v, r)
	case schema.WhyBaseSuspect:
		return moved + fmt.Sprintf(", as the base shows since %s: not caused by this build.", v.First)
	}
	return withoutBaseline(v.Metric, r)
}

// takenBack says why a re-run takes a change back.
func takenBack(why schema.Why) string {
	if why == schema.WhyHostMoved {
		return "; workloads that had not changed moved in the re-run as well: the host did it."
	}
	return ": not seen again."
}

// ofRuns says what the runs that confirmed a change show together, which one run may not show by itself.
func ofRuns(metric string, t *schema.Together) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf(": %d runs together are %s (95%s%% interval %s)", t.Runs, Signed(metric, t.Effect), Thin,
		Interval(metric, t.Interval))
}

// inTurns says what a paired difference decided, and what history alone says.
func inTurns(v *schema.Verdict, r schema.Change) string {
	t := r.Turns
	out := moved(v, t.Baseline, false) +
		", measured in turns with it on one machine (" + turns(v.Metric, t) + ")"
	if r.Why == schema.WhyTurnsOpen {
		return out + ": too few blocks to decide" + moreBlocks(t.Needed) + "."
	}
	if history := byHistory(t); history != word(v.Outcome, v.Evidence) {
		out += "; by history alone it is " + history
	}
	return out + "."
}

// byHistory is what history says of a number without the pair.
func byHistory(t *schema.Turns) string {
	if t.Outcome == schema.NoBaseline {
		return "unknown"
	}
	return word(t.Outcome, t.Evidence)
}

// moreBlocks says how many blocks would probably decide.
func moreBlocks(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", about %d would", n)
}

// turns are the blocks of a paired difference, and its interval.
func turns(metric string, t *schema.Turns) string {
	out := Plural(t.Blocks, "block")
	if t.Kept {
		out += ", both servers kept running"
	}
	return out + fmt.Sprintf(", 95%s%% interval %s", Thin, Interval(metric, t.Interval))
}

// word is an outcome with its evidence.
func word(o schema.Outcome, e schema.Evidence) string {
	if e == "" {
		return string(o)
	}
	return string(o) + ", " + string(e)
}

// InTurns says what a paired difference made of a run-wide shift.
func InTurns(metric string, t *schema.Turns, o schema.Outcome, e schema.Evidence) string {
	return fmt.Sprintf("Measured in turns with %s it is %s (%s): %s; by history alone it is %s.", t.Baseline,
		Signed(metric, t.Effect), turns(metric, t), word(o, e), word(t.Outcome, t.Evidence))
}

// oneMore says what a suspected change still needs.
func oneMore(v *schema.Verdict) string {
	if v.First != "" {
		return "; suspected since " + v.First + ", and the runs since then have not settled it."
	}
	return "; a later run of the release agrees, and both together are not sure yet: one more run is needed."
}

// onHost says why a change that was seen again is not confirmed.
func onHost(name string) string {
	return "; every run that shows it was made on host " + OrUnknown(name) +
		", and earlier releases on others: the host may have done it, and a run on another one is needed."
}

// noEarlier says that nothing before is compared: of a stand-in, earlier releases may have a number that is not judged,
// since they have the better metric.
func noEarlier(metric string) string {
	for better, list := range judge.StandIns() {
		if slices.Contains(list, metric) {
			name, _ := schema.MetricByName(metric)
			of, _ := schema.MetricByName(better)
			return fmt.Sprintf("%s is judged only where a point has no %s, and so in no earlier release of its line.",
				name.Label, of.Label)
		}
	}
	return "No earlier release of its line has this measurement."
}

// withoutBaseline says why there is nothing to compare a number with.
func withoutBaseline(metric string, r schema.Change) string {
	switch r.Why {
	case schema.WhyNoBaseline:
		return noEarlier(metric)
	case schema.WhyPinned:
		return "A new level starts here by decision; nothing before it counts."
	case schema.WhyNoBaselineLine:
		return "Builds of channels pr and dev are compared with main or release, which have no such measurement; " +
			"--channel main or --release would make a baseline."
	case schema.WhyConditions:
		return sentence("Measured under other conditions than before: " + r.Conditions)
	}
	return ""
}

// moved is the first half of most sentences: "TTFT is 14.1 % above the mean of 4 releases (2,415 → 2,753 ms)". of is
// what the number is compared with; alone is set where the first run of the release was tested, not a pair.
func moved(v *schema.Verdict, of string, alone bool) string {
	info, _ := schema.MetricByName(v.Metric)
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	name := info.Label + rank(v.Stat)
	if _, ok := v.Effect.Get(); !ok || ref == 0 {
		return fmt.Sprintf("%s is %s", name, Quantity(value, info.Unit))
	}
	raw := value/ref - 1
	out := fmt.Sprintf("%s is %s %s (%s → %s)", name, share(raw), of, Number(ref), Quantity(value, info.Unit))
	if alone {
		out += tested(v, raw)
	}
	return out
}

// share is how far a value lies from what it is compared with: "14.1 % above", "level with".
func share(raw float64) string {
	switch {
	case math.Abs(raw) < .0005:
		return "level with"
	case raw < 0:
		return strconv.FormatFloat(-raw*100, 'f', 1, 64) + Thin + "% below"
	}
	return strconv.FormatFloat(raw*100, 'f', 1, 64) + Thin + "% above"
}

// rank names a percentile, with a space before it; "" for another statistic.
func rank(stat string) string {
	if rank, tail := strings.CutPrefix(stat, "p"); tail {
		return " P" + rank
	}
	return ""
}

// tested says how far the first run of a release was off, where the value is the mean of several and the first one is
// what was tested.
func tested(v *schema.Verdict, raw float64) string {
	effect, _ := v.Effect.Get()
	if info, _ := schema.MetricByName(v.Metric); info.Better == schema.Higher {
		effect = -effect
	}
	if math.Abs(effect-raw) < .0005 {
		return ""
	}
	e, _ := v.Effect.Get()
	return "; its first run, which is what is tested, " + Signed(v.Metric, e)
}

// base is what a number is compared with.
func base(r schema.Change) string {
	if r.Releases > 1 {
		return fmt.Sprintf("the mean of %d releases", r.Releases)
	}
	return "the release before"
}

// first is the value of the release's first run.
func first(v *schema.Verdict, r schema.Change) string {
	return Quantity(r.First, schema.Unit(v.Metric))
}

// shift is the movement of the whole device, signed as the number moved.
func shift(r schema.Change) string {
	s := strconv.FormatFloat(math.Abs(100*r.Shift), 'f', 1, 64) + Thin + "%"
	if r.Shift > 0 {
		return "+" + s
	}
	return "−" + s
}

// settle says what would settle an inconclusive number.
func settle(r schema.Change) string {
	switch {
	case r.Repeats > 0:
		return ", which about " + Plural(r.Repeats, "repeat") + " of one release could"
	case r.More > 0:
		return ", which no number of repeats could and about " + Plural(r.More, "more release") + " would"
	}
	return ""
}

// noise says how far one release usually lies from the next.
func noise(r schema.Change) string {
	if r.Noise > 0 {
		return "; noise is " + Percent(r.Noise) + " (one standard deviation)"
	}
	return ""
}

// rare says how rare a change is among all that was compared. It is of the release's first run, so it never stands
// beside the change of another one.
func rare(v *schema.Verdict) string {
	q, ok := v.Q.Get()
	if !ok {
		return ""
	}
	is := fmt.Sprintf("= %.2g", q)
	if q < .0001 {
		is = "under 0.0001"
	}
	return ", q " + is + " (share of such findings that chance makes)"
}

// once says that a change was seen in one run, or what a later release made of it. What it says of a release stays true
// when the next one shows it again and is not sure either.
func once(v *schema.Verdict) string {
	switch {
	case v.Follow.Release != "":
		return "; first seen here" + followed(v)
	case v.First != "":
		return "; " + v.First + " lies as far out, and both together are not sure yet"
	}
	return "; one run shows it, and another one must confirm it"
}

// followed says what a later release made of a change that was seen once.
func followed(v *schema.Verdict) string {
	switch {
	case v.Follow.Release == "":
		return ""
	case v.Follow.Again:
		return "; " + v.Follow.Release + " saw it again"
	}
	return "; " + v.Follow.Release + " did not see it again"
}
