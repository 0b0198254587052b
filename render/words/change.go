package words

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// change says what became of a number since the releases before it: first what else changed in its measurement, last
// what changed in the software. [besideChange] is the same for a row whose columns show the change.
func change(v *schema.Verdict, r schema.Change) string {
	out := outcome(v, r, false)
	if r.Turns != nil && r.Why != schema.WhyInTurns && r.Why != schema.WhyTurnsOpen {
		out += " Measured in turns with " + r.Turns.Baseline + ": " + Signed(v.Metric, r.Turns.Effect) + " (" +
			turns(v.Metric, r.Turns) + "), which decides nothing."
	}
	return differing(r, out)
}

// comparison is what the sentences about a change say things of.
type comparison struct {
	v *schema.Verdict
	r schema.Change
}

// decisive has what decided about a change, by reason: as a sentence, and in short, for a table whose columns have the
// word, the numbers and the interval already. Names in braces are of [parts]. What is not listed had nothing to
// compare with.
var decisive = map[schema.Why]struct{ long, short string }{
	schema.WhyGate: {"${moved}${noise}${rare}${once}.", "${besideRare}"},
	schema.WhyRecheck: {
		"${moved}${noise}; confirmed by a re-run of the same release (first run: ${first}).",
		"confirmed by a re-run (first run: ${first})",
	},
	schema.WhyAgain: {
		"${moved}${noise}; first seen in ${seen}, and again here${runs}.", "first seen in ${seen}${runs}",
	},
	schema.WhyBackAgain: {
		"${moved}${noise}: back at the level before a confirmed change.", "back at the level before a confirmed change",
	},
	schema.WhyNotSignificant: {
		"${moved}${noise}: beyond the limit of ${limit}, and not significant among so many numbers.",
		"beyond ${limit}, not significant among so many numbers",
	},
	schema.WhyEquivalent: {
		"${moved}${noise}: the whole 90" + Thin + "% interval lies inside ±${limit}.", "within ±${limit}",
	},
	schema.WhyWide: {
		"${moved}${noise}: neither unchanged nor regressed can be said${settle}.", "${besideSettle}",
	},
	schema.WhyNoRegression: {
		"${moved}${noise}: no regression; whether it improved cannot be said${settle}.", "no regression; ${besideSettle}",
	},
	schema.WhyNoImprovement: {
		"${moved}${noise}: no improvement; whether it regressed cannot be said${settle}.", "no improvement; ${besideSettle}",
	},
	schema.WhyOneMoreRun: {"${moved}${noise}${oneMore}", "suspected ${since}; one more run is needed"},
	schema.WhyOtherHost: {
		"${moved}${noise}; every run that shows it was made on host ${host}, and earlier releases on others: the host " +
			"may have done it, and a run on another one is needed.",
		"seen on host ${host} alone; needs another host",
	},
	schema.WhyGroup: {"${moved}, as ${group}: one change, counted once.", "with ${group}"},
	schema.WhyBelowLimit: {
		"${moved}${noise}: a real change, ${since}, below the limit of ${limit}.", "less than ${limit} ${since}",
	},
	schema.WhyAgainstGroup: {
		"${moved}, against what its group did: it is hidden by that.",
		"its group moved the other way, which hides its own change",
	},
	schema.WhyDidNotMove: {
		"${moved}, while its group moved: it is not called unchanged.", "its group moved, and it did not",
	},
	schema.WhyNotSeenAgain: {
		"${moved} in the re-run, after ${first} in the first: not seen again.", "first ${first}, not seen again",
	},
	schema.WhyRunsDisagree: {
		"${moved} in a later run of the release, while the first gave ${first}.",
		"a later run of the release; the first gave ${first}",
	},
	schema.WhyOneEach: {
		"${moved}: every baseline has one release, so there is no noise to compare with.", "too few to know the noise",
	},
	schema.WhyInTurns:   {"${inTurns}", "${byHistory}"},
	schema.WhyTurnsOpen: {"${inTurns}", "too few blocks to decide${moreBlocks}"},
	schema.WhyBaseSuspect: {
		"${moved}, as the base shows since ${seen}: not caused by this build.",
		"the base has it since ${seen}, not this build",
	},
}

