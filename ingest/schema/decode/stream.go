package decode

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Codes of a stream's problems.
const (
	codeBad       = "bad-json"
	codeTruncated = "truncated-json"
)

// stream reads the values of a text one after another. A damaged value is skipped if the next one can be found: an
// object at the beginning of a line, as in appended results and JSON Lines.
type stream struct {
	s         *Scanner
	lim       Limits
	kept      int
	nonFinite int // of scanners before this one
	faults    []SyntaxError
	lost      int // damaged values
	gaveUp    bool
	abandoned bool // the rest was not read, because too many values were damaged
	partial   Value
	at        int  // where the last value began
	goesOn    bool // the text is a part of the file, and more of it follows
}

func (st *stream) clone() stream {
	out := *st
	s := *st.s
	out.s = &s
	out.faults = append([]SyntaxError(nil), st.faults...)
	return out
}

// shownFaults is how many damaged values of a file are reported individually.
const shownFaults = 5

// next builds the next whole value as a tree.
func (st *stream) next() (Value, bool) {
	var v Value
	ok := st.advance(func(s *Scanner) {
		if v = s.Value(); s.err != nil && s.err.Truncated && st.kept == 0 {
			st.partial = v.whole()
		}
	})
	if !ok {
		return Value{}, false
	}
	return v, true
}

// advance lets read consume the next whole value. It is called again for the value after one that is damaged.
func (st *stream) advance(read func(s *Scanner)) bool {
	for !st.gaveUp {
		s := st.s
		s.space()
		if s.pos >= len(s.data) {
			return false
		}
		start := s.pos
		st.at = start
		if st.kept >= st.lim.Values {
			st.fault(SyntaxError{Offset: start, Found: fmt.Sprintf("more than %d values", st.kept), Expected: "a result file"})
			break
		}
		read(s)
		if s.err == nil {
			st.kept++
			return true
		}
		next := -1
		if s.data[start] == '{' {
			next = bytes.Index(s.data[start:], []byte("\n{"))
		}
		if next < 0 && st.goesOn && s.err.Truncated {
			break // the rest of it follows
		}
		st.fault(*s.err)
		if st.abandoned = next >= 0 && st.lost >= maxFaults; next < 0 || st.abandoned {
			st.at = len(s.data)
			break
		}
		st.nonFinite += s.nonFinite
		st.s = &Scanner{data: s.data, max: s.max, base: s.base, pos: start + next + 1}
	}
	st.gaveUp = true
	return false
}

func (st *stream) fault(e SyntaxError) {
	st.lost++
	if len(st.faults) < shownFaults {
		st.faults = append(st.faults, e)
	}
}

// problems reports the damaged values.
func (st *stream) problems(path string, data []byte, foreign bool) []schema.Problem {
	var out []schema.Problem
	for i := range st.faults {
		p := Located(path, data, &st.faults[i], st.kept)
		if foreign {
			p.Line, p.Column, p.Offset = st.faults[i].line, st.faults[i].column, 0
		}
		out = append(out, p)
	}
	if more := st.lost - len(st.faults); more > 0 {
		p := schema.Problem{
			Severity: schema.SevWarning, Path: path, Code: codeBad, Found: fmt.Sprintf("%d more damaged values", more),
			Expected: "whole ones",
		}
		if st.abandoned {
			p.Found += ", and the rest was not read"
		}
		out = append(out, p)
	}
	return out
}

func emptyFile(path string) schema.Problem {
	p := schema.Problem{
		Severity: schema.SevError, Path: path, Code: "empty-file", Found: "an empty file", Expected: "a result",
		Hint: "the tool that wrote it probably crashed; look at its log",
	}
	if !strings.Contains(path, ".json") && !strings.HasSuffix(path, ".gz") { // an empty log is normal
		p.Severity, p.Hint = schema.SevNote, "nothing to do"
	}
	return p
}

// Located turns a syntax error into a problem with line and column. kept is the number of whole values in the file.
func Located(path string, data []byte, e *SyntaxError, kept int) schema.Problem {
	p := schema.Problem{
		Severity: schema.SevError, Path: path, Offset: int64(e.Offset), Code: codeBad,
		Found: e.Found, Expected: e.Expected, Hint: "the file is not JSON at this place; compare it with what the tool wrote",
	}
	p.Line, p.Column = position(data, e.Offset)
	if e.Truncated {
		p.Code = codeTruncated
		p.Hint = "the writer stopped in the middle (crash, full disk, or still running); run it again or restore the file"
	}
	if kept > 0 {
		p.Severity = schema.SevWarning
		p.Used = fmt.Sprintf("the %d whole values of the file", kept)
	}
	return p
}

// position returns the 1-based line and byte column of an offset.
func position(data []byte, offset int) (line, column int) {
	head := data[:min(max(offset, 0), len(data))]
	return bytes.Count(head, []byte("\n")) + 1, len(head) - bytes.LastIndexByte(head, '\n')
}
