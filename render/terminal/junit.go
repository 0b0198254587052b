package terminal

import (
	"encoding/xml"
	"io"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/gate"
)

// JUnit XML, as CI systems read it: a suite for each model and device.
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
	for _, x := range render.Cases(g, on) {
		s := at[x.Suite]
		if s == nil {
			s = &suite{Name: x.Suite}
			at[x.Suite], out.Suites = s, append(out.Suites, s)
		}
		c := testCase{Class: x.Class, Name: x.Name}
		switch x.Status {
		case render.CaseFailed:
			c.Failure = &message{x.Why, x.Why}
			s.Failures++
		case render.CaseSkipped:
			c.Skipped = &message{Message: x.Why}
			s.Skipped++
		case render.CaseNoted:
			c.Output = x.Why
		}
		s.Tests++
		s.Cases = append(s.Cases, c)
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
