package ingest

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Bounds of the search for odd values: results state what they measured near the top.
const (
	oddDepth    = 4
	oddItems    = 64
	oddMembers  = 400
	oddProblems = 20
)

// oddValues are the places where a file says something that no reader can use, and that would be missing without a
// word: a name twice in one object, a number too large to be one, a number with a comma in quotes.
func oddValues(f *decode.File) []schema.Problem {
	if f.Form != decode.JSON {
		return nil
	}
	o := odd{file: f}
	o.look(f.First, oddDepth)
	return o.problems
}

type odd struct {
	file     *decode.File
	problems []schema.Problem
}

func (o *odd) look(v decode.Value, depth int) {
	if depth == 0 || len(o.problems) >= oddProblems {
		return
	}
	members := v.Members()
	if len(members) <= oddMembers {
		for i := range members {
			o.twice(members, i)
		}
	}
	for i := range members {
		o.number(members[i].Key, members[i].Val)
		o.look(members[i].Val, depth-1)
	}
	if v.Kind() != decode.Array {
		return
	}
	n := 0
	for x := range v.Items() {
		if n++; n > oddItems || x.Kind() != decode.Object && x.Kind() != decode.Array {
			return
		}
		o.look(x, depth-1)
	}
}

// twice reports a member whose name an earlier one has with another value.
func (o *odd) twice(members []decode.Member, i int) {
	m := members[i]
	for _, first := range members[:i] {
		if first.Key == m.Key && !bytes.Equal(first.Val.Raw(), m.Val.Raw()) {
			p := o.add("name-twice", m.Val, fmt.Sprintf("%q twice in one object: %s and then %s",
				m.Key, excerpt(first.Val), excerpt(m.Val)))
			p.Expected, p.Used = "each name once", "the last one"
			return
		}
	}
}

// inQuotes is a number as some languages write it: with a comma in it.
var (
	inQuotes   = regexp.MustCompile(`^\s*[-+]?\d[\d.' ]*(?:,\d+)+(?:\.\d+)?\s*$`)
	measurable = regexp.MustCompile(`(?i)(?:ttft|tpot|itl|e2el|latency|throughput|duration|tokens|time|_m?s$|tps$|rps$)`)
)

// number reports a member whose value is meant to be a number and is none.
func (o *odd) number(key string, v decode.Value) {
	switch _, ok := v.Float(); {
	case ok:
	case v.Kind() == decode.Number && len(v.Raw()) > 0 && strings.ContainsAny(string(v.Raw()[:1]), "-0123456789") &&
		!bytes.Contains(v.Raw(), []byte("Inf")):
		p := o.add("number-too-large", v, fmt.Sprintf("%s is %s", key, excerpt(v)))
		p.Expected, p.Used = "a number below 1.8e308", "no number of it"
	case v.Kind() == decode.String && measurable.MatchString(key) && inQuotes.MatchString(v.Str()):
		p := o.add("number-with-comma", v, fmt.Sprintf("%s is %s", key, excerpt(v)))
		p.Expected, p.Used = "a number with a point", "no number of it: a comma may stand for a point or for nothing"
	}
}

func (o *odd) add(code string, at decode.Value, found string) *schema.Problem {
	p := o.file.Problem(schema.SevWarning, code, at)
	p.Found = found
	o.problems = append(o.problems, p)
	return &o.problems[len(o.problems)-1]
}

// excerpt is the beginning of a value as it stands in the file.
func excerpt(v decode.Value) string {
	const longest = 40
	r := []rune(string(v.Raw()[:min(len(v.Raw()), 4*longest)]))
	if len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return string(r)
}
