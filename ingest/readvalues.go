package ingest

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// valueReader reads each top-level value of a file separately, because tools append results of other models and other
// days to one file.
type valueReader struct {
	file         *decode.File
	sources      []*source // the first represents the file
	values       int
	foreign      int // values that are not results
	results      int
	problems     int
	seen         map[[32]byte]bool // hashes of the results so far
	repeated     int               // results that stand in the file before
	firstMatch   schema.Match
	firstForeign schema.Problem
}

// readValues reads a file with several values. Values of one identity and time stay together; others become separate
// sources.
func readValues(self *source, values iter.Seq[decode.Value]) []*source {
	r := valueReader{file: self.open, sources: []*source{self}, seen: map[[32]byte]bool{}}
	for v := range values {
		r.values++
		if r.results > self.open.Limits().Results {
			break // bound reports it
		}
		if !r.read(v) {
			break
		}
	}
	r.conclude(self)
	return r.sources
}

// read reads one value; false ends the file.
func (r *valueReader) read(v decode.Value) bool {
	alone := r.file.With(v)
	m, own := recognise(alone)
	if r.values == 1 {
		r.firstMatch = m
	}
	if own == nil {
		if r.foreign == r.values-1 && r.values > decode.MostBeforeResult {
			r.values--
			return false
		}
		if r.foreign++; r.foreign == 1 {
			r.firstForeign = r.file.Problem(schema.SevWarning, "foreign-value", v)
			r.firstForeign.Found = fmt.Sprintf("value %d of the file is no result of a known kind", r.values)
		}
		return true
	}
	hash := sha256.Sum256(v.Raw())
	if r.seen[hash] {
		r.repeated++
		return true
	}
	r.seen[hash] = true
	reading := own.read(alone)
	for _, one := range append([]schema.Reading{reading}, reading.More...) {
		one.More = nil
		r.results += len(one.Points) + len(one.Scores)
		if r.problems += len(one.Problems); r.problems > decode.MostProblems {
			one.Problems = nil
		}
		r.place(one)
	}
	return true
}

// place adds a reading to the source of the same run, or begins a new one.
func (r *valueReader) place(reading schema.Reading) {
	self := r.sources[0]
	if self.reading.Format == "" {
		self.reading = reading
		return
	}
	for i := len(r.sources) - 1; i >= 0; i-- {
		home := &r.sources[i].reading
		if !mayBeOfOneRun(home, &reading) {
			continue
		}
		home.Points = append(home.Points, reading.Points...)
		home.Scores = append(home.Scores, reading.Scores...)
		home.Problems = append(home.Problems, reading.Problems...)
		if reading.Facts.End.After(home.Facts.End) {
			home.Facts.End = reading.Facts.End
		}
		return
	}
	r.sources = append(r.sources, &source{found: self.found, open: self.open, reading: reading})
}

// mayBeOfOneRun reports whether two readings of one file can be of one run.
func mayBeOfOneRun(a, b *schema.Reading) bool {
	pause := b.Facts.Start.Sub(a.Facts.End)
	if a.Facts.End.IsZero() || b.Facts.Start.IsZero() {
		pause = 0
	}
	return a.Format == b.Format && systemOf(&a.Facts) == systemOf(&b.Facts) &&
		buildOf(&a.Facts) == buildOf(&b.Facts) && pause <= longestPause
}

// conclude reports what the file is and which of its values were not read.
func (r *valueReader) conclude(self *source) {
	f := r.file
	if r.foreign == r.values { // nothing of the file is a result
		problems := append(f.Problems, unknown(f, r.firstMatch)...)
		if r.firstMatch.Format == NotResult && !strings.Contains(path.Base(f.Path), ".json") {
			problems = nil // text that begins with a number is not damaged JSON
		}
		self.reading = schema.Reading{Format: r.firstMatch.Format, Detail: r.firstMatch.Detail, Problems: problems}
		return
	}
	if r.foreign > 0 {
		if r.foreign > 1 {
			r.firstForeign.Found += fmt.Sprintf(", and %d more", r.foreign-1)
		}
		r.firstForeign.Expected = "appended results"
		self.report(r.firstForeign)
	}
	if r.repeated > 0 {
		self.report(schema.Problem{
			Severity: schema.SevNote, Path: f.Path, Code: "duplicate",
			Found: fmt.Sprintf("%d results that stand in the file before, letter by letter", r.repeated),
			Used:  "the first, once",
		})
	}
	if r.problems > decode.MostProblems {
		self.report(schema.Problem{
			Severity: schema.SevWarning, Path: f.Path, Code: "more-problems",
			Found: fmt.Sprintf("%d problems in one file", r.problems), Used: "the first of them are listed",
		})
	}
	self.reading.Problems = append(f.Problems, self.reading.Problems...)
	self.reading.Detail += fmt.Sprintf(", %d appended results", r.values-r.foreign)
}
