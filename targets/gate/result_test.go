package gate_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// onPair makes a verdict on a workload of model M on device d.
func onPair(v schema.Verdict) schema.Verdict {
	v.Model, v.Device, v.Key = "M", "d", judgetest.Key(1)
	return v
}

func history(o schema.Outcome) schema.Verdict { return onPair(against(schema.AgainstHistory, o)) }

func regressed(e schema.Evidence) schema.Verdict {
	v := history(schema.Regressed)
	v.Evidence, v.Effect = e, schema.Num(.2)
	return v
}

// large is inconclusive beyond the limit.
func large(effect float64) schema.Verdict {
	v := history(schema.Inconclusive)
	v.Large, v.Effect = true, schema.Num(effect)
	return v
}

func required(o schema.Outcome) schema.Verdict {
	v := onPair(against(schema.AgainstTarget, o))
	v.Required, v.Metric, v.Level = true, "ttft", schema.LevelTarget
	return v
}

func optional(o schema.Outcome) schema.Verdict {
	v := required(o)
	v.Required = false
	return v
}

// because gives a verdict a reason.
func because(v schema.Verdict, r schema.Reason) schema.Verdict { v.Reason = r; return v }

// decidedBy gives a verdict a decision.
func decidedBy(v schema.Verdict, d schema.Decision) schema.Verdict { v.Decision = &d; return v }

// found are findings with one number that is unchanged, so that something was compared.
func found(list ...schema.Verdict) gate.Findings {
	unchanged := history(schema.Unchanged)
	unchanged.Key = judgetest.Key(2)
	return only(append(list, unchanged)...)
}

// only are findings of these verdicts.
func only(list ...schema.Verdict) gate.Findings {
	var f gate.Findings
	for _, v := range list {
		if v.Against == schema.AgainstTarget {
			f.Targets = append(f.Targets, v)
		} else {
			f.History = append(f.History, v)
		}
	}
	return f
}

// beside returns findings with lints.
func beside(f gate.Findings, list ...lint.Lint) gate.Findings { f.Lints = list; return f }

// decideCase is the default decision on some findings.
type decideCase struct {
	f    gate.Findings
	word gate.Word
	exit int
}

// check decides each case.
func check(t *testing.T, cases map[string]decideCase) {
	t.Helper()
	for name, c := range cases {
		if d := gate.Decide(c.f, gate.DefaultFailOn(schema.ChannelRelease)); d.Word != c.word || d.Exit != c.exit {
			t.Errorf("%s: %s, exit %d; want %s, %d", name, d.Word, d.Exit, c.word, c.exit)
		}
	}
}

// warns is a lint that is a warning.
func warns() lint.Lint { return lint.Lint{ID: "no-start", Severity: schema.SevWarning} }

func TestDecideHistory(t *testing.T) {
	pinned, first := schema.Change{Why: schema.WhyPinned}, schema.Change{Why: schema.WhyNoBaseline}
	check(t, map[string]decideCase{
		"nothing at all":    {gate.Findings{}, gate.NotGraded, 5},
		"no baseline":       {only(history(schema.NoBaseline)), gate.NotGraded, 5},
		"not comparable":    {only(history(schema.NotComparable)), gate.NotGraded, 5},
		"all unchanged":     {only(history(schema.Unchanged)), gate.Pass, 0},
		"improved":          {found(history(schema.Improved)), gate.Pass, 0},
		"recovered":         {found(history(schema.Recovered)), gate.Pass, 0},
		"suspected":         {found(regressed(schema.Suspected)), gate.PassWithWarnings, 0},
		"confirmed":         {found(regressed(schema.Confirmed)), gate.Fail, 1},
		"inconclusive":      {found(history(schema.Inconclusive)), gate.Pass, 0},
		"large and worse":   {found(large(.5)), gate.Pass, 0},
		"large and better":  {found(large(-.5)), gate.Pass, 0},
		"only inconclusive": {only(large(.5), history(schema.Inconclusive)), gate.PassWithWarnings, 0},
		"one earlier value": {
			only(because(large(.5), schema.Change{Why: schema.WhyOneEach})), gate.NotGraded, 5},
		"blocks that do not decide": {
			only(because(large(.5), schema.Change{Why: schema.WhyTurnsOpen})), gate.NotGraded, 5},
		"one earlier value beside more": {
			found(because(large(.5), schema.Change{Why: schema.WhyOneEach})), gate.Pass, 0},
		"not comparable beside more": {found(history(schema.NotComparable)), gate.PassWithWarnings, 0},
		"a pinned level":             {found(because(history(schema.NoBaseline), pinned)), gate.PassWithWarnings, 0},
		"a new number":               {found(because(history(schema.NoBaseline), first)), gate.Pass, 0},
		"failed": {
			found(because(history(schema.NotMeasured), schema.NoNumber{Why: "crash"})), gate.Fail, 1},
		"not measured again": {
			found(because(history(schema.NotMeasured), schema.NotRemeasured{})), gate.PassWithWarnings, 0},
		"long not measured": {
			found(because(history(schema.NotMeasured), schema.NotRemeasured{Releases: 2})), gate.Pass, 0},
		"excluded": {found(history(schema.Excluded)), gate.Fail, 1},
		"excluded, and measured by another run": {
			found(because(history(schema.Excluded), schema.ExcludedBy{Other: "run-2"})), gate.PassWithWarnings, 0},
		"excluded, and measured by no other": {
			found(because(history(schema.Excluded), schema.ExcludedBy{})), gate.Fail, 1},
	})
}

