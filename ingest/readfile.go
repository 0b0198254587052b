package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/archive"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/table"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// readFile reads one file. The first source represents the file; further ones are what it states about other runs, or
// the members of an archive. No input may crash the program: a reader that panics is a problem of its file.
func readFile(ctx context.Context, at found, lim decode.Limits) (sources []*source) {
	defer func() {
		if r := recover(); r != nil {
			sources = []*source{crashed(at, r)}
		}
		for _, s := range sources {
			s.redactProblems()
		}
	}()
	sources, err := at.read(ctx, lim)
	if err != nil {
		return []*source{failed(at, unreadable(at, err))}
	}
	return sources
}

// crashed returns the source of a file on which a reader panicked.
func crashed(at found, panicked any) *source {
	stack := strings.SplitN(string(debug.Stack()), "\n", 20)
	return failed(at, schema.Problem{
		Severity: schema.SevError, Path: at.shown(), Code: "reader-failed",
		Found:    fmt.Sprintf("a file that crashes ttreport's reader (%v)", panicked),
		Expected: "a result, or a problem that states what is wrong with it", Used: "nothing of the file",
		Hint: "please report it, with the file if possible: " + strings.TrimSpace(stack[len(stack)-1]),
	})
}

// failed returns the source of a file that could not be read.
func failed(at found, p schema.Problem) *source {
	return &source{
		found: at, role: roleOf(at.rel), file: &content{},
		reading: schema.Reading{Format: Unknown, Problems: []schema.Problem{p}},
	}
}

// read opens a file and reads it, or every member of it where it is an archive.
func (f found) read(ctx context.Context, lim decode.Limits) ([]*source, error) {
	h, err := f.root.FS.Open(f.rel)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	in, ok := h.(archive.Input)
	if !ok {
		data, err := io.ReadAll(io.LimitReader(h, lim.Bytes))
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(data)
	}
	if roleOf(f.rel) == "" && mayBeArchive(in, info.Size()) {
		if sources := f.members(ctx, in, info.Size(), lim); sources != nil {
			return sources, nil
		}
	}
	file, err := decode.Read(f.shown(), io.NewSectionReader(in, 0, info.Size()), info.Size(), info.ModTime(), lim)
	if err != nil {
		return nil, err
	}
	return interpret(f, &file), nil
}

// mayBeArchive reports by the first bytes whether content is an archive, or a compressed file that may contain one.
func mayBeArchive(in io.ReaderAt, size int64) bool {
	head := make([]byte, min(size, 512))
	n, _ := in.ReadAt(head, 0) // an error is reported when the file is read
	return decode.EnvelopeOf(head[:n]) != decode.Plain
}

// members returns a source for the archive itself and then those of its members; nil if the file is not an archive.
func (f found) members(ctx context.Context, in archive.Input, size int64, lim decode.Limits) []*source {
	self := &source{found: f, file: &content{}}
	sources, count, texts := []*source{self}, 0, sharedTexts{}
	problems, isArchive := archive.Each(f.shown(), in, size, lim, func(m archive.Member) {
		if ctx.Err() == nil {
			count++
			read := f.member(m, lim)
			for _, s := range read {
				texts.share(s.reading.Points)
			}
			sources = append(sources, read...)
		}
	})
	if !isArchive {
		return nil
	}
	self.reading = schema.Reading{Format: Archive, Detail: countFiles(count), Problems: problems}
	return sources
}

// member reads a file within an archive.
func (f found) member(m archive.Member, lim decode.Limits) (sources []*source) {
	rel := strings.TrimPrefix(strings.TrimPrefix(m.Path, f.root.Name), "/")
	if f.root.Name == "" || f.root.Name == "." {
		rel = m.Path
	}
	place := at(f.root, rel)
	if place.name == m.Path {
		place.name = m.Path // the same text, once in memory
	}
	defer func() {
		if r := recover(); r != nil {
			sources = []*source{crashed(place, r)}
		}
	}()
	file := decode.NewFile(place.shown(), m.Data, m.ModTime, lim)
	return interpret(place, &file)
}

// interpret recognises an open file and reads it.
func interpret(at found, f *decode.File) []*source {
	self := &source{found: at, open: f, role: roleOf(at.rel)}
	if self.role != "" { // it is read when all files are known
		self.reading.Format = string(self.role)
		return closed(f, []*source{self})
	}
	return closed(f, bound(self.readOpen(), f.Limits().Results))
}

