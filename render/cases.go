package render

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// Case is a finding as a test of a test report.
type Case struct {
	Suite  string // a model on a device, or the release
	Class  string // gate, lint, or what a verdict is against
	Name   string
	Why    string
	Status CaseStatus
}

// CaseStatus is what a test came to.
type CaseStatus uint8

// What a test came to: CaseNoted passed with something to read.
const (
	CasePassed CaseStatus = iota
	CaseNoted
	CaseFailed
	CaseSkipped
)

// Cases are the tests of the decision on a release, as CI systems show them: the decision itself, so that a report is
// green exactly when the gate passes, a case for each verdict that decides something, and the lints. on says which
// kinds of finding fail it.
func Cases(g *gate.Review, on gate.FailOn) (out []Case) {
	add := func(of, class, name, why string, kind gate.Kind, fails, skipped bool) {
		c := Case{Suite: of, Class: class, Name: strings.TrimSpace(name), Why: why}
		switch kind {
		case gate.NoCase, gate.FailNotRemeasured, gate.FailAbsent, gate.FailMissing:
			skipped = true
		}
		switch {
		case fails:
			c.Status = CaseFailed
		case skipped:
			c.Status = CaseSkipped
		case kind != "":
			c.Status = CaseNoted
		}
		out = append(out, c)
	}
	add(g.Release, "gate", "decision", string(g.Result.Word)+": "+words.Detail(g), "", g.Result.Exit != 0, false)
	for _, list := range [][]schema.Verdict{g.History, g.Targets} {
		for i := range list {
			v := &list[i]
			if v.Outcome == schema.NoTarget && v.Metric == "" {
				continue // that no target covers a workload is no test case
			}
			name := fmt.Sprintf("%s %s %s %s", words.Workload(v.Key), v.Key.Tool, v.Metric,
				strings.Trim(v.Stat+" "+v.Level, " "))
			kind, excused := gate.KindOf(v), v.Decision.Excuses()
			fails := on[kind] && !excused
			add(words.OnDevice(v.Model, v.Device), string(v.Against), name, words.Why(*v), kind, fails, excused)
		}
	}
	for i := range g.Lints {
		l := &g.Lints[i]
		kind := gate.KindOfLint(l)
		add(words.OnDevice(l.Model, l.Device), "lint", string(l.ID)+" "+l.Subject, words.Lint(*l), kind, on[kind], false)
	}
	return out
}
