package plan

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Turns states that a plan is measured in turns with the same plan on another server. The zero value is a plan by
// itself.
type Turns struct {
	Side   string // [manifest.SideBaseline] or [manifest.SideCandidate]
	Blocks int    // in each of which both servers measure every workload
	Kept   bool   // both servers keep running, where they otherwise start again for each block
}

// count returns how many turns there are; 1 for a plan by itself.
func (t Turns) count() int { return max(1, 2*t.Blocks) }

// Share returns the part of the budget that one turn may spend: the budget is for all turns of both servers. A plan by
// itself has all of it.
func (p Plan) Share() time.Duration { return p.Budget / time.Duration(p.Turns.count()) }

// Turn is one server's part of a block.
type Turn struct {
	Baseline bool
	Block    int // from 1
}

// Order returns the turns of two servers: A B B A A B …, so that what drifts evenly cancels within two blocks.
func (t Turns) Order() []Turn {
	var out []Turn
	for block := 1; block <= t.Blocks; block++ {
		first := block%2 == 1
		out = append(out, Turn{first, block}, Turn{!first, block})
	}
	return out
}

// InTurns returns a plan as one side of two that take turns. Evals are left out: they do not depend on the time of day.
func (p Plan) InTurns(side string, blocks int, kept bool) Plan {
	p.Turns = Turns{Side: side, Blocks: blocks, Kept: kept}
	p.Evals, p.EvalItems = nil, 0
	return p
}

// Manifest returns what a manifest states of the turns, with the id of the other run.
func (t Turns) Manifest(other string) manifest.Interleaved {
	if t.Blocks == 0 {
		return manifest.Interleaved{}
	}
	starts := manifest.StartsFresh
	if t.Kept {
		starts = manifest.StartsKept
	}
	return manifest.Interleaved{With: other, Side: t.Side, Starts: starts, Blocks: t.Blocks}
}
