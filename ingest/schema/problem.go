package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is something that could not be read, understood or trusted. Problems are data: collected, counted and shown.
type Problem struct {
	Severity Severity `json:"severity,omitzero"` // error (nothing was read), warning (read, but doubtful) or note
	Path     string   `json:"path,omitzero"`
	Line     int      `json:"line,omitzero"`     // 1-based; 0 when the problem is not at a line
	Column   int      `json:"column,omitzero"`   // 1-based, in bytes
	Offset   int64    `json:"offset,omitzero"`   // in bytes from the start of the file
	Code     string   `json:"code,omitzero"`     // stable, lower case, for filters and tests: "truncated-json"
	Found    string   `json:"found,omitzero"`    // what was there
	Expected string   `json:"expected,omitzero"` // what was looked for
	Hint     string   `json:"hint,omitzero"`     // what to do
	Used     string   `json:"used,omitzero"`     // which of two contradicting numbers was used, when there were two
	Lost     bool     `json:"-"`                 // a history document that is not used because of it
	Unknown  Unknown  `json:",unknown"`
}

// CodeUnread is the code of a run's problem that is about a file in its folder from which nothing was read.
const CodeUnread = "unread"

// CodeCopy is the code of a run's problem about a result file with the content of another release's. It is an error
// where all of the run's files are such copies, which are kept so that the release is not without a trace and count for
// nothing; else a warning, and the file is left out.
const CodeCopy = "copy"

// CodeToldApart is the code of problems about results of one workload that were told apart, or could not be.
const CodeToldApart = "told-apart"

// CodeRepeatsDiffer is the code of problems about repeats that differ by more than noise can.
const CodeRepeatsDiffer = "repeats-differ"

// CodeUnreadable is the code of a problem about a file or folder that could not be read, or must not be.
const CodeUnreadable = "unreadable"

// Severity is how much of the input a problem affects.
type Severity string

// Severities of a problem.
const (
	SevError   Severity = "error"
	SevWarning Severity = "warning"
	SevNote    Severity = "note"
)

// Severities lists the severities, worst first.
func Severities() []Severity { return []Severity{SevError, SevWarning, SevNote} }

// Where returns the position as compilers print it: path:line:column.
func (p Problem) Where() string {
	if p.Line == 0 {
		return p.Path
	}
	return fmt.Sprintf("%s:%d:%d", p.Path, p.Line, p.Column)
}

// String returns the problem as one line for a terminal or a log.
func (p Problem) String() string {
	var b strings.Builder
	if w := p.Where(); w != "" {
		b.WriteString(w + ": ")
	}
	b.WriteString(p.Found)
	if p.Expected != "" {
		b.WriteString("; expected " + p.Expected)
	}
	if p.Used != "" {
		b.WriteString("; used " + p.Used)
	}
	return b.String()
}

// Error makes a Problem an error, so that functions can return it as one.
func (p Problem) Error() string { return p.String() }

// WorstFirst is a copy of a list with errors first, then warnings, then notes; otherwise in its order.
func WorstFirst(list []Problem) []Problem {
	rank := func(p Problem) int { return slices.Index(Severities(), p.Severity) }
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// CountSeverity is how many problems of a list have a severity.
func CountSeverity(list []Problem, sev Severity) int {
	n := 0
	for i := range list {
		if list[i].Severity == sev {
			n++
		}
	}
	return n
}

// IsAmong reports that a list has the problem: one of its file, with its code.
func (p *Problem) IsAmong(list []Problem) bool {
	return slices.ContainsFunc(list, func(q Problem) bool { return q.Code == p.Code && q.Path == p.Path })
}

// OfGroup reports a problem about several results, which is found anew whenever one of them is read.
func (p Problem) OfGroup() bool { return p.Code == CodeToldApart || p.Code == CodeRepeatsDiffer }
