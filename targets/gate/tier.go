package targets

import "github.com/ttreport/ttreport/ingest/schema"

// NoTier is the tier of what has targets and does not meet those of the lowest level.
const NoTier = "none"

// rungs counts targets by level: met, and all.
type rungs map[string][2]int

func (r rungs) count(v *schema.Verdict) {
	switch v.Word {
	case schema.Pass, schema.Fail, schema.Inconclusive, schema.MissingWord:
		n := r[v.Level]
		if v.Word == schema.Pass {
			n[0]++
		}
		n[1]++
		r[v.Level] = n
	}
}

// tier is the highest level of which every target is met, as are those of the levels below it; [NoTier] when the lowest that there is
// is not, "" without any. One inconclusive target keeps a tier from being reached: what is not shown to be met is not met.
func (r rungs) tier() string {
	reached := ""
	for _, level := range schema.Levels() {
		n := r[level]
		switch {
		case n[1] == 0:
			continue
		case n[0] < n[1] && reached == "":
			return NoTier
		case n[0] < n[1]:
			return reached
		}
		reached = level
	}
	return reached
}
