package history

import (
	"math"
	"slices"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// scanner reads documents straight into columns: one pass over the text, no tree, no documents kept.
type scanner struct {
	*columns.Builder
	byText   map[string]int32 // key index by the key's JSON text, which repeats from document to document
	conds    map[string]int32 // likewise of conditions
	versions map[versioned]int32
	shapes   map[metricID]*shape
	pend     []pending
	faults   faults // of the document that is being read
}

type metricID struct{ metric, unit, def string }

// shape maps the names of a metric's statistics to their ids.
type shape struct {
	names []string
	ids   []uint16
}

type pending struct {
	name  string
	value float64
}

func newScanner() *scanner {
	return &scanner{
		Builder: columns.NewBuilder(), byText: map[string]int32{}, conds: map[string]int32{},
		versions: map[versioned]int32{}, shapes: map[metricID]*shape{},
	}
}

// document appends one document. On a problem the columns are as before.
func (s *scanner) document(path, sha string, data []byte) *schema.Problem {
	c := s.C
	mark := s.Mark()
	head := columns.RunHead{Path: path, SHA256: sha, FirstPoint: len(c.Points)}
	version := ""
	s.faults = faults{}
	sc := decode.NewScanner(data, decode.DefaultLimits().Depth)
	var problem *schema.Problem
	if sc.Peek() == decode.Invalid && len(data) == 0 {
		problem = &schema.Problem{
			Severity: schema.SevError, Path: path, Code: "empty-file", Found: "an empty file", Expected: "a history document",
		}
	} else {
		var seen []string
		sc.Object(func(key []byte) {
			seen = s.faults.once(seen, string(key), "the document")
			s.member(sc, string(key), &head, &version)
		})
		sc.End()
		if err := sc.Err(); err != nil {
			p := decode.Located(path, data, err.(*decode.SyntaxError), 0)
			problem = &p
		}
	}
	switch {
	case problem != nil:
	case version != schema.Version:
		problem = checkSchema(path, version)
	default:
		problem = s.faults.problem(path)
	}
	if problem != nil && problem.Hint == "" {
		problem.Hint = "restore the document from version control, or ingest the results again; it is left as it is"
	}
	if problem != nil {
		s.Reset(mark)
		return problem
	}
	head.PointsEnd = len(c.Points)
	c.Runs = append(c.Runs, head)
	return nil
}

// member reads one member of a document.
func (s *scanner) member(sc *decode.Scanner, name string, h *columns.RunHead, version *string) {
	run := int32(len(s.C.Runs))
	switch name {
	case "schema":
		*version = str(sc)
	case "points":
		sc.Array(func() { s.point(sc, run, h) })
	case "scores":
		sc.Array(func() {
			v := sc.Value()
			s.faults.score(v)
			s.C.Scores = append(s.C.Scores, columns.ScoreRow{Run: run, Score: decodeScore(v)})
			h.Scores++
		})
	case "targets":
		sc.Array(func() {
			v := sc.Value()
			s.faults.value(v, "a target")
			s.C.Targets = append(s.C.Targets, columns.TargetRow{Run: run, Target: decodeTarget(v)})
			h.Targets++
		})
	case "plan":
		sc.Array(func() {
			s.C.Plans = append(s.C.Plans, columns.PlanRow{Run: run, Key: s.keyIndex(sc)})
			h.Planned++
		})
	case "interleaved":
		h.Interleaved = decodeInterleaved(sc.Value())
	case "acceptance":
		h.Acceptance = decodeAcceptance(sc.Value())
	case "problems":
		sc.Array(func() { s.problem(decodeProblem(sc.Value()), run, h) })
	default:
		s.identity(sc, name, h)
	}
}

// problem counts a problem of a run and keeps it; notes are in the documents only.
func (s *scanner) problem(p schema.Problem, run int32, h *columns.RunHead) {
	switch p.Severity {
	case schema.SevError:
		h.Errors++
	case schema.SevWarning:
		h.Warnings++
	default:
		return
	}
	s.C.Problems = append(s.C.Problems, columns.ProblemRow{Run: run, Problem: p})
}

// identity reads a member with the identity of the run.
func (s *scanner) identity(sc *decode.Scanner, name string, h *columns.RunHead) {
	switch name {
	case "id":
		h.ID = s.faults.text(sc, name)
	case "release":
		h.Release = s.faults.text(sc, name)
	case "channel":
		h.Channel = s.faults.text(sc, name)
	case "line":
		h.Line = s.faults.text(sc, name)
	case "impl":
		h.Impl = s.faults.text(sc, name)
	case "start":
		h.Start = s.faults.time(sc, name)
	case "end":
		h.End = s.faults.time(sc, name)
	case "model":
		v := sc.Value()
		s.faults.value(v, name)
		h.Model = decodeModel(v)
	case "device":
		v := sc.Value()
		s.faults.value(v, name)
		h.Device, h.Mesh, h.Firmware = v.Get("name").Str(), v.Get("mesh").Str(), v.Get("firmware").Str()
		h.Chips, _ = v.Get("chips").Int()
	case "stack":
		v := sc.Value()
		s.faults.value(v, name)
		h.Engine, h.Version = v.Get("engine").Str(), v.Get("version").Str()
		h.Image, h.Digest = v.Get("image").Str(), v.Get("digest").Str()
		for _, m := range v.Get("commits").Members() {
			if h.Commits == nil {
				h.Commits = map[string]string{}
			}
			h.Commits[m.Key] = m.Val.Str()
		}
		h.Dirty, _ = v.Get("dirty").Truth()
	case "extra":
		h.Setting = setting(sc)
	default:
		sc.Skip()
	}
}

// str reads a string member; null and other types count as absent.
func str(sc *decode.Scanner) string {
	if sc.Peek() == decode.String {
		return string(sc.Text())
	}
	sc.Skip()
	return ""
}

func (s *scanner) point(sc *decode.Scanner, run int32, h *columns.RunHead) {
	p := columns.PointRow{Run: run, Repeat: 1}
	s.Begin(&p)
	s.faults.names = s.faults.names[:0]
	version := ""
	sc.Object(func(key []byte) {
		name := pointMember(key)
		if name != "" {
			s.faults.names = s.faults.once(s.faults.names, name, "a point")
		}
		switch name {
		case "key":
			p.Key = s.keyIndex(sc)
		case "status":
			p.Status = s.faults.status(sc)
		case "repeat":
			p.Repeat = int16(sc.Value().Float0())
		case "block":
			p.Block = int16(max(0, min(math.MaxInt16, sc.Value().Float0())))
		case "metrics":
			var seen []string
			sc.Object(func(name []byte) {
				seen = s.faults.once(seen, string(name), "the metrics of a point")
				s.metric(sc, string(name), &p)
			})
		case "conditions":
			p.Cond = s.condIndex(sc)
		case "client":
			s.client(sc)
		case "source":
			version = toolVersion(sc)
		case "command":
			measuredServer(sc, h)
		default:
			sc.Skip()
		}
	})
	if version != "" {
		p.Cond = s.ofVersion(p.Cond, version)
	}
	s.End(p)
}

// pointMember returns the name of a member of a point that is read, "" for another.
func pointMember(key []byte) string {
	for _, name := range []string{"key", "status", "repeat", "block", "metrics", "conditions", "client", "source",
		"command"} {
		if string(key) == name {
			return name
		}
	}
	return ""
}

// client keeps the numeric facts about the load client, as statistics of a metric of their own.
func (s *scanner) client(sc *decode.Scanner) {
	sc.Object(func(key []byte) {
		name := string(key)
		if v, err := strconv.ParseFloat(sc.Value().Text(), 64); err == nil {
			s.Value(s.StatID(columns.StatID{Metric: columns.ClientMetric, Stat: name}), v)
		}
	})
}

func (s *scanner) keyIndex(sc *decode.Scanner) int32 {
	raw := sc.Skip()
	if i, ok := s.byText[string(raw)]; ok {
		return i
	}
	v := decode.NewScanner(raw, decode.DefaultLimits().Depth).Value()
	s.faults.value(v, "a key")
	k := decodeKey(v)
	i := s.Key(k, k.String())
	if s.faults.found == "" { // another document with this text must be refused too
		s.byText[string(raw)] = i
	}
	return i
}

// metric reads one metric's statistics. Unit and definition may come after the numbers, so numbers are collected
// first.
func (s *scanner) metric(sc *decode.Scanner, name string, p *columns.PointRow) {
	id := metricID{metric: name}
	s.pend = s.pend[:0]
	sc.Object(func(key []byte) {
		switch {
		case string(key) == "unit":
			id.unit = s.faults.text(sc, "unit")
		case string(key) == "def":
			id.def = s.faults.text(sc, "def")
		case string(key) == "missing":
			if why := str(sc); why != "" && p.Reason == 0 {
				p.Reason = s.Reason(why)
			}
		case sc.Peek() == decode.Number:
			stat := statName(key)
			if slices.ContainsFunc(s.pend, func(p pending) bool { return p.name == stat }) {
				s.faults.note("two members %.40q in %s", stat, name)
			}
			s.pend = append(s.pend, pending{stat, sc.Float()})
		default:
			s.faults.statistic(name, key, sc.Peek())
			sc.Skip()
		}
	})
	sh := s.shapes[id]
	if sh == nil {
		if s.faults.unit(id); s.faults.found != "" {
			return // the next document with it must be refused too
		}
		sh = &shape{}
		s.shapes[id] = sh
	}
	for _, v := range s.pend {
		s.Value(sh.id(s.Builder, id, v.name), v.value)
	}
}

func (sh *shape) id(b *columns.Builder, m metricID, name string) uint16 {
	for i := range sh.names {
		if sh.names[i] == name {
			return sh.ids[i]
		}
	}
	id := b.StatID(columns.StatID{Metric: m.metric, Stat: name, Unit: m.unit, Def: m.def})
	sh.names, sh.ids = append(sh.names, name), append(sh.ids, id)
	return id
}

// statName returns the common names without allocating.
func statName(b []byte) string {
	switch string(b) {
	case "mean":
		return "mean"
	case "median":
		return "median"
	case "std":
		return "std"
	case "p90":
		return "p90"
	case "p95":
		return "p95"
	case "p99":
		return "p99"
	case "min":
		return "min"
	case "max":
		return "max"
	case "value":
		return "value"
	case "n":
		return "n"
	case "se":
		return "se"
	}
	return string(b)
}
