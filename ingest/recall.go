package ingest

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// memory is what history holds that a reading may meet. Its results take part in it: what tells two files of one
// reading apart or makes them one does so for a file that was read before.
type memory struct {
	docs  []*document
	again map[*source][]*result // what is stored of the measurements of a source, of the same bytes
}

// document is a stored run, as results by file.
type document struct {
	path      string // of the operating system
	run       schema.Run
	results   []*result
	isBase    bool // it is only read
	isTaken   bool // its id was given to a run of this reading
	isMet     bool // a file that was read has measurements of it
	isChanged bool // by what was read, although its results stay
}

// recall reads the documents that may have something in common with sources: files of the same bytes, or about the same
// time. What cannot be read is reported when history is loaded.
func recall(dir, base string, sources []*source) *memory {
	m := &memory{again: map[*source][]*result{}}
	byHash := map[string][]*result{} // of the bytes of their file
	read, from, to, isUndated := span(sources)
	if len(read) == 0 {
		return m
	}
	stored := map[string]bool{}
	for _, folder := range []string{dir, base} {
		if folder == "" {
			continue
		}
		// A person may have named the model otherwise: only bytes and times are known yet.
		isNear := func(start, end time.Time) bool {
			return start.IsZero() || isUndated || start.Before(to.Add(aDay)) && later(start, end).After(from.Add(-aDay))
		}
		skip := func(name string, data []byte) bool { // decoding thousands takes seconds
			rel, _ := filepath.Rel(folder, name)
			if stored[rel] { // the first folder has a newer one
				return true
			}
			isOther := !isNear(history.SpanOf(data)) && !history.HasFile(data, read)
			stored[rel] = isOther
			return isOther
		}
		history.Each(folder, skip, func(name string, run *schema.Run) {
			rel, _ := filepath.Rel(folder, name)
			stored[rel] = true
			d := &document{path: filepath.FromSlash(name), run: *run, isBase: folder == base}
			d.forgetUnread(sources)
			// All files of a run with such a problem are copies of another release's, which has their measurements.
			isCopies := func(p schema.Problem) bool { return p.Code == schema.CodeCopy && p.Severity == schema.SevError }
			if !d.divide(read) && (!isNear(run.Start, run.End) || slices.ContainsFunc(run.Problems, isCopies)) {
				return
			}
			m.docs = append(m.docs, d)
			for _, r := range d.results {
				byHash[r.file.SHA256] = append(byHash[r.file.SHA256], r)
			}
		})
	}
	m.match(sources, byHash)
	return m
}

// forgetUnread drops the problems of files beside the run from which nothing was read, and which are gone or read now.
func (d *document) forgetUnread(sources []*source) {
	isOver := func(p schema.Problem) bool {
		if p.Code != schema.CodeUnread {
			return false
		}
		isBelow, isBroken := false, false
		isError := func(q schema.Problem) bool { return q.Severity == schema.SevError }
		for _, s := range sources {
			isBelow = isBelow || p.Path == s.shown() || s.root.Only == "" && (s.root.Name == "." ||
				strings.HasPrefix(p.Path, strings.TrimSuffix(s.root.Name, "/")+"/"))
			isBroken = isBroken || p.Path == s.shown() && slices.ContainsFunc(s.reading.Problems, isError)
		}
		return isBelow && !isBroken
	}
	if slices.ContainsFunc(d.run.Problems, isOver) {
		d.run.Problems, d.isChanged = slices.DeleteFunc(slices.Clone(d.run.Problems), isOver), true
	}
}

// match finds which stored results are of which sources of the same bytes: those in the place of the file, else copies
// elsewhere. A file with results of several runs has several of both.
func (m *memory) match(sources []*source, byHash map[string][]*result) {
	type file struct{ path, sha256 string }
	isKnown := func(s *source) bool { return s.counts() && s.file.SHA256 != "" && byHash[s.file.SHA256] != nil }
	known := slices.DeleteFunc(slices.Clone(sources), func(s *source) bool { return !isKnown(s) })
	for _, parts := range schema.Alike(known, func(s *source) file { return file{s.shown(), s.file.SHA256} }) {
		at := file{parts[0].shown(), parts[0].file.SHA256}
		var here, elsewhere []*result
		for _, r := range byHash[at.sha256] {
			if r.shown() == at.path {
				here = append(here, r)
			} else {
				elsewhere = append(elsewhere, r)
			}
		}
		if stored := append(here, elsewhere...); len(stored) == 1 && len(parts) == 1 {
			m.again[parts[0]] = stored
			continue
		}
		m.pair(parts, here, elsewhere)
	}
}