// readOpen reads an open file into this source and further ones.
func (s *source) readOpen() []*source {
	f, sources := s.open, []*source{s}
	if known, ok := s.readOtherwise(); ok {
		return known
	}
	m, r := recognise(f)
	other := ""
	if r == nil {
		other = toolNotRead(f)
	}
	switch {
	case other != "":
		s.reading = notRead(f, other)
	case r == nil && f.Several(): // the first value may be of another kind than the next
		sources = readValues(s, f.Values())
	case r == nil && f.Partial.Kind() != decode.Invalid:
		sources = s.readPartial()
	case r == nil:
		problems := slices.Concat(f.Problems, unknown(f, m), benchmarkText(f))
		s.reading = schema.Reading{Format: m.Format, Detail: m.Detail, Problems: problems}
	case m.Format == vllm.Commands:
		b := vllm.ReadCommands(f)
		s.commands = &b
		s.reading = schema.Reading{Format: m.Format, Detail: m.Detail, Problems: f.Problems}
	case m.Records || !f.Several():
		sources = s.split(r.read(f))
		s.reading.Problems = append(f.Problems, s.reading.Problems...)
	default:
		sources = readValues(s, f.Values())
	}
	if s.counts() {
		s.report(oddValues(f)...)
	}
	if n := nonFinite(f); n > 0 && s.counts() {
		s.report(schema.Problem{
			Severity: schema.SevNote, Path: f.Path, Code: "non-finite", Used: "no number in place of each",
			Found: fmt.Sprintf("%d values written as NaN or Infinity", n),
		})
	}
	return sources
}

// unlimited matches a rate that has no limit, which clients write as Infinity: it is a setting, not a missing number.
var unlimited = regexp.MustCompile(`"(?:request_rate|issue_rate|rate)"\s*:\s*Infinity`)

// nonFinite counts the values of a file that are no numbers, without rates that have no limit.
func nonFinite(f *decode.File) int {
	if f.NonFinite == 0 {
		return 0
	}
	return f.NonFinite - len(unlimited.FindAll(f.Data, f.NonFinite))
}

// readOtherwise reads what no reader is asked about: a file that cannot be a result, a table of the user's own, results
// in a wrapper.
func (s *source) readOtherwise() ([]*source, bool) {
	f := s.open
	if r, ok := ailing(f); ok {
		s.reading = r
		return []*source{s}, true
	}
	if t, ok := table.Find(s.root.Tables, s.shown()); ok {
		return s.split(t.Read(f)), true
	}
	if list, ok := unwrapped(f); ok {
		return readValues(s, list), true
	}
	return nil, false
}

// split makes sources of a reading: the reading itself, and one for each further run in it.
func (s *source) split(r schema.Reading) []*source {
	sources, more := []*source{s}, r.More
	r.More = nil
	s.reading = r
	for _, m := range more {
		sources = append(sources, &source{found: s.found, open: s.open, reading: m})
	}
	return sources
}

// readPartial reads the part before the cut of a truncated file, for formats where that is safe.
func (s *source) readPartial() []*source {
	f := s.open
	part := f.With(f.Partial)
	m, r := recognise(part)
	if r == nil || !readableInPart(m.Format) {
		s.reading = schema.Reading{Format: Unknown, Problems: f.Problems}
		return []*source{s}
	}
	sources := s.split(r.read(part))
	for i := range f.Problems {
		f.Problems[i].Severity, f.Problems[i].Used = schema.SevWarning, "what was whole before it"
	}
	s.reading.Problems = append(f.Problems, s.reading.Problems...)
	return sources
}

// bound limits the results of one file, and reports what is left out.
func bound(sources []*source, most int) []*source {
	self := sources[0]
	n := len(self.reading.Points) + len(self.reading.Scores)
	for i, s := range sources[1:] {
		if n += len(s.reading.Points) + len(s.reading.Scores); n > most {
			sources = sources[:i+1]
			break
		}
	}
	if n <= most {
		return sources
	}
	self.reading.Points = self.reading.Points[:min(most, len(self.reading.Points))]
	self.reading.Scores = self.reading.Scores[:min(most, len(self.reading.Scores))]
	self.report(schema.Problem{
		Severity: schema.SevError, Path: self.shown(), Code: "too-many-results",
		Found:    "more results than are read from one file",
		Expected: fmt.Sprintf("at most %d", most), Used: "the first of them", Hint: "split the file",
	})
	return sources
}

// unknown reports what a file that resembles a result lacks.
func unknown(f *decode.File, m schema.Match) []schema.Problem {
	if m.Format != Unknown {
		return nil
	}
	for _, p := range f.Problems {
		if p.Severity == schema.SevError {
			return nil // the syntax error is reported already; a nearest format would be a guess
		}
	}
	p := schema.Problem{
		Severity: schema.SevWarning, Path: f.Path, Code: "unknown-format", Found: "JSON of no known format",
		Expected: "a result file", Hint: "if it is a result, its format is not read yet; if not, nothing to do",
	}
	if m.Detail != "" {
		p.Expected = fmt.Sprintf("%s, the nearest format: it has %s and lacks %s", m.Detail,
			strings.Join(m.Has, ", "), strings.Join(m.Lacks, ", "))
	}
	return []schema.Problem{p}
}
