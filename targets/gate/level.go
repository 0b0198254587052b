package gate

import "github.com/ttreport/ttreport/ingest/schema"

// NoLevel is the level of a model and device that has targets and misses one of the lowest level.
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

// reached returns the highest level of which every target is met, together with all levels below it; [NoLevel] when
// the lowest level is not reached, "" without targets. An inconclusive target keeps its level from being reached,
// because it was not shown to be met.
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