// pair gives each measurement of the parts of a file one that is stored of it: with the same numbers, of the same model
// and workload, else of the same model, else any that is left, since a person may have named them otherwise. Numbers
// alone are no proof: one model may be as fast as another. What lies in the place of the file comes first; what is left
// may be a copy elsewhere.
func (m *memory) pair(parts []*source, stored ...[]*result) {
	type one struct {
		part                   *source
		of                     *result
		numbers, model, itself string
		isPaired               bool
	}
	list := func(r *schema.Reading, f *schema.Facts, add func(one)) {
		model := cmp.Or(f.Model.ID, f.Model.Name)
		model = model[strings.LastIndexByte(model, '/')+1:]
		for i := range r.Points {
			p := &r.Points[i]
			add(one{numbers: duplicate.Numbers(p), model: model, itself: p.Key.String()})
		}
		for i := range r.Scores {
			s := &r.Scores[i]
			x, _ := s.Value.Get()
			add(one{numbers: s.Metric + " " + duplicate.Number(x), model: model, itself: s.Task})
		}
	}
	var read []*one
	for _, s := range parts {
		list(&s.reading, &s.reading.Facts, func(x one) { x.part = s; read = append(read, &x) })
	}
	for _, results := range stored {
		var had []*one
		for _, r := range results {
			list(&r.reading, &r.facts, func(x one) { x.of = r; had = append(had, &x) })
		}
		for _, by := range []func(x *one) string{
			func(x *one) string { return x.numbers + idSeparator + x.model + idSeparator + x.itself },
			func(x *one) string { return x.numbers + idSeparator + x.model },
			func(x *one) string { return x.numbers },
		} {
			waiting := map[string][]*one{}
			for _, x := range had {
				if !x.isPaired {
					waiting[by(x)] = append(waiting[by(x)], x)
				}
			}
			for _, x := range read {
				queue := waiting[by(x)]
				if x.isPaired || len(queue) == 0 {
					continue
				}
				x.isPaired, queue[0].isPaired = true, true
				if !slices.Contains(m.again[x.part], queue[0].of) {
					m.again[x.part] = append(m.again[x.part], queue[0].of)
				}
				waiting[by(x)] = queue[1:]
			}
		}
	}
}

const aDay = 24 * time.Hour

// span returns the hashes of the files with results, and when the first and the last of them began.
func span(sources []*source) (read map[string]bool, from, to time.Time, isUndated bool) {
	read = map[string]bool{}
	for _, s := range sources {
		if !s.counts() || s.file.SHA256 == "" {
			continue
		}
		read[s.file.SHA256] = true
		start := s.reading.Facts.Start
		if start.IsZero() {
			start, _, _ = dateInName(s.shown(), tomorrow(), nil)
		}
		isUndated = isUndated || start.IsZero()
		from, to = earlier(from, start), later(to, start)
	}
	return read, from, to, isUndated
}

// divide makes results of a document, one for each file, and reports whether one of them was read.
func (d *document) divide(read map[string]bool) (isKnown bool) {
	run := &d.run
	facts := run.Facts()
	facts.End = time.Time{}
	if isDerivedID(run) && !isStated(run.Provenance["id"].From) { // by who merged runs
		facts.RunID = ""
	}
	type place struct{ path, sha256 string }
	byFile := map[place]*result{}
	of := func(s schema.Source) *result {
		at := place{s.Path, s.SHA256}
		r := byFile[at]
		if r == nil {
			r = d.resultOf(s, facts)
			byFile[at], d.results = r, append(d.results, r)
			isKnown = isKnown || read[s.SHA256]
		}
		return r
	}
	for _, p := range run.Points {
		r := of(p.Source)
		if p.Start.IsZero() { // it is that of the run
			p.Start = run.Start
		}
		if len(r.reading.Points) == 0 || p.Start.Before(r.facts.Start) {
			r.facts.Start = p.Start
		}
		r.sidecar = r.sidecar || len(p.Command) > 0
		r.reading.Points = append(r.reading.Points, p)
	}
	for _, s := range run.DatedScores() {
		r := of(s.Source)
		if len(r.reading.Points) == 0 {
			r.facts.Start = s.Start
		}
		r.reading.Scores = append(r.reading.Scores, s)
	}
	d.end()
	for _, p := range run.Problems {
		i := slices.IndexFunc(d.results, func(r *result) bool { return r.shown() == p.Path })
		if i >= 0 && !p.OfGroup() {
			d.results[i].report(p)
		}
	}
	return isKnown
}

// end says when the last file that began ended, which is when the run did: scores do not say it themselves.
func (d *document) end() {
	if len(d.results) > 0 {
		byStart := func(a, b *result) int { return a.facts.Start.Compare(b.facts.Start) }
		slices.MaxFunc(d.results, byStart).facts.End = d.run.End
	}
}

