package schema

import "time"

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
	RunID      string
	Start, End time.Time
	StartNote  string // why Start is not certain: "local time, zone unknown"
	Release    string
	Channel    string
	Line       string
	Model      Model
	Impl       string
	Device     Device
	Stack      Stack
}

// Match reports whether a file has a reader's format.
type Match struct {
	Format string
	Detail string
	Has    []string // what was found of what it looks for
	Lacks  []string // what was not found; empty for a full match
	// Records reports that the values of the file are records of one measurement, to be read together.
	Records bool
}

// OK reports a full match.
func (m Match) OK() bool { return len(m.Lacks) == 0 && len(m.Has) > 0 }
