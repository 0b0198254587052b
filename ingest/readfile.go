package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"maps"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/archive"
	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/guidellm"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/llamabench"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/nmvllm"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/table"
	"github.com/ttreport/ttreport/ingest/trtllm"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// readFile reads one file. The first source represents the file; further ones are what it states about other runs, or
// the members of an archive.
func readFile(ctx context.Context, at found, lim decode.Limits) []*source {
	sources := at.guarded(func() []*source {
		sources, err := at.read(ctx, lim)
		if err != nil {
			return []*source{failed(at, unreadable(at, err))}
		}
		return sources
	})
	for _, s := range sources {
		for i := range s.reading.Problems {
			cleanProblem(&s.reading.Problems[i])
		}
		for _, p := range s.reading.Points {
			for i := range p.Metrics { // which may say why there is no number
				k := p.Metrics[i].Kind()
				if why := redact.Text(k.Why); why != k.Why {
					k.Why = why
					p.Metrics[i].Set(k)
				}
			}
		}
	}
	return sources
}

// intended makes notes of the errors of JSON that is written so and is no damaged result: settings of a program with
// comments, and the answers of a submission to MLPerf, whose middle its rules replace by "...".
func intended(f *decode.File) []schema.Problem {
	isShortened := path.Base(f.Path) == "mlperf_log_accuracy.json" && bytes.Contains(f.Data, []byte("\n..."))
	for i := range f.Problems {
		switch p := &f.Problems[i]; {
		case strings.HasPrefix(p.Found, `found "//`), strings.HasPrefix(p.Found, `found "/*`):
			p.Severity, p.Hint = schema.SevNote, "JSON with comments is not read"
		case isShortened && p.Severity == schema.SevError:
			p.Severity, p.Hint = schema.SevNote, "answers that were shortened for a submission are not read"
		}
	}
	return f.Problems
}

// cleanProblem removes secrets from a problem, which quotes its file.
func cleanProblem(p *schema.Problem) {
	for _, text := range []*string{&p.Found, &p.Expected, &p.Used, &p.Hint} {
		*text = redact.Text(*text)
	}
}

// guarded returns what read returns. No input may crash the program: a reader that panics is a problem of its file.
func (f found) guarded(read func() []*source) (sources []*source) {
	defer func() {
		if r := recover(); r != nil {
			stack := strings.SplitN(string(debug.Stack()), "\n", 20)
			sources = []*source{failed(f, schema.Problem{
				Severity: schema.SevError, Path: f.shown(), Code: "reader-failed",
				Found:    fmt.Sprintf("a file that crashes ttreport's reader (%v)", r),
				Expected: "a result, or a problem that states what is wrong with it", Used: "nothing from the file",
				Hint: "please report it, with the file if possible: " + strings.TrimSpace(stack[len(stack)-1]),
			})}
		}
	}()
	return read()
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
	if roleOf(f.rel) == "" {
		if sources := f.members(ctx, in, info.Size(), lim); sources != nil {
			return sources, nil
		}
	}
	file, err := decode.Read(f.shown(), io.NewSectionReader(in, 0, info.Size()), info.Size(), info.ModTime(), lim)
	if err != nil {
		return nil, err
	}
	if file.Form == decode.Binary && slices.Contains(stores, extension(f.rel)) {
		ends := info.Size() // its columns are at one of them
		if mapped := table.Find(f.root.Tables, f.shown()); len(mapped) == 0 || ends > lim.Packed {
			ends = min(ends, 64<<10)
		}
		head, tail := make([]byte, ends), make([]byte, min(ends, info.Size()-ends))
		_, err := in.ReadAt(head, 0)
		_, err2 := in.ReadAt(tail, info.Size()-int64(len(tail)))
		if err == nil && err2 == nil {
			file.Data = append(head, tail...)
		}
	}
	return interpret(ctx, f, &file), nil
}