// parts is what the names in [decisive] stand for.
var parts = map[string]func(c *comparison) string{
	"group": part, "inTurns": inTurns, "besideRare": besideRare, "runs": runs, "besideSettle": besideSettle,
	"byHistory": func(c *comparison) string { return byHistory(c, "by history alone ") },
	"moved": func(c *comparison) string {
		base := "the release before"
		if c.r.Releases > 1 {
			base = fmt.Sprintf("the mean of %d releases", c.r.Releases)
		}
		return moved(c.v, base, c.r.Turns == nil)
	},
	"oneMore": func(c *comparison) string { // what a suspected change still needs
		if c.v.First != "" {
			return "; suspected since " + c.v.First + ", and the runs since then have not settled it."
		}
		return "; a later run of the release agrees, and both together are not sure yet: one more run is needed."
	},
	"noise": func(c *comparison) string { // how far one release usually lies from the next
		if c.r.Noise > 0 {
			return "; noise is " + Percent(c.r.Noise) + " (one standard deviation)"
		}
		return ""
	},
	// How rare a change is among all that was compared. It is of the release's first run, so it never stands beside the
	// change of another one.
	"rare": func(c *comparison) string {
		if q := rarity(c.v, "= "); q != "" {
			return ", q " + q + " (share of such findings that chance makes)"
		}
		return ""
	},
	"settle":     func(c *comparison) string { return strings.TrimSuffix("; "+besideSettle(c), "; ") },
	"limit":      func(c *comparison) string { return digits(100*c.r.Limit) + Thin + "%" }, // that matters
	"seen":       func(c *comparison) string { return c.v.First },
	"since":      func(c *comparison) string { return strings.TrimSuffix("since "+c.v.First, "since ") },
	"once":       func(c *comparison) string { return once(c.v) },
	"first":      func(c *comparison) string { return Quantity(c.r.First, schema.Unit(c.v.Metric)) }, // run's value
	"host":       func(c *comparison) string { return cmp.Or(c.r.Host, "unknown") },
	"moreBlocks": func(c *comparison) string { return moreBlocks(c.r.Turns.Needed) },
}

// part says which numbers a number changed with, and by how much: "24 numbers of llama on n150 (12.0 % slower)".
func part(c *comparison) string {
	p := c.r.Part
	if p == nil {
		return "others"
	}
	where := OnDevice(p.Model, p.Device)
	switch {
	case p.Model == "" && p.Device == "":
		where = "several models and devices"
	case p.Model == "":
		where = Device(p.Device)
	case p.Device == "":
		where = p.Model
	}
	return Plural(p.Numbers, "number") + " of " + where + " (" + slower(p.Effect, p.Effect >= 0) + ")"
}

// outcome says how a number changed, and what decided that; beside columns that show the change, what decided alone:
// "" where the verdict's word and the interval say it.
func outcome(v *schema.Verdict, r schema.Change, beside bool) string {
	d, ok := decisive[r.Why]
	text := d.long
	switch {
	case !ok && beside:
		return strings.TrimSuffix(withoutBaseline(v.Metric, r), ".")
	case !ok:
		return withoutBaseline(v.Metric, r)
	case beside:
		text = d.short
	}
	said := os.Expand(text, func(name string) string { return parts[name](&comparison{v, r}) })
	said = strings.ReplaceAll(strings.ReplaceAll(said, ", ,", ","), " ;", ";") // a part may be empty
	return strings.TrimSuffix(strings.TrimSpace(said), ";")
}

// inTurns says what a paired difference decided, and what history alone says.
func inTurns(c *comparison) string {
	t := c.r.Turns
	out := moved(c.v, t.Baseline, false) +
		", measured in turns with it on one machine (" + turns(c.v.Metric, t) + ")"
	if c.r.Why == schema.WhyTurnsOpen {
		return out + ": too few blocks to decide" + moreBlocks(t.Needed) + "."
	}
	return out + byHistory(c, "; by history alone it is ") + "."
}

