package listing

import (
	"encoding/json"
	"io"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// document is the JSON form, schema ttreport/inspect/v1.
type document struct {
	Schema   string            `json:"schema"`
	Files    []file            `json:"files"`
	Runs     []json.RawMessage `json:"runs"` // history documents
	Grouping map[string]string `json:"grouping"`
	Problems []json.RawMessage `json:"problems"`
}

type file struct {
	Path     string            `json:"path"`
	SHA256   string            `json:"sha256"`
	Format   string            `json:"format"`
	Detail   string            `json:"detail"`
	Points   int               `json:"points"`
	Scores   int               `json:"scores"`
	Run      string            `json:"run,omitempty"`
	Copies   int               `json:"copies,omitempty"`
	PartOf   string            `json:"part_of,omitempty"`
	Problems []json.RawMessage `json:"problems"`
}

// WriteJSON writes everything that was read as one line of JSON.
func WriteJSON(w io.Writer, set ingest.Set) error {
	doc := document{
		Schema: "ttreport/inspect/v1", Files: []file{}, Runs: []json.RawMessage{},
		Problems: encoded(set.Problems), Grouping: set.Grouping,
	}
	for _, f := range set.Files {
		doc.Files = append(doc.Files, file{
			f.Path, f.SHA256, f.Format, f.Detail, f.Points, f.Scores, f.Run, f.Copies, f.PartOf, encoded(f.Problems),
		})
	}
	for i := range set.Runs {
		doc.Runs = append(doc.Runs, history.Encode(&set.Runs[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func encoded(list []schema.Problem) []json.RawMessage {
	out := []json.RawMessage{}
	for i := range list {
		out = append(out, history.EncodeProblem(&list[i]))
	}
	return out
}
