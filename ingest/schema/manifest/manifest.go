package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/glob"
)

// FileName is the name of a run manifest. It applies to its folder and everything below; a nearer manifest takes
// precedence.
const FileName = "ttreport.manifest.yaml"

// Manifest states what the results below its folder have in common. Every field may be left out.
type Manifest struct {
	schema.Facts `yaml:",inline"`
	// Tool and Workload apply to every result below.
	Tool     string   `yaml:"tool,omitempty"`
	Workload Workload `yaml:"workload,omitempty"`
	// Pattern reads identity from the paths below, with a pattern on each line; see [Pattern].
	Pattern  string `yaml:"pattern,omitempty"`
	patterns []Pattern
	// Files overrides by file: for each field the last glob that matches the path, relative to the manifest, counts.
	Files []Override `yaml:"files,omitempty"`
	// FactsFrom says where JSON files of a name, each for its folder and all below, state facts: by the name of the file,
	// for each name that a pattern may use, the path of its value.
	FactsFrom map[string]map[string]string `yaml:"facts_from,omitempty"`
	// Plan lists what was to be measured, so that missing results can be reported.
	Plan []PlanItem `yaml:"plan,omitempty"`
	// Setting holds further facts about the measurement: host, kernel, governor, clock source, the command line of the
	// server, how long it took to start.
	Setting map[string]string `yaml:"setting,omitempty"`
	// Targets are in force for this run.
	Targets []schema.Target `yaml:"targets,omitempty"`
	// Interleaved names the run that this one took turns with.
	Interleaved schema.Interleaved `yaml:"interleaved,omitempty"`
}

// Override is what a manifest states about some of its files.
type Override struct {
	Glob     string        `yaml:"glob"`
	Release  string        `yaml:"release,omitempty"`
	Model    schema.Model  `yaml:"model,omitempty"`
	Device   schema.Device `yaml:"device,omitempty"`
	Stack    schema.Stack  `yaml:"stack,omitempty"`
	Tool     string        `yaml:"tool,omitempty"`
	Workload Workload      `yaml:"workload,omitempty"`
}

// PlanItem is one planned measurement: a workload of a tool, or an eval task.
type PlanItem struct {
	Tool     string   `yaml:"tool,omitempty"`
	Workload Workload `yaml:"workload,omitempty"`
	Eval     string   `yaml:"eval,omitempty"`
}

// mostOverrides bounds the entries of files: each is tried with every file of the run.
const mostOverrides = 1_000

// Read reads a manifest's content, strictly.
func Read(name string, data []byte) (Manifest, *schema.Problem) {
	var m Manifest
	if p := decode.YAML(name, data, &m); p != nil {
		return m, p
	}
	bad := func(found, expected, hint string) (Manifest, *schema.Problem) {
		return m, &schema.Problem{
			Severity: schema.SevError, Path: name, Code: "bad-manifest", Found: found, Expected: expected, Hint: hint,
		}
	}
	if n := len(m.Files); n > mostOverrides {
		return bad(fmt.Sprintf("%d entries of files", n), fmt.Sprintf("at most %d", mostOverrides), "state more in one glob")
	}
	for text := range strings.Lines(m.Pattern) {
		p, err := NewPattern(strings.TrimSpace(text))
		if err != nil {
			return bad(err.Error(), "a pattern on each line of pattern:", "see ttreport help files")
		}
		m.patterns = append(m.patterns, p)
	}
	for i := range m.Targets {
		m.Targets[i].Unit = schema.Unit(m.Targets[i].Metric)
	}
	for _, x := range []struct{ field, is, a, b string }{ // a misspelt side would turn a regression into an improvement
		{"side", m.Interleaved.Side, schema.SideBaseline, schema.SideCandidate},
		{"starts", m.Interleaved.Starts, schema.StartsFresh, schema.StartsKept},
	} {
		if m.Interleaved.With != "" && x.is != x.a && x.is != x.b {
			return bad(fmt.Sprintf("interleaved.%s %q", x.field, x.is), x.a+" or "+x.b,
				"as in side: candidate, starts: fresh; see ttreport help files")
		}
	}
	for i, o := range m.Files {
		if err := glob.Check(o.Glob); o.Glob == "" || err != nil {
			return bad(fmt.Sprintf("files[%d].glob %.40q", i, o.Glob), "a glob such as *-tp8.json", "see ttreport help files")
		}
	}
	if found := m.badFacts(); found != "" {
		return bad("facts_from: "+found, "the name of a file, such as meta.json, and for each name that a pattern may use "+
			"where its value stands in it, such as device: hardware.gpu", "see ttreport help files")
	}
	return m, nil
}

