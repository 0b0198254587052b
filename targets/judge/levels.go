package judge

import (
	"cmp"
	"slices"
)

// Levels lists the change points of all series that the gate or a person decided, newest first: those that verdicts are
// compared across. Change points of the search are for drawing, and are not among them.
func (j *Judgement) Levels() []ChangePoint {
	var out []ChangePoint
	at := map[string]int{}
	for i := range j.Releases {
		at[j.Releases[i].Name] = i
	}
	for _, l := range j.rows.ChangePoints {
		if !l.Dismissed && !j.Series[l.Cell].Tail() {
			out = append(out, j.changePoint(l))
		}
	}
	slices.SortStableFunc(out, func(a, b ChangePoint) int { return cmp.Compare(at[b.At], at[a.At]) })
	return out
}
