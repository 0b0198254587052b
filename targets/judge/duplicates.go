package judge

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
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

// duplicates finds runs that are copies of another run: by their files, as reading found them; by the same stated id;
// or by the same numbers on the same system, whatever start they state, where chance does not make two measurements
// agree, else with the same start. A copy is not an independent run: it must neither confirm a change nor double a
// repeat. The first run by path counts. Copies of a part of a run are found where files are read.
func duplicates(c *columns.Columns) map[*columns.RunHead]Duplicate {
	type numbers struct {
		system schema.System
		hash   uint64
	}
	out := map[*columns.RunHead]Duplicate{}
	copies, byID, byNumbers := map[int]Copy{}, map[string]int{}, map[numbers]int{}
	for i := range c.Problems { // that reading found
		if p := &c.Problems[i]; p.Code == schema.CodeCopy && p.Severity == schema.SevError {
			of := cmp.Or(copies[int(p.Run)], Copy{Path: p.Path, Found: p.Found})
			of.Files++
			copies[int(p.Run)] = of
		}
	}
	for _, i := range c.ByPath() {
		h := &c.Runs[i]
		if of, all := copies[i]; all {
			out[h] = Duplicate{Same: true, Copy: of}
			continue
		}
		id := cmp.Or(h.Stated, h.ID)
		hash, digits := fingerprint(c, i)
		if first, twice := byID[id]; twice {
			of, _ := fingerprint(c, first)
			out[h] = Duplicate{Of: id, Same: of == hash}
			continue
		}
		byID[id] = i
		if digits < enoughDigits {
			hash ^= uint64(h.Start.UnixNano())
		}
		at := numbers{h.System(), hash}
		switch first, twice := byNumbers[at]; {
		case digits < enoughDigits && h.Start.IsZero(): // equal scores are common
		case twice:
			out[h] = Duplicate{Of: c.Runs[first].ID, Same: true}
		default:
			byNumbers[at] = i
		}
	}
	return out
}

// enoughDigits of noise agree by chance in one of a billion pairs of measurements.
const enoughDigits = 9

// fingerprint is a hash of the points and scores of a run, and how many digits of its points are not predictable: noise
// of a percent leaves the first two digits of each number predictable, and a number that occurs twice counts once.
func fingerprint(c *columns.Columns, run int) (hash uint64, digits int) {
	sum, h := fnv.New64a(), &c.Runs[run]
	var b []byte
	seen := map[float64]bool{}
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		p := &c.Points[i]
		stats, values := c.Span(p)
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(p.Key))
		b = append(b, p.Status)
		for k, v := range values {
			b = binary.LittleEndian.AppendUint16(b, stats[k])
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			if digits < enoughDigits && !seen[v] {
				mantissa, _, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
				digits += max(0, len(mantissa)-1-2)
				seen[v] = true
			}
		}
		_, _ = sum.Write(b) // a hash never fails
	}
	for _, s := range c.ScoresOf(run) {
		v, _ := s.Value.Get()
		fmt.Fprintf(sum, "%q %q %q %v %d\n", s.Task, s.Metric, s.Filter, v, s.N)
	}
	return sum.Sum64(), digits
}
