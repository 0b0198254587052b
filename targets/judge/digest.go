package judge

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"github.com/ttreport/ttreport/targets/regression"
)

// Digest covers everything that the verdicts of a release against history are made from: the runs up to it in their
// order, and the follow-ups of its rows (a later release may confirm a change that was first seen in this one). It
// does not cover the program or decisions.
func (j *Judgement) Digest(release int) string {
	h := sha256.New()
	h.Write(j.upTo(release))
	for _, i := range j.byCell[release] {
		row := &j.rows.Rows[i]
		writeRow(h, row)
		if f := row.Follow; f != 0 {
			fmt.Fprintln(h, j.Releases[max(f, -f)-1].Name)
		}
	}
	fit := &j.rows.Fits[release]
	fmt.Fprintln(h, fit.Cells, fit.Sd, fit.Tested, fit.Exceeded)
	for i := range j.rows.Findings {
		if f := &j.rows.Findings[i]; int(f.Release) == release {
			fmt.Fprintf(h, "%+v\n", *f)
		}
	}
	for _, l := range j.rows.ChangePoints {
		if int(l.Found) <= release && j.table.Obs[l.At].Release <= int32(release) {
			// no row index: it changes when rows are added
			fmt.Fprintf(h, "%d %d %v %v\n", j.table.Obs[l.At].Release, l.Found, l.D, l.P)
		}
	}
	for _, v := range j.evals.rows[release] {
		fmt.Fprintf(h, "%s %s %s %+v\n", v.ID, v.Outcome, v.Evidence, v.Follow)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// upTo returns the digest of the runs up to a release.
func (j *Judgement) upTo(release int) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.prefix == nil {
		h := sha256.New()
		content := map[string]string{} // a run may have taken turns with one that is listed later
		for i := range j.Columns.Runs {
			content[j.Columns.Runs[i].ID] = j.Columns.Runs[i].SHA256
		}
		for i := range j.Releases {
			r := &j.Releases[i]
			fmt.Fprintf(h, "%s\x00%v\x00%s\x00%s\x00%s\n", r.Name, r.Label, r.Line, r.Channel, r.Date)
			for _, run := range r.Runs {
				head := &j.Columns.Runs[run]
				fmt.Fprintf(h, "%s\x00%s\x00%v\n", head.ID, head.SHA256, j.screen.excludes(head))
				if with := head.Interleaved.With; with != "" {
					fmt.Fprintf(h, "%s\x00%s\n", with, content[with])
				}
			}
			j.prefix = append(j.prefix, h.Sum(nil))
		}
	}
	return j.prefix[release]
}

// writeRow writes every field of a row. It does not use fmt, which is too slow for ten thousand rows in fifty
// releases.
func writeRow(h hash.Hash, r *regression.Row) {
	var b [64]byte
	b[0], b[1], b[2] = byte(r.Word), byte(r.Evidence), byte(r.Why)
	binary.LittleEndian.PutUint16(b[4:], uint16(r.N))
	for i, v := range []int32{r.Finding, r.First, r.Follow} {
		binary.LittleEndian.PutUint32(b[8+4*i:], uint32(v))
	}
	for i, v := range []float64{r.D, float64(r.SE), float64(r.Df), float64(r.P), float64(r.Q)} {
		binary.LittleEndian.PutUint64(b[20+8*i:], math.Float64bits(v))
	}
	h.Write(b[:60])
}
