package ingest

import (
	"iter"
	"maps"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// part is what may be a result of its own in a file: a value, or a text in one.
type part struct {
	file *decode.File // as which it is read
	at   decode.Value // where it stands
	name string       // the key under which it stands, where others of its kind stand beside it
}

// mark states the key under which points stand: it may be all that tells them from those of another.
func (p part) mark(points []schema.Point) {
	for i := range points {
		if p.name != "" {
			points[i].Conditions = maps.Clone(points[i].Conditions)
			points[i].Conditions["entry"] = p.name
		}
	}
}

// valuesOf are the values of a file, one after another.
func valuesOf(f *decode.File) iter.Seq[part] {
	return func(yield func(part) bool) {
		for v := range f.Values() {
			if !yield(part{file: f.With(v), at: v}) {
				return
			}
		}
	}
}

// Limits of the search for results within JSON that is none: how deep, and how many values are asked for what they are.
const (
	deepestWrapped = 3
	mostAsked      = 100
)

// wrapped lists the results that stand in JSON of another kind: scripts that drive a tool wrap what it wrote under a
// key or in a list, or keep what it printed as a text.
func wrapped(f *decode.File) []part {
	if f.Form != decode.JSON || f.Several() || isSchema(f.First) {
		return nil
	}
	var out []part
	asked := 0
	isResult := func(p part) bool {
		asked++
		_, r := recognise(p.file)
		return r != nil
	}
	var look func(v decode.Value, depth int)
	look = func(v decode.Value, depth int) {
		if first := v.Index(0); first.Kind() == decode.Object && isResult(part{file: f.With(first)}) {
			for x := range v.Items() {
				out = append(out, part{file: f.With(x), at: x})
			}
			return
		}
		found := len(out)
		inner := func(x decode.Value, name string) {
			p := part{f.With(x), x, name}
			switch kind := x.Kind(); {
			case asked >= mostAsked:
			case kind == decode.String && len(x.Str()) > shortestPrinted:
				if p.file = f.Within(x.Str()); isResult(p) {
					out = append(out, p)
				}
			case kind != decode.Object && kind != decode.Array:
			case isResult(p):
				out = append(out, p)
			case depth > 0:
				look(x, depth-1)
			}
		}
		for _, m := range v.Members() {
			inner(m.Val, m.Key)
		}
		for x := range v.Items() {
			inner(x, "")
		}
		if len(out) == found+1 { // nothing beside it
			out[found].name = ""
		}
	}
	look(f.First, deepestWrapped)
	return out
}

// shortestPrinted is the least that a tool prints as its result.
const shortestPrinted = 200
