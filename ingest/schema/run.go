package schema

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
)

// Version is the schema of a history document. A document of another version is refused.
const Version = "ttreport/v1"

// Unknown keeps members of a document that this version does not know, as they were written, so that fields of a
// newer ttreport survive when an older one rewrites the document.
type Unknown map[string]json.RawMessage

// Text is a field that is text, "" where it is none or absent.
func (u Unknown) Text(name string) string {
	var s string
	if json.Unmarshal(u[name], &s) != nil {
		return ""
	}
	return s
}

// Set sets a field to a text.
func (u *Unknown) Set(name, text string) {
	if *u == nil {
		*u = Unknown{}
	}
	(*u)[name] = JSONString(text)
}

// SettingStartup is the fact of a manifest's setting that states after how many seconds a server was ready.
const SettingStartup = "server_startup_s"

// Run is one execution of a plan on one system with one software stack.
type Run struct {
	ID      string    `json:"id,omitzero"`
	Start   time.Time `json:"start,omitzero"` // UTC; zero when no source states it
	End     time.Time `json:"end,omitzero"`
	Release string    `json:"release,omitzero"` // a label; empty for a build
	// release, main, pr or dev; empty means release when Release is set, else dev
	Channel string `json:"channel,omitzero"`
	Line    string `json:"line,omitzero"` // release line, when releases are not one sequence
	Model   Model  `json:"model"`
	Impl    string `json:"impl,omitzero"`
	Device  Device `json:"device"`
	Stack   Stack  `json:"stack"`

	Points  []Point  `json:"points"`
	Scores  []Score  `json:"scores"`
	Targets []Target `json:"targets"` // the targets in force when this run was first seen
	Plan    []Key    `json:"plan"`    // what was to be measured, measured or not

	Interleaved Interleaved `json:"interleaved,omitzero"` // with another run

	Acceptance Acceptance `json:"acceptance,omitzero"` // as a report beside the results states it

	Provenance map[string]Origin `json:"provenance"` // by field, such as "device.name"
	Problems   []Problem         `json:"problems"`
	Extra      Unknown           `json:"extra"` // foreign facts worth keeping, by source format
	Unknown    Unknown           `json:",unknown"`
}

// Model identifies the served model. Key is the architecture key of its targets: the first weight of the
// architecture, "Llama-3.1-8B" for "Llama-3.1-8B-Instruct".
type Model struct {
	// as named by the hub or the server: "meta-llama/Llama-3.1-8B-Instruct"
	ID        string `json:"id,omitzero" yaml:"id,omitempty"`
	Name      string `json:"name,omitzero" yaml:"name,omitempty"` // the last part of ID
	Key       string `json:"key,omitzero" yaml:"key,omitempty"`
	Precision string `json:"precision,omitzero" yaml:"precision,omitempty"`
	// declared maturity, as a runtime spec states it: EXPERIMENTAL, FUNCTIONAL, COMPLETE, TOP_PERF
	Status  string  `json:"status,omitzero" yaml:"status,omitempty"`
	Unknown Unknown `json:",unknown" yaml:"-"`
}

// Device identifies the hardware.
type Device struct {
	// "n150", "t3k", "h100"; "simulated" for the simulator
	Name     string  `json:"name,omitzero" yaml:"name,omitempty"`
	Mesh     string  `json:"mesh,omitzero" yaml:"mesh,omitempty"`
	Chips    int     `json:"chips,omitzero" yaml:"chips,omitempty"` // 0 when unknown
	Firmware string  `json:"firmware,omitzero" yaml:"firmware,omitempty"`
	Unknown  Unknown `json:",unknown" yaml:"-"`
}

// Simulated is the device name of the embedded simulator. Its results are marked wherever they are shown.
const Simulated = "simulated"

// Stack identifies the software.
type Stack struct {
	Engine  string `json:"engine,omitzero" yaml:"engine,omitempty"`
	Version string `json:"version,omitzero" yaml:"version,omitempty"`
	Image   string `json:"image,omitzero" yaml:"image,omitempty"`
	Digest  string `json:"digest,omitzero" yaml:"digest,omitempty"`
	// by component: "tt_metal", "vllm"; see [ModelCommit]
	Commits map[string]string `json:"commits,omitempty" yaml:"commits,omitempty"`
	Dirty   bool              `json:"dirty,omitzero" yaml:"dirty,omitempty"`
	Unknown Unknown           `json:",unknown" yaml:"-"`
}