// members returns a source for the archive itself and then those of its members; nil if the file is not an archive.
func (f found) members(ctx context.Context, in archive.Input, size int64, lim decode.Limits) []*source {
	self := &source{found: f, file: &content{}}
	sources, count, texts, facts := []*source{self}, 0, sharedTexts{}, 0
	problems, isArchive := archive.Each(f.shown(), in, size, lim, func(m archive.Member) {
		if ctx.Err() != nil {
			return
		}
		count++
		rel := m.Path
		if f.root.Name != "" && f.root.Name != "." {
			rel = strings.TrimPrefix(strings.TrimPrefix(m.Path, f.root.Name), "/")
		}
		place := at(f.root, rel)
		read := place.guarded(func() []*source {
			file := decode.NewFile(place.shown(), m.Data, m.ModTime, lim)
			if file.Form == decode.Binary && slices.Contains(stores, extension(rel)) {
				file.Data = m.Data
			}
			return interpret(ctx, place, &file)
		})
		for _, s := range read {
			texts.share(s.reading.Points)
			if facts += len(s.factsText()); facts > mostFacts && s.factsText() != nil {
				s.file.Data = nil
			}
		}
		sources = append(sources, read...)
	})
	if !isArchive {
		return nil
	}
	self.reading = schema.Reading{Format: Archive, Detail: plaintext.Plural(count, "file"), Problems: problems}
	return sources
}

// interpret reads an open file: what cannot be a result, a table of the user's own, results in a wrapper, and what a
// reader recognises. A mapping of columns that are not there is of other files: what a tool defines is read as that.
func interpret(ctx context.Context, at found, f *decode.File) []*source {
	s := &source{found: at, open: f, role: roleOf(at.rel)}
	f.Place = at.place()
	sources := []*source{s}
	if s.role != "" { // it is read when all files are known
		s.reading.Format = string(s.role)
		return closed(f, sources)
	}
	mappings := table.Find(at.root.Tables, s.shown())
	switch r, isAiling := ailing(f); {
	case isAiling:
		s.reading = r
	case len(mappings) > 0:
		sources = s.readMapped(ctx, mappings)
	default:
		sources = s.readOpen(ctx)
	}
	return closed(f, bound(sources, f.Limits().Results))
}

// readMapped reads an open file by mappings of the user's own, each of other rows. Of those of the same rows, the one
// counts of which the file has all columns, else the first of which it has a number. It is read without one where it
// lacks all numbers that are mapped, or lacks some column and is of a tool whose format is read: a pattern of names
// matches more than it was meant for.
func (s *source) readMapped(ctx context.Context, mappings [][]table.Table) []*source {
	find := func(r *schema.Reading, code string) int {
		return slices.IndexFunc(r.Problems, func(p schema.Problem) bool { return p.Code == code })
	}
	var list []schema.Reading
	for _, ofRows := range mappings {
		var best schema.Reading
		for i, m := range ofRows {
			r := m.Read(s.open)
			isWhole := find(&r, table.Lacking) < 0
			if i == 0 || isWhole || find(&best, table.OtherFile) >= 0 {
				best = r
			}
			if isWhole {
				break
			}
		}
		list = append(list, best)
	}
	if has := slices.DeleteFunc(slices.Clone(list), func(r schema.Reading) bool {
		return find(&r, table.OtherFile) >= 0
	}); len(has) > 0 {
		list = has
	}
	read := list[0]
	for _, r := range list[1:] {
		more := r.More
		r.More = nil
		read.More = append(append(read.More, r), more...)
	}
	i, hasNone := find(&read, table.Lacking), find(&read, table.OtherFile) >= 0
	if i < 0 {
		return s.split(read)
	}
	_, format := recognise(ctx, s.open)
	if format == nil && !hasNone {
		return s.split(read)
	}
	sources := s.readOpen(ctx)
	p := read.Problems[i]
	if p.Used = "the format of the tool that wrote it, not the mapping in ttreport.yaml"; format == nil {
		p.Used = "not the mapping in ttreport.yaml: none of its numbers is there"
	}
	if format != nil || len(s.reading.Problems) == 0 {
		p.Severity = schema.SevNote
	}
	p.Hint = "let files: of the mapping match others only, such as DIR/" + path.Base(s.rel)
	s.report(p)
	return sources
}

