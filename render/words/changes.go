package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// ChangeOf names what a change is of: "TTFT mean of llama on n150 at 128/128/8", "llama on n150", "5 models on h100".
func ChangeOf(c *judge.Change) string { return changeOf(c, true) }

// changeOf names the workloads where they are few, if asked to.
func changeOf(c *judge.Change, workloads bool) string {
	place := placeOf(c)
	const few = 2
	if len(c.Numbers) == 1 {
		place = Metric(c.Numbers[0].Metric, c.Numbers[0].Stat) + " of " + place
	} else if len(c.Scope.Metrics) <= few {
		var names []string
		for _, m := range c.Scope.Metrics {
			metric, stat, _ := strings.Cut(m, " ")
			names = append(names, Metric(metric, stat))
		}
		place = strings.Join(names, " and ") + " of " + place
	}
	if c.Scope.Pairs > 1 || !workloads {
		return place
	}
	if c.Scope.Points > few {
		if c.Scope.Curve {
			_, workload := c.Numbers[0].Key.Load()
			place += " at " + Short(WorkloadOverLoads(workload), inHeadline) + ", " + Plural(c.Scope.Points, "load")
		}
		return place
	}
	var at []string
	for _, s := range c.Numbers {
		if w := WorkloadInHeadline(s.Key); !slices.Contains(at, w) {
			at = append(at, w)
		}
	}
	return place + " at " + strings.Join(at, " and ")
}

// WorkloadInHeadline is a workload's name as headlines have it.
func WorkloadInHeadline(k schema.Key) string { return Short(Workload(k), inHeadline) }

// placeOf is the models and devices of a change.
func placeOf(c *judge.Change) string {
	if p, one := c.System(); one {
		return strings.TrimSuffix(OnDevice(p.Model, p.Device)+", "+c.Scope.Impl, ", ")
	}
	models, devices := c.Scope.Models, c.Scope.Devices
	switch {
	case len(devices) == 1:
		return Plural(len(models), "model") + " on " + Device(devices[0])
	case len(models) == 1:
		return models[0] + " on " + Plural(len(devices), "device")
	}
	return Plural(c.Scope.Pairs, "pair") + " of model and device"
}

// ChangeSize is the size of a change: as its number changed, where all are of one metric; else how much slower.
func ChangeSize(c *judge.Change) string {
	if m, one := onlyMetric(c); one {
		return Signed(m, c.Effect)
	}
	return slower(c.Effect, c.Worse)
}

// slower says how much slower numbers of several metrics are, or, where they are not worse, how much faster.
func slower(effect float64, worse bool) string {
	word := "slower"
	if !worse {
		word, effect = "faster", -effect
	}
	return strings.TrimPrefix(Change(effect), "+") + " " + word
}

// ChangeInterval is the 95 % interval of that size.
func ChangeInterval(c *judge.Change) string {
	if m, one := onlyMetric(c); one {
		return Interval(m, c.Interval)
	}
	lo, hi := c.Interval[0], c.Interval[1]
	if !c.Worse {
		lo, hi = -hi, -lo
	}
	return strings.TrimPrefix(Change(lo), "+") + " to " + strings.TrimPrefix(Change(hi), "+")
}

func onlyMetric(c *judge.Change) (metric string, one bool) {
	metric = c.Numbers[0].Metric
	for _, s := range c.Numbers {
		if s.Metric != metric {
			return "", false
		}
	}
	return metric, true
}

// ChangeShare is how many of the numbers measured there changed: "all 48 numbers", "24 of 48 numbers".
func ChangeShare(c *judge.Change) string {
	n := len(c.Numbers)
	if n > 1 && n >= c.Scope.Of {
		return "all " + Plural(n, "number")
	}
	if c.Scope.Of > n {
		return Count(n) + " of " + Plural(c.Scope.Of, "number")
	}
	return Plural(n, "number")
}

// ChangeEvidence is how sure a change is: "confirmed in v7", "suspected: another run must confirm it".
func ChangeEvidence(c *judge.Change) string {
	switch {
	case c.Evidence == schema.Suspected:
		return "suspected: another run must confirm it"
	case c.Rerun:
		return "confirmed by a re-run"
	}
	return "confirmed in " + Release(c.Found)
}

// ChangeVotes is where its numbers place the beginning of a change: "v33 in 40 of 48, v32 in 6".
func ChangeVotes(c *judge.Change) string {
	var parts []string
	for i, v := range c.Votes {
		part := Release(v.Release) + " in " + Count(v.Numbers)
		if i == 0 {
			part += " of " + Count(len(c.Numbers))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// ChangeText says in one sentence what changed, by how much, since when and how sure that is.
func ChangeText(c *judge.Change) string { return sentenceOn(c, nil) }

// StillSlower says of a number that earlier releases made slower why it is not judged so any more.
func StillSlower(metric string, effect float64, since string) string {
	return "Still " + Signed(metric, effect) + " since " + Release(since) + ": it is compared with the level since then."
}

func are(c *judge.Change) string {
	if n := len(c.Scope.Metrics); n == 2 || n > 2 && len(c.Scope.Models) > 1 {
		return "are"
	}
	return "is"
}

// openText is the sentence about regressions of earlier releases; "" without any, and where they are listed below.
func openText(g *gate.Review, listed bool) string {
	list := g.OpenChanges()
	if listed || len(list) == 0 {
		return ""
	}
	c := &list[0]
	out := fmt.Sprintf("%s %s still %s since %s (%s)", ChangeOf(c), are(c), ChangeSize(c), Release(c.Since),
		ChangeShare(c))
	if more := len(list) - 1; more > 0 {
		out += fmt.Sprintf("; %s more %s open", Count(more), verb(more, "change is", "changes are"))
	}
	return out + "."
}

// changedIn are the changes behind a kind of regression.
func changedIn(g *gate.Review, kind gate.Kind) []judge.Change {
	var out []judge.Change
	for _, c := range g.Changes {
		of := kind == gate.FailConfirmed
		if c.Evidence == schema.Suspected {
			of = kind == gate.FailSuspected || kind == gate.FailRunWide
		}
		if of && c.News(g.Release) && c.Worse && c.State == judge.StateOpen && !c.SameBuild {
			out = append(out, c)
		}
	}
	return out
}
