package ingest

import (
	"bytes"
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// ailing recognises files that version control left in a state in which they are no results, by what stands in them.
// ok is false for any other.
func ailing(f *decode.File) (r schema.Reading, ok bool) {
	if !mayHoldResults(f.Path) {
		return r, false
	}
	p := schema.Problem{Severity: schema.SevWarning, Path: f.Path, Used: "nothing of it"}
	switch {
	case f.Form == decode.Text && bytes.HasPrefix(f.Data, []byte("version https://git-lfs.github.com/spec/")):
		p.Code, p.Found, p.Expected = "lfs-pointer", "a pointer of Git LFS in place of the file", "the file"
		p.Hint = "git lfs pull"
	case hasConflict(f.Data):
		p.Severity, p.Code, p.Found = schema.SevError, "conflict", "the marks of a merge that was not finished (<<<<<<<)"
		p.Expected, p.Hint = "one version of the file", "git checkout --ours or --theirs for the file, then git add it"
	default:
		return r, false
	}
	return schema.Reading{Format: Unknown, Detail: p.Found, Problems: []schema.Problem{p}}, true
}

// mayHoldResults goes by the name: pictures and models are pointers too, and nobody misses them.
func mayHoldResults(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".jsonl", ".ndjson", ".csv", ".txt", ".log", ".yaml", ".yml", ".gz", ".zst", ".zip", ".tar", ".tgz",
		".eval", ".out", ".js", ".md":
		return true
	}
	return false
}

// hasConflict reports the three marks of a conflict, each at the beginning of a line and in their order.
func hasConflict(data []byte) bool {
	for _, mark := range []string{"<<<<<<< ", "=======", ">>>>>>> "} {
		at := 0
		if !bytes.HasPrefix(data, []byte(mark)) {
			if at = bytes.Index(data, []byte("\n"+mark)); at < 0 {
				return false
			}
		}
		data = data[at+1:]
	}
	return true
}