// ModelCommit is the name among commits of the revision of the model's weights, which is no component of the software.
const ModelCommit = "model"

// ByHistory is where a fact is stated that was corrected in what is stored.
const ByHistory = "ttreport history"

// Origin is the kind of source that stated a fact, and where.
type Origin struct {
	From  From   `json:"from,omitzero"`
	Where string `json:"where,omitzero"` // a path, a flag, or a rule in words
	Over  string `json:"over,omitzero"`  // what another source states, where a person stated what is used
}

// From is a kind of source that states facts.
type From string

// Kinds of sources.
const (
	FromFile     From = "file"     // the result itself
	FromSidecar  From = "sidecar"  // or another file next to it that describes it
	FromManifest From = "manifest" // of a folder at or above it
	FromSpec     From = "spec"     // a runtime spec or a report of its tree
	FromPath     From = "path"
	FromFlag     From = "flag"
	FromDerived  From = "derived" // follows from other facts
	FromRows     From = "rows"    // a column in which the rows of one file differ
	// FromRecomputed is the source of numbers that were computed from per-request or per-item values.
	FromRecomputed From = "recomputed"
)

// Channels. Only release and main serve as a baseline; pr and dev never do.
const (
	ChannelRelease = "release"
	ChannelMain    = "main"
	ChannelPR      = "pr"
	ChannelDev     = "dev"
)

// InChannel returns the run's channel with its default filled in: a run with a release belongs to "release",
// one without to "dev".
func (r *Run) InChannel() string {
	if r.Channel == "" && r.Release != "" {
		return ChannelRelease
	}
	return cmp.Or(r.Channel, ChannelDev)
}

// IsSimulated reports whether the run was made on the embedded simulator.
func (r *Run) IsSimulated() bool { return SameDevice(r.Device.Name, Simulated) }

// Arrange sorts the points and scores and numbers repeats of one key.
func (r *Run) Arrange() {
	slices.SortStableFunc(r.Points, func(a, b Point) int {
		return cmp.Or(a.Key.Compare(b.Key), a.Start.Compare(b.Start))
	})
	for i := range r.Points {
		r.Points[i].Repeat = 1
		if i > 0 && r.Points[i].Key.String() == r.Points[i-1].Key.String() {
			r.Points[i].Repeat = r.Points[i-1].Repeat + 1
		}
	}
	r.UndateScores()
	slices.SortStableFunc(r.Scores, func(a, b Score) int {
		return cmp.Or(strings.Compare(a.Task, b.Task), strings.Compare(a.Metric, b.Metric),
			strings.Compare(a.Filter, b.Filter))
	})
}

// Sources yields the sources of all points, then of all scores.
func (r *Run) Sources() iter.Seq[*Source] {
	return func(yield func(*Source) bool) {
		for i := range r.Points {
			if !yield(&r.Points[i].Source) {
				return
			}
		}
		for i := range r.Scores {
			if !yield(&r.Scores[i].Source) {
				return
			}
		}
	}
}

// UndateScores leaves out the starts of scores that are that of the run.
func (r *Run) UndateScores() {
	for i := range r.Scores {
		if s := &r.Scores[i]; s.Start.Equal(r.Start) {
			s.Start = time.Time{}
		}
	}
}

// DatedScores are the scores, each with its start: before they become part of another run.
func (r *Run) DatedScores() []Score {
	out := slices.Clone(r.Scores)
	for i := range out {
		if out[i].Start.IsZero() {
			out[i].Start = r.Start
		}
	}
	return out
}

