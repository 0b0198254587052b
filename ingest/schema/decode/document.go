package decode

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Doc is the content of one file: its JSON values, in order, and what was wrong.
type Doc struct {
	Values    []Value
	NonFinite int // NaN and Infinity literals
	Problems  []schema.Problem
}

// Unpack strips a byte order mark and decompresses gzip, which is known by its first bytes and not by its name.
func Unpack(path string, data []byte, lim Limits) ([]byte, []schema.Problem) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		zr, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			most := min(lim.Bytes, max(64<<20, int64(len(data))*maxRatio))
			lim.Bytes = most
			data, err = io.ReadAll(io.LimitReader(zr, most+1))
		}
		if err != nil {
			return nil, []schema.Problem{{Severity: schema.SevError, Path: path, Code: "bad-gzip",
				Found: fmt.Sprintf("gzip data that cannot be decompressed (%v)", err), Expected: "a whole gzip file",
				Hint: "copy or download the file again"}}
		}
	}
	if int64(len(data)) > lim.Bytes {
		return nil, []schema.Problem{{Severity: schema.SevError, Path: path, Code: "too-large",
			Found: fmt.Sprintf("more than %d MB of content", lim.Bytes>>20), Expected: "a result file",
			Hint: "remove the per-request records, or leave the file out"}}
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), nil
}

// JSON reads one value or a sequence of values. A fault ends the reading; the values before it are kept and the fault
// is a problem with its position, so a file cut in the middle of its last record loses that record only.
func JSON(path string, data []byte, lim Limits) Doc {
	var d Doc
	if len(bytes.TrimSpace(data)) == 0 {
		p := schema.Problem{Severity: schema.SevError, Path: path, Code: "empty-file", Found: "an empty file", Expected: "a result", Hint: "the tool that wrote it probably crashed; look at its log"}
		if !strings.Contains(path, ".json") && !strings.HasSuffix(path, ".gz") { // an empty log is ordinary
			p.Severity, p.Hint = schema.SevNote, "nothing to do"
		}
		d.Problems = append(d.Problems, p)
		return d
	}
	s := NewScanner(data, lim.Depth)
	for s.space(); s.pos < len(s.data); s.space() {
		if len(d.Values) >= lim.Values {
			s.err = &SyntaxError{Offset: s.pos, Found: fmt.Sprintf("more than %d values", lim.Values), Expected: "a result file"}
			break
		}
		v := s.Value()
		if s.err != nil {
			break
		}
		d.Values = append(d.Values, v)
	}
	if s.err != nil {
		d.Problems = append(d.Problems, Located(path, data, s.err, len(d.Values)))
	}
	d.NonFinite = s.nonFinite
	return d
}

// Located turns a syntax error into a problem with line and column. kept is the number of whole values before it.
func Located(path string, data []byte, e *SyntaxError, kept int) schema.Problem {
	p := schema.Problem{Severity: schema.SevError, Path: path, Offset: int64(e.Offset), Code: "bad-json",
		Found: e.Found, Expected: e.Expected, Hint: "the file is not JSON at this place; compare it with what the tool wrote"}
	p.Line, p.Column = Position(data, e.Offset)
	if e.Truncated {
		p.Code = "truncated-json"
		p.Hint = "the writer stopped in the middle (crash, full disk, or still running); run it again or restore the file"
	}
	if kept > 0 {
		p.Severity = schema.SevWarning
		p.Used = fmt.Sprintf("the %d whole values before it", kept)
	}
	return p
}

// Position returns the 1-based line and byte column of an offset.
func Position(data []byte, offset int) (line, column int) {
	head := data[:min(max(offset, 0), len(data))]
	return bytes.Count(head, []byte("\n")) + 1, len(head) - bytes.LastIndexByte(head, '\n')
}
