package history

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/durable"
)

// cacheMagic changes whenever the meaning of the columns does; a cache of another magic is ignored.
const cacheMagic = "ttreport-columns-4\n"

// cached is a cache file in memory. The zero value with empty columns is "no cache".
type cached struct {
	columns *Columns
	byPath  map[string]int
	stat    []fileStat // parallel to the columns' runs
}

type fileStat struct{ Size, MTime int64 }

// unchanged finds a document by path, size and time.
func (c cached) unchanged(d *document) (int, bool) {
	i, ok := c.byPath[d.path]
	return i, ok && c.stat[i] == fileStat{d.size, d.mtime}
}

// sameContent finds a document by path and hash.
func (c cached) sameContent(d *document) (int, bool) {
	i, ok := c.byPath[d.path]
	return i, ok && c.columns.Runs[i].SHA256 == d.sha
}

// cacheHead is the part of the cache that is small and irregular; numbers follow it as arrays.
type cacheHead struct {
	Files             []fileStat
	Runs              []RunHead
	Keys              []schema.Key
	Stats             []StatID
	Reasons           []string
	Scores            []scoreJSON
	Targets           []TargetRow
	Plans             []PlanRow
	NumPoints, NumVal int
}

// scoreJSON carries a score's two Numbers, which keep their insides to themselves.
type scoreJSON struct {
	ScoreRow
	V, E       *float64
	WhyV, WhyE string
}

func readCache(name string) cached {
	empty := cached{columns: &Columns{Reasons: []string{""}}, byPath: map[string]int{}}
	if name == "" {
		return empty
	}
	data, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(data, []byte(cacheMagic)) || len(data) < len(cacheMagic)+8 {
		return empty
	}
	data = data[len(cacheMagic):]
	n := binary.LittleEndian.Uint64(data)
	data = data[8:]
	var head cacheHead
	if n > uint64(len(data)) || json.Unmarshal(data[:n], &head) != nil {
		return empty
	}
	cols, ok := head.columns(data[n:])
	if !ok {
		return empty
	}
	c := cached{columns: cols, byPath: make(map[string]int, len(cols.Runs)), stat: head.Files}
	for i := range cols.Runs {
		c.byPath[cols.Runs[i].Path] = i
	}
	return c
}

const pointBytes = 4 + 4 + 4 + 4 + 4 + 2 + 1

func (h *cacheHead) columns(data []byte) (*Columns, bool) {
	if h.NumPoints < 0 || h.NumVal < 0 || len(data) != h.NumPoints*pointBytes+h.NumVal*10 || len(h.Files) != len(h.Runs) {
		return nil, false
	}
	c := &Columns{Runs: h.Runs, Keys: h.Keys, Stats: h.Stats, Reasons: h.Reasons, Targets: h.Targets, Plans: h.Plans,
		Points: make([]PointRow, h.NumPoints), stat: make([]uint16, h.NumVal), value: make([]float64, h.NumVal)}
	for _, k := range c.Keys {
		c.keyNames = append(c.keyNames, k.String())
	}
	for _, s := range h.Scores {
		s.Value, s.Stderr = unpackNumber(s.V, s.WhyV), unpackNumber(s.E, s.WhyE)
		c.Scores = append(c.Scores, s.ScoreRow)
	}
	le := binary.LittleEndian
	for i := range c.Points {
		b := data[i*pointBytes:]
		c.Points[i] = PointRow{Run: int32(le.Uint32(b)), Key: int32(le.Uint32(b[4:])), Reason: int32(le.Uint32(b[8:])), from: int32(le.Uint32(b[12:])),
			to: int32(le.Uint32(b[16:])), Repeat: int16(le.Uint16(b[20:])), Status: b[22]}
	}
	data = data[h.NumPoints*pointBytes:]
	for i := range c.value {
		c.value[i] = math.Float64frombits(le.Uint64(data[i*8:]))
	}
	data = data[h.NumVal*8:]
	for i := range c.stat {
		c.stat[i] = le.Uint16(data[i*2:])
	}
	return c, c.consistent()
}

// consistent guards against a damaged cache: every index must be in range.
func (c *Columns) consistent() bool {
	for i := range c.Points {
		p := &c.Points[i]
		if int(p.Run) >= len(c.Runs) || int(p.Key) >= len(c.Keys) || int(p.Reason) >= len(c.Reasons) || p.from > p.to || int(p.to) > len(c.value) || int(p.Status) >= len(Statuses()) ||
			p.Run < 0 || p.Key < 0 || p.Reason < 0 || p.from < 0 {
			return false
		}
	}
	for _, s := range c.stat {
		if int(s) >= len(c.Stats) {
			return false
		}
	}
	for i := range c.Runs {
		if h := &c.Runs[i]; h.FirstPoint < 0 || h.FirstPoint > h.PointsEnd || h.PointsEnd > len(c.Points) {
			return false
		}
	}
	return true
}

func unpackNumber(v *float64, why string) schema.Number {
	if v == nil {
		return schema.Missing(why)
	}
	return schema.Num(*v)
}

// writeCache stores the columns. A failure is silent by intent: the cache is a convenience, and the next load says what
// is wrong with the folder if it matters.
func writeCache(name string, docs []*document, c *Columns) {
	byPath := make(map[string]fileStat, len(docs))
	for _, d := range docs {
		byPath[d.path] = fileStat{d.size, d.mtime}
	}
	head := cacheHead{Runs: c.Runs, Keys: c.Keys, Stats: c.Stats, Reasons: c.Reasons, Targets: c.Targets, Plans: c.Plans,
		NumPoints: len(c.Points), NumVal: len(c.value)}
	for i := range c.Runs {
		head.Files = append(head.Files, byPath[c.Runs[i].Path])
	}
	for _, s := range c.Scores {
		head.Scores = append(head.Scores, scoreJSON{s, s.Value.Ptr(), s.Stderr.Ptr(), s.Value.Why(), s.Stderr.Why()})
	}
	js, err := json.Marshal(head)
	if err != nil {
		return
	}
	le := binary.LittleEndian
	out := make([]byte, 0, len(cacheMagic)+8+len(js)+len(c.Points)*pointBytes+len(c.value)*10)
	out = append(out, cacheMagic...)
	out = le.AppendUint64(out, uint64(len(js)))
	out = append(out, js...)
	for i := range c.Points {
		p := &c.Points[i]
		for _, v := range []int32{p.Run, p.Key, p.Reason, p.from, p.to} {
			out = le.AppendUint32(out, uint32(v))
		}
		out = le.AppendUint16(out, uint16(p.Repeat))
		out = append(out, p.Status)
	}
	for _, v := range c.value {
		out = le.AppendUint64(out, math.Float64bits(v))
	}
	for _, s := range c.stat {
		out = le.AppendUint16(out, s)
	}
	_ = durable.WriteFile(name, out)
}