func TestDecideTargets(t *testing.T) {
	planned := because(optional(schema.NotMeasured), schema.Planned{})
	check(t, map[string]decideCase{
		"without a target is no pass":    {only(required(schema.NoTarget)), gate.NotGraded, 5},
		"met, and no history":            {only(required(schema.Pass)), gate.NoBaseline, 0},
		"the same, with warnings":        {beside(only(required(schema.Pass)), warns()), gate.NoBaseline, 0},
		"a required target fails":        {found(required(schema.Fail)), gate.Fail, 1},
		"a required target is met":       {found(required(schema.Pass)), gate.Pass, 0},
		"required and not measured":      {found(required(schema.NotMeasured)), gate.Fail, 1},
		"required and inconclusive":      {found(required(schema.Inconclusive)), gate.Pass, 0},
		"required and unattainable":      {found(required(schema.Unattainable)), gate.PassWithWarnings, 0},
		"informational":                  {found(optional(schema.Fail)), gate.Pass, 0},
		"informational and not measured": {found(optional(schema.NotMeasured)), gate.Pass, 0},
		"planned and not measured":       {found(planned), gate.Fail, 1},
	})
}

func TestDecideLintsAndDecisions(t *testing.T) {
	waive, accept := schema.Decision{ID: "D", Kind: schema.Waive}, schema.Decision{ID: "D", Kind: schema.Accept}
	pin, expired := schema.Decision{ID: "D", Kind: schema.Pin}, waive
	expired.Expired = true
	note := lint.Lint{ID: "few-requests", Severity: schema.SevNote}
	bad := lint.Lint{ID: "empty-responses", Severity: schema.SevError}
	waived := lint.Lint{ID: "not-positive", Severity: schema.SevError, Decision: &waive}
	noMeasurement := found(because(history(schema.Excluded), schema.NotPositive{}))
	seenAgain := regressed(schema.Confirmed)
	check(t, map[string]decideCase{
		"an error":              {beside(found(), bad), gate.Fail, 1},
		"a warning":             {beside(found(), warns()), gate.PassWithWarnings, 0},
		"a note":                {beside(found(), note), gate.Pass, 0},
		"a waived error":        {beside(noMeasurement, waived), gate.PassWithWarnings, 0}, // which is counted once
		"waived":                {found(decidedBy(seenAgain, waive)), gate.PassWithWarnings, 0},
		"accepted":              {found(decidedBy(seenAgain, accept)), gate.PassWithWarnings, 0},
		"a pin excuses nothing": {found(decidedBy(seenAgain, pin)), gate.Fail, 1},
		"an expired waiver":     {found(decidedBy(regressed(schema.Suspected), expired)), gate.Fail, 1},
	})
}

// grouped is a number that changed with others.
func grouped(v schema.Verdict) schema.Verdict {
	v.Change, v.Reason = "0a1b2c3d4e5f", schema.Change{Why: schema.WhyGroup, Part: &schema.PartOf{Numbers: 12}}
	return v
}