// badFacts is the first entry of FactsFrom that says nothing; "" for none.
func (m Manifest) badFacts() string {
	for file, paths := range m.FactsFrom {
		if file == "" || path.Base(file) != file {
			return fmt.Sprintf("%.40q", file)
		}
		for fact, at := range paths {
			if _, known := placeholders[fact]; !known || fact == "_" || at == "" {
				return fmt.Sprintf("%s: %.40q: %.40q", file, fact, at)
			}
		}
	}
	return ""
}

// ReadFacts returns what a JSON file states by an entry of FactsFrom, and the names of facts that it does not have.
func ReadFacts(data []byte, paths map[string]string) (f schema.Facts, tool string, w Workload, missing []string) {
	const depth = 16
	v, values := decode.Parse(data, depth), map[string]string{}
	for fact, at := range paths {
		if text := v.Path(at).Text(); text != "" {
			values[fact] = text
		} else {
			missing = append(missing, fact)
		}
	}
	f, tool, w, _ = statedBy(values)
	if strings.Contains(f.Model.Name, "/") {
		f.Model = schema.Model{ID: f.Model.Name, Precision: f.Model.Precision}
	}
	return f, tool, w, missing
}

// Patterns are those of a manifest that was read, in their order: the first that matches a file counts.
func (m Manifest) Patterns() []Pattern { return m.patterns }

// Marshal returns the manifest's file content.
func (m Manifest) Marshal() ([]byte, error) { return decode.EncodeYAML(m) }

// Of returns what the manifest states about the file at rel, a path relative to the manifest's folder, with its
// overrides applied, and the tool and workload it states.
func (m Manifest) Of(rel string) (schema.Facts, string, Workload) {
	f, tool, w := m.Facts, m.Tool, m.Workload
	for _, o := range m.Files {
		if !glob.Match(o.Glob, rel) && !glob.Match(o.Glob, path.Base(rel)) {
			continue
		}
		over := schema.Facts{Release: o.Release, Model: o.Model, Device: o.Device, Stack: o.Stack}
		if o.Model.Name != "" && o.Model.ID == "" && path.Base(f.Model.ID) != o.Model.Name {
			f.Model.ID = "" // of another model
		}
		Take(&over, &f, nil)
		f = over
		with := o.Workload
		w = Workload{
			Task: cmp.Or(with.Task, w.Task), ISL: cmp.Or(with.ISL, w.ISL), OSL: cmp.Or(with.OSL, w.OSL),
			Concurrency: cmp.Or(with.Concurrency, w.Concurrency), Rate: cmp.Or(with.Rate, w.Rate),
			Dataset: cmp.Or(with.Dataset, w.Dataset), Dims: w.Dims,
		}
		if with.Dims != nil {
			w.Dims = with.Dims
		}
		if o.Tool != "" {
			tool = o.Tool
		}
	}
	return f, tool, w
}

// field is one fact that can be merged and compared.
type field struct {
	name string
	text func(*schema.Facts) *string
}

// fields lists the facts that are plain text, by their name in provenance.
var fields = []field{
	{"id", func(f *schema.Facts) *string { return &f.RunID }},
	{"release", func(f *schema.Facts) *string { return &f.Release }},
	{"channel", func(f *schema.Facts) *string { return &f.Channel }},
	{"line", func(f *schema.Facts) *string { return &f.Line }},
	{"model.id", func(f *schema.Facts) *string { return &f.Model.ID }},
	{"model.name", func(f *schema.Facts) *string { return &f.Model.Name }},
	{"model.key", func(f *schema.Facts) *string { return &f.Model.Key }},
	{"model.precision", func(f *schema.Facts) *string { return &f.Model.Precision }},
	{"model.status", func(f *schema.Facts) *string { return &f.Model.Status }},
	{"impl", func(f *schema.Facts) *string { return &f.Impl }},
	{"device.name", func(f *schema.Facts) *string { return &f.Device.Name }},
	{"device.mesh", func(f *schema.Facts) *string { return &f.Device.Mesh }},
	{"device.firmware", func(f *schema.Facts) *string { return &f.Device.Firmware }},
	{"stack.engine", func(f *schema.Facts) *string { return &f.Stack.Engine }},
	{"stack.version", func(f *schema.Facts) *string { return &f.Stack.Version }},
	{"stack.image", func(f *schema.Facts) *string { return &f.Stack.Image }},
	{"stack.digest", func(f *schema.Facts) *string { return &f.Stack.Digest }},
}

