package lint

import (
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

func zeroScore(l *inspection) {
	l.scores(func(run int, s *columns.ScoreRow) {
		if v, ok := s.Value.Get(); ok && v == 0 && s.Direction != "lower" && s.Metric != schema.MetricPassed {
			l.add(run, s.Task, float64(s.N), ZeroScore{s.Task, s.N})
		}
	})
}

// impossibleScore finds shares of right answers below 0 or above 1.
func impossibleScore(l *inspection) {
	l.scores(func(run int, s *columns.ScoreRow) {
		v, ok := s.Value.Get()
		if ok && IsShare(s.Metric) && (v < 0 || v > 100) {
			l.add(run, s.Task, math.Abs(v), ImpossibleScore{s.Task, s.Metric, v})
		}
	})
}

// impossibleError finds standard errors that are larger than any that the numbers can have. That of the mean of n
// positive values is at most the mean; that of a share is at most 1/2. Three times the largest of n independent answers
// (0.5/√n) leaves room for answers that come in clusters. A huge error would make every change look like noise.
func impossibleError(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		for _, m := range schema.Metrics() {
			stat := "value"
			if m.Latency {
				stat = "mean"
			}
			value, ok := l.get(p, m.Name, stat)
			if se, has := l.get(p, m.Name, "se"); ok && has && se > value && value > 0 {
				l.add(run, k.Workload(), se/value, ImpossibleError{m.Name, se, value})
			}
		}
	})
	l.scores(func(run int, s *columns.ScoreRow) {
		se, has := s.Stderr.Get()
		v, ok := s.Value.Get()
		if !has || !ok || !IsShare(s.Metric) {
			return
		}
		most := .5
		if s.N > 1 {
			most = min(most, 1.5/math.Sqrt(float64(s.N-1)))
		}
		if v > 1 {
			most *= 100 // a percentage
		}
		if se > most {
			l.add(run, s.Task, se/most, ImpossibleError{s.Task, se, most})
		}
	})
}

// IsShare reports by its name whether a metric is a share of right answers.
func IsShare(metric string) bool {
	m := strings.ToLower(metric)
	return slices.Contains([]string{"em", "f1", "score", "mc1", "mc2"}, m) ||
		slices.ContainsFunc([]string{"acc", "exact", "pass@", "pass_at", "maj@"},
			func(part string) bool { return strings.Contains(m, part) })
}

func fewItems(l *inspection) {
	l.scores(func(run int, s *columns.ScoreRow) {
		if s.N > 0 && s.N < 10 && s.Metric != schema.MetricPassed {
			v, _ := s.Value.Get()
			l.add(run, s.Task, 1/float64(s.N), FewItems{s.Task, s.N, v})
		}
	})
}

func subsampled(l *inspection) {
	l.scores(func(run int, s *columns.ScoreRow) {
		if s.Limit != nil || s.N > 0 && s.Total > s.N {
			l.add(run, s.Task, 0, Subsampled{s.Task, s.N, s.Total})
		}
	})
}

func zeroStderr(l *inspection) {
	l.scores(func(run int, s *columns.ScoreRow) {
		v, ok := s.Value.Get()
		e, has := s.Stderr.Get()
		if ok && (v == 1 || v == 100) && has && e == 0 && s.Direction != "lower" {
			l.add(run, s.Task, 0, ZeroStderr{s.Task, s.N})
		}
	})
}

// scores calls each for one row a task and run: several metrics of a task share their items.
func (l *inspection) scores(each func(run int, s *columns.ScoreRow)) {
	for _, run := range l.runs {
		seen := map[string]bool{}
		rows := l.c.ScoresOf(run)
		for i := range rows {
			if id := rows[i].Task; !seen[id] || l.check.ID == IDZeroScore {
				seen[id] = true
				each(run, &rows[i])
			}
		}
	}
}

func (l *inspection) each(do func(run int, h *columns.RunHead)) {
	for _, run := range l.runs {
		do(run, &l.c.Runs[run])
	}
}

func noStart(l *inspection) {
	l.each(func(run int, h *columns.RunHead) {
		if h.Start.IsZero() {
			l.add(run, "", 0, NoStart{})
		}
	})
}

// badTimestamps finds impossible times: a run that ends before it starts, lasts longer than a month, or starts before
// 2010, when there were no such accelerators.
func badTimestamps(l *inspection) {
	const longest = 31 * 24 * time.Hour
	l.each(func(run int, h *columns.RunHead) {
		if h.Start.IsZero() || h.Start.Year() >= 2010 && (h.End.IsZero() || !h.End.Before(h.Start) &&
			h.End.Sub(h.Start) <= longest) {
			return
		}
		l.add(run, "", 0, BadTimestamps{h.Start, h.End})
	})
}

func noCommits(l *inspection) {
	l.each(func(run int, h *columns.RunHead) {
		if h.Image == "" || h.Digest != "" || strings.Contains(h.Image, "@sha256:") {
			return
		}
		for _, v := range h.Commits {
			if v != "" && v != "null" && v != "unknown" {
				return
			}
		}
		l.add(run, h.Image, 0, NoCommits{h.Image})
	})
}

func latestImage(l *inspection) {
	l.each(func(run int, h *columns.RunHead) {
		if h.Image == "" || h.Digest != "" || strings.Contains(h.Image, "@sha256:") {
			return
		}
		name := h.Image[strings.LastIndexByte(h.Image, '/')+1:]
		_, tag, has := strings.Cut(name, ":")
		if !has || tag == "latest" || tag == "main" || tag == "nightly" {
			l.add(run, h.Image, 0, LatestImage{h.Image})
		}
	})
}

func dirtyBuild(l *inspection) {
	l.each(func(run int, h *columns.RunHead) {
		if h.Dirty {
			l.add(run, h.ID, 0, DirtyBuild{})
		}
	})
}

// mixedTools finds workloads that the release before measured with other tools only.
func mixedTools(l *inspection) {
	type place struct{ model, device, workload string }
	tools := func(runs []int) map[place]map[string]bool {
		out := map[place]map[string]bool{}
		l.points(runs, func(run int, p *columns.PointRow, k schema.Key) {
			at := place{l.c.Runs[run].Model.Name, l.c.Runs[run].Device, k.Task + " " + k.Workload()}
			if out[at] == nil {
				out[at] = map[string]bool{}
			}
			out[at][k.Tool] = true
		})
		return out
	}
	before := tools(l.before())
	now := tools(l.runs)
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		at := place{l.c.Runs[run].Model.Name, l.c.Runs[run].Device, k.Task + " " + k.Workload()}
		old := before[at]
		if len(old) == 0 {
			return
		}
		for tool := range now[at] {
			if old[tool] {
				return
			}
		}
		var names []string
		for tool := range old {
			names = append(names, tool)
		}
		sort.Strings(names)
		l.add(run, k.Workload(), 0, MixedTools{k.Tool, strings.Join(names, ", ")})
	})
}

// staleTargets compares the date of the source of targets with the start of the run that they grade.
func staleTargets(l *inspection) {
	const old = 183 * 24 * time.Hour
	l.each(func(run int, h *columns.RunHead) {
		for _, t := range l.c.TargetsOf(run) {
			asOf, err := time.Parse(time.DateOnly, t.AsOf)
			if err == nil && !h.Start.IsZero() && h.Start.Sub(asOf) > old {
				l.add(run, t.Source, h.Start.Sub(asOf).Hours(), StaleTargets{t.Source, t.AsOf,
					int(h.Start.Sub(asOf).Hours() / 24)})
			}
		}
	})
}
