package jsondoc

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/judge"
)

type (
	changePointsJSON struct {
		Points []changePointJSON `json:"points"`
		Drifts []driftJSON       `json:"drifts"`
	}
	seriesJSON struct {
		Model  string  `json:"model"`
		Device string  `json:"device"`
		Impl   string  `json:"impl,omitempty"`
		Key    keyJSON `json:"key"`
		Metric string  `json:"metric"`
		Stat   string  `json:"stat"`
	}
	changePointJSON struct {
		seriesJSON
		At       string        `json:"at"`
		Found    string        `json:"found"`
		Effect   float64       `json:"effect"` // relative, positive is worse
		P        *float64      `json:"p"`
		Source   string        `json:"source"` // gate, search or person
		Decision *decisionJSON `json:"decision,omitempty"`
	}
	driftJSON struct {
		seriesJSON
		Effect float64 `json:"effect"` // a release
		P      float64 `json:"p"`
		N      int     `json:"n"`
	}
)

func seriesOf(s *judge.Series) seriesJSON {
	return seriesJSON{s.Model, s.Device, s.Impl, keyOf(s.Key), s.Metric, s.Stat}
}

func keyOf(k schema.Key) keyJSON {
	return keyJSON{k.Task, k.Tool, k.ISL, k.OSL, k.Concurrency, k.Rate, k.Dataset, k.Dims}
}

// finite leaves out a number that is none.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func changePoints(c *render.ChangePoints) *changePointsJSON {
	out := &changePointsJSON{Points: []changePointJSON{}, Drifts: []driftJSON{}}
	source := map[judge.Source]string{
		judge.ByGate: "gate", judge.BySearch: "search", judge.ByPerson: "person",
	}
	for _, s := range c.Points {
		out.Points = append(out.Points, changePointJSON{
			seriesOf(s.Series), s.At, s.Found, s.Effect, finite(s.P), source[s.Source], decisionOf(s.Decision),
		})
	}
	for _, d := range c.Drifts {
		out.Drifts = append(out.Drifts, driftJSON{seriesOf(d.Series), d.Effect, d.P, d.N})
	}
	return out
}