// readOpen reads an open file into this source and further ones.
func (s *source) readOpen(ctx context.Context) []*source {
	f, sources := s.open, []*source{s}
	m, r := recognise(ctx, f)
	parts := wrapped(ctx, f, r != nil)
	switch {
	case len(parts) > 0:
		sources = readValues(ctx, s, slices.Values(parts))
		if !slices.ContainsFunc(sources, func(s *source) bool { return s.reading.Format != format.Failed.Name }) {
			more := unreadNumbers(f, schema.Match{Format: NotResult, Detail: nothingLike}) // of what did not fail
			s.reading.Problems = append(s.reading.Problems, more...)
		}
	case r == nil && f.Several(): // the first value may be of another kind than the next
		sources = readValues(ctx, s, valuesOf(f))
	case r == nil && f.Partial.Kind() != decode.Invalid:
		sources = s.readPartial(ctx)
	case r == nil:
		problems := slices.Concat(intended(f), unknown(f, m), unreadNumbers(f, m))
		s.reading = schema.Reading{Format: m.Format, Detail: m.Detail, Problems: problems}
	case m.Format == vllm.Commands:
		b := vllm.ReadCommands(f)
		s.commands = &b
		s.reading = schema.Reading{Format: m.Format, Detail: m.Detail, Problems: f.Problems}
	case m.Records || !f.Several():
		sources = s.split(r.Read(f))
		s.reading.Problems = slices.Concat(f.Problems, s.reading.Problems, unreadAside(f, m))
		if f.Form == decode.Text && s.counts() {
			sources = append(sources, s.others(ctx, r)...)
		}
	default:
		sources = readValues(ctx, s, valuesOf(f))
	}
	if !s.counts() {
		return sources
	}
	s.report(oddValues(f)...)
	if n := f.NonFinite; n > 0 {
		s.reportMany(n-len(unlimited.FindAll(f.Data, n)), schema.SevNote, "non-finite",
			"%d values written as NaN or Infinity", "no number in place of each")
	}
	return sources
}

// others are what further readers find in a text, which may have the output of several tools.
func (s *source) others(ctx context.Context, first *draft.Format) (out []*source) {
	for _, r := range readers[slices.Index(readers, first)+1:] {
		if m := r.Detect(s.open); !m.OK() || ctx.Err() != nil {
			continue
		}
		other := &source{found: s.found, open: s.open}
		if list := other.split(r.Read(s.open)); other.counts() {
			out = append(out, list...)
		}
	}
	return out
}

// reportMany adds the problem that there are some of something.
func (s *source) reportMany(n int, severity schema.Severity, code, found, used string) {
	if n > 0 {
		s.report(schema.Problem{
			Severity: severity, Path: s.shown(), Code: code, Found: fmt.Sprintf(found, n), Used: used,
		})
	}
}

// unlimited matches a rate that has no limit, which clients write as Infinity: it is a setting, not a missing number.
var unlimited = lazyregexp.New(`"(?:request_rate|issue_rate|rate)"\s*:\s*Infinity`)

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

// readPartial reads the part before the cut of a truncated file, for formats where what comes before it is complete.
func (s *source) readPartial(ctx context.Context) []*source {
	f := s.open
	part := f.With(f.Partial)
	m, r := recognise(ctx, part)
	if r == nil || m.Format != lmeval.Format && m.Format != lmeval.LMMs {
		s.reading = schema.Reading{Format: Unknown, Problems: f.Problems}
		return []*source{s}
	}
	sources := s.split(r.Read(part))
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
	if names := measuredNames(f.First); names != "" {
		p.Found, p.Hint = p.Found+", with numbers called "+names, mappingHint(f)
	}
	if m.Detail != "" {
		p.Expected = fmt.Sprintf("%s, the nearest format: it has %s and lacks %s", m.Detail,
			strings.Join(m.Has, ", "), strings.Join(m.Lacks, ", "))
	}
	return []schema.Problem{p}
}

