package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"

	"github.com/ttreport/ttreport/targets/regression"
)

// annotated measures the proposer on series that people annotated.
func annotated(t *table) {
	series, err := tcpd(t.o.corpus)
	if err != nil || len(series) == 0 {
		t.row(true, "annotated series", "", "not measured: --corpus names no folder with tcpd/ (%v)", err)
		return
	}
	score := func(pen regression.Penalty) (f, c float64) {
		for _, s := range series {
			at := proposals(s, pen)
			f += fMeasure(s.marks, at) / float64(len(series))
			c += covering(s.marks, at, s.n) / float64(len(series))
		}
		return f, c
	}
	f, c := score(regression.DefaultPenalty())
	t.row(f >= .70 && c >= .62, fmt.Sprintf("TCPD, %d series, default penalty", len(series)), "F1 >= .70, cover >= .62", "F1 %.3f, cover %.3f", f, c)
	bestF, bestC := 0., 0.
	for _, s := range series {
		f, c := 0., 0.
		for _, share := range []float64{1. / 2, 1. / 4, 1. / 8, 1. / 12, 1. / 16, 1. / 32, 1. / 64} {
			at := proposals(s, regression.Penalty{Noise: 4, Share: share})
			f, c = math.Max(f, fMeasure(s.marks, at)), math.Max(c, covering(s.marks, at, s.n))
		}
		bestF, bestC = bestF+f/float64(len(series)), bestC+c/float64(len(series))
	}
	t.row(true, "TCPD, the best of seven penalties for each series", "", "F1 %.3f, cover %.3f", bestF, bestC)
	hit, of, proposed, err := treeherder(t.o.corpus)
	t.row(err == nil && hit == of, "Treeherder, 7 series", "every alert within 1 point", "%d of %d alerts, %d proposed", hit, of, proposed)
}

type annotatedSeries struct {
	n      int
	values []float64
	index  []int // position of each value; a missing value has none
	marks  [][]int
}

func proposals(s annotatedSeries, pen regression.Penalty) []int {
	var at []int
	for _, step := range regression.Propose(s.values, pen) {
		at = append(at, s.index[step.At])
	}
	return at
}

// tcpd reads the univariate series of the Turing Change Point Dataset and what its annotators marked.
func tcpd(corpus string) ([]annotatedSeries, error) {
	data, err := os.ReadFile(filepath.Join(corpus, "tcpd", "annotations.json"))
	if err != nil {
		return nil, err
	}
	var marks map[string]map[string][]int
	if err := json.Unmarshal(data, &marks); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(corpus, "tcpd", "datasets", "*", "*.json"))
	if err != nil {
		return nil, err
	}
	var out []annotatedSeries
	for _, name := range names {
		var d struct {
			Name   string
			NObs   int `json:"n_obs"`
			NDim   int `json:"n_dim"`
			Series []struct{ Raw []*float64 }
		}
		data, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(data, &d) != nil || d.NDim != 1 || marks[d.Name] == nil {
			continue
		}
		s := annotatedSeries{n: d.NObs}
		for i, v := range d.Series[0].Raw {
			if v != nil {
				s.values, s.index = append(s.values, *v), append(s.index, i)
			}
		}
		for _, m := range marks[d.Name] {
			s.marks = append(s.marks, m)
		}
		out = append(out, s)
	}
	return out, nil
}

// hits pairs marks with proposals at most margin away, each proposal once.
func hits(marks, at map[int]bool) int {
	const margin = 5
	free := map[int]bool{}
	for x := range at {
		free[x] = true
	}
	n := 0
	for _, m := range sorted(marks) {
		best := -1
		for x := range free {
			if d := abs(x - m); d <= margin && (best < 0 || d < abs(best-m) || d == abs(best-m) && x < best) {
				best = x
			}
		}
		if best >= 0 {
			delete(free, best)
			n++
		}
	}
	return n
}

func set(list ...[]int) map[int]bool {
	out := map[int]bool{0: true} // the start of a series is a change point by convention
	for _, l := range list {
		for _, x := range l {
			out[x] = true
		}
	}
	return out
}

func sorted(m map[int]bool) []int {
	var out []int
	for x := range m {
		out = append(out, x)
	}
	sort.Ints(out)
	return out
}

// fMeasure is the F1 of van den Burg and Williams (arXiv:2003.06222), section 3: precision against the union of all annotators,
// recall as the mean over annotators, margin 5.
func fMeasure(marks [][]int, at []int) float64 {
	x := set(at)
	precision := float64(hits(set(marks...), x)) / float64(len(x))
	recall := 0.
	for _, m := range marks {
		recall += float64(hits(set(m), x)) / float64(len(set(m))) / float64(len(marks))
	}
	return 2 * precision * recall / (precision + recall)
}

// covering is the other measure of that paper: how well the segments of each annotator are covered by the proposed ones.
func covering(marks [][]int, at []int, n int) float64 {
	mine := segments(at, n)
	sum := 0.
	for _, m := range marks {
		for _, a := range segments(m, n) {
			best := 0.
			for _, b := range mine {
				both := float64(max(0, min(a[1], b[1])-max(a[0], b[0])))
				either := float64(a[1]-a[0]+b[1]-b[0]) - both
				best = math.Max(best, both/either)
			}
			sum += best * float64(a[1]-a[0]) / float64(n) / float64(len(marks))
		}
	}
	return sum
}

func segments(at []int, n int) [][2]int {
	border := append(sorted(set(at)), n)
	var out [][2]int
	for i := 1; i < len(border); i++ {
		out = append(out, [2]int{border[i-1], border[i]})
	}
	return out
}

// alerts are the push times at which Treeherder's own test expects an alert in each series
// (tests/perfalert/test_analyze.py of mozilla/treeherder).
func alerts() map[string][]int64 {
	return map[string][]int64{"runs1.json": {1365019665}, "runs2.json": {1357704596, 1358971894, 1365014104}, "runs3.json": {1335293827, 1338839958}, "runs4.json": {1364922838}, "runs5.json": {},
		"a11y.json": {1366197637, 1367799757}, "tp5rss.json": {1372846906, 1373413365, 1373424974}}
}

func treeherder(corpus string) (hit, of, proposed int, err error) {
	for name, times := range alerts() {
		var d struct {
			Runs [][]any `json:"test_runs"`
		}
		data, err := os.ReadFile(filepath.Join(corpus, "treeherder", name))
		if err != nil {
			return 0, 0, 0, err
		}
		if err := json.Unmarshal(data, &d); err != nil {
			return 0, 0, 0, err
		}
		sort.SliceStable(d.Runs, func(i, j int) bool { return d.Runs[i][2].(float64) < d.Runs[j][2].(float64) })
		var values []float64
		first := map[int64]int{}
		for i, r := range d.Runs {
			values = append(values, math.Log(r[3].(float64)))
			if at := int64(r[2].(float64)); first[at] == 0 {
				first[at] = i
			}
		}
		steps := regression.Propose(values, regression.DefaultPenalty())
		proposed += len(steps)
		for _, a := range times {
			of++
			for _, s := range steps {
				if abs(s.At-first[a]) <= 1 {
					hit++
					break
				}
			}
		}
	}
	return hit, of, proposed, nil
}
