package rows

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
)

// Standard is a format of others in which a release is written.
type Standard struct {
	Name  string // as on the command line
	Files func(r *render.Report, release int) ([]Written, error)
	Globs []string // of the names that files may have
}

// Written is a file of a standard, by its path with slashes.
type Written struct {
	Name string
	Data []byte
}

// Standards are the formats that are written; another is a line here and a file of its own.
func Standards() []Standard {
	return []Standard{
		{"every-eval-ever", everyEval, []string{"*.json"}}, {"eval-results", evalResults, []string{"*/.eval_results/*.yaml"}},
		{"llm-d", llmd, []string{"*/p*.json"}}, {"bencher", bencher, nil}, {"ctrf", ctrf, nil},
		{"openmetrics", openMetrics, nil},
	}
}

// dict is an object whose members a schema of others names.
type dict map[string]any

// document is a file of JSON.
func document(name string, v any) (Written, error) {
	var b bytes.Buffer
	if err := WriteJSON(&b, v); err != nil {
		return Written{}, fmt.Errorf("writing %s: %w", name, err)
	}
	return Written{name, b.Bytes()}, nil
}

// quoted is a text in JSON, which is one in YAML too.
func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string always has a form
	return b
}

// modelID is the model of a run as its repository is called, else by its name.
func modelID(h *columns.RunHead) string { return cmp.Or(h.Model.ID, h.Model.Name) }
