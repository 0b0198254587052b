package ingest

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// origins holds which source states each fact of a result. It is a list because a tree has tens of thousands of
// results, and a map of ten fields takes twice the memory.
type origins []factOrigin

type factOrigin struct {
	field string
	schema.Origin
}

// get returns the origin of a field, zero where nothing states it.
func (o origins) get(field string) schema.Origin {
	if i := o.at(field); i >= 0 {
		return o[i].Origin
	}
	return schema.Origin{}
}

// set states the origin of a field.
func (o *origins) set(field string, origin schema.Origin) {
	if i := o.at(field); i >= 0 {
		(*o)[i].Origin = origin
		return
	}
	*o = append(*o, factOrigin{field, origin})
}

func (o origins) at(field string) int {
	return slices.IndexFunc(o, func(f factOrigin) bool { return f.field == field })
}

// provenance returns the origins as a run has them.
func (r *result) provenance() map[string]schema.Origin {
	out := make(map[string]schema.Origin, len(r.origin))
	for _, f := range r.origin {
		if f.field == "start" && r.startNote != "" && f.Where == r.shown() {
			f.Where += " (" + r.startNote + ")"
		}
		out[f.field] = f.Origin
	}
	return out
}
