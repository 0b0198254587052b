package duplicate

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// ID identifies a measurement: the bytes it was read from, and its position among the measurements in them, since it
// may be one line of a file.
type ID struct {
	sha256               string
	workload             string // of a point
	repeat               int
	start                time.Time
	task, metric, filter string // of a score
}

// ofPoint returns the identity of a measured point.
func ofPoint(p *schema.Point) ID {
	return ID{sha256: p.Source.SHA256, workload: p.Key.String(), repeat: p.Repeat, start: p.Start.UTC().Round(0)}
}

// ofScore returns the identity of an eval's score.
func ofScore(s *schema.Score) ID {
	return ID{sha256: s.Source.SHA256, task: s.Task, metric: s.Metric, filter: s.Filter}
}

// In returns the measurements of a run.
func In(r *schema.Run) map[ID]bool {
	ids := make(map[ID]bool, len(r.Points)+len(r.Scores))
	for i := range r.Points {
		ids[ofPoint(&r.Points[i])] = true
	}
	for i := range r.Scores {
		ids[ofScore(&r.Scores[i])] = true
	}
	return ids
}

// Without returns the run without the measurements in held, and how many were left out. r itself is not changed.
func Without(r schema.Run, held map[ID]bool) (rest schema.Run, shared int) {
	rest = r
	rest.Points, rest.Scores = nil, nil
	for i := range r.Points {
		if held[ofPoint(&r.Points[i])] {
			shared++
			continue
		}
		rest.Points = append(rest.Points, r.Points[i])
	}
	for i := range r.Scores {
		if held[ofScore(&r.Scores[i])] {
			shared++
			continue
		}
		rest.Scores = append(rest.Scores, r.Scores[i])
	}
	return rest, shared
}