// readValues reads each top-level value of a file separately, because tools append results of other models and other
// days to one file. Values of one identity and time stay together; others become separate sources.
func readValues(ctx context.Context, self *source, values iter.Seq[part]) []*source {
	f, runs := self.open, separated{[]*source{self}, map[string][]*source{}}
	n, foreign, results, problems, repeated := 0, 0, 0, 0, 0
	seen := map[[32]byte]bool{} // hashes of the results so far
	var firstMatch schema.Match
	var firstForeign schema.Problem
	for x := range values {
		v := x.at
		if n++; results > f.Limits().Results {
			break // bound reports it
		}
		m, own := recognise(ctx, x.file)
		if own == nil {
			if foreign == n-1 && n > decode.MostBeforeResult {
				n--
				break
			}
			if foreign++; foreign == 1 {
				firstMatch = m
				firstForeign = f.Problem(schema.SevWarning, "foreign-value", v)
				firstForeign.Found = fmt.Sprintf("value %d of the file is not a result of a known kind", n)
				firstForeign.Expected = "appended results"
			}
			continue
		}
		reading := own.Read(x.file)
		hash := sha256.Sum256(v.Raw())
		if seen[hash] && reading.Format != format.Failed.Name { // two attempts may fail alike
			repeated++
			continue
		}
		seen[hash] = true
		for _, one := range append([]schema.Reading{reading}, reading.More...) {
			one.More = nil
			results += len(one.Points) + len(one.Scores)
			x.mark(&one)
			if problems += len(one.Problems); problems > decode.MostProblems {
				one.Problems = nil
			}
			runs.place(one)
		}
	}
	if foreign == n {
		self.reading = nothingOf(f, firstMatch)
		return runs.sources
	}
	if foreign > 1 {
		firstForeign.Found += fmt.Sprintf(", and %d more", foreign-1)
	}
	if foreign > 0 {
		self.report(firstForeign)
	}
	self.reportMany(repeated, schema.SevNote, "duplicate", "%d results that stand in the file before, letter by letter",
		"the first, once")
	if problems <= decode.MostProblems {
		problems = 0
	}
	self.reportMany(problems, schema.SevWarning, "more-problems", "%d problems in one file",
		"the first of them are listed")
	self.reading.Problems = append(f.Problems, self.reading.Problems...)
	self.reading.Detail = strings.TrimPrefix(fmt.Sprintf("%s, %d appended results", self.reading.Detail, n-foreign), ", ")
	return runs.sources
}

// nothingOf is the reading of a file with several values of which none is a result.
func nothingOf(f *decode.File, first schema.Match) schema.Reading {
	r := schema.Reading{Format: first.Format, Detail: first.Detail}
	if first.Format != NotResult || strings.Contains(path.Base(f.Path), ".json") {
		// text that begins with a number is not damaged JSON
		r.Problems = slices.Concat(f.Problems, unknown(f, first), unreadNumbers(f, first))
	} else if f.First.Kind() == decode.Object {
		r.Problems = unreadNumbers(f, first)
	}
	return r
}

// separated are the sources of a file by run: of one format and system, and times without a long pause.
type separated struct {
	sources []*source
	of      map[string][]*source // by format and system
}

