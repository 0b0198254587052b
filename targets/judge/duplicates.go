package judge

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Duplicate describes a run that is in the history a second time.
type Duplicate struct {
	Of   string // id of the one that counts; "" where the files are copies
	Same bool   // with the same numbers
	Copy Copy   // what its files are copies of, where they are another release's
}

// Copy is the first of the files of a run that are all copies of another release's.
type Copy struct {
	Path, Found string
	Files       int
}

// Duplicate reports whether a run is a copy of another.
func (j *Judgement) Duplicate(h *columns.RunHead) (Duplicate, bool) {
	d, twice := j.screen.duplicates[h]
	return d, twice
}

// duplicates finds runs that are copies of another run: by the same stated id; by the same system where every point
// that both have agrees in all digits, as two measurements never do, whatever start they state and whatever further
// points one has; or, where the points have too few numbers for that, by the same start and all numbers. A copy is
// not an independent run: it must neither confirm a change nor double a repeat. The first run by path counts.
func duplicates(c *columns.Columns) map[*columns.RunHead]Duplicate {
	out := map[*columns.RunHead]Duplicate{}
	copies := copied(c)
	byID, byStart, byPoint := map[string]int{}, map[startedAt][]int{}, map[uint64]int{}
	for _, i := range c.ByPath() {
		h := &c.Runs[i]
		if of, all := copies[i]; all {
			out[h] = Duplicate{Same: true, Copy: of}
			continue
		}
		id := cmp.Or(h.Stated, h.ID)
		if first, twice := byID[id]; twice {
			out[h] = Duplicate{Of: id, Same: sameNumbers(c, first, i)}
			continue
		}
		byID[id] = i
		system := fmt.Appendf(nil, "%q", systemOf(h))
		if first, twice := sharedPoint(c, i, system, byPoint); twice {
			// The one that has nothing of its own is void, else the later one by path, which is an error. A copy of a part
			// must not void the whole.
			a, own := &c.Runs[first], hasOwn(c, i, first)
			if !own || hasOwn(c, first, i) {
				out[h] = Duplicate{Of: a.ID, Same: !own}
				continue
			}
			out[a] = Duplicate{Of: h.ID, Same: true}
			for p := h.FirstPoint; p < h.PointsEnd; p++ {
				byPoint[fingerprint(c, &c.Points[p], system)] = i // further copies are compared with the whole
			}
			continue
		}
		if h.Start.IsZero() && h.PointsEnd == h.FirstPoint {
			continue // equal scores are common
		}
		at := startedAt{h.Start.String(), systemOf(h)}
		for _, other := range byStart[at] {
			if sameNumbers(c, other, i) {
				out[h] = Duplicate{Of: c.Runs[other].ID, Same: true}
				break
			}
		}
		byStart[at] = append(byStart[at], i)
	}
	return out
}

// copied finds the runs of which reading found that all files are copies of another release's.
func copied(c *columns.Columns) map[int]Copy {
	out := map[int]Copy{}
	for i := range c.Problems {
		p := &c.Problems[i]
		if p.Code != schema.CodeCopy || p.Severity != schema.SevError {
			continue
		}
		of, more := out[int(p.Run)]
		if !more {
			of = Copy{Path: p.Path, Found: p.Found}
		}
		of.Files++
		out[int(p.Run)] = of
	}
	return out
}

// hasOwn reports whether a run has a point or a score that another run has not.
func hasOwn(c *columns.Columns, run, other int) bool {
	keys := map[int32]bool{}
	for i := c.Runs[other].FirstPoint; i < c.Runs[other].PointsEnd; i++ {
		keys[c.Points[i].Key] = true
	}
	for i := c.Runs[run].FirstPoint; i < c.Runs[run].PointsEnd; i++ {
		if !keys[c.Points[i].Key] {
			return true
		}
	}
	return slices.ContainsFunc(c.ScoresOf(run), func(s columns.ScoreRow) bool {
		return !slices.ContainsFunc(c.ScoresOf(other), func(o columns.ScoreRow) bool {
			return s.Task == o.Task && s.Metric == o.Metric && s.Filter == o.Filter && s.Value == o.Value
		})
	})
}

