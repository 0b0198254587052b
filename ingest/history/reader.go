package history

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of our own formats, as files that somebody passes on.
const (
	Document = "ttreport"         // a history document
	Listing  = "ttreport-inspect" // what inspect --json printed: documents in a list
	OwnTable = "ttreport-csv"     // a table of a site
)

// Detect recognises our own files by the schema that they name.
func Detect(f *decode.File) schema.Match {
	if f.Form == decode.Text {
		return detectTable(f)
	}
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

// ReadFile returns the runs of a document or a listing, with what they say of themselves.
func ReadFile(f *decode.File) schema.Reading {
	m := Detect(f)
	switch {
	case m.Format == OwnTable && strings.HasPrefix(m.Detail, "not a result"):
		return schema.Reading{Format: m.Format, Detail: m.Detail}
	case m.Format == OwnTable:
		return readTable(f, m)
	case m.Format == Document:
		return readingOf(f, m, decodeRun(f.First))
	}
	out := schema.Reading{Format: m.Format, Detail: m.Detail}
	first := true
	for v := range f.First.Get("runs").Items() {
		one := readingOf(f, m, decodeRun(v))
		if first {
			out, first = one, false
			continue
		}
		out.More = append(out.More, one)
	}
	return out
}

func readingOf(f *decode.File, m schema.Match, r schema.Run) schema.Reading {
	return schema.Reading{Format: m.Format, Detail: m.Detail, Points: r.Points, Scores: r.Scores, Targets: r.Targets, Plan: r.Plan, Problems: r.Problems, Extra: r.Extra,
		Provenance: r.Provenance,
		Facts:      schema.Facts{RunID: r.ID, Start: r.Start, End: r.End, Release: r.Release, Channel: r.Channel, Line: r.Line, Model: r.Model, Impl: r.Impl, Device: r.Device, Stack: r.Stack}}
}