// resultOf begins the result of a file of a document.
func (d *document) resultOf(s schema.Source, facts schema.Facts) *result {
	run := &d.run
	r := &result{doc: d, source: &source{
		found: found{root: &Root{}, rel: s.Path, name: s.Path}, file: &content{SHA256: s.SHA256, Content: s.SHA256},
		reading: schema.Reading{Format: s.Format},
	}}
	r.reading.Extra, r.reading.Interleaved = run.Extra, run.Interleaved
	r.identity = identity{
		facts: facts, targets: run.Targets, accepted: run.Acceptance, plan: run.Plan,
		runFolder: cmp.Or(workflowTree(s.Path), folderOfRun(r.source)),
	}
	if isDerived(s.Format) {
		r.runFolder = reportTree(s.Path)
	}
	if at := run.Provenance["start"]; strings.HasSuffix(at.Where, dayAlone+")") || at.Where == schema.ByHistory {
		r.facts.StartNote = dayAlone // of several evals
	}
	for field, origin := range run.Provenance {
		*r.origin.of(field) = origin
		r.hasPattern = r.hasPattern || r.kind(origin) == fromPattern && strings.Contains(origin.Where, "{")
	}
	for _, field := range s.Stated {
		*r.origin.of(field) = schema.Origin{From: schema.FromFlag, Where: schema.ByHistory}
	}
	return r
}

// same returns the stored results of the bytes of a result that are the same measurement: not a collection at another
// time, nor a copy that lies in the place of another release's results. Where a person states the release with a flag,
// what was stored is corrected, wherever it lies.
func (m *memory) same(r *result) (out []*result) {
	hasFlag := func(r *result) bool { return r.origin.of("release").From == schema.FromFlag }
	for _, old := range m.again[r.source] {
		isCopy := ofTwoReleases(old, r) && old.shown() != r.shown() && !hasFlag(old) && !hasFlag(r)
		if !isCopy && !measuredApart(old, r) {
			out = append(out, old)
		}
	}
	return out
}

// stored returns what documents state of the same bytes, where they agree: what a person stated before, or the rest.
func stored(same []*result, byPerson bool) (schema.Facts, origins) {
	var facts schema.Facts
	var from origins
	for i, old := range same {
		is := old.facts
		manifest.Keep(&is, func(field string) bool {
			o := *old.origin.of(field)
			return isStated(old.kind(o)) == byPerson && o.From != "" && field != "model.key"
		})
		if is.End = (time.Time{}); is.Start.IsZero() || is.StartNote != dayAlone {
			is.StartNote = ""
		}
		if byPerson {
			is.Device.Chips, is.Stack.Commits, is.Stack.Dirty = 0, nil, false
			if o := *old.origin.of("start"); !isStated(old.kind(o)) || o.From == "" || i > 0 && !is.Start.Equal(facts.Start) {
				is.Start = time.Time{}
			}
		}
		if i == 0 {
			facts, from = is, old.origin
			continue
		}
		manifest.Keep(&facts, func(field string) bool { // where both agree
			return *manifest.Text(&facts, field) == *manifest.Text(&is, field)
		})
	}
	return facts, from
}

// remember takes from history what it knows of the same bytes.
func (r *result) remember(byPerson bool) {
	if len(r.same) == 0 {
		return
	}
	facts, from := stored(r.same, byPerson)
	s := statement{from: fromHistory, facts: &facts, isQuiet: true}
	if !byPerson {
		s.from = schema.FromDerived
	}
	before := r.facts
	r.take(s)
	for i := range r.origin {
		if o := &r.origin[i]; o.From == s.from && o.Where == "" {
			over := o.Over
			o.Origin = *from.of(o.field)
			o.Over = cmp.Or(o.Over, over)
		}
	}
	if before.Start.IsZero() {
		r.startNote = ""
	}
}

// replace puts results in the place of what history holds of the same bytes. What was stored of a point stays where it
// says more: the log or the sidecar that stated it was beside the file when it was read first.
func (m *memory) replace(results []*result) {
	for _, r := range results {
		for _, old := range r.same {
			old.doc.isMet = true
			r.keep(old)
			for i := range r.reading.Scores {
				s := &r.reading.Scores[i]
				isAgain := func(t schema.Score) bool { return t.Task == s.Task && t.Metric == s.Metric && sameValue(&t, s) }
				if at := slices.IndexFunc(old.reading.Scores, isAgain); at >= 0 && known(&old.reading.Scores[at]) > known(s) {
					*s = old.reading.Scores[at]
				}
			}
			if old.facts.RunID == "" && isOneSystem(&old.facts, &r.facts) {
				for _, beside := range old.doc.results { // of a copy elsewhere, the others are of its folder
					beside.runFolder = cmp.Or(r.runFolder, folderOfRun(r.source))
				}
			}
		}
	}
	for _, r := range results {
		for _, old := range r.same {
			old.reading.Points, old.reading.Scores, old.reading.Problems = nil, nil, nil
		}
	}
}

