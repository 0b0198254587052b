package draft

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Format is one format: how a file of it is recognised, and how it is read.
type Format struct {
	Name, Detail string
	// Tool is that of the one point of a file, which Point fills in. All reads a file of several points, or of scores. A
	// format without either has no result.
	Tool  string
	Point func(d *Draft)
	All   func(f *decode.File, r *schema.Reading)
	// Text says which texts have the format; nil: it is one of JSON. Wants are what JSON has. Sniff adds what they cannot
	// say, and may change name and detail.
	Text  func(f *decode.File) bool
	Wants []Feature
	Sniff func(f *decode.File, m *Check)
	// Others are further files of the tool. They come first, and nothing resembles them: a file has all, or is none.
	Others []Format
	// Records says that the values of a file are records of one measurement.
	Records bool
	Aside   bool // see [schema.Match]
}

// Aside is a format of files of a tool that are no results.
func Aside(name, what string, wants ...string) Format {
	return Format{Name: name, Detail: "not a result: " + what, Wants: Wants(wants...), Aside: true}
}

// Detect reports whether a file has the format.
func (x *Format) Detect(f *decode.File) schema.Match {
	_, m := x.match(f)
	return m
}

// match returns which of the tool's formats a file has.
func (x *Format) match(f *decode.File) (*Format, schema.Match) {
	for i := range x.Others {
		if m := x.Others[i].Detect(f); m.OK() {
			return &x.Others[i], m
		}
	}
	m := Check{schema.Match{Format: x.Name, Detail: x.Detail, Records: x.Records || x.Aside, Aside: x.Aside}}
	if isText := f.Form == decode.Text; x.Text != nil || isText {
		m.Want(isText && x.Text != nil && x.Text(f), x.Detail)
	}
	for _, feature := range x.Wants {
		has, other := feature.in(f.First)
		m.Want(has, feature.what+other)
	}
	if x.Sniff != nil {
		x.Sniff(f, &m)
	}
	return x, m.Match
}

// Read reads a file that has the format.
func (x *Format) Read(f *decode.File) schema.Reading {
	x, m := x.match(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	switch {
	case x.All != nil:
		x.All(f, &r)
	case x.Point != nil:
		d := New(f, &r, f.First, x.Tool)
		x.Point(d)
		d.Done()
	}
	return r
}

// Feature is what a file of a format has, see [Wants].
type Feature struct {
	what string
	any  [][]member // one of these, with all of its members
}

type member struct {
	path []string
	kind decode.Kind // Invalid for any but null
}

// kinds are the marks of kinds behind a path; a text is not empty.
var kinds = map[string]decode.Kind{"{}": decode.Object, "[]": decode.Array, "#": decode.Number, `""`: decode.String}

// Wants reads features. Each is a path to a member that is not null, or that is of a kind by the mark behind it:
// "metrics{}"; "0.id" is of the first item. Several are joined by &, alternatives by |. People read the text after =.
func Wants(texts ...string) (out []Feature) {
	for _, text := range texts {
		text, what, _ := strings.Cut(text, "=")
		f := Feature{what: what}
		for alternative := range strings.SplitSeq(text, "|") {
			var all []member
			var shown []string
			for path := range strings.SplitSeq(alternative, "&") {
				kind := decode.Invalid
				for mark, k := range kinds {
					if rest, is := strings.CutSuffix(path, mark); is {
						path, kind = rest, k
					}
				}
				all = append(all, member{strings.Split(path, "."), kind})
				shown = append(shown, strings.Replace("."+path, ".0.", ".[].", 1)[1:])
			}
			f.any = append(f.any, all)
			if f.what == "" {
				f.what = strings.Join(shown, " and ")
			}
		}
		out = append(out, f)
	}
	return out
}

// in reports whether a value has the feature; other says that a member of it is there as another kind.
func (f Feature) in(v decode.Value) (has bool, other string) {
	for _, all := range f.any {
		has = true
		for _, m := range all {
			x := v.At(m.path...)
			isOther := m.kind != decode.Invalid && m.kind != x.Kind()
			if isOther && x.Kind() > decode.Null {
				other = " as " + m.kind.String() + ", not " + x.Kind().String()
			}
			has = has && x.Kind() > decode.Null && !isOther && (m.kind != decode.String || x.Str() != "")
		}
		if has {
			return true, ""
		}
	}
	return false, other
}
