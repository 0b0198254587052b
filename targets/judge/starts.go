package judge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/block"
)

// StartNoise returns, by metric, how much starts of servers moved all means at once in pairs before a release, as
// [block.Starts] has it. There are none where the release was not measured in turns, or on several systems.
func (j *Judgement) StartNoise(release int) map[string]regression.Noise {
	hosts := hostsOf(j.turns(release))
	if len(hosts) != 1 {
		return nil
	}
	out := map[string]regression.Noise{}
	for f, noise := range j.startsBefore(release, hosts) {
		if f.stat == "" {
			out[f.metric] = noise
		}
	}
	return out
}

// startsBefore estimates, for each metric of some systems, how much starts of servers move all its numbers at once:
// from the pairs of earlier releases on the same host whose servers started again in every block.
func (j *Judgement) startsBefore(release int, hosts map[schema.System]string) map[turnCell]regression.Noise {
	before := map[turnCell][][][]float64{}
	for earlier := range release {
		for _, x := range j.startedIn(earlier) {
			if host, ok := hosts[x.family.system]; ok && x.host == host {
				before[x.family] = append(before[x.family], x.series)
			}
		}
	}
	out := map[turnCell]regression.Noise{}
	for f, list := range before {
		out[f] = block.Starts(list)
	}
	return out
}

// started is what one pair of a release, whose servers started again in every block, shows of a metric.
type started struct {
	host   string
	family turnCell
	series [][]float64
}

// startedIn returns what a release shows of starts, by system and metric. It is found once: all later releases ask.
func (j *Judgement) startedIn(release int) []started {
	j.mu.Lock()
	known, ok := j.starts[release]
	j.mu.Unlock()
	if ok {
		return known
	}
	turns := j.turns(release)
	judged := j.judgedOf(release, turns)
	for _, id := range slices.SortedFunc(maps.Keys(judged), comparePairsOfTurns) {
		if turns[id].kept {
			continue
		}
		of := families(judged[id])
		for _, f := range slices.SortedFunc(maps.Keys(of), compareFamilies) {
			_, series := turns[id].series(of[f])
			known = append(known, started{turns[id].host, f, series})
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.starts == nil {
		j.starts = map[int][]started{}
	}
	j.starts[release] = known
	return known
}

func comparePairsOfTurns(a, b turnsOfPair) int {
	return cmp.Or(compareSystems(a.system, b.system), cmp.Compare(a.baseline, b.baseline))
}

func compareFamilies(a, b turnCell) int {
	return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.stat, b.stat))
}

// hostsOf returns the host of each system that pairs measured.
func hostsOf(pairs map[turnsOfPair]*inTurns) map[schema.System]string {
	out := map[schema.System]string{}
	for id, t := range pairs {
		out[id.system] = t.host
	}
	return out
}

// families parts numbers by metric, and means from tails. The key of each has no workload and no definition.
func families(cells []turnCell) map[turnCell][]turnCell {
	out := map[turnCell][]turnCell{}
	for _, c := range cells {
		f := turnCell{system: c.system, metric: c.metric, stat: tailOrMean(c.stat)}
		out[f] = append(out[f], c)
	}
	return out
}
