package regression

import (
	"encoding/binary"
	"io"
	"math"
)

// codec writes values to bytes, or reads them: one list of fields serves both.
type codec struct {
	data    []byte // what waits to be written, or is left to be read
	reading bool
	bad     bool      // there was too little to read
	out     io.Writer // what is written
	failed  error     // of out
}

// piece is how much is written at once.
const piece = 1 << 16

// flush writes what waits.
func (c *codec) flush() {
	if c.failed == nil {
		_, c.failed = c.out.Write(c.data)
	}
	c.data = c.data[:0]
}

// bits exchanges the lowest bytes of a number.
func (c *codec) bits(v uint64, bytes int) uint64 {
	if !c.reading {
		for range bytes {
			c.data = append(c.data, byte(v))
			v >>= 8
		}
		if len(c.data) >= piece {
			c.flush()
		}
		return 0
	}
	if len(c.data) < bytes {
		c.bad, c.data = true, nil
		return 0
	}
	var room [8]byte
	copy(room[:], c.data[:bytes])
	c.data = c.data[bytes:]
	return binary.LittleEndian.Uint64(room[:])
}

func whole[T ~int | ~int16 | ~int32 | ~uint8 | ~uint16](c *codec, v *T, bytes int) {
	if got := c.bits(uint64(*v), bytes); c.reading {
		*v = T(int64(got<<(64-8*bytes)) >> (64 - 8*bytes))
	}
}

func (c *codec) float(v *float64) {
	if got := c.bits(math.Float64bits(*v), 8); c.reading {
		*v = math.Float64frombits(got)
	}
}

func (c *codec) short(v *float32) {
	if got := c.bits(uint64(math.Float32bits(*v)), 4); c.reading {
		*v = math.Float32frombits(uint32(got))
	}
}

func (c *codec) flag(v *bool) {
	if got := c.bits(truth(*v), 1); c.reading {
		*v = got == 1
	}
}

// list exchanges a list of any length, each of its elements by a function.
func list[T any](c *codec, v *[]T, each func(*T)) {
	n := len(*v)
	if whole(c, &n, 4); c.reading {
		if n < 0 || n > len(c.data) { // each has a byte at least
			c.bad = true
			return
		}
		*v = nil
		if n > 0 {
			*v = make([]T, n)
		}
	}
	for i := range *v {
		if c.bad {
			return
		}
		each(&(*v)[i])
	}
}

// place exchanges the index of an observation of a cell, which is kept from the cell's first: a longer history has
// other indexes. Negative ones stand for none.
func (c *codec) place(v *int32, cell *Cell) {
	at := *v
	if at >= 0 {
		at -= cell.First
	}
	if whole(c, &at, 4); c.reading {
		*v = at
		if at >= 0 {
			*v += cell.First
		}
	}
}

// exchange writes everything that judging a release leaves for the next ones, or reads it.
func (j *judge) exchange(c *codec, releases int32) {
	for i := range j.t.Cells {
		cell := &j.t.Cells[i]
		for k := cell.First; k < cell.End && j.t.Obs[k].Release < releases; k++ {
			c.row(&j.rows[k])
			c.float(&j.adj[k])
		}
		c.state(&j.state[i], cell)
	}
	for _, series := range [][]stratum{j.strata, j.groups} {
		for i := range series {
			c.stratum(&series[i])
		}
	}
	for i := range j.strays {
		c.float(&j.strays[i].made)
		c.float(&j.strays[i].gone)
	}
	c.outliers(&j.outliers)
	whole(c, &j.tested, 8)
	whole(c, &j.exceeded, 8)
	list(c, &j.out.Findings, c.finding)
	list(c, &j.out.ChangePoints, func(l *ChangePoint) { c.changePoint(l, j.t.Cells) })
	for i := range releases {
		c.fit(&j.out.Fits[i])
	}
	if c.reading && !c.bad {
		j.arrived(releases)
		j.outliers.compare() // as after every release
	}
}

