package gate

import "github.com/ttreport/ttreport/ingest/schema"

// NoLevel is the level of what has targets and does not meet those of the lowest one.
const NoLevel = "none"

// levels counts targets by level.
type levels map[string]levelCount

type levelCount struct{ met, all int }

func (l levels) count(v *schema.Verdict) {
	switch v.Outcome {
	case schema.Pass, schema.Fail, schema.Inconclusive, schema.NotMeasured:
		n := l[v.Level]
		if v.Outcome == schema.Pass {
			n.met++
		}
		n.all++
		l[v.Level] = n
	}
}

// reached is the highest level of which every target is met, as are those of the levels below it; [NoLevel] when the
// lowest that there is is not, "" without any. One inconclusive target keeps a level from being reached: what is not
// shown to be met is not met.
func (l levels) reached() string {
	reached := ""
	for _, level := range schema.Levels() {
		n := l[level]
		switch {
		case n.all == 0:
			continue
		case n.met < n.all && reached == "":
			return NoLevel
		case n.met < n.all:
			return reached
		}
		reached = level
	}
	return reached
}
