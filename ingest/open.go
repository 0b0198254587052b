package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"runtime/debug"
	"strings"

	"github.com/ttreport/ttreport/ingest/archive"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// besideResult is what vLLM's continuous benchmarks write beside a result.
type besideResult = vllm.Beside

// open reads a file, or every member of an archive. No input may end the program: a reader that fails is a problem of its
// file.
func (it *item) open(ctx context.Context, lim decode.Limits) {
	defer it.survive()
	if err := it.fromDisk(ctx, lim); err != nil {
		it.fail(schema.Problem{Severity: schema.SevError, Path: it.shown(), Code: "unreadable", Found: reason(err),
			Expected: "a readable file", Hint: "check its permissions, or leave it out"})
	}
}

// survive turns a reader's panic into a problem.
func (it *item) survive() {
	if r := recover(); r != nil {
		at := strings.SplitN(string(debug.Stack()), "\n", 20)
		it.more = nil
		it.fail(schema.Problem{Severity: schema.SevError, Path: it.shown(), Code: "reader-failed", Found: fmt.Sprintf("a file on which ttreport itself fails (%v)", r),
			Expected: "a result, or a problem that says what is wrong with it", Used: "nothing of the file", Hint: "please report it, with the file if you may: " + strings.TrimSpace(at[len(at)-1])})
	}
}

func (it *item) fail(p schema.Problem) {
	it.reading = schema.Reading{Format: Unknown, Problems: []schema.Problem{p}}
	it.file = &decode.File{Path: it.shown()}
}

func (it *item) fromDisk(ctx context.Context, lim decode.Limits) error {
	h, err := it.root.FS.Open(it.rel)
	if err != nil {
		return err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return err
	}
	in, ok := h.(archive.Input)
	if !ok {
		data, err := io.ReadAll(io.LimitReader(h, lim.Bytes))
		if err != nil {
			return err
		}
		in = bytes.NewReader(data)
	}
	if it.isRole == "" && it.isArchive(in, info.Size()) {
		var members []*item
		problems, found := archive.Each(it.shown(), in, info.Size(), lim, func(m archive.Member) {
			if ctx.Err() == nil {
				members = append(members, it.member(m, lim))
			}
		})
		if found {
			it.more = members
			it.file = &decode.File{Path: it.shown(), Size: info.Size()}
			it.reading = schema.Reading{Format: Archive, Detail: countFiles(len(members)), Problems: problems}
			return nil
		}
	}
	f, err := decode.Read(it.shown(), io.NewSectionReader(in, 0, info.Size()), info.Size(), info.ModTime(), lim)
	if err != nil {
		return err
	}
	it.read(&f)
	return nil
}

// isArchive looks at the first bytes: those of an archive, or of a compressed file that may hold one.
func (it *item) isArchive(in io.ReaderAt, size int64) bool {
	head := make([]byte, min(size, 512))
	n, _ := in.ReadAt(head, 0) // an error shows when the file is read
	return decode.EnvelopeOf(head[:n]) != decode.Plain
}

// member makes an item of a file within an archive.
func (it *item) member(m archive.Member, lim decode.Limits) *item {
	rel := strings.TrimPrefix(strings.TrimPrefix(m.Path, it.root.Name), "/")
	if it.root.Name == "" || it.root.Name == "." {
		rel = m.Path
	}
	out := &item{found: found{it.root, rel}, isRole: role(rel)}
	defer out.survive()
	f := decode.NewFile(out.shown(), m.Data, m.ModTime, lim)
	out.read(&f)
	return out
}

// read recognises and reads an open file.
func (it *item) read(f *decode.File) {
	it.file = f
	if it.isRole != "" {
		it.reading.Format = it.isRole
		return // what it says is read when all files are known
	}
	defer f.Drop()
	m, r := recognise(f)
	it.match = m
	other := ""
	if r == nil {
		other = elsewhere(f)
	}
	switch {
	case other != "":
		it.reading = notRead(f, other)
	case r == nil && f.Several():
		it.readValues(f) // the first value may be foreign and the next one not
	case r == nil && f.Partial.Kind() != decode.Invalid:
		it.readPartial(f)
	case r == nil:
		it.reading = schema.Reading{Format: m.Format, Detail: m.Detail, Problems: append(f.Problems, unknown(f, m)...)}
	case m.Format == vllm.Commands:
		b := vllm.ReadCommands(f)
		it.beside, it.reading = &b, schema.Reading{Format: m.Format, Detail: m.Detail, Problems: f.Problems}
	case m.Records || !f.Several():
		it.take(r.read(f))
		it.reading.Problems = append(f.Problems, it.reading.Problems...)
	default:
		it.readValues(f)
	}
	if f.NonFinite > 0 && it.counts() {
		it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevNote, Path: f.Path, Code: "non-finite",
			Found: fmt.Sprintf("%d values written as NaN or Infinity", f.NonFinite), Used: "no number where one of them stands"})
	}
	it.bound(f.Limits().Results)
}

// take sets the reading; what it says of other runs becomes items of the same file.
func (it *item) take(r schema.Reading) {
	more := r.More
	r.More = nil
	it.reading = r
	for _, m := range more {
		it.more = append(it.more, &item{found: it.found, file: it.file, match: it.match, reading: m})
	}
}

// readPartial reads what stands before the cut of a file that is one damaged value, where that is safe.
func (it *item) readPartial(f *decode.File) {
	part := f.With(f.Partial)
	m, r := recognise(part)
	if r == nil || !readableInPart(m.Format) {
		it.reading = schema.Reading{Format: Unknown, Problems: f.Problems}
		return
	}
	it.match = m
	it.take(r.read(part))
	for i := range f.Problems {
		f.Problems[i].Severity, f.Problems[i].Used = schema.SevWarning, "what was whole before it"
	}
	it.reading.Problems = append(f.Problems, it.reading.Problems...)
}

