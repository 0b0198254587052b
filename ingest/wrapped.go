package ingest

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"path"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// part is what may be a result of its own in a file: a value, or a text in one.
type part struct {
	file *decode.File   // as which it is read
	at   decode.Value   // where it stands
	name string         // the key under which it stands, where others of its kind stand beside it
	in   []decode.Value // the objects that it stands in, the nearest first
}

// mark states what stands beside and around a result: the key, and the short fields of the objects that it is in. These
// may be all that tells it from another, or says whose it is, or of which file.
func (p part) mark(r *schema.Reading) {
	raw := p.own(p.at, r, false)
	around := schema.Unknown{}
	for _, v := range p.in {
		raw = cmp.Or(raw, p.own(v, r, true))
		draft.Around(around, v)
	}
	for i := range r.Points {
		one := &r.Points[i]
		for name, v := range map[string]string{"entry": p.name, ttis.RawFile: raw} {
			if v != "" {
				one.Conditions = repeat.With(one.Conditions, name, v)
			}
		}
		if len(around) > 0 {
			one.Extra = withUnknown(maps.Clone(one.Extra), around)
		}
	}
	for i := range r.Scores {
		if s := &r.Scores[i]; raw != "" {
			s.Unknown = withUnknown(maps.Clone(s.Unknown), schema.Unknown{ttis.RawFile: strconv.AppendQuote(nil, raw)})
		}
	}
}

// own takes the model that an object states, and the device of one around a result, where its reader found none. It
// returns the file that the object says its numbers are of, with its folder; "" for none.
func (p part) own(v decode.Value, r *schema.Reading, isAround bool) (raw string) {
	f := &r.Facts
	for _, m := range v.Members() {
		text := m.Val.Str()
		if text == "" || len(text) > longestName {
			continue
		}
		switch strings.ToLower(m.Key) {
		case "model", "model_id", "model_name":
			if f.Model.ID+f.Model.Name == "" {
				f.Model.ID = text
			}
		case "device", "gpu":
			if isAround && f.Device.Name == "" && !anyDevice.MatchString(text) {
				f.Device.Name = text
			}
		default:
			if raw == "" && ofFile.MatchString(m.Key) && strings.Contains(text, "/") && path.Ext(text) == ".json" {
				raw = path.Join(path.Base(path.Dir(text)), path.Base(text))
			}
		}
	}
	return raw
}

// ofFile matches what a script calls the file that it has numbers of.
var ofFile = lazyregexp.New(`(?i)^(?:(?:raw|source|results?|outputs?)_?)?(?:file|path|json)(?:_?(?:name|path))?$`)

// anyDevice matches what names a device by its place, and says nothing of its kind.
var anyDevice = lazyregexp.New(`(?i)^(?:(?:cuda|gpu|npu|xpu|rocm|hip|mps|cpu|auto|tt)?[:_-]?\d*|cuda|auto)$`)

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

// Limits of the search for results within JSON that is none: how deep, and how many values are asked what they are.
const (
	deepestWrapped = 3
	mostAsked      = 40 // and none
	fewestMembers  = 3  // of an object that is a result
)

// wrapped lists the results that stand in JSON of another kind: scripts that drive a tool wrap what it wrote under a
// key or in a list, or keep what it printed as a text. There are none in a file of a known kind.
func wrapped(ctx context.Context, f *decode.File, isKnown bool) []part {
	if isKnown || f.Form != decode.JSON || isSchema(f.First) {
		return nil
	}
	s := search{ctx: ctx, file: f}
	if !f.Several() {
		s.look(f.First, nil, deepestWrapped)
		return s.out
	}
	if s.isResult(part{file: f.With(f.First)}) {
		return nil
	}
	for v := range f.Values() { // lines, each of which wraps one
		if s.look(v, nil, deepestWrapped); s.asked >= mostAsked {
			break
		}
	}
	return s.out
}

// search looks for results in one file.
type search struct {
	ctx   context.Context
	file  *decode.File
	out   []part
	asked int
}

func (s *search) isResult(p part) bool {
	_, r := recognise(s.ctx, p.file)
	if r == nil {
		s.asked++
	}
	return r != nil
}

// look goes through the members or items of a value, which stands in others.
func (s *search) look(v decode.Value, in []decode.Value, depth int) {
	first := v.Index(0)
	if first.Kind() == decode.Object && s.isResult(part{file: s.file.With(first)}) {
		for x := range v.Items() {
			s.out = append(s.out, part{file: s.file.With(x), at: x, in: in})
		}
		return
	}
	if v.Kind() == decode.Object {
		in = append([]decode.Value{v}, in...)
	}
	found := len(s.out)
	for _, m := range v.Members() {
		s.inner(m.Val, m.Key, in, depth)
	}
	for x := range v.Items() {
		s.inner(x, "", in, depth)
	}
	if len(s.out) == found+1 { // nothing beside it
		s.out[found].name = ""
	}
}

// inner takes one value, or looks into it.
func (s *search) inner(x decode.Value, name string, in []decode.Value, depth int) {
	p := part{s.file.With(x), x, name, in}
	switch kind := x.Kind(); {
	case s.asked >= mostAsked:
	case kind == decode.String && len(x.Str()) > shortestPrinted:
		if p.file = s.file.Within(x.Str()); s.isResult(p) {
			s.out = append(s.out, p)
		}
	case kind != decode.Object && kind != decode.Array:
	case (kind == decode.Array || x.Len() >= fewestMembers || x.Has("error") && (x.Len() > 1 || len(in) < 2)) &&
		s.isResult(p):
		s.out = append(s.out, p)
	case depth > 0:
		s.look(x, in, depth-1)
	}
}

// shortestPrinted is the least that a tool prints as its result.
const shortestPrinted = 200
