package render

import (
	"fmt"
	"slices"
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
)

// newest are the releases that are the newest of some model and device: the site's newest first, then by age. They
// end at so many points that judging them would be most of a build; left counts the models on devices whose newest
// release is older than that.
func (r *Report) newest() (releases []int, left int) {
	const most = 8000
	pairs := map[int]int{}
	for _, p := range r.Pairs {
		pairs[p.Newest]++
	}
	first, order := r.Newest(), []int{}
	for at := range pairs {
		order = append(order, at)
	}
	sort.Slice(order, func(i, j int) bool {
		if a, b := order[i] == first, order[j] == first; a != b {
			return a
		}
		return order[i] > order[j]
	})
	points := 0
	for i, at := range order {
		for _, run := range r.Releases[at].Runs {
			points += r.Columns.Runs[run].PointsEnd - r.Columns.Runs[run].FirstPoint
		}
		if i > 0 && points > most {
			left += pairs[at]
			continue
		}
		releases = append(releases, at)
	}
	return releases, left
}

// leftOut says how many models on devices are not listed because they were last measured long ago; "" when all are.
func (r *Report) leftOut() string {
	if _, left := r.newest(); left > 0 {
		return fmt.Sprintf(" Not listed here, since last measured in older releases: %d models on devices, which have "+
			"their own pages.", left)
	}
	return ""
}

// today collects verdicts of every model and device in its newest release.
func (r *Report) today(list func(Pair, int) []schema.Verdict, keep func(*schema.Verdict) bool) []schema.Verdict {
	byPair := make([][]schema.Verdict, len(r.Pairs))
	releases, _ := r.newest()
	for _, at := range releases { // release by release: only the last few are kept
		for i, p := range r.Pairs {
			if p.Newest != at {
				continue
			}
			for _, v := range list(p, at) {
				if keep(&v) {
					byPair[i] = append(byPair[i], v)
				}
			}
		}
	}
	return slices.Concat(byPair...)
}
