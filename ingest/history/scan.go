package history

import (
	"strconv"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// scanner reads documents straight into columns: one pass over the text, no tree, no documents kept.
type scanner struct {
	*columns.Builder
	byText map[string]int32 // key index by the key's JSON text, which repeats from document to document
	conds  map[string]int32 // likewise of conditions
	shapes map[metricID]*shape
	pend   []pending
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
		Builder: columns.NewBuilder(), byText: map[string]int32{}, conds: map[string]int32{}, shapes: map[metricID]*shape{},
	}
}

// document appends one document. On a problem the columns are as before.
func (s *scanner) document(path, sha string, data []byte) *schema.Problem {
	c := s.C
	mark := s.Mark()
	head := columns.RunHead{Path: path, SHA256: sha, FirstPoint: len(c.Points)}
	version := ""
	sc := decode.NewScanner(data, decode.DefaultLimits().Depth)
	var problem *schema.Problem
	if sc.Peek() == decode.Invalid && len(data) == 0 {
		problem = &schema.Problem{
			Severity: schema.SevError, Path: path, Code: "empty-file", Found: "an empty file", Expected: "a history document",
		}
	} else {
		sc.Object(func(key []byte) { s.member(sc, string(key), &head, &version) })
		if err := sc.Err(); err != nil {
			p := decode.Located(path, data, err.(*decode.SyntaxError), 0)
			problem = &p
		}
	}
	switch {
	case problem != nil:
		problem.Hint = "restore the document from version control, or ingest the results again; it is left as it is"
	case version != schema.Version:
		problem = checkSchema(path, version)
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
		sc.Array(func() { s.point(sc, run) })
	case "scores":
		sc.Array(func() {
			s.C.Scores = append(s.C.Scores, columns.ScoreRow{Run: run, Score: decodeScore(sc.Value())})
			h.Scores++
		})
	case "targets":
		sc.Array(func() {
			s.C.Targets = append(s.C.Targets, columns.TargetRow{Run: run, Target: decodeTarget(sc.Value())})
			h.Targets++
		})
	case "plan":
		sc.Array(func() {
			s.C.Plans = append(s.C.Plans, columns.PlanRow{Run: run, Key: s.keyIndex(sc)})
			h.Planned++
		})
	case "acceptance":
		h.Acceptance = decodeAcceptance(sc.Value())
	case "problems":
		sc.Array(func() { s.problem(decodeProblem(sc.Value()), run, h) })
	default:
		identity(sc, name, h)
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
func identity(sc *decode.Scanner, name string, h *columns.RunHead) {
	switch name {
	case "id":
		h.ID = str(sc)
	case "start":
		h.Start = stamp(sc)
	case "end":
		h.End = stamp(sc)
	case "release":
		h.Release = str(sc)
	case "channel":
		h.Channel = str(sc)
	case "line":
		h.Line = str(sc)
	case "impl":
		h.Impl = str(sc)
	case "model":
		h.Model = decodeModel(sc.Value())
	case "device":
		v := sc.Value()
		h.Device, h.Mesh, h.Firmware = v.Get("name").Str(), v.Get("mesh").Str(), v.Get("firmware").Str()
	case "stack":
		v := sc.Value()
		h.Engine, h.Version = v.Get("engine").Str(), v.Get("version").Str()
		h.Image, h.Digest = v.Get("image").Str(), v.Get("digest").Str()
		for _, m := range v.Get("commits").Members() {
			if h.Commits == nil {
				h.Commits = map[string]string{}
			}
			h.Commits[m.Key] = m.Val.Str()
		}
		h.Dirty, _ = v.Get("dirty").Truth()
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

func stamp(sc *decode.Scanner) time.Time {
	t, err := time.Parse(time.RFC3339, str(sc))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

func (s *scanner) point(sc *decode.Scanner, run int32) {
	p := columns.PointRow{Run: run, Repeat: 1}
	s.Begin(&p)
	sc.Object(func(key []byte) {
		switch string(key) {
		case "key":
			p.Key = s.keyIndex(sc)
		case "status":
			word := schema.Status(str(sc))
			for i, w := range columns.Statuses() {
				if w == word {
					p.Status = uint8(i)
				}
			}
		case "repeat":
			p.Repeat = int16(sc.Value().Float0())
		case "metrics":
			sc.Object(func(name []byte) { s.metric(sc, string(name), &p) })
		case "conditions":
			p.Cond = s.condIndex(sc)
		case "client":
			s.client(sc)
		default:
			sc.Skip()
		}
	})
	s.End(p)
}

func (s *scanner) condIndex(sc *decode.Scanner) int32 {
	raw := sc.Skip()
	if i, ok := s.conds[string(raw)]; ok {
		return i
	}
	conds := columns.Conditions{}
	for _, m := range decode.NewScanner(raw, decode.DefaultLimits().Depth).Value().Members() {
		conds[m.Key] = m.Val.Text()
	}
	i := s.Cond(conds)
	s.conds[string(raw)] = i
	return i
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
	k := decodeKey(decode.NewScanner(raw, decode.DefaultLimits().Depth).Value())
	i := s.Key(k, k.String())
	s.byText[string(raw)] = i
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
			id.unit = str(sc)
		case string(key) == "def":
			id.def = str(sc)
		case string(key) == "missing":
			if why := str(sc); why != "" && p.Reason == 0 {
				p.Reason = s.Reason(why)
			}
		case sc.Peek() == decode.Number:
			s.pend = append(s.pend, pending{statName(key), sc.Float()})
		default:
			sc.Skip()
		}
	})
	sh := s.shapes[id]
	if sh == nil {
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
