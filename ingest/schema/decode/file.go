package decode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// File is one file as readers see it: its name, which only hints, its hash, and its content decoded once for all.
type File struct {
	Path    string // slash-separated, as found under the root
	SHA256  string // of the bytes on disk
	Size    int64
	ModTime time.Time
	Data    []byte // unpacked
	Doc     Doc    // JSON values; empty when the content is not JSON
	Text    bool   // the content is text but not JSON
}

// NewFile hashes, unpacks and decodes a file's bytes.
func NewFile(name string, onDisk []byte, mod time.Time, lim Limits) File {
	sum := sha256.Sum256(onDisk)
	f := File{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(onDisk)), ModTime: mod}
	var problems []schema.Problem
	if f.Data, problems = Unpack(name, onDisk, lim); len(problems) > 0 {
		f.Doc.Problems = problems
		return f
	}
	head := bytes.TrimLeft(f.Data[:min(len(f.Data), 4096)], " \t\r\n")
	if len(head) > 0 && !startsJSON(head) {
		f.Text = true
		return f
	}
	f.Doc = JSON(name, f.Data, lim)
	return f
}

// startsJSON tells JSON from text by its first byte; '[' may begin a log line such as "[BENCHMARK] …", so what follows
// must be able to begin a value.
func startsJSON(head []byte) bool {
	switch head[0] {
	case '{', '"':
		return true
	case '[':
		rest := bytes.TrimLeft(head[1:], " \t\r\n")
		return len(rest) == 0 || bytes.IndexByte([]byte(`{["]-0123456789tfnNI`), rest[0]) >= 0
	}
	return false
}

// Stem is the file name without its extensions of compression and form.
func (f File) Stem() string {
	s := path.Base(f.Path)
	for _, ext := range []string{".gz", ".json", ".jsonl", ".txt", ".csv", ".log"} {
		if len(s) > len(ext) && s[len(s)-len(ext):] == ext {
			s = s[:len(s)-len(ext)]
		}
	}
	return s
}

// Source is where a number from this file comes from.
func (f File) Source(format string) schema.Source {
	return schema.Source{Path: f.Path, SHA256: f.SHA256, Format: format}
}

// Problem starts a problem at the place where a value stands.
func (f File) Problem(sev, code string, at Value) schema.Problem {
	p := schema.Problem{Severity: sev, Path: f.Path, Code: code}
	if at.Kind() != Invalid {
		p.Offset = int64(at.Offset())
		p.Line, p.Column = Position(f.Data, at.Offset())
	}
	return p
}

// MayHoldResults tells by a file's first bytes whether it is JSON or compressed and has to be read whole.
func MayHoldResults(head []byte) bool {
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return true
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(head) == 0 || startsJSON(head)
}
