package judge

import (
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
		turns := j.turns(earlier)
		for id, cells := range j.judgedOf(earlier, turns) {
			t := turns[id]
			if host, ok := hosts[id.system]; !ok || t.kept || t.host != host {
				continue
			}
			for f, members := range families(cells) {
				_, series := t.series(members)
				before[f] = append(before[f], series)
			}
		}
	}
	out := map[turnCell]regression.Noise{}
	for f, list := range before {
		out[f] = block.Starts(list)
	}
	return out
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