// What regressed as a group fails builds of pr and main when it is seen once; a release
// has its recheck. A single point waits everywhere.
func TestRunWideRegressionsByChannel(t *testing.T) {
	for _, c := range []struct {
		channel string
		group   bool
		word    gate.Word
	}{
		{schema.ChannelPR, true, gate.Fail}, {schema.ChannelMain, true, gate.Fail},
		{schema.ChannelRelease, true, gate.PassWithWarnings}, {schema.ChannelDev, true, gate.PassWithWarnings},
		{schema.ChannelPR, false, gate.PassWithWarnings}, {schema.ChannelMain, false, gate.PassWithWarnings},
	} {
		v := regressed(schema.Suspected)
		if c.group {
			v = grouped(v)
		}
		if d := gate.Decide(found(v), gate.DefaultFailOn(c.channel)); d.Word != c.word {
			t.Errorf("%s, a group %v: %s", c.channel, c.group, d.Word)
		}
	}
}

// Between runs of one build the machine changed: that is counted and never fails.
func TestSameBuildNeverFails(t *testing.T) {
	all := gate.FailOn{}
	for _, k := range gate.FailKinds() {
		all[k] = true
	}
	for _, e := range []schema.Evidence{schema.Suspected, schema.Confirmed} {
		f := found(because(regressed(e), schema.Change{SameBuild: "digest 0123456789ab"}))
		if d := gate.Decide(f, all); d.Word != gate.PassWithWarnings || d.Counts[0].Kind != gate.NoteSameBuild {
			t.Errorf("%s: %+v", e, d)
		}
	}
}

// Each kind of finding fails a release only if the gate is configured to fail on it.
func TestDecideOnEachKind(t *testing.T) {
	cases := map[gate.Kind]gate.Findings{
		gate.FailConfirmed:     found(regressed(schema.Confirmed)),
		gate.FailSuspected:     found(regressed(schema.Suspected)),
		gate.FailRunWide:       found(grouped(regressed(schema.Suspected))),
		gate.FailTarget:        found(required(schema.Fail)),
		gate.FailInvalid:       found(history(schema.Excluded)),
		gate.FailMissing:       found(required(schema.NotMeasured)),
		gate.FailNotRemeasured: found(because(history(schema.NotMeasured), schema.NotRemeasured{})),
		gate.FailAbsent:        found(because(history(schema.NotMeasured), schema.NotRemeasured{Releases: 3})),
		gate.FailOpen:          stillOpen(),
		gate.FailInconclusive:  found(large(.5)),
		gate.FailUngraded:      {},
	}
	for _, k := range gate.FailKinds() {
		if _, ok := cases[k]; !ok {
			t.Errorf("no case fails on %s", k)
		}
		for of, f := range cases {
			d := gate.Decide(f, gate.FailOn{k: true})
			if fails := d.Exit == 1; fails != (of == k) {
				t.Errorf("%s, failing on %s: %s, exit %d", of, k, d.Word, d.Exit)
			}
			if of == k && of != gate.FailUngraded && (d.Word != gate.Fail || !d.Counts[0].Fails || d.Counts[0].Kind != k) {
				t.Errorf("%s: %+v", k, d)
			}
		}
		if k == gate.FailInconclusive {
			if d := gate.Decide(found(required(schema.Inconclusive)), gate.FailOn{k: true}); d.Word != gate.Fail {
				t.Errorf("a required target that is inconclusive: %+v", d)
			}
		}
	}
	ungraded := gate.Decide(gate.Findings{}, gate.FailOn{gate.FailUngraded: true})
	if ungraded.Word != gate.NotGraded || ungraded.Exit != 1 {
		t.Errorf("%+v", ungraded)
	}
}

// Points are counted once, under their worst finding; a finding that fails is never hidden behind one that does not.
func TestPointsAreCountedOnce(t *testing.T) {
	on := func(v schema.Verdict, metric string) schema.Verdict { v.Metric = metric; return v }
	f := only(on(regressed(schema.Confirmed), "ttft"), on(regressed(schema.Confirmed), "e2el"),
		on(regressed(schema.Suspected), "tpot"), on(large(.3), "output_tps"))
	d := gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease))
	want := gate.Tally{Kind: gate.FailConfirmed, N: 1, Cells: 2, Fails: true}
	if d.Exit != 1 || len(d.Counts) != 1 || d.Counts[0] != want || d.Compared != 4 || d.Graded != 4 {
		t.Errorf("%+v", d)
	}
	for _, k := range []gate.Kind{gate.FailSuspected, gate.FailInconclusive} {
		if d := gate.Decide(f, gate.FailOn{k: true}); d.Exit != 1 {
			t.Errorf("failing on %s: %+v", k, d)
		}
	}
}

