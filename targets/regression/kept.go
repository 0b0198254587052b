package regression

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"math"
	"slices"
)

// keptSize is the number of bytes that a kept judgement may have: about four million observations. A larger history is
// judged from its beginning.
const keptSize = 256 << 20

// Keeping lets a judgement go on from where an earlier one of a shorter history was.
type Keeping struct {
	// From is what an earlier judgement kept; nil for none. It holds where everything that was judged then is in the
	// table as it was; otherwise, or when it is damaged, it is of no effect.
	From []byte
	// Keep takes the judgement of all releases but the newest, which may be measured again: nothing where From covers
	// the same releases. nil keeps nothing. It is written in pieces: of a large history it is as large as all numbers.
	Keep io.Writer
	Err  error // of Keep: what was written is not whole
	// Began is the release at which judging began: 0 where nothing was taken over.
	Began int
}

// resume takes over what was kept of a judgement of the first releases of the table.
func (j *judge) resume(k *Keeping) {
	if k == nil || len(k.From) < keptHead {
		return
	}
	data := k.From
	k.From = nil // it is as large as what is made of it
	releases := int(binary.LittleEndian.Uint32(data))
	body, sum := data[4:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if releases < 1 || releases > len(j.t.Releases) {
		return
	}
	if key := j.key(int32(releases)); !slices.Equal(key, body[:sha256.Size]) {
		return
	}
	if whole := sha256.Sum256(data[:len(data)-sha256.Size]); !slices.Equal(whole[:], sum) {
		return
	}
	c := codec{data: body[sha256.Size:], reading: true}
	if j.exchange(&c, int32(releases)); c.bad || len(c.data) > 0 {
		// the checksum matches but the layout does not: another program wrote it
		*j = *newJudge(j.t, j.rules, j.probe)
		return
	}
	k.Began = releases
}

const keptHead = 4 + 2*sha256.Size

// keep notes the judgement of the releases before one.
func (j *judge) keep(k *Keeping, releases int) {
	if k == nil || k.Keep == nil || releases < 1 || releases == k.Began || keptRow*len(j.t.Obs) > keptSize {
		return
	}
	sum := sha256.New()
	c := codec{data: make([]byte, 0, 2*piece), out: io.MultiWriter(sum, k.Keep)}
	c.data = binary.LittleEndian.AppendUint32(c.data, uint32(releases))
	c.data = append(c.data, j.key(int32(releases))...)
	j.exchange(&c, int32(releases))
	c.flush()
	if k.Err = c.failed; k.Err == nil {
		_, k.Err = k.Keep.Write(sum.Sum(nil))
	}
}

// keptRow is about how many bytes an observation has.
const keptRow = 64

// key is a hash of everything that the judgement of the first releases depends on.
func (j *judge) key(releases int32) []byte {
	h := &hasher{h: sha256.New()}
	r := j.rules
	for _, v := range []float64{
		r.FDR, r.ShiftFDR, r.Confirm, r.JointFDR, r.OutlierFDR, r.Lone, r.LoneOutlier, r.Floor, r.Agree,
		float64(r.Window), float64(r.MinCells), float64(r.MinPoint), float64(releases), float64(j.t.Strata),
		float64(len(j.t.Cells)),
	} {
		h.word(math.Float64bits(v))
	}
	for i := range releases {
		h.word(truth(j.t.Releases[i].Joins))
	}
	for _, d := range j.devices {
		h.word(uint64(d))
	}
	conds := int32(0)
	for i := range j.t.Cells {
		c := &j.t.Cells[i]
		for _, v := range []int32{c.Stratum, c.System, c.Point} {
			h.word(uint64(v))
		}
		h.word(math.Float64bits(c.Delta))
		for k := c.First; k < c.End && j.t.Obs[k].Release < releases; k++ {
			conds = max(conds, j.t.Obs[k].Cond)
			h.observation(&j.t.Obs[k])
		}
	}
	for a := range conds + 1 {
		for b := range conds + 1 {
			h.word(truth(j.blocked(a, b)))
		}
	}
	j.hashHosts(h, releases)
	h.flush()
	return h.h.Sum(nil)
}

// hashHosts adds the hosts that measured each system. Their numbers say only which are the same.
func (j *judge) hashHosts(h *hasher, releases int32) {
	var list []Measured
	for m := range j.t.Hosts {
		if m.Release < releases {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b Measured) int {
		return cmp.Or(cmp.Compare(a.Release, b.Release), cmp.Compare(a.System, b.System))
	})
	for _, m := range list {
		at := j.t.Hosts[m]
		for _, v := range []int32{m.Release, m.System, at.First, at.Later} {
			h.word(uint64(v))
		}
	}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// hasher collects words, so that a hash is not asked for each.
type hasher struct {
	h   hash.Hash
	buf []byte
}

func (h *hasher) word(v uint64) {
	if h.buf = binary.LittleEndian.AppendUint64(h.buf, v); len(h.buf) >= 1<<15 {
		h.flush()
	}
}

func (h *hasher) flush() {
	h.h.Write(h.buf)
	h.buf = h.buf[:0]
}

func (h *hasher) observation(o *Obs) {
	h.word(uint64(uint32(o.Release))<<32 | uint64(uint32(o.Cond)))
	h.word(math.Float64bits(o.Z))
	h.word(math.Float64bits(o.Z2))
	h.word(uint64(math.Float32bits(o.SS))<<32 | uint64(math.Float32bits(o.SE)))
	h.word(uint64(uint16(o.K))<<48 | uint64(uint16(o.K2))<<32 | uint64(o.R2)<<8 |
		truth(o.Pin)<<2 | truth(o.Dismiss)<<1 | truth(o.Accept))
}
