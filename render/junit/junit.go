package junit

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
	junitSuites struct {
		XMLName xml.Name      `xml:"testsuites"`
		Name    string        `xml:"name,attr"`
		Suites  []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// suite finds or adds a suite.
func (s *junitSuites) suite(name string) *junitSuite {
	for _, x := range s.Suites {
		if x.Name == name {
			return x
		}
	}
	x := &junitSuite{Name: name}
	s.Suites = append(s.Suites, x)
	return x
}

// add adds a case of a kind of finding: it failed, was not run, passed with something to read, or passed.
func (s *junitSuite) add(class, name, why string, kind gate.Kind, fails, excused bool) {
	c := junitCase{Class: class, Name: name}
	skipped := excused
	switch kind {
	case gate.NoCase, gate.FailNotRemeasured, gate.FailAbsent, gate.FailMissing:
		skipped = true
	}
	switch {
	case fails:
		c.Failure = &junitMessage{why, why}
		s.Failures++
	case skipped:
		c.Skipped = &junitMessage{Message: why}
		s.Skipped++
	case kind != "":
		c.Output = why
	}
	s.Tests++
	s.Cases = append(s.Cases, c)
}

// Write writes the decision on a release; on says which kinds of finding fail it.
func Write(w io.Writer, g *gate.Review, on gate.FailOn) error {
	out := &junitSuites{Name: g.Release}
	out.suite(g.Release).add("gate", "decision", string(g.Result.Word)+": "+words.Detail(g), "", g.Result.Exit != 0, false)
	of := func(model, device string) *junitSuite {
		return out.suite(words.OnDevice(model, device))
	}
	for _, list := range [][]schema.Verdict{g.History, g.Targets} {
		for i := range list {
			v := &list[i]
			if v.Outcome == schema.NoTarget && v.Metric == "" {
				continue // that no target covers a workload is no test case
			}
			name := strings.TrimSpace(
				fmt.Sprintf("%s %s %s %s", words.Workload(v.Key), v.Key.Tool, v.Metric, strings.Trim(v.Stat+" "+v.Level, " ")),
			)
			kind, excused := gate.KindOf(v), v.Decision.Excuses()
			of(v.Model, v.Device).add(string(v.Against), name, words.Why(*v), kind, on[kind] && !excused, excused)
		}
	}
	for i := range g.Lints {
		l := &g.Lints[i]
		kind := gate.KindOfLint(l)
		name := strings.TrimSpace(string(l.ID) + " " + l.Subject)
		of(l.Model, l.Device).add("lint", name, words.Lint(*l), kind, on[kind], false)
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