// keep takes the points of a stored result that say more than those that were read.
func (r *result) keep(old *result) {
	byNumbers := map[string]*schema.Point{} // comparing each with each would hash a file of thousands for minutes
	for i := range slices.Backward(old.reading.Points) {
		byNumbers[duplicate.Numbers(&old.reading.Points[i])] = &old.reading.Points[i]
	}
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		q := byNumbers[duplicate.Numbers(p)]
		if q != nil && q.Stated[schema.DimLabel] == string(schema.FromPath) && old.shown() == r.shown() {
			if r.labels == nil {
				r.labels = map[string]string{}
			}
			r.labels[duplicate.Numbers(p)] = q.Key.Dims[schema.DimLabel]
		}
		switch {
		case q == nil:
		case statesAll(q, p) && (!statesAll(p, q) || len(q.Command) > len(p.Command)): // and more
			*p = *q
			repeat.TakeBack(p)
		case (old.hasPattern || q.Stated[schema.DimLabel] == string(schema.FromFlag)) && !r.hasPattern:
			// What a person stated of the workload stays.
			p.Key, p.Stated = q.Key, q.Stated
		}
	}
}

// statesAll reports that a point states every length, load and condition that the other states.
func statesAll(p, other *schema.Point) bool {
	has := func(mine, theirs *float64) bool { return theirs == nil || mine != nil && *mine == *theirs }
	for name, v := range other.Conditions {
		if p.Conditions[name] != v {
			return false
		}
	}
	k, o := &p.Key, &other.Key
	return has(k.ISL, o.ISL) && has(k.OSL, o.OSL) && has(k.Concurrency, o.Concurrency) && has(k.Rate, o.Rate) &&
		(o.Dataset == "" || k.Dataset == o.Dataset)
}

// join returns the stored results that are grouped with those that were read: of the runs without a stated id that they
// may be part of. A file that has other bytes today was measured again, in a run of its own.
func (m *memory) join(results []*result) []*result {
	if len(m.docs) == 0 {
		return nil
	}
	type file struct {
		bucket
		path string
	}
	buckets, read := map[bucket]bool{}, map[file]string{}
	for _, r := range results {
		if (r.doc == nil || r.isCorrected) && r.counts() && r.facts.RunID == "" {
			b := bucketOf(r)
			buckets[b], read[file{b, r.shown()}] = true, r.file.SHA256
		}
	}
	var out []*result
	for _, d := range m.docs {
		isApart := func(r *result) bool { return !r.isCorrected && (r.facts.RunID != "" || !buckets[bucketOf(r)]) }
		joining := slices.DeleteFunc(slices.Clone(d.results), func(r *result) bool { return !r.counts() || isApart(r) })
		isOther := slices.ContainsFunc(joining, func(r *result) bool {
			now, has := read[file{bucketOf(r), r.shown()}]
			return has && now != r.file.SHA256
		})
		if !isOther && !d.isBase {
			out = append(out, joining...)
		}
	}
	return out
}

// left is what remains of a document in its place, and whether that is all of it.
func (d *document) left() (run schema.Run, isWhole bool) {
	run = d.run
	run.Points, run.Scores, run.Problems = nil, nil, slices.Clone(run.Problems)
	for _, r := range d.results {
		run.Points = append(run.Points, r.reading.Points...)
		run.Scores = append(run.Scores, r.reading.Scores...)
		for _, p := range r.reading.Problems {
			if p.Code == schema.CodeCopy && !p.IsAmong(run.Problems) {
				run.Problems = append(run.Problems, p)
			}
		}
	}
	if len(run.Points)+len(run.Scores) == 0 { // what was measured again says when
		run.Start, run.End = time.Time{}, time.Time{}
	}
	run.UndateScores()
	return run, len(run.Points)+len(run.Scores) == len(d.run.Points)+len(d.run.Scores) &&
		len(run.Problems) == len(d.run.Problems)
}

// isDerivedID reports an id that follows from the results, and is stated by nothing.
func isDerivedID(r *schema.Run) bool {
	return strings.HasPrefix(r.ID, history.Undated) || strings.HasPrefix(r.ID, r.Start.UTC().Format(history.StartInID))
}

// clash reports that two runs state differently who was measured.
func clash(was, is *schema.Run) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && !schema.SameDevice(a, b) }
	return differ(was.Model.Name, is.Model.Name) || differ(was.Device.Name, is.Device.Name) ||
		differ(was.Release, is.Release) || differ(was.Impl, is.Impl)
}