// arrived counts the cells of the releases that were judged before.
func (j *judge) arrived(releases int32) {
	for i := range j.t.Cells {
		if c := &j.t.Cells[i]; c.First < c.End && j.t.Obs[c.First].Release < releases {
			j.count(c)
		}
	}
}

func (c *codec) row(r *Row) {
	whole(c, &r.Word, 1)
	whole(c, &r.Evidence, 1)
	whole(c, &r.Why, 1)
	c.flag(&r.out)
	whole(c, &r.N, 2)
	whole(c, &r.late, 2)
	for _, v := range []*int32{&r.Finding, &r.First, &r.Follow, &r.back} {
		whole(c, v, 4)
	}
	c.float(&r.D)
	for _, v := range []*float32{&r.SE, &r.Df, &r.P, &r.Q} {
		c.short(v)
	}
}

func (c *codec) state(s *state, cell *Cell) {
	for _, v := range []*int32{&s.from, &s.suspect, &s.moved} {
		c.place(v, cell)
	}
	whole(c, &s.seen, 4)
	whole(c, &s.stays, 4)
	c.flag(&s.gated)
	for _, v := range []*float64{&s.dir, &s.extreme, &s.off, &s.old, &s.way, &s.ss, &s.nu} {
		c.float(v)
	}
}

func (c *codec) stratum(s *stratum) {
	list(c, &s.release, func(v *int32) { whole(c, v, 4) })
	list(c, &s.m, c.float)
	list(c, &s.out, c.flag)
	for _, v := range []*int{&s.from, &s.suspect, &s.seen} {
		whole(c, v, 4)
	}
	for _, v := range []*float64{&s.dir, &s.ss, &s.nu} {
		c.float(v)
	}
}

func (c *codec) outliers(o *outliers) {
	for i := range o.strata {
		c.record(&o.strata[i])
		c.float(&o.mass[i])
	}
	c.record(&o.all)
	for i := range o.cells {
		c.short(&o.cells[i].had)
		c.short(&o.cells[i].expected)
	}
	for side := range o.recent {
		list(c, &o.recent[side], func(v *[]float64) { list(c, v, c.float) })
	}
}

func (c *codec) record(r *record) {
	c.float(&r.made)
	for _, v := range []*counts{&r.far, &r.size} {
		for side := range v.bins {
			for b := range v.bins[side] {
				c.float(&v.bins[side][b])
				c.float(&v.sums[side][b])
			}
		}
	}
	for b := range r.expected {
		c.float(&r.expected[b])
	}
}

func (c *codec) finding(f *Finding) {
	whole(c, &f.Kind, 1)
	whole(c, &f.Word, 1)
	whole(c, &f.Evidence, 1)
	whole(c, &f.Why, 1)
	for _, v := range []*int32{&f.Release, &f.Stratum, &f.System, &f.First} {
		whole(c, v, 4)
	}
	whole(c, &f.N, 4)
	whole(c, &f.Cells, 4)
	for _, v := range []*float64{&f.D, &f.SE, &f.Df, &f.P, &f.Agree} {
		c.float(v)
	}
}

func (c *codec) changePoint(l *ChangePoint, cells []Cell) {
	whole(c, &l.Cell, 4)
	if l.Cell < 0 || int(l.Cell) >= len(cells) {
		c.bad = true
		return
	}
	c.place(&l.At, &cells[l.Cell])
	whole(c, &l.Found, 4)
	whole(c, &l.Source, 1)
	whole(c, &l.Runs, 1)
	c.flag(&l.Dismissed)
	for _, v := range []*float64{&l.D, &l.SE, &l.Df, &l.Shift, &l.P} {
		c.float(v)
	}
}

func (c *codec) fit(f *Fit) {
	for _, v := range []*int{&f.Cells, &f.Tested, &f.Exceeded, &f.Shown.Cells, &f.Shown.Once.Hidden,
		&f.Shown.Again.Hidden} {
		whole(c, v, 4)
	}
	for _, v := range []*float64{&f.D0, &f.Sd, &f.SumNu, &f.Shown.Once.Median, &f.Shown.Again.Median} {
		c.float(v)
	}
	list(c, &f.S0, c.float)
}