// Inconclusive verdicts on history and on required targets are counted together.
func TestInconclusiveIsCounted(t *testing.T) {
	f := found(large(.5), required(schema.Inconclusive), optional(schema.Inconclusive))
	d := gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease))
	want := gate.Tally{Kind: gate.FailInconclusive, N: 2, Cells: 2}
	if d.Word != gate.Pass || len(d.Counts) != 1 || d.Counts[0] != want {
		t.Errorf("%+v", d)
	}
}

// A change beyond the limit that the noise explains has no weight, unless the gate is asked to fail on it.
func TestInsignificantChangesHaveNoWeight(t *testing.T) {
	f := found(because(large(.5), schema.Change{Why: schema.WhyNotSignificant}))
	if d := gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease)); d.Word != gate.Pass || len(d.Counts) != 0 {
		t.Errorf("%+v", d)
	}
	if d := gate.Decide(f, gate.FailOn{gate.FailInconclusive: true}); d.Word != gate.Fail {
		t.Errorf("%+v", d)
	}
}

// Each decision that kept a finding from failing is listed once.
func TestWaivedIsNamed(t *testing.T) {
	again := regressed(schema.Confirmed)
	again.Key = judgetest.Key(3)
	d := gate.Decide(found(
		decidedBy(regressed(schema.Confirmed), schema.Decision{ID: "D-2", Kind: schema.Waive}),
		decidedBy(again, schema.Decision{ID: "D-2", Kind: schema.Waive}),
		decidedBy(required(schema.Fail), schema.Decision{ID: "D-1", Kind: schema.Accept}),
	), gate.DefaultFailOn(schema.ChannelRelease))
	if len(d.Waived) != 2 || d.Waived[0] != "D-1" || d.Waived[1] != "D-2" {
		t.Errorf("%v", d.Waived)
	}
	if want := (gate.Tally{Kind: gate.NoteWaived, N: 3, Cells: 3}); len(d.Counts) != 1 || d.Counts[0] != want {
		t.Errorf("%+v", d.Counts)
	}
}

// Each model and device has its own decision; findings about none of them count for the release only.
func TestDecidePairs(t *testing.T) {
	of := func(v schema.Verdict, device string) schema.Verdict { v.Device = device; return v }
	f := only(
		of(regressed(schema.Confirmed), "bad"), of(history(schema.Unchanged), "good"),
		of(required(schema.Pass), "new"), of(history(schema.NoBaseline), "none"),
	)
	f.Lints = []lint.Lint{
		{ID: "no-start", Severity: schema.SevWarning, Model: "M", Device: "good"},
		{ID: "lost-document", Severity: schema.SevError},
		{ID: "dirty-build", Severity: schema.SevWarning, Model: "M", Device: "elsewhere"},
	}
	whole, pairs := gate.DecidePairs(f, gate.DefaultFailOn(schema.ChannelRelease))
	for device, want := range map[string]gate.Word{
		"bad": gate.Fail, "good": gate.PassWithWarnings, "new": gate.NoBaseline, "none": gate.NotGraded,
	} {
		if got := pairs[schema.Pair{Model: "M", Device: device}].Word; got != want {
			t.Errorf("%s: %s, want %s", device, got, want)
		}
	}
	if len(pairs) != 4 || whole.Word != gate.Fail {
		t.Errorf("%d pairs, %+v", len(pairs), whole)
	}
	counts := map[gate.Kind]int{}
	for _, c := range whole.Counts {
		counts[c.Kind] = c.N
	}
	if counts[gate.FailInvalid] != 1 || counts[gate.NoteLint] != 2 || counts[gate.NoteMet] != 1 {
		t.Errorf("%v", counts)
	}
	if again := gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease)); again.Word != whole.Word ||
		len(again.Counts) != len(whole.Counts) {
		t.Errorf("%+v, and alone %+v", whole, again)
	}
}

// A number with one earlier value is counted once, whatever its word: neither as compared nor as inconclusive.
func TestOneEarlierValueIsCountedOnce(t *testing.T) {
	f := only(because(large(.5), schema.Change{Why: schema.WhyOneEach}),
		because(history(schema.NoBaseline), schema.Change{Why: schema.WhyOneEach}))
	want := gate.Basis{Early: 2}
	if d := gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease)); d.Basis != want || d.Graded != 0 {
		t.Errorf("%+v, want %+v", d.Basis, want)
	}
}
