package nmvllm

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// other reads a value of a project's own: a point of a workload that has the value's name, in the suite's name. A store
// states neither model nor device. ok is false where the value is no number or its direction is not known.
func (s *store) other(suite string, entry, bench decode.Value) bool {
	title := bench.Get("name").Str()
	value, ok := bench.Get("value").Float()
	tool, unit := entry.Get("tool").Str(), bench.Get("unit").Str()
	turned := tool == biggerIsBetter && lowerByNature(title, unit)
	if turned {
		tool = smallerIsBetter
	}
	metric, known := otherMetric(tool, unit)
	if !ok || !known || title == "" {
		return false
	}
	if turned {
		s.turn(title, unit)
	}
	run := runID{commit: entry.At("commit", "id").Str(), model: suite, date: entry.Get("date").Text()}
	once := published{run.commit, title, run.date, suite, value}
	if s.isTwice(once) {
		return true
	}
	r := s.runs.Of(run, func() schema.Reading {
		return schema.Reading{Format: s.format, Detail: "a commit of a store", Facts: s.otherFacts(entry, run.commit)}
	})
	if len(s.points) == s.f.Limits().Results {
		s.full = true
		return true
	}
	d := draft.New(s.f, r, bench, "github-action-benchmark")
	d.Key.Task = ""
	d.Dim(schema.DimLabel, title)
	d.Dim("suite", suite)
	d.Start, d.End = r.Facts.Start, r.Facts.End
	d.Value(metric, value)
	if std, ok := spread(bench.Get("range").Text(), value); ok {
		m := d.Metrics[metric]
		m.Stats.Set("std", std)
		d.Metrics[metric] = m
	}
	s.points = append(s.points, d)
	return true
}

// otherFacts are the commit, and its build in channel main.
func (s *store) otherFacts(entry decode.Value, commit string) schema.Facts {
	f := schema.Facts{Channel: schema.ChannelMain}
	project := path.Base(strings.TrimSuffix(s.f.First.Get("repoUrl").Str(), "/"))
	if project == "." || project == "/" {
		project = "commit"
	}
	if commit != "" {
		f.Stack.Commits = map[string]string{project: commit}
	}
	if when, ok := dateOf(entry); ok {
		f.Start, f.End, f.Release = when, when, s.builds.name(when, commit)
	}
	return f
}

// Tools of the action that state a direction.
const (
	biggerIsBetter  = "customBiggerIsBetter"
	smallerIsBetter = "customSmallerIsBetter"
)

// turn counts a value whose stated direction its name or unit contradicts.
func (s *store) turn(title, unit string) {
	if s.turned++; s.turnedFirst == "" {
		s.turnedFirst = fmt.Sprintf("%q in %s", short(title), unit)
	}
}

// otherMetric is the metric of a value: the action states the direction for suites of its custom tools; for others a
// rate is better when it is higher, and a time when it is lower.
func otherMetric(tool, unit string) (name string, ok bool) {
	unit = strings.NewReplacer("µ", "u", "μ", "u", ",", " ").Replace(unit)
	if len(unit) > 16 {
		unit = strings.TrimSpace(unit[:16])
	}
	better := ""
	switch {
	case tool == biggerIsBetter, !strings.HasPrefix(tool, "custom") && perSecond.MatchString(unit):
		better = "higher"
	case tool == smallerIsBetter, isTime(unit):
		better = "lower"
	default:
		return "", false
	}
	return schema.OwnMetric("value", unit, better)
}

// spread reads "± 12", "+/- 12" or "± 5%": the deviation of a value, in its unit.
func spread(text string, value float64) (float64, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "±"), "+/-"))
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(x >= 0) || x > 1e300 {
		return 0, false
	}
	if percent {
		x *= value / 100
	}
	return x, x >= 0
}
