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

// Names of our own formats, for files that are passed on.
const (
	Document = "ttreport"         // a history document
	Listing  = "ttreport-inspect" // output of inspect --json: a list of documents
)

// Detect recognises our own files by their schema.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Document, Detail: "history document"}}
	switch f.First.Get("schema").Str() {
	case "ttreport/inspect/v1":
		return schema.Match{Format: Listing, Has: []string{"schema ttreport/inspect/v1"}, Detail: "runs printed by inspect"}
	case schema.Version:
		m.Want(true, "schema "+schema.Version)
	default:
		m.Want(false, "schema "+schema.Version)
	}
	return m.Match
}

// ReadFile returns the runs of a document or a listing, with their identity.
func ReadFile(f *decode.File) schema.Reading {
	m := Detect(f)
	if m.Format == Document {
		return readingOf(f, m, f.First)
	}
	out := schema.Reading{Format: m.Format, Detail: m.Detail}
	first, points := true, 0
	for v := range f.First.Get("runs").Items() {
		one := readingOf(f, m, v)
		if points += 1 + len(one.Points) + len(one.Scores); points > f.Limits().Results+1 {
			break // bound reports it
		}
		if first {
			out, first = one, false
			continue
		}
		out.More = append(out.More, one)
	}
	return out
}

// readingOf converts a run to a reading. Secrets are removed again, because another program may have written it.
func readingOf(f *decode.File, m schema.Match, v decode.Value) schema.Reading {
	r, problem := newDecoder().document(f.Path, shortened(v, f.Limits().Results+1)) // which shows that there are too many
	if problem != nil {
		return schema.Reading{Format: m.Format, Detail: m.Detail, Problems: []schema.Problem{*problem}}
	}
	for i := range r.Points {
		p := &r.Points[i]
		p.Key.Tool, p.Source = cmp.Or(p.Key.Tool, "unknown"), sourceOr(p.Source, f.Source(m.Format))
		p.Command, p.Extra = redact.Argv(p.Command), clean(p.Extra)
	}
	for i := range r.Scores {
		r.Scores[i].Source = sourceOr(r.Scores[i].Source, f.Source(m.Format))
	}
	r.Extra = clean(r.Extra)
	return schema.Reading{
		Format: m.Format, Detail: m.Detail, Points: r.Points, Scores: r.Scores, Targets: r.Targets,
		Acceptance: r.Acceptance, Plan: r.Plan, Problems: r.Problems, Extra: r.Extra,
		Provenance: r.Provenance, Interleaved: r.Interleaved,
		Facts: schema.Facts{
			RunID: r.ID, Start: r.Start, End: r.End, Release: r.Release, Channel: r.Channel, Line: r.Line, Model: r.Model,
			Impl: r.Impl, Device: r.Device, Stack: r.Stack,
		},
	}
}

// sourceOr is the source that a document states, or the document where it states none.
func sourceOr(stated, document schema.Source) schema.Source {
	if stated.Format == "" {
		return document
	}
	return stated
}

// shortened is the text of a document whose lists have at most so many items.
func shortened(v decode.Value, most int) []byte {
	text := v.Raw()
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
	return text
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
