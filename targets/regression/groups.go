package regression

// part is a system within a stratum.
type part struct{ stratum, system int32 }

func partOf(c *Cell) part { return part{c.Stratum, c.System} }

// group finds the systems of every stratum that are large enough to move as one.
func (j *judge) group() {
	sizes, at := map[part]int{}, map[part]int32{}
	for i := range j.t.Cells {
		sizes[partOf(&j.t.Cells[i])]++
	}
	j.groupOf = make([]int32, len(j.t.Cells))
	for i := range j.t.Cells {
		p := partOf(&j.t.Cells[i])
		j.groupOf[i] = -1
		if sizes[p] < j.rules.MinPoint {
			continue
		}
		g, known := at[p]
		if !known {
			g = int32(len(j.groups))
			at[p] = g
			j.groups = append(j.groups, stratum{suspect: -1, finding: -1})
			j.systems = append(j.systems, p.system)
		}
		j.groupOf[i] = g
	}
	if j.devices = j.t.Devices; j.devices == nil {
		for i := range j.t.Strata {
			j.devices = append(j.devices, int32(i))
		}
	}
}

// arrive counts the cells that a release is the first to measure. What comes later must not change what is said of
// earlier releases.
func (j *judge) arrive(obs, cellOf []int32) {
	for _, i := range obs {
		cell := &j.t.Cells[cellOf[i]]
		if i != cell.First {
			continue
		}
		j.count(cell)
	}
}

func (j *judge) count(cell *Cell) {
	j.sizes[cell.System]++
	if p := partOf(cell); !j.known[p] {
		j.known[p] = true
		j.systemsIn[p.stratum]++
	}
}

// groupIn is the system within its stratum that a cell is part of, where the stratum has several; -1.
func (j *judge) groupIn(cell int32) int32 {
	if j.systemsIn[j.t.Cells[cell].Stratum] < 2 {
		return -1
	}
	return j.groupOf[cell]
}
