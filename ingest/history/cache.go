package history

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// cacheMagic changes whenever the meaning of the columns does; a cache of another magic is ignored.
const cacheMagic = "ttreport-columns-12\n"

// castagnoli finds a damaged cache. It is no signature: that nobody else writes to the cache is the caller's affair.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cached is a cache file in memory. The zero value with empty columns is "no cache".
type cached struct {
	columns *columns.Columns
	byPath  map[string]int
	stat    []fileStat // parallel to the columns' runs
	began   time.Time  // of the load that wrote it
}

// fileStat is what changes when a file does; times are in nanoseconds. CTime cannot be set by a program.
type fileStat struct {
	Size, MTime, CTime int64
	Inode              uint64
}

func fileStatOf(info fs.FileInfo) fileStat {
	s := fileStat{Size: info.Size(), MTime: info.ModTime().UnixNano()}
	s.CTime, s.Inode = changeOf(info)
	return s
}

// racy is how close to the load that wrote the cache a document may have changed for its times to say nothing: it may
// have changed again within one tick of the file system's clock. FAT counts in two seconds. Git's index has the same
// rule.
const racy = 2 * time.Second

// unchanged finds a document by path and by what the file system says of it. It is a hint that saves reading the
// document, so it holds for documents alone that had been there for a while.
func (c cached) unchanged(d *document) (int, bool) {
	i, ok := c.byPath[d.path]
	sure := c.began.Add(-racy).UnixNano()
	return i, ok && c.stat[i] == d.stat && d.stat.MTime < sure && d.stat.CTime < sure
}

// tells reports whether a cache of these columns would say more than this one. Documents that cannot be read are in
// none: one of them must not make every load read all the others.
func (c cached) tells(docs []*document, cols *columns.Columns) bool {
	if len(c.columns.Runs) != len(cols.Runs) {
		return true
	}
	return slices.ContainsFunc(docs, func(d *document) bool {
		if d.bad != nil {
			return false
		}
		i, ok := c.unchanged(d)
		return !ok || d.cached != i
	})
}

// sameContent finds a document by path and hash.
func (c cached) sameContent(d *document) (int, bool) {
	i, ok := c.byPath[d.path]
	return i, ok && c.columns.Runs[i].SHA256 == d.sha
}

// cacheHead is the small, irregular part of the cache; the numbers follow it as arrays.
type cacheHead struct {
	Began             time.Time
	Files             []fileStat
	Runs              []columns.RunHead
	Keys              []schema.Key
	Stats             []columns.StatID
	Reasons           []string
	Conds             []columns.Conditions
	Scores            []scoreJSON
	Targets           []columns.TargetRow
	Plans             []columns.PlanRow
	Problems          []columns.ProblemRow
	NumPoints, NumVal int
}

// scoreJSON carries a score's two Numbers, whose fields are not exported.
type scoreJSON struct {
	columns.ScoreRow
	V, E       *float64
	WhyV, WhyE string
}

func readCache(name string) cached {
	empty := cached{
		columns: &columns.Columns{Reasons: []string{""}, Conds: []columns.Conditions{nil}}, byPath: map[string]int{},
	}
	if name == "" {
		return empty
	}
	data, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(data, []byte(cacheMagic)) || len(data) < len(cacheMagic)+16 {
		return empty
	}
	data = data[len(cacheMagic):]
	sum, data := binary.LittleEndian.Uint64(data), data[8:]
	if sum != uint64(crc32.Checksum(data, castagnoli)) || len(data) < 8 {
		return empty
	}
	n := binary.LittleEndian.Uint64(data)
	data = data[8:]
	var head cacheHead
	if n > uint64(len(data)) || json.Unmarshal(data[:n], &head) != nil {
		return empty
	}
	cols, ok := head.unpack(data[n:])
	if !ok {
		return empty
	}
	c := cached{columns: cols, byPath: make(map[string]int, len(cols.Runs)), stat: head.Files, began: head.Began}
	for i := range cols.Runs {
		c.byPath[cols.Runs[i].Path] = i
	}
	return c
}

func (h *cacheHead) unpack(data []byte) (*columns.Columns, bool) {
	c := &columns.Columns{
		Runs: h.Runs, Keys: h.Keys, Stats: h.Stats, Reasons: h.Reasons, Conds: h.Conds, Targets: h.Targets, Plans: h.Plans,
		Problems: h.Problems,
	}
	for _, s := range h.Scores {
		s.Value, s.Stderr = unpackNumber(s.V, s.WhyV), unpackNumber(s.E, s.WhyE)
		c.Scores = append(c.Scores, s.ScoreRow)
	}
	return c, len(h.Files) == len(h.Runs) && c.UnpackNumbers(data, h.NumPoints, h.NumVal)
}

func unpackNumber(v *float64, why string) schema.Number {
	if v == nil {
		return schema.Missing(why)
	}
	return schema.Num(*v)
}

// writeCache stores the columns. A failure is silent by intent: the cache is a convenience, and the next load says what
// is wrong with the folder if it matters.
func writeCache(name string, began time.Time, docs []*document, c *columns.Columns) {
	byPath := make(map[string]fileStat, len(docs))
	for _, d := range docs {
		byPath[d.path] = d.stat
	}
	head := cacheHead{
		Began: began, Runs: c.Runs, Keys: c.Keys, Stats: c.Stats, Reasons: c.Reasons, Conds: c.Conds, Targets: c.Targets,
		Plans: c.Plans, Problems: c.Problems,
		NumPoints: len(c.Points), NumVal: c.NumValues(),
	}
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
	body, sum := [][]byte{binary.LittleEndian.AppendUint64(nil, uint64(len(js))), js, c.PackNumbers()}, uint32(0)
	for _, part := range body {
		sum = crc32.Update(sum, castagnoli, part)
	}
	start := binary.LittleEndian.AppendUint64([]byte(cacheMagic), uint64(sum))
	_ = durable.WriteFile(name, slices.Concat([][]byte{start}, body)...)
}