// readValues reads each top-level value of a file by itself, since tools append results of other models and other days to
// one file. Values of one identity and time stay together; others become items of their own.
func (it *item) readValues(f *decode.File) {
	parts := []*item{it}
	foreign, n, points, problems := 0, 0, 0, 0
	var firstForeign schema.Problem
	var firstMatch schema.Match
	for v := range f.Values() {
		n++
		if points > f.Limits().Results {
			break // bound says so
		}
		alone := f.With(v)
		m, own := recognise(alone)
		if n == 1 {
			firstMatch = m
		}
		if own == nil {
			if foreign == n-1 && n > decode.MostBeforeResult {
				n, foreign = n-1, n-1
				break
			}
			if foreign++; foreign == 1 {
				firstForeign = f.Problem(schema.SevWarning, "foreign-value", v)
				firstForeign.Found = fmt.Sprintf("value %d of the file is no result of a known kind", n)
			}
			continue
		}
		reading := own.read(alone)
		for _, r := range append([]schema.Reading{reading}, reading.More...) {
			r.More = nil
			points += len(r.Points) + len(r.Scores)
			if problems += len(r.Problems); problems > decode.MostProblems {
				r.Problems = nil
			}
			parts = it.place(parts, m, r)
		}
	}
	switch {
	case foreign == n: // nothing of the file is a result
		it.reading = schema.Reading{Format: firstMatch.Format, Detail: firstMatch.Detail, Problems: append(f.Problems, unknown(f, firstMatch)...)}
		if firstMatch.Format == NotResult && !strings.Contains(path.Base(f.Path), ".json") {
			it.reading.Problems = nil // a text that begins with a number is not damaged JSON
		}
		return
	case foreign > 0:
		if foreign > 1 {
			firstForeign.Found += fmt.Sprintf(", and %d more", foreign-1)
		}
		firstForeign.Expected = "appended results"
		it.reading.Problems = append(it.reading.Problems, firstForeign)
	}
	if problems > decode.MostProblems {
		it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevWarning, Path: f.Path, Code: "more-problems", Found: fmt.Sprintf("%d problems in one file", problems), Used: "the first of them are listed"})
	}
	it.reading.Problems = append(f.Problems, it.reading.Problems...)
	it.reading.Detail += fmt.Sprintf(", %d appended results", n-foreign)
	it.more = parts[1:]
}

// place adds a reading to the part of the file that is of the same run, or begins a new one.
func (it *item) place(parts []*item, m schema.Match, r schema.Reading) []*item {
	if it.reading.Format == "" {
		it.match, it.reading = m, r
		return parts
	}
	for i := len(parts) - 1; i >= 0; i-- {
		home := parts[i]
		if !sameSource(home.reading, r) {
			continue
		}
		home.reading.Points = append(home.reading.Points, r.Points...)
		home.reading.Scores = append(home.reading.Scores, r.Scores...)
		home.reading.Problems = append(home.reading.Problems, r.Problems...)
		if r.Facts.End.After(home.reading.Facts.End) {
			home.reading.Facts.End = r.Facts.End
		}
		return parts
	}
	return append(parts, &item{found: it.found, file: it.file, match: m, reading: r})
}

// bound keeps one file from filling memory with results.
func (it *item) bound(most int) {
	n := len(it.reading.Points) + len(it.reading.Scores)
	for i, m := range it.more {
		if m.shown() != it.shown() {
			return // members of an archive are bounded each
		}
		if n += len(m.reading.Points) + len(m.reading.Scores); n > most {
			it.more = it.more[:i]
			break
		}
	}
	if n <= most {
		return
	}
	if len(it.reading.Points) > most {
		it.reading.Points = it.reading.Points[:most]
	}
	if len(it.reading.Scores) > most {
		it.reading.Scores = it.reading.Scores[:most]
	}
	it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevError, Path: it.shown(), Code: "too-many-results", Found: "more results than are read from one file",
		Expected: fmt.Sprintf("at most %d", most), Used: "the first of them", Hint: "split the file"})
}

// sameSource reports whether two readings of one file can be of one run.
func sameSource(a, b schema.Reading) bool {
	gapBetween := b.Facts.Start.Sub(a.Facts.End)
	if a.Facts.End.IsZero() || b.Facts.Start.IsZero() {
		gapBetween = 0
	}
	return a.Format == b.Format && system(a.Facts) == system(b.Facts) && buildName(a.Facts) == buildName(b.Facts) && gapBetween <= gap
}

// unknown says what a file that resembles a result lacks.
func unknown(f *decode.File, m schema.Match) []schema.Problem {
	if m.Format != Unknown {
		return nil
	}
	for _, p := range f.Problems {
		if p.Severity == schema.SevError {
			return nil // that it cannot be parsed was said; a nearest format would be a guess
		}
	}
	p := schema.Problem{Severity: schema.SevWarning, Path: f.Path, Code: "unknown-format", Found: "JSON of no known format", Expected: "a result file",
		Hint: "if it is a result, its format is not read yet; if not, nothing to do"}
	if m.Detail != "" {
		p.Expected = fmt.Sprintf("%s, the nearest format: it has %s and lacks %s", m.Detail, strings.Join(m.Has, ", "), strings.Join(m.Lacks, ", "))
	}
	return []schema.Problem{p}
}
