package judge

import (
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression"
)

// hosts numbers the hosts that measured each system in each release; nil where all were measured on one, or none is
// stated.
func (g *gathering) hosts() map[regression.Measured]regression.Hosts {
	out, number := map[regression.Measured]regression.Hosts{}, map[string]int32{}
	for ri := range g.releases {
		first := map[regression.Measured]int{}
		for _, run := range g.releases[ri].Runs {
			h := &g.c.Runs[run]
			id, gathered := g.systems[systemOf(h)]
			if !gathered || g.screen.excludes(h) || h.FirstPoint == h.PointsEnd {
				continue
			}
			at := regression.Measured{Release: int32(ri), System: id*int32(len(g.seqs)) + int32(g.seq[ri])}
			host := int32(0)
			if name := hostOf(h); name != "" {
				host = intern(number, name) + 1
			}
			was, known := out[at]
			switch {
			case !known:
				first[at] = run
				was.First = host
			case g.overlap(int32(first[at]), run):
			case was.Later == 0 || was.Later == was.First:
				was.Later = host
			}
			out[at] = was
		}
	}
	if len(number) < 2 {
		return nil
	}
	return out
}

func hostOf(h *columns.RunHead) string { return h.Setting["host"] }

// hostOfRun is the host of a run; "" where it is not stated.
func (j *Judgement) hostOfRun(id string) string {
	for i := range j.Columns.Runs {
		if h := &j.Columns.Runs[i]; h.ID == id {
			return hostOf(h)
		}
	}
	return ""
}
