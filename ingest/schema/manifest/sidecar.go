package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// sidecarSchema is the schema of a sidecar.
const sidecarSchema = "ttreport/sidecar/v1"

// SidecarSuffix is appended to a result file's whole name.
const SidecarSuffix = ".ttreport.json"

// Sidecar describes one result file.
type Sidecar struct {
	Schema      string            `json:"schema"`
	Result      string            `json:"result"` // file name, in the same folder
	Tool        string            `json:"tool"`
	ToolVersion string            `json:"tool_version,omitempty"`
	Workload    Workload          `json:"workload"`
	Block       int               `json:"block,omitempty"` // of an interleaved run, from 1
	Conditions  map[string]string `json:"conditions,omitempty"`
	Client      map[string]string `json:"client,omitempty"`
	Argv        []string          `json:"argv,omitempty"` // secrets removed
	Start       time.Time         `json:"start"`          // UTC
	End         time.Time         `json:"end"`
	ExitCode    int               `json:"exit_code"`
	Log         string            `json:"log,omitempty"` // relative to the sidecar
	Samples     *Samples          `json:"samples,omitempty"`
	Power       *Samples          `json:"power,omitempty"`
	PowerOf     string            `json:"power_of,omitempty"` // what has this power: a definition of the schema
}

// Samples are readings during the measurement, of the server's gauges or of power: rows of numbers under names. The
// first column is seconds since the first request was sent; negative numbers in the others were not known. Counters
// grow, and have names that end in _total.
type Samples struct {
	Names []string    `json:"names"`
	Rows  [][]float64 `json:"rows"`
}

// Workload is the part of a point's key that a sidecar, a manifest or a path states. Nil or empty: not stated.
type Workload struct {
	Task        string            `json:"task,omitempty" yaml:"task,omitempty"`
	ISL         *float64          `json:"isl,omitempty" yaml:"isl,omitempty"`
	OSL         *float64          `json:"osl,omitempty" yaml:"osl,omitempty"`
	Concurrency *float64          `json:"concurrency,omitempty" yaml:"concurrency,omitempty"`
	Rate        *float64          `json:"rate,omitempty" yaml:"rate,omitempty"`
	Dataset     string            `json:"dataset,omitempty" yaml:"dataset,omitempty"`
	Dims        map[string]string `json:"dims,omitempty" yaml:"dims,omitempty"`
}

// Key returns the workload as the key of a point measured by tool.
func (w Workload) Key(tool string) schema.Key {
	return schema.Key{
		Task: w.Task, Tool: tool, ISL: w.ISL, OSL: w.OSL, Concurrency: w.Concurrency, Rate: w.Rate,
		Dataset: w.Dataset, Dims: w.Dims,
	}
}

// Marshal returns the sidecar's file content.
func (s Sidecar) Marshal() ([]byte, error) {
	s.Schema = sidecarSchema
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("writing the sidecar of %s: %w", s.Result, err)
	}
	return b.Bytes(), nil
}

// ReadSidecar reads a sidecar's content. A sidecar of another schema or form is a problem.
func ReadSidecar(path string, data []byte) (Sidecar, *schema.Problem) {
	var s Sidecar
	if err := json.Unmarshal(data, &s); err != nil {
		return s, &schema.Problem{
			Severity: schema.SevError, Path: path, Code: "bad-sidecar", Found: err.Error(),
			Expected: "a sidecar of schema " + sidecarSchema, Hint: "delete it to read the result without it",
		}
	}
	if s.Schema != sidecarSchema {
		return s, &schema.Problem{
			Severity: schema.SevError, Path: path, Code: "bad-sidecar",
			Found: fmt.Sprintf("schema %q", s.Schema), Expected: sidecarSchema,
			Hint: "a newer ttreport may have written it; upgrade, or delete it to read the result without it",
		}
	}
	return s, nil
}
