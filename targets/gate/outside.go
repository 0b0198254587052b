package gate

import (
	"cmp"
	"slices"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
)

// Outside counts runs that are newer than a release that is judged and not part of it.
type Outside struct {
	Runs int
	// Of is the channel or, in channels that serve as baselines, the release of the runs; "" for runs without either.
	Of      string
	Channel bool
}

// outside counts what the newest release of the baselines leaves out: runs that began after its last one and belong to
// another channel, to no release or to an earlier release; and those of its own runs that began a day or more after the
// first. Results that were moved out of sight, or under a name that was judged before, are counted here.
func (g *Gate) outside(release int, of func(schema.Pair) bool) (newer []Outside, late, runs int) {
	own := &g.Releases[release]
	serves := func(r judge.Release) bool { return r.Label && judge.IsBaseline(r.Channel) }
	if !judge.IsBaseline(own.Channel) || slices.ContainsFunc(g.Releases[release+1:], serves) {
		return nil, 0, 0
	}
	var first, last time.Time
	for _, i := range own.Runs {
		if at := g.Columns.Runs[i].Start; !at.IsZero() {
			if first.IsZero() || at.Before(first) {
				first = at
			}
			if at.After(last) {
				last = at
			}
		}
	}
	for _, i := range own.Runs {
		if at := g.Columns.Runs[i].Start; !at.IsZero() && at.Sub(first) >= 24*time.Hour {
			late++
		}
	}
	count := map[Outside]int{}
	for at := range g.Releases {
		for _, i := range g.Releases[at].Runs {
			h := &g.Columns.Runs[i]
			undated := h.Start.IsZero() && at > release
			if at == release || !undated && !h.Start.After(last) || !of(schema.Pair{Model: h.Model.Name, Device: h.Device}) {
				continue
			}
			switch channel := judge.ChannelOf(h); {
			case judge.IsBaseline(channel) && h.Release != "":
				count[Outside{Of: h.Release}]++
			case h.Release == "" && h.Channel == "":
				count[Outside{}]++
			default:
				count[Outside{Of: channel, Channel: true}]++
			}
		}
	}
	for o, n := range count {
		o.Runs = n
		newer = append(newer, o)
	}
	slices.SortFunc(newer, func(a, b Outside) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Of, b.Of))
	})
	return newer, late, len(own.Runs)
}
