package ingest

import (
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// source is what one file states about one run. A file without results has a source without points and scores;
// a file with results of several runs has several sources.
type source struct {
	found
	file     *content     // the same for all sources of a file
	open     *decode.File // while the file is read
	role     fileRole
	reading  schema.Reading
	commands *vllm.CommandsFile // of a .commands file: what it states about the result
	given    numbers            // what a run has taken over
	copies   int                // points that another source has too
}

// content is what remains known of a file when it was read. A tree has tens of thousands.
type content struct {
	SHA256  string // of the bytes on disk
	Content string // hash of the unpacked content
	Data    []byte // of a file with one of our names, which is read when all files are known
}

// stem is the name of the file without its extensions of compression and form.
func (s *source) stem() string { return decode.Stem(s.shown()) }

// closed lets go of the file that sources were read from.
func closed(f *decode.File, sources []*source) []*source {
	kept := &content{SHA256: f.SHA256, Content: f.Content}
	if sources[0].role != "" {
		kept.Data = f.Data
	}
	for _, s := range sources {
		s.file, s.open = kept, nil
	}
	return sources
}

// numbers counts results.
type numbers struct{ points, scores int }

// measured counts the results of the source, whether or not a run has taken them over.
func (s *source) measured() numbers {
	return numbers{len(s.reading.Points) + s.given.points, len(s.reading.Scores) + s.given.scores}
}

// give lets go of the results, since a run has them: a tree has tens of thousands, and memory should hold each once.
func (s *source) give() {
	s.given = s.measured()
	s.reading.Points, s.reading.Scores = nil, nil
}

// fileRole is the role of a file with one of our names; "" for any other file.
type fileRole string

const (
	roleSidecar  fileRole = "sidecar"
	roleManifest fileRole = "manifest"
	roleJournal  fileRole = "journal"
)

// roleOf returns the role by the file's name.
func roleOf(rel string) fileRole {
	switch base := path.Base(rel); {
	case strings.HasSuffix(base, manifest.SidecarSuffix):
		return roleSidecar
	case base == manifest.FileName:
		return roleManifest
	case base == manifest.JournalName:
		return roleJournal
	}
	return ""
}

// counts reports whether the source has numbers.
func (s *source) counts() bool { return len(s.reading.Points)+len(s.reading.Scores) > 0 }

// report adds a problem of the source.
func (s *source) report(p ...schema.Problem) { s.reading.Problems = append(s.reading.Problems, p...) }

// drop removes the numbers of the source, because another file has them, and the problems about them.
func (s *source) drop(partOf string) {
	s.reading.Points, s.reading.Scores, s.reading.PartOf = nil, nil, partOf
	s.reading.Problems = slices.DeleteFunc(s.reading.Problems, func(p schema.Problem) bool {
		return p.Code == "partly-failed" || p.Code == "all-failed"
	})
}

// redactProblems removes secrets from the quotations in problems.
func (s *source) redactProblems() {
	for i := range s.reading.Problems {
		p := &s.reading.Problems[i]
		p.Found, p.Expected, p.Used = redact.Text(p.Found), redact.Text(p.Expected), redact.Text(p.Used)
	}
}
