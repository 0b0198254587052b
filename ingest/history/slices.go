package history

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// encodeSlices writes the course of a point: its step in seconds, then values by name; null where none is known.
func encodeSlices(s schema.Slices) []byte {
	var o object
	o.number("step", s.Step)
	var series object
	for _, x := range s.Series {
		b := []byte{'['}
		for i, v := range x.Values {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendFloat(b, v)
		}
		series.put(x.Name, append(b, ']'))
	}
	o.put("series", series.bytes(nil))
	return o.bytes(nil)
}

// decodeSlices is the inverse of encodeSlices; empty for anything else.
func decodeSlices(v decode.Value) schema.Slices {
	step, _ := v.Get("step").Float()
	if !(step > 0) || math.IsInf(step, 0) {
		return schema.Slices{}
	}
	s := schema.Slices{Step: step}
	for _, m := range v.Get("series").Members() {
		x := schema.SliceOf{Name: m.Key}
		for item := range m.Val.Items() {
			n, ok := item.Float()
			if !ok {
				n = math.NaN()
			}
			if x.Values = append(x.Values, n); len(x.Values) == schema.MostSlices {
				break
			}
		}
		s.Series = append(s.Series, x)
	}
	schema.SortSlices(s.Series)
	return s
}
