package ttis

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// howItRan keeps what started the measurements that a report is about.
func howItRan(meta decode.Value) schema.Unknown {
	out := schema.Unknown{}
	for _, name := range []string{"run_command", "server_mode", "workflow"} {
		if text := meta.Get(name).Str(); text != "" {
			out[name] = schema.JSONString(redact.Text(text))
		}
	}
	return out
}

// readSections reads the sections of a report since v0.19. Those of a kind without numbers that are read here are a
// problem: what a report has must not vanish.
func readSections(f *decode.File, r *schema.Reading, sections decode.Value) {
	unread := map[string]int{}
	first := map[string]decode.Value{}
	for s := range sections.Items() {
		kind := s.Get("kind").Str()
		if data := s.Get("data"); !readSection(f, r, s, kind) && !isUngraded(data) && data.Kind() != decode.Null {
			if unread[kind]++; unread[kind] == 1 {
				first[kind] = s
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(unread)) {
		p := f.Problem(schema.SevWarning, "section-unread", first[kind])
		p.Found = fmt.Sprintf("sections of kind %q without numbers that are read (%d)", kind, unread[kind])
		p.Expected, p.Used = "benchmarks, evals or spec_tests", "nothing of them"
		p.Hint = "read the files of the tool itself, if it is one that ttreport reads"
		r.Problems = append(r.Problems, p)
	}
}

// readSection reports whether something of a section was read, or it is one that decides nothing.
func readSection(f *decode.File, r *schema.Reading, s decode.Value, kind string) bool {
	data := s.Get("data")
	points, scores := len(r.Points), len(r.Scores)
	switch kind {
	case "evals":
		reportScore(f, r, data)
		r.Targets = append(r.Targets, reference(f, data, "")...)
	case "spec_tests":
		specTest(f, r, s)
		return data.Kind() == decode.Object
	default:
		if mediaSection(f, r, s) {
			return true
		}
		rows := []decode.Value{data}
		if records := data.Get("records"); records.Kind() == decode.Array {
			rows = slices.Collect(records.Items())
		}
		for _, row := range rows {
			reportRow(f, r, row, toolName(s.At("targets", "tool").Str(), kind), s.At("targets", "timestamp").Str(),
				draft.First(row, "completed", "num_requests"))
			r.Targets = append(r.Targets, checked(f, row, shapeOf(row))...)
		}
	}
	return len(r.Points) > points || len(r.Scores) > scores
}