// place adds a reading to the source of the same run, or begins a new one.
func (s *separated) place(reading schema.Reading) {
	key := reading.Format + idSeparator + systemOf(&reading.Facts, schema.FoldDevice(reading.Facts.Device.Name))
	for _, one := range slices.Backward(s.of[key]) {
		home := &one.reading
		before, now := home.Facts.End, reading.Facts.Start
		if !before.IsZero() && !now.IsZero() && now.Sub(before) > longestPause {
			continue
		}
		home.Points = append(home.Points, reading.Points...)
		home.Scores = append(home.Scores, reading.Scores...)
		home.Problems = append(home.Problems, reading.Problems...)
		home.Facts.Widen(now, reading.Facts.End, reading.Facts.StartNote) // a warm-up before them has no time
		return
	}
	one := s.sources[0]
	if len(s.of) == 0 {
		one.reading = reading
	} else {
		one = &source{found: one.found, open: one.open, reading: reading}
		s.sources = append(s.sources, one)
	}
	s.of[key] = append(s.of[key], one)
}

// readers lists all formats, in the order in which they are tried. Their rules exclude each other, so the order only
// decides which of two near misses is reported.
var readers = []*draft.Format{
	&vllm.Reader, &vllm.Offline, &vllm.Batch, &format.TorchHUD, &aiperf.Reader, &lmeval.Reader, &lmeval.Tables,
	&ttis.Reader, &trtllm.Reader, &nmvllm.Reader, &format.SGLang, &guidellm.Reader, &format.InferencePerf,
	&format.InferenceX, &format.LLMD, &format.Inspect, &table.LlamaBenchy, &table.Printed, &table.AgentX, &table.Own,
	&format.EvalScope, &llamabench.Reader, &format.LLMPerf, &format.MLPerf, &format.Mosaic, &format.LightEval,
	&format.BigCode, &format.HELM, &format.Optimum, &console.Reader, &format.EveryEval, &format.MTEB, &format.HFEval,
	&format.Bencher, &format.ASV, &table.Stated, &format.Failed, &history.Reader,
}

// Formats of files that no reader takes.
const (
	Unknown   = "unknown"      // it resembles a result, but has no known format
	NotResult = "not-a-result" // nothing in it looks like a result
	Archive   = "archive"      // its members are listed
)

// recognise asks every reader. The match is full, or it is the nearest miss with format Unknown, or nothing in the file
// is like a result. A large file takes a second, so it ends early when it is told to; nobody reads what it found then.
func recognise(ctx context.Context, f *decode.File) (schema.Match, *draft.Format) {
	var near schema.Match
	mayBeResult := f.Form == decode.JSON || f.Form == decode.Text && !slices.Contains(code, extension(f.Path))
	for _, r := range readers {
		if !mayBeResult || ctx.Err() != nil { // no binary file, and no text of a program
			break
		}
		m := r.Detect(f)
		if m.OK() {
			return m, r
		}
		if near.Format == "" || cmp.Or(len(m.Has)-len(near.Has), len(near.Lacks)-len(m.Lacks)) > 0 {
			near = m
		}
	}
	// One feature of three is chance: every package.json has a version.
	if f.Form != decode.JSON || len(near.Has) == 0 || (len(near.Has) == 1 && len(near.Lacks) > 1) || isSchema(f.First) {
		return schema.Match{Format: NotResult, Detail: whatElse(f)}, nil
	}
	near.Detail = near.Format
	near.Format = Unknown
	return near, nil
}

// isSchema recognises a JSON Schema, which names every key of a result and holds none.
func isSchema(v decode.Value) bool {
	return v.HasAny("$schema", "$defs") ||
		(v.Get("properties").Kind() == decode.Object && v.Get("type").Str() == "object")
}

// whatElse names a file that is no result, for the listing.
func whatElse(f *decode.File) string {
	switch {
	case f.Form == decode.Binary:
		return "binary"
	case f.Form == decode.Text:
		return "text"
	case f.Form == decode.Nothing:
		return "empty or damaged"
	case isSchema(f.First):
		return "a JSON schema"
	}
	return nothingLike
}

const nothingLike = "nothing in it looks like a result"

// sharedTexts holds each set of conditions once: those of a sweep are the same for most of its points, and a tree has
// tens of thousands of them. Nothing after a reader changes such a map in place.
type sharedTexts map[string]map[string]string