// Conflict is a fact that two sources state differently; the first one's value is used.
type Conflict struct{ Field, First, Second string }

// Take gives merged the facts of second that it does not state itself, and the texts of which wins says so; nil for
// none. It returns which these are, and where the two contradict each other, with the value that is used first.
func Take(merged, second *schema.Facts, wins func(field string) bool) (taken []string, conflicts []Conflict) {
	taken, conflicts = takeTexts(merged, second, wins)
	if merged.Start.IsZero() && !second.Start.IsZero() {
		merged.Start, merged.StartNote = second.Start, second.StartNote
		taken = append(taken, "start")
	}
	if merged.End.IsZero() && !second.End.IsZero() {
		merged.End = second.End
	}
	if merged.Device.Chips == 0 && second.Device.Chips != 0 {
		merged.Device.Chips = second.Device.Chips
		taken = append(taken, "device.chips")
	}
	if len(merged.Stack.Commits) == 0 && len(second.Stack.Commits) > 0 {
		merged.Stack.Commits = second.Stack.Commits
		taken = append(taken, "stack.commits")
	}
	merged.Stack.Dirty = merged.Stack.Dirty || second.Stack.Dirty
	return taken, conflicts
}

func takeTexts(merged, second *schema.Facts, wins func(field string) bool) (taken []string, conflicts []Conflict) {
	for _, f := range fields {
		a, b := f.text(merged), *f.text(second)
		if b == "" || *a == b {
			continue
		}
		isTaken := *a == "" || wins != nil && wins(f.name)
		if first := *a; first != "" && isTaken {
			conflicts = append(conflicts, Conflict{f.name, b, first})
		} else if first != "" {
			conflicts = append(conflicts, Conflict{f.name, first, b})
		}
		if isTaken {
			*a, taken = b, append(taken, f.name)
		}
	}
	return taken, conflicts
}

// Keep clears the texts of facts whose field is not to be kept.
func Keep(f *schema.Facts, keep func(field string) bool) {
	for _, x := range fields {
		if p := x.text(f); *p != "" && !keep(x.name) {
			*p = ""
		}
	}
}

// Text is the text of a field by its name in provenance.
func Text(f *schema.Facts, name string) *string {
	return fields[slices.IndexFunc(fields, func(x field) bool { return x.name == name })].text(f)
}

// EachText replaces every stated text of f with the result of change.
func EachText(f *schema.Facts, change func(string) string) {
	for _, x := range fields {
		if p := x.text(f); *p != "" {
			*p = change(*p)
		}
	}
}

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
	p := &schema.Problem{Severity: schema.SevError, Path: path, Code: "bad-sidecar"}
	if err := json.Unmarshal(data, &s); err != nil {
		p.Found, p.Expected = err.Error(), "a sidecar of schema "+sidecarSchema
		p.Hint = "delete it to read the result without it"
		return s, p
	}
	if s.Schema != sidecarSchema {
		p.Found, p.Expected = fmt.Sprintf("schema %q", s.Schema), sidecarSchema
		p.Hint = "a newer ttreport may have written it; upgrade, or delete it to read the result without it"
		return s, p
	}
	return s, nil
}

// JournalName is the file name of a run folder's journal.
const JournalName = "journal.jsonl"

// EventRunDone is the event of the last entry of a complete run.
const EventRunDone = "run-done"

// Entry is one line of a journal.
type Entry struct {
	Time   time.Time `json:"time"`  // UTC
	Event  string    `json:"event"` // run-start, server-ready, point-start, point-done, eval-done, run-done …
	Item   string    `json:"item,omitempty"`
	Result string    `json:"result,omitempty"` // file, relative to the run folder
	Note   string    `json:"note,omitempty"`
	// Size and SHA256 are of the result, which is on the disk when the entry is.
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// Journal is the journal of a run folder.
type Journal = durable.Journal[Entry]

// OpenJournal opens a run folder's journal for appending.
func OpenJournal(path string) (*Journal, error) { return durable.OpenJournal[Entry](path) }

// ReadJournal returns the entries of a journal's content, up to the first incomplete line.
func ReadJournal(data []byte) []Entry {
	list, _ := durable.ReadJournal[Entry](data)
	return list
}
