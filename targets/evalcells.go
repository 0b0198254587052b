package targets

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/proportion"
)

// evalTask marks a key that names an eval: its dataset is the task's name.
const evalTask = "eval"

// evalID is one eval of one system within one line of releases.
type evalID struct {
	model, device, impl, task string
	seq                       sequence
}

// evalCell is the history of one eval under its primary metric.
type evalCell struct {
	id             evalID
	metric, filter string
	values         []evalValue // by release
}

// evalValue is what one release says: the first run's score, and those of later runs.
type evalValue struct {
	release int
	scores  []*columns.ScoreRow
	runs    []string // ids
}

// EvalKey is the key under which verdicts on an eval stand.
func EvalKey(s *schema.Score) schema.Key {
	k := schema.Key{Task: evalTask, Dataset: s.Task}
	if s.Filter != "" && s.Filter != "none" {
		k.Dims = map[string]string{"filter": s.Filter}
	}
	return k
}

// IsEval reports whether a key names an eval.
func IsEval(k schema.Key) bool { return k.Task == evalTask }

// evalCells gathers the evals of a history, one primary metric a task: a release's page would otherwise count one eval several
// times.
func evalCells(c *columns.Columns, releases []Release, policy *Policy) []*evalCell {
	type name struct{ metric, filter string }
	all := map[evalID]map[name][]evalValue{}
	seqs := sequences(releases)
	for ri := range releases {
		for _, run := range releases[ri].Runs {
			h := &c.Runs[run]
			if policy.void(h) {
				continue
			}
			rows := c.ScoresOf(run)
			for i := range rows {
				s := &rows[i]
				id := evalID{h.Model.Name, h.Device, h.Impl, s.Task, seqs[ri]}
				if all[id] == nil {
					all[id] = map[name][]evalValue{}
				}
				n := name{s.Metric, s.Filter}
				list := all[id][n]
				if len(list) == 0 || list[len(list)-1].release != ri {
					list = append(list, evalValue{release: ri})
				}
				last := &list[len(list)-1]
				last.scores, last.runs = append(last.scores, s), append(last.runs, h.ID)
				all[id][n] = list
			}
		}
	}
	var out []*evalCell
	for id, byName := range all {
		var names []name
		for n := range byName {
			names = append(names, n)
		}
		sort.Slice(names, func(i, j int) bool {
			a, b := names[i], names[j]
			if ra, rb := evalRank(a.metric, a.filter), evalRank(b.metric, b.filter); ra != rb {
				return ra < rb
			}
			return a.metric+"\x00"+a.filter < b.metric+"\x00"+b.filter
		})
		out = append(out, &evalCell{id: id, metric: names[0].metric, filter: names[0].filter, values: byName[names[0]]})
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i].id, out[j].id
		for _, p := range [][2]string{{a.model, b.model}, {a.device, b.device}, {a.impl, b.impl}, {a.task, b.task}, {a.seq.channel, b.seq.channel}, {a.seq.line, b.seq.line}} {
			if p[0] != p[1] {
				return NaturalLess(p[0], p[1])
			}
		}
		return false
	})
	return out
}

// evalRank prefers the metric and filter that papers report.
func evalRank(metric, filter string) int {
	metrics := []string{"exact_match", "acc", "accuracy", "pass@1", "prompt_level_strict_acc", "acc_norm", "score", "f1"}
	filters := []string{"strict-match", "none", "", "custom-extract", "flexible-extract"}
	m, f := slices.Index(metrics, strings.ToLower(metric)), slices.Index(filters, filter)
	if m < 0 {
		m = len(metrics)
	}
	if f < 0 {
		f = len(filters)
	}
	return m*10 + f
}

// share is a score as a share of right answers, when it is one: a fraction or a percentage of a metric that improves upwards.
func share(s *schema.Score) (p float64, ok bool) {
	v, has := s.Value.Get()
	if !has || s.Direction == "lower" || v < 0 || strings.Contains(s.Metric, "perplexity") {
		return 0, false
	}
	switch {
	case v <= 1:
		return v, true
	case v <= 100 && !strings.Contains(s.Metric, "bleu") && !strings.Contains(s.Metric, "ter"):
		return v / 100, true
	}
	return 0, false
}

// spread is the standard error of a share from its items: Wilson's interval where the plain formula gives zero, less what the
// finite number of items of a limited run explains (the first n of N).
func spread(s *schema.Score, p float64) (se float64, ok bool) {
	if s.N <= 0 {
		e, has := s.Stderr.Get()
		if has && e > 0 {
			if v, _ := s.Value.Get(); v > 1 {
				e /= 100
			}
			return e, true
		}
		return 0, false
	}
	lo, hi := proportion.Wilson(p, float64(s.N))
	se = (hi - lo) / (2 * 1.959963984540054)
	if s.Total > s.N {
		se *= math.Sqrt(1 - float64(s.N)/float64(s.Total))
	}
	return se, true
}
