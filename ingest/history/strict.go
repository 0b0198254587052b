package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// faults keeps the first thing in a document that no version of ttreport writes. Read leniently, each of them is a
// way to lose a number that was measured: a number in quotes is no number, and of two members of one name one is not
// read. Such a document counts as lost.
type faults struct {
	found string
	names []string // of members of the point that is being read
}

func (f *faults) note(format string, args ...any) {
	if f.found == "" {
		f.found = fmt.Sprintf(format, args...)
	}
}

// once notes a name that was seen before, and returns the list with it.
func (f *faults) once(seen []string, name, where string) []string {
	if slices.Contains(seen, name) {
		f.note("two members %.40q in %s", name, where)
		return seen
	}
	return append(seen, name)
}

// text reads a text; null is an absent one.
func (f *faults) text(sc *decode.Scanner, name string) string {
	switch kind := sc.Peek(); kind {
	case decode.String:
		return string(sc.Text())
	case decode.Null, decode.Invalid:
	default:
		f.note("%s as %s", name, kind)
	}
	sc.Skip()
	return ""
}

// time reads a time as RFC 3339 has it.
func (f *faults) time(sc *decode.Scanner, name string) time.Time {
	text := f.text(sc, name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		f.note("%s %.40q, which is no time", name, text)
		return time.Time{}
	}
	return t.UTC()
}

// status reads the status of a point: its index in the columns.
func (f *faults) status(sc *decode.Scanner) uint8 {
	word := schema.Status(f.text(sc, "status"))
	at := slices.Index(columns.Statuses(), word)
	if at < 0 {
		f.note("a point of status %.40q", string(word))
		return 0
	}
	return uint8(at)
}

// statistic notes a statistic that is no number.
func (f *faults) statistic(metric string, name []byte, kind decode.Kind) {
	if s := string(name); isStat(s) || s == "n" || s == "se" {
		f.note("%s of %s as %s", s, metric, kind)
	}
}

// unit notes a metric in another unit than the one it is stored in.
func (f *faults) unit(m metricID) {
	if info, known := schema.MetricByName(m.metric); known && info.Unit != m.unit {
		f.note("%s in %.20q, which is stored in %s", m.metric, m.unit, info.Unit)
	}
}

// value notes members that an object has twice, at any depth.
func (f *faults) value(v decode.Value, where string) {
	var seen []string
	for _, m := range v.Members() {
		seen = f.once(seen, m.Key, where)
		f.value(m.Val, where)
	}
	if v.Kind() == decode.Array {
		for item := range v.Items() {
			f.value(item, where)
		}
	}
}

// score notes what makes a score unusable.
func (f *faults) score(v decode.Value) {
	f.value(v, "a score")
	for _, name := range []string{"value", "stderr", "n", "total"} {
		if kind := v.Get(name).Kind(); kind != decode.Number && kind != decode.Invalid && kind != decode.Null {
			f.note("%s of a score as %s", name, kind)
		}
	}
	if d := v.Get("direction").Str(); d != "" && d != "higher" && d != "lower" {
		f.note("direction %.20q of a score", d)
	}
}

// problem is what was found, as a problem of a document; nil for nothing.
func (f *faults) problem(path string) *schema.Problem {
	if f.found == "" {
		return nil
	}
	return &schema.Problem{
		Severity: schema.SevError, Path: path, Code: "unsound-document", Found: f.found,
		Expected: "a document as ttreport writes it", Used: "nothing of it",
	}
}
