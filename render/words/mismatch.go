package words

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Mismatch says why two runs that name each other are no pair, as the end of a sentence.
func Mismatch(m schema.Mismatch) string {
	switch m.Kind {
	case schema.MismatchPartner:
		if m.A == "" {
			return "there is no such run as its baseline"
		}
		return "that run took turns with " + m.A
	case schema.MismatchTimes:
		return fmt.Sprintf("one was measured from %s, the other from %s", m.A, m.B)
	case schema.MismatchPlace:
		return fmt.Sprintf("the baseline states %s %s, and this run %s", m.Fact, m.A, m.B)
	case schema.MismatchLoad:
		return fmt.Sprintf("the baseline was measured with %s %s, and this run with %s", m.Fact, m.A, m.B)
	case schema.MismatchSame:
		return fmt.Sprintf("both state the same build (%s)", m.A)
	case schema.MismatchBuild:
		return fmt.Sprintf("release %s is %s %s, and the pair measured %s", m.Release, m.Fact, m.A, m.B)
	}
	return "its runs do not fit together"
}
