package lint

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// faults are the names of shares of which 0 is the best.
var faults = lazyregexp.New(`(?i)not_attempted|refus|invalid|error|incorrect|wrong|hallucinat|toxic`)

func zeroScore(s score) {
	isFault := s.Lower() || faults.MatchString(s.Metric)
	if v, ok := s.Value.Get(); ok && v == 0 && !isFault && s.Metric != schema.MetricPassed {
		s.add(float64(s.N), ZeroScore{s.Task, s.N})
	}
}

// impossibleScore finds shares of right answers below 0 or above 1.
func impossibleScore(s score) {
	v, ok := s.Value.Get()
	if ok && IsShare(s.Metric) && (v < 0 || v > 100) {
		s.add(math.Abs(v), ImpossibleScore{s.Task, s.Metric, v})
	}
}

// impossibleError finds standard errors that are larger than any that the numbers can have. That of the mean of n
// positive values is at most the mean; that of a share is at most 1/2. Three times the largest of n independent answers
// (0.5/√n) leaves room for answers that come in clusters. A huge error would make every change look like noise.
func impossibleError(l *inspection) {
	for _, m := range schema.Metrics() {
		stat := "value"
		if m.Latency {
			stat = "mean"
		}
		if !slices.ContainsFunc(l.c.Stats, func(s columns.StatID) bool { return s.Metric == m.Name && s.Stat == "se" }) {
			continue
		}
		for p := range l.points(l.runs) {
			value, ok := p.get(m.Name, stat)
			if se, has := p.get(m.Name, "se"); ok && has && se > value && value > 0 {
				p.add(se/value, ImpossibleError{m.Name, se, value})
			}
		}
	}
	scores(impossibleScoreError)(l)
}

// impossibleScoreError knows how large the error of a share can be.
func impossibleScoreError(s score) {
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
		s.add(se/most, ImpossibleError{s.Task, se, most})
	}
}

// IsShare reports by its name whether a metric is a share of right answers.
func IsShare(metric string) bool {
	m := strings.ToLower(metric)
	return slices.Contains([]string{"em", "f1", "score", "mc1", "mc2", "multiple_choice_grade"}, m) ||
		slices.ContainsFunc([]string{"acc", "exact", "pass@", "pass_at", "maj@"},
			func(part string) bool { return strings.Contains(m, part) })
}

func fewItems(s score) {
	if s.N > 0 && s.N < 10 && s.Metric != schema.MetricPassed {
		v, _ := s.Value.Get()
		s.add(1/float64(s.N), FewItems{s.Task, s.N, v})
	}
}

// subsampled finds tasks of which a part was asked. A limit that the task has fewer questions than says nothing: how
// many there were is stated, or follows from the standard error of a share.
func subsampled(s score) {
	n := float64(s.N)
	v, _ := s.Value.Get()
	if e, has := s.Stderr.Get(); n == 0 && has && e > 0 && v < 1 && IsShare(s.Metric) {
		n = 1 + v*(1-v)/(e*e)
	}
	const rounded = .95 // how near an error of four digits tells the number
	whole := s.Limit != nil && n > 0 && n < rounded**s.Limit
	if s.Limit != nil && !whole || s.N > 0 && s.Total > s.N {
		s.add(0, Subsampled{s.Task, s.N, s.Total})
	}
}

func zeroStderr(s score) {
	v, ok := s.Value.Get()
	e, has := s.Stderr.Get()
	if ok && (v == 1 || v == 100) && has && e == 0 && !s.Lower() {
		s.add(0, ZeroStderr{s.Task, s.N})
	}
}

// score is one that a run measured.
type score struct {
	*inspection
	*columns.ScoreRow
	run int
}

func (s score) add(weight float64, d Detail) { s.inspection.add(s.run, s.Task, weight, d) }

