package traffic

import (
	"math"
	"math/rand/v2"
)

// shared gives requests beginnings that earlier requests have, so that a prefix cache without limit finds the share Hit
// of all prompt tokens, counted from the first request on. The first request with a beginning finds nothing; those that
// follow make up for it where there are enough, which [HitShare] says. With Prefix the beginnings are that long, and
// some requests have none; without, each is as long as the share needs.
func (s Shape) shared(list []Request, rng *rand.Rand) {
	longest := map[uint64]int{} // of each beginning, so far
	all, found := 0., 0.        // tokens
	for i := range list {
		q := &list[i]
		which := uint64(rng.IntN(max(1, s.Prefixes)))
		all += float64(q.ISL)
		owed := s.Hit*all - found
		n := s.beginning(q.ISL, owed, longest[which])
		if n == 0 {
			continue
		}
		q.Blocks, q.BlockTokens = []uint64{which}, n
		found += float64(min(n, longest[which]))
		longest[which] = max(longest[which], n)
	}
}

// beginning is the length of the beginning that a prompt shares. owed are the tokens that a cache has yet to find, and
// known is how long the beginning was at most before.
func (s Shape) beginning(isl int, owed float64, known int) int {
	most := max(0, isl-1) // the last token of a prompt is never found
	switch {
	case s.Prefix > 0 && owed*2 < float64(s.Prefix):
		return 0
	case s.Prefix > 0:
		return min(s.Prefix, most)
	case known == 0:
		return min(most, int(math.Ceil(s.Hit*float64(isl))))
	}
	return min(most, max(0, int(math.Round(owed))))
}

// HitShare returns which share of all prompt tokens a prefix cache without limit finds, if each request is answered
// before the next is sent; 0 for no requests.
func HitShare(list []Request) float64 {
	type block struct {
		before uint64 // of what stands before it
		id     uint64
	}
	longest := map[block]int{}
	all, found := 0., 0.
	for _, q := range list {
		all += float64(q.ISL)
		before, more := uint64(0), true
		for _, id := range q.Blocks {
			at := block{before, id}
			if more {
				n := min(longest[at], q.BlockTokens)
				found += float64(n)
				more = n == q.BlockTokens
			}
			longest[at] = max(longest[at], q.BlockTokens)
			before = before*0x9e3779b97f4a7c15 + id + 1
		}
	}
	if all == 0 {
		return 0
	}
	return found / all
}
