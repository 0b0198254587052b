package judge

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// Beside is how far a score lies from one of another model or release: now minus before, in shares where both are
// shares, else in the tool's own scale, with its 95 % interval.
type Beside struct {
	D, Lo, Hi float64
	Share     bool            // in shares of 1
	Test      schema.EvalTest // paired where both answered the same questions
}

// ScoreBeside compares two scores of one task; why is set instead where they cannot be compared. It is a description
// and no verdict: nothing is corrected for how many are looked at.
func ScoreBeside(before, now *columns.ScoreRow) (b Beside, why string) {
	if why = promptDiffers(before, now); why != "" {
		return Beside{}, why
	}
	p1, p2, ok := shares(&before.Score, &now.Score)
	b.Share = ok
	var d proportion.Difference
	switch {
	case b.Share && sameItems(before, now):
		lost, gained := discordant(before.Outcomes.Right, now.Outcomes.Right)
		d, b.Test = proportion.McNemar(lost, gained, len(now.Outcomes.Right)), schema.TestPaired
	case b.Share && now.N > 0 && before.N > 0:
		d = proportion.Newcombe(p1, itemsOf(&before.Score, p1), p2, itemsOf(&now.Score, p2))
		b.Test = schema.TestUnpaired
	default:
		if d, why = byError(&before.Score, &now.Score, b.Share); why != "" {
			return Beside{}, why
		}
		b.Test = schema.TestByError
	}
	b.D, b.Lo, b.Hi = d.D, d.Lo, d.Hi
	return b, ""
}