// scores makes a check of one that looks at one row a task and run: several metrics of a task share their items.
func scores(check func(score)) func(*inspection) {
	return func(l *inspection) {
		for _, run := range l.runs {
			seen := map[string]bool{}
			rows := l.c.ScoresOf(run)
			for i := range rows {
				if id := rows[i].Task; !seen[id] || l.check.ID == idOf(ZeroScore{}) {
					seen[id] = true
					check(score{l, &rows[i], run})
				}
			}
		}
	}
}

// run is one of the release.
type run struct {
	*inspection
	*columns.RunHead
	index int
}

func (h run) add(subject string, weight float64, d Detail) {
	h.inspection.add(h.index, subject, weight, d)
}

// runs makes a check of one that looks at each run by itself.
func runs(check func(run)) func(*inspection) {
	return func(l *inspection) {
		for _, i := range l.runs {
			check(run{l, &l.c.Runs[i], i})
		}
	}
}

// isPinned reports whether a run's image is stated by its digest, or none is.
func (h run) isPinned() bool {
	return h.Image == "" || h.Digest != "" || strings.Contains(h.Image, "@sha256:")
}

func noStart(h run) {
	if h.Start.IsZero() {
		h.add("", 0, NoStart{})
	}
}

// badTimestamps finds impossible times: a run that ends before it starts, lasts longer than a month, or starts before
// 2010, when there were no such accelerators.
func badTimestamps(h run) {
	const longest = 31 * 24 * time.Hour
	if h.Start.IsZero() || h.Start.Year() >= 2010 && (h.End.IsZero() || !h.End.Before(h.Start) &&
		h.End.Sub(h.Start) <= longest) {
		return
	}
	h.add("", 0, BadTimestamps{h.Start, h.End})
}

func noCommits(h run) {
	if h.isPinned() {
		return
	}
	for _, v := range h.Commits {
		if v != "" && v != "null" && v != "unknown" {
			return
		}
	}
	h.add(h.Image, 0, NoCommits{h.Image})
}

func latestImage(h run) {
	if h.isPinned() {
		return
	}
	name := h.Image[strings.LastIndexByte(h.Image, '/')+1:]
	_, tag, has := strings.Cut(name, ":")
	if !has || tag == "latest" || tag == "main" || tag == "nightly" {
		h.add(h.Image, 0, LatestImage{h.Image})
	}
}

func dirtyBuild(h run) {
	if h.Dirty {
		h.add(h.ID, 0, DirtyBuild{})
	}
}

// mixedTools finds workloads that the release before measured with other tools only.
func mixedTools(l *inspection) {
	type place struct{ model, device, workload string }
	workloads := map[int32]string{} // by key
	at := func(p point) place {
		name, known := workloads[p.row.Key]
		if !known {
			name = p.Task + " " + p.Workload()
			workloads[p.row.Key] = name
		}
		return place{l.c.Runs[p.run].Model.Name, l.c.Runs[p.run].Device, name}
	}
	tools := func(runs []int) map[place]map[string]bool {
		out := map[place]map[string]bool{}
		for p := range l.points(runs) {
			if out[at(p)] == nil {
				out[at(p)] = map[string]bool{}
			}
			out[at(p)][p.Tool] = true
		}
		return out
	}
	before, now := tools(l.before()), tools(l.runs)
	for p := range l.points(l.runs) {
		old := slices.Sorted(maps.Keys(before[at(p)]))
		again := func(tool string) bool { return now[at(p)][tool] }
		if len(old) > 0 && !slices.ContainsFunc(old, again) {
			p.add(0, MixedTools{p.Tool, strings.Join(old, ", ")})
		}
	}
}

// staleTargets compares the date of the source of targets with the start of the run that they grade.
func staleTargets(h run) {
	const old = 183 * 24 * time.Hour
	for _, t := range h.c.TargetsOf(h.index) {
		asOf, err := time.Parse(time.DateOnly, t.AsOf)
		if err == nil && !h.Start.IsZero() && h.Start.Sub(asOf) > old {
			h.add(t.Source, h.Start.Sub(asOf).Hours(), StaleTargets{t.Source, t.AsOf,
				int(h.Start.Sub(asOf).Hours() / 24)})
		}
	}
}