// FoldDevice returns the form in which device names are compared: trimmed, in lower case. People and tools write one
// device as "N150", "n150" or " N150 ".
func FoldDevice(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// SameDevice reports whether two names are of one device.
func SameDevice(a, b string) bool { return FoldDevice(a) == FoldDevice(b) }

// IsDeviceWithin reports that one name of a device is a part of the other, and names its model number, or that the two
// are spelt in two ways: "h100" and "NVIDIA H100 80GB HBM3", "RTX4090" and "rtx-4090". What tells devices of one number
// apart (Ti, Max, a size that differs) is no such part.
func IsDeviceWithin(a, b string) bool {
	if m, n := strings.Count(a, ","), strings.Count(b, ","); m > 0 && n > 0 && m != n { // 4 and 8 of them
		return false
	}
	short, long := deviceWords(a), deviceWords(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	if a != "" && strings.Join(short, "") == strings.Join(long, "") {
		return true
	}
	has := false
	for _, w := range short {
		if !slices.Contains(long, w) {
			return false
		}
		has = has || strings.ContainsAny(w, "0123456789") && !deviceMemory.MatchString(w)
	}
	for _, w := range long {
		if !slices.Contains(short, w) && strings.Contains(deviceVariants, " "+w+" ") {
			return false
		}
	}
	return has
}

// deviceMemory matches the size of a memory, which is no model number.
var deviceMemory = lazyregexp.New(`^\d+(?:g|gb|gib)$|^hbm\d\w*$|^gddr\d\w*$`)

// deviceVariants are words that make another device of one model number.
const deviceVariants = " ti super laptop mobile max pro ultra mini d xt xtx gre ada "

// deviceWords splits a name at whatever is no letter and no digit.
func deviceWords(name string) []string {
	return strings.FieldsFunc(FoldDevice(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Reading is the content of one file, before files are grouped into runs.
type Reading struct {
	Format  string // "vllm-serve"
	Detail  string // era or variant, in words
	Points  []Point
	Scores  []Score
	Facts   Facts
	Targets []Target
	// Acceptance is stated by reports and runtime specs.
	Acceptance Acceptance
	// Interleaved is stated by manifests of runs and our own documents.
	Interleaved Interleaved
	Problems    []Problem
	Extra       Unknown
	// Plan and Provenance are stated by our own documents only.
	Plan       []Key
	Provenance map[string]Origin
	// PartOf names the file whose content this one repeats or is part of; its numbers are then not counted again.
	PartOf string
	// More holds what the same file states about other runs.
	More []Reading
}

// Facts is partial identity: what one source states about the run its file belongs to. Empty means "not stated".
type Facts struct {
	RunID     string    `yaml:"id,omitempty"`
	Start     time.Time `yaml:"start,omitempty"`
	End       time.Time `yaml:"end,omitempty"`
	StartNote string    `yaml:"-"` // why Start is not certain: "local time, zone unknown"
	Release   string    `yaml:"release,omitempty"`
	Channel   string    `yaml:"channel,omitempty"`
	Line      string    `yaml:"line,omitempty"`
	Model     Model     `yaml:"model,omitempty"`
	Impl      string    `yaml:"impl,omitempty"`
	Device    Device    `yaml:"device,omitempty"`
	Stack     Stack     `yaml:"stack,omitempty"`
}

// Facts are those of a run.
func (r *Run) Facts() Facts {
	return Facts{
		RunID: r.ID, Start: r.Start, End: r.End, Release: r.Release, Channel: r.Channel, Line: r.Line, Model: r.Model,
		Impl: r.Impl, Device: r.Device, Stack: r.Stack,
	}
}

// Widen makes the run begin no later and end no earlier than a part of it. note is why the part's start is not certain.
func (f *Facts) Widen(start, end time.Time, note string) {
	if f.Start.IsZero() || !start.IsZero() && start.Before(f.Start) {
		f.Start, f.StartNote = start, note
	}
	if end.After(f.End) {
		f.End = end
	}
}

// Match reports whether a file has a reader's format.
type Match struct {
	Format string
	Detail string
	Has    []string // what was found of what it looks for
	Lacks  []string // what was not found; empty for a full match
	// Records reports that the values of the file are records of one measurement, to be read together.
	Records bool
	// Aside reports that the numbers of the file are those of others, or behind them: it counts for nothing beside them.
	Aside bool
}

// OK reports a full match.
func (m Match) OK() bool { return len(m.Lacks) == 0 && len(m.Has) > 0 }