// sharedPoint finds an earlier run that has a point of this run in all digits and that agrees with it in all points
// that both have.
func sharedPoint(c *columns.Columns, run int, system []byte, seen map[uint64]int) (first int, twice bool) {
	h := &c.Runs[run]
	var candidates []int
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		sum := fingerprint(c, &c.Points[i], system)
		other, ok := seen[sum]
		switch {
		case !ok:
			seen[sum] = run
		case other != run && !slices.Contains(candidates, other):
			candidates = append(candidates, other)
		}
	}
	at := slices.IndexFunc(candidates, func(other int) bool { return agree(c, other, run) })
	if at < 0 {
		return 0, false
	}
	return candidates[at], true
}

// surprise returns how many digits of a point's numbers are not predictable: noise of a percent leaves the first two
// digits of each number predictable, and a number that occurs twice counts once.
func surprise(c *columns.Columns, p *columns.PointRow) int {
	_, values := c.Span(p)
	seen, n := map[float64]bool{}, 0
	for _, v := range values {
		if !seen[v] {
			mantissa, _, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
			n += max(0, len(mantissa)-1-2)
		}
		seen[v] = true
	}
	return n
}

func fingerprint(c *columns.Columns, p *columns.PointRow, system []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(system) // a hash never fails
	stats, values := c.Span(p)
	var b [10]byte
	binary.LittleEndian.PutUint32(b[:], uint32(p.Key))
	b[4] = p.Status
	_, _ = h.Write(b[:])
	for i, v := range values {
		binary.LittleEndian.PutUint16(b[:], stats[i])
		binary.LittleEndian.PutUint64(b[2:], math.Float64bits(v))
		_, _ = h.Write(b[:])
	}
	return h.Sum64()
}

// agree reports whether two runs are equal in all points that both have, and have enough in common that the
// probability of chance is one in a billion.
func agree(c *columns.Columns, a, b int) bool {
	const enough = 9
	x, y := &c.Runs[a], &c.Runs[b]
	has := map[int32][]*columns.PointRow{}
	for i := x.FirstPoint; i < x.PointsEnd; i++ {
		has[c.Points[i].Key] = append(has[c.Points[i].Key], &c.Points[i])
	}
	common := 0
	for i := y.FirstPoint; i < y.PointsEnd; i++ {
		q := &c.Points[i]
		list, shared := has[q.Key]
		if !shared {
			continue
		}
		if !slices.ContainsFunc(list, func(p *columns.PointRow) bool { return samePoint(c, p, q) }) {
			return false
		}
		common += surprise(c, q)
	}
	return common >= enough
}

func samePoint(c *columns.Columns, p, q *columns.PointRow) bool {
	ps, pv := c.Span(p)
	qs, qv := c.Span(q)
	return p.Key == q.Key && p.Status == q.Status && slices.Equal(ps, qs) && slices.Equal(pv, qv)
}

// sameNumbers reports whether two runs hold the same points and scores, and any.
func sameNumbers(c *columns.Columns, a, b int) bool {
	x, y := &c.Runs[a], &c.Runs[b]
	s, t := c.ScoresOf(a), c.ScoresOf(b)
	n := x.PointsEnd - x.FirstPoint
	if n != y.PointsEnd-y.FirstPoint || len(s) != len(t) || n+len(s) == 0 {
		return false
	}
	for i := range n {
		p, q := &c.Points[x.FirstPoint+i], &c.Points[y.FirstPoint+i]
		if p.Repeat != q.Repeat || !samePoint(c, p, q) {
			return false
		}
	}
	return slices.EqualFunc(s, t, func(x, y columns.ScoreRow) bool {
		return x.Task == y.Task && x.Metric == y.Metric && x.Filter == y.Filter && x.Value == y.Value && x.N == y.N
	})
}

// startedAt is a system and an exact start time.
type startedAt struct {
	start  string
	system schema.System
}
