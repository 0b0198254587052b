package terminal

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// JUnit XML, as CI systems read it: a suite for each model and device, a case for each verdict that decides something,
// and before them the decision itself, so that a test report is green exactly when the gate passes.
type (
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure,omitempty"`
		Skipped *message `xml:"skipped,omitempty"`
		Output  string   `xml:"system-out,omitempty"`
	}
	message struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the decision on a release as a JUnit XML test report, which CI systems show; on says which kinds of
// finding fail it.
func JUnit(w io.Writer, g *gate.Review, on gate.FailOn) error {
	out := struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		Suites  []*suite `xml:"testsuite"`
	}{Name: g.Release}
	at := map[string]*suite{}
	// add adds a case of a kind of finding: it failed, was not run, passed with something to read, or passed.
	add := func(of, class, name, why string, kind gate.Kind, fails, skipped bool) {
		s := at[of]
		if s == nil {
			s = &suite{Name: of}
			at[of], out.Suites = s, append(out.Suites, s)
		}
		switch kind {
		case gate.NoCase, gate.FailNotRemeasured, gate.FailAbsent, gate.FailMissing:
			skipped = true
		}
		c := testCase{Class: class, Name: strings.TrimSpace(name)}
		switch {
		case fails:
			c.Failure = &message{why, why}
			s.Failures++
		case skipped:
			c.Skipped = &message{Message: why}
			s.Skipped++
		case kind != "":
			c.Output = why
		}
		s.Tests++
		s.Cases = append(s.Cases, c)
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
			add(words.OnDevice(v.Model, v.Device), string(v.Against), name, words.Why(*v), kind, on[kind] && !excused, excused)
		}
	}
	for i := range g.Lints {
		l := &g.Lints[i]
		kind := gate.KindOfLint(l)
		add(words.OnDevice(l.Model, l.Device), "lint", string(l.ID)+" "+l.Subject, words.Lint(*l), kind, on[kind], false)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