// byHistory is what history says of a number without the pair, behind an introduction; "" where that is the same.
func byHistory(c *comparison, intro string) string {
	history := "unknown"
	if c.r.Turns.Outcome != schema.NoBaseline {
		history = OutcomeText(c.r.Turns.Outcome, c.r.Turns.Evidence)
	}
	if history == OutcomeText(c.v.Outcome, c.v.Evidence) {
		return ""
	}
	return intro + history
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

// withoutBaseline says why there is nothing to compare a number with.
func withoutBaseline(metric string, r schema.Change) string {
	switch r.Why {
	case schema.WhyNoBaseline:
		for _, of := range schema.Metrics() {
			if slices.Contains(of.StandIns, metric) { // earlier releases may have it, beside the better metric
				name, _ := schema.MetricByName(metric)
				return fmt.Sprintf("%s is judged only where a point has no %s, and so in no earlier release of its line.",
					name.Label, of.Label)
			}
		}
		return "No earlier release of its line has this measurement."
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
	raw, share := value/ref-1, "level with"
	switch {
	case math.Abs(raw) < .0005:
	case raw < 0:
		share = fmt.Sprintf("%.1f%s%% below", -raw*100, Thin)
	default:
		share = fmt.Sprintf("%.1f%s%% above", raw*100, Thin)
	}
	out := fmt.Sprintf("%s is %s %s (%s → %s)", name, share, of, Number(ref), Quantity(value, info.Unit))
	if alone && ofFirstRun(v) {
		effect, _ := v.Effect.Get()
		out += "; its first run, which is what is tested, " + Signed(v.Metric, effect)
	}
	return out
}

// ofFirstRun reports that the change is that of the first run of a release, and the value the mean of several.
func ofFirstRun(v *schema.Verdict) bool {
	value, _ := v.Value.Get()
	ref, has := v.Ref.Get()
	effect, _ := v.Effect.Get()
	if info, _ := schema.MetricByName(v.Metric); info.Better == schema.Higher {
		effect = -effect
	}
	return has && ref != 0 && !(math.Abs(effect-(value/ref-1)) < .0005)
}

// rank names a percentile, with a space before it; "" for another statistic.
func rank(stat string) string {
	if rank, tail := strings.CutPrefix(stat, "p"); tail {
		return " P" + rank
	}
	return ""
}

// rarity is q, behind a sign of equality; "" where there is none.
func rarity(v *schema.Verdict, equal string) string {
	switch q, ok := v.Q.Get(); {
	case !ok:
		return ""
	case q < .0001:
		return "under 0.0001"
	default:
		return fmt.Sprintf("%s%.2g", equal, q)
	}
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
		return "; " + v.Follow.Release + " confirms it"
	}
	return "; " + v.Follow.Release + " did not see it again"
}

// WhyBeside is what a row says of why a verdict was given. Its columns show the number, its baseline, the change and
// the interval, and the head of its column says what comes first.
func WhyBeside(v schema.Verdict) string {
	_, compared := v.Effect.Get()
	r, change := v.Reason.(schema.Change)
	if !compared || !change {
		return why(&v, compared)
	}
	return besideChange(&v, r) + decided(&v)
}

// besideChange is the row's part of [change]: what differed in its measurement, what it is compared with, what decided,
// what differed in its build.
func besideChange(v *schema.Verdict, r schema.Change) string {
	tested, turns := "", ""
	switch inTurns := r.Why == schema.WhyInTurns || r.Why == schema.WhyTurnsOpen; {
	case r.Turns == nil && ofFirstRun(v): // and the number is the mean of several
		tested = "change of the first run"
	case r.Turns != nil && !inTurns:
		turns = "in turns with " + r.Turns.Baseline + " " + Signed(v.Metric, r.Turns.Effect) + ", which decides nothing"
	}
	said := []string{besideBase(r), tested, outcome(v, r, true), turns}
	out := strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "; ") + "."
	return differing(r, out)
}

// differing adds to a sentence what differed in the measurement of a number and in its build.
func differing(r schema.Change, out string) string {
	if r.Differs != "" {
		out = "With " + r.Differs + ": " + out
	}
	switch {
	case r.SameBuild != "":
		out += " Same build (" + r.SameBuild + "): the machine or its settings changed, not the release."
	case r.SameCommit != "":
		out += " Same " + r.SameCommit + "; the rest of the build, or the machine, changed."
	case r.StatedBuild != "":
		out += " Its files state the build of the baseline (" + r.StatedBuild + "), which excuses no pull request."
	case r.Build != "":
		out += " Built with " + r.Build + "."
	}
	return out
}

// besideBase is what a number is compared with, as the column is headed: "5 releases, noise 2 %".
func besideBase(r schema.Change) string {
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

// besideRare is how rare a change is that one run shows, and what a later release made of it.
func besideRare(c *comparison) string {
	v, out := c.v, "seen once"
	switch {
	case v.Follow.Release != "":
		out = "first seen here" + followed(v)
	case v.First != "":
		out = v.First + " lies as far out"
	}
	if q := rarity(v, ""); q != "" {
		return "q " + q + "; " + out
	}
	return out
}

// runs is what the runs that confirmed a change show together.
func runs(c *comparison) string {
	t, metric := c.r.Together, c.v.Metric
	if t == nil {
		return ""
	}
	return fmt.Sprintf("; %d runs together %s (95%s%% interval %s)", t.Runs, Signed(metric, t.Effect), Thin,
		Interval(metric, t.Interval))
}

// besideSettle is what would settle an inconclusive number.
func besideSettle(c *comparison) string {
	switch r := c.r; {
	case r.Repeats > 0:
		return "about " + Plural(r.Repeats, "repeat") + " would decide"
	case r.More > 0:
		return "about " + Plural(r.More, "more release") + " would decide"
	}
	return ""
}
