package history

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Reader recognises our own files by their schema, and returns the runs in them with their identity: history documents,
// and what inspect --json prints, a list of them.
var Reader = draft.Format{
	Name: "ttreport", Detail: "history document",
	Sniff: func(f *decode.File, m *draft.Check) { states(f, m, schema.Version) },
	All:   func(f *decode.File, r *schema.Reading) { *r = readingOf(f, *r, f.First) },
	Others: []draft.Format{{
		Name: "ttreport-inspect", Detail: "runs printed by inspect", All: readListing,
		Sniff: func(f *decode.File, m *draft.Check) { states(f, m, "ttreport/inspect/v1") },
	}},
}

func states(f *decode.File, m *draft.Check, version string) {
	m.Want(f.First.Get("schema").Str() == version, "schema "+version)
}

func readListing(f *decode.File, r *schema.Reading) {
	empty, first, points := *r, true, 0
	for v := range f.First.Get("runs").Items() {
		one := readingOf(f, empty, v)
		if points += 1 + len(one.Points) + len(one.Scores); points > f.Limits().Results+1 {
			break // bound reports it
		}
		if first {
			*r, first = one, false
			continue
		}
		r.More = append(r.More, one)
	}
}

// readingOf converts a run to a reading of the format and detail of m. Secrets are removed again, because another
// program may have written it.
func readingOf(f *decode.File, m schema.Reading, v decode.Value) schema.Reading {
	text, most := v.Raw(), f.Limits().Results+1 // items of each list, which shows that there are too many
	for _, name := range []string{"points", "scores", "targets", "plan", "problems"} {
		list := v.Get(name)
		if list.Len() <= most {
			continue
		}
		var items [][]byte
		for item := range list.Items() {
			if items = append(items, item.Raw()); len(items) == most {
				break
			}
		}
		text = bytes.Replace(text, list.Raw(), slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]")), 1)
	}
	r, problem := newDecoder().document(f.Path, text)
	if problem != nil {
		return schema.Reading{Format: m.Format, Detail: m.Detail, Problems: []schema.Problem{*problem}}
	}
	for i := range r.Points {
		p := &r.Points[i]
		p.Key.Tool, p.Command, p.Extra = cmp.Or(p.Key.Tool, "unknown"), redact.Argv(p.Command), clean(p.Extra)
	}
	for src := range r.Sources() {
		if src.Format == "" {
			*src = f.Source(m.Format) // the document, where it states none
		}
	}
	r.Extra = clean(r.Extra)
	return schema.Reading{
		Format: m.Format, Detail: m.Detail, Points: r.Points, Scores: r.Scores, Targets: r.Targets,
		Acceptance: r.Acceptance, Plan: r.Plan, Problems: r.Problems, Extra: r.Extra,
		Provenance: r.Provenance, Interleaved: r.Interleaved, Facts: r.Facts(),
	}
}

// clean removes secrets from unknown fields: values under the name of a secret, and text that looks like a secret.
func clean(fields schema.Unknown) schema.Unknown {
	for name, raw := range fields {
		if v, problem := decode.Document("", raw); problem == nil && v.Kind() == decode.String {
			fields[name] = schema.JSONString(redact.Field(name, v.Str()))
		} else if text := redact.Text(string(raw)); text != string(raw) {
			fields[name] = schema.JSONString(text)
		}
	}
	return fields
}