// share replaces the maps of points by equal ones that others have.
func (s sharedTexts) share(points []schema.Point) {
	for i := range points {
		p := &points[i]
		p.Conditions, p.Stated = s.one(p.Conditions), s.one(p.Stated)
	}
}

// one returns the map that stands for all equal ones.
func (s sharedTexts) one(m map[string]string) map[string]string {
	if len(m) == 0 {
		return m
	}
	var key []byte
	for _, name := range slices.Sorted(maps.Keys(m)) {
		key = append(append(append(append(key, name...), 0), m[name]...), 0)
	}
	if known, ok := s[string(key)]; ok {
		return known
	}
	s[string(key)] = m
	return m
}

// oddValues are the places where a file says something that no reader can use, and that would be missing without a
// word: a name twice in one object, a number too large to be one, a number with a comma in quotes. They are looked for
// near the top, where results state what they measured.
func oddValues(f *decode.File) []schema.Problem {
	if f.Form != decode.JSON {
		return nil
	}
	const mostDepth, mostItems, mostMembers, mostProblems = 4, 64, 400, 20
	var out []schema.Problem
	add := func(code string, at decode.Value, found, expected, used string) {
		p := f.Problem(schema.SevWarning, code, at)
		p.Found, p.Expected, p.Used = found, expected, used
		out = append(out, p)
	}
	var look func(v decode.Value, depth int)
	look = func(v decode.Value, depth int) {
		if depth == 0 || len(out) >= mostProblems {
			return
		}
		members := v.Members()
		for i, m := range members[:min(len(members), mostMembers)] {
			n := slices.IndexFunc(members[:i], func(first decode.Member) bool {
				return first.Key == m.Key && !bytes.Equal(first.Val.Raw(), m.Val.Raw())
			})
			if n >= 0 {
				add("name-twice", m.Val, fmt.Sprintf("%q twice in one object: %s and then %s", m.Key,
					excerpt(members[n].Val.Raw()), excerpt(m.Val.Raw())), "each name once", "the last one")
			}
		}
		for _, m := range members {
			if code, expected, used := oddNumber(m.Key, m.Val); code != "" {
				add(code, m.Val, m.Key+" is "+excerpt(m.Val.Raw()), expected, used)
			}
			look(m.Val, depth-1)
		}
		n := 0
		for x := range v.Items() { // none of what is no list
			if n++; n > mostItems || x.Kind() != decode.Object && x.Kind() != decode.Array {
				return
			}
			look(x, depth-1)
		}
	}
	look(f.First, mostDepth)
	return out
}

var (
	// inQuotes is a number as some languages write it: with a comma in it.
	inQuotes   = lazyregexp.New(`^\s*[-+]?\d[\d.' ]*(?:,\d+)+(?:\.\d+)?\s*$`)
	measurable = lazyregexp.New(`(?i)(?:ttft|tpot|itl|e2el|latency|throughput|duration|tokens|time|_m?s$|tps$|rps$)`)
)

// oddNumber is the problem of a value that is meant to be a number and is none.
func oddNumber(key string, v decode.Value) (code, expected, used string) {
	raw := v.Raw()
	switch _, ok := v.Float(); {
	case ok:
	case v.Kind() == decode.Number && len(raw) > 0 && strings.IndexByte("-0123456789", raw[0]) >= 0 &&
		!bytes.Contains(raw, []byte("Inf")):
		return "number-too-large", "a number below 1.8e308", "no number of it"
	case v.Kind() == decode.String && measurable.MatchString(key) && inQuotes.MatchString(v.Str()):
		return "number-with-comma", "a number with a decimal point",
			"none of its values: a comma may be a decimal point or a separator"
	}
	return "", "", ""
}

// excerpt is the beginning of what stands in a file, in one line.
func excerpt(raw []byte) string {
	const longest = 40
	return plaintext.Short(strings.TrimSpace(string(raw[:min(len(raw), 4*longest)])), longest)
}
