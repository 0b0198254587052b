package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// annotated measures the change points of the judge on real series: those that people annotated (Turing Change Point
// Dataset) and those of Mozilla's performance alerts. They are not part of the repository and are measured only with
// --corpus.
func annotated(t *table) {
	if t.o.corpus == "" {
		t.row(true, "annotated series", "", "not measured: --corpus names no folder")
		return
	}
	if err := annotatedByPeople(t); err != nil {
		t.row(false, "TCPD", "series are readable", "%v", err)
	}
	if err := annotatedByAlerts(t); err != nil {
		t.row(false, "Treeherder", "series are readable", "%v", err)
	}
}

// changePointsOf judges one series as the only cell of a history, with a release for each value. It returns where the
// judge started a new level.
func changePointsOf(values []float64) (at []int) {
	tab, z := newTable(1, len(values)), make([]float64, len(values))
	for i, v := range values {
		z[i] = math.Log(v)
	}
	addCell(tab, regression.Cell{Delta: limit}, z)
	for _, c := range judge(tab).ChangePoints {
		at = append(at, int(c.At))
	}
	return at
}

// annotatedByPeople compares the judge with marking no change points at all, which is hard to beat: many annotators
// mark none.
func annotatedByPeople(t *table) error {
	all, err := tcpd(t.o.corpus)
	if err != nil {
		return err
	}
	series := slices.DeleteFunc(slices.Clone(all), func(s annotatedSeries) bool {
		return slices.Min(s.values) <= 0 || s.name == "uk_coal_employ" // of which most rivals have no result
	})
	found, n := 0, float64(len(series))
	var f1, cover, noneF1, noneCover float64 // the two measures of van den Burg and Williams (arXiv:2003.06222), section 3
	for _, s := range series {
		places := changePointsOf(s.values)
		found += len(places)
		for i := range places {
			places[i] = s.index[places[i]]
		}
		f1, cover = f1+fMeasure(s.marks, places)/n, cover+covering(s.marks, places, s.n)/n
		noneF1, noneCover = noneF1+fMeasure(s.marks, nil)/n, noneCover+covering(s.marks, nil, s.n)/n
	}
	name := fmt.Sprintf("TCPD, %d of %d series: those whose values are all positive", len(series), len(all))
	t.floored(f1 >= .693 && cover >= .652, f1 >= .67 && cover >= .55, name, "the best of each below", "F1 .67, cover .55",
		"F1 %.3f, cover %.3f, %d change points", f1, cover, found)
	t.row(true, "  no change point in any", "", "F1 %.3f, cover %.3f", noneF1, noneCover)
	// Means over the same series of analysis/output/scores/default_*.json of alan-turing-institute/TCPDBench. They see
	// the whole of a series, and the judge nothing that comes later.
	t.row(true, "  published, default settings: BinSeg, PELT, AMOC, BOCPD", "", "F1 .693, .681, .647, .654; "+
		"cover .648, .650, .652, .590")
	return nil
}

type annotatedSeries struct {
	name   string
	n      int
	values []float64
	index  []int   // position of each value; a missing value has none
	marks  [][]int // by annotator
}

// tcpd reads the univariate series of the Turing Change Point Dataset and what its annotators marked.
func tcpd(corpus string) ([]annotatedSeries, error) {
	var marks map[string]map[string][]int
	if err := readJSON(filepath.Join(corpus, "tcpd", "annotations.json"), &marks); err != nil {
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
		if err := readJSON(name, &d); err != nil {
			return nil, err
		}
		if d.NDim != 1 || marks[d.Name] == nil {
			continue
		}
		s := annotatedSeries{name: d.Name, n: d.NObs}
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
	if len(out) == 0 {
		return nil, errors.New("no series in tcpd/datasets")
	}
	return out, nil
}

// annotatedByAlerts counts the alerts of Treeherder that have a change point of the judge within one value: those whose
// dozen values after it lie by the judge's limit from the dozen before, which the others do not.
func annotatedByAlerts(t *table) error {
	const dozen = 12
	hit, of, small, found := 0, 0, 0, 0
	for file, alerts := range map[string][]int64{ // by push time: tests/perfalert/test_analyze.py of mozilla/treeherder
		"runs1.json": {1365019665}, "runs2.json": {1357704596, 1358971894, 1365014104},
		"runs3.json": {1335293827, 1338839958}, "runs4.json": {1364922838}, "runs5.json": nil,
		"a11y.json": {1366197637, 1367799757}, "tp5rss.json": {1372846906, 1373413365, 1373424974},
	} {
		values, first, err := pushes(filepath.Join(t.o.corpus, "treeherder", file))
		if err != nil {
			return err
		}
		places := changePointsOf(values)
		found += len(places)
		for _, at := range alerts {
			i := first[at]
			before, after := regression.Mean(values[max(0, i-dozen):i]), regression.Mean(values[i:min(i+dozen, len(values))])
			if math.Abs(math.Log(after/before)) < limit {
				small++
				continue
			}
			of++
			if slices.ContainsFunc(places, func(p int) bool { return abs(p-first[at]) <= 1 }) {
				hit++
			}
		}
	}
	t.floored(hit == of && found <= 24, hit == of && found <= 72, "Treeherder, 7 series", "every alert of 5 % within 1 "+
		"value, <= 24 change points", "<= 72", "%d of %d alerts of 5 %%, %d change points in all; %d alerts are of less",
		hit, of, found, small)
	return nil
}

// pushes reads a series of Treeherder by push time, and the index of the first value of each push.
func pushes(name string) (values []float64, first map[int64]int, err error) {
	var d struct {
		Runs [][]any `json:"test_runs"`
	}
	if err := readJSON(name, &d); err != nil {
		return nil, nil, err
	}
	type run struct{ pushed, value float64 }
	var runs []run
	for _, r := range d.Runs {
		pushed, ok := r[2].(float64)
		value, alsoOK := r[3].(float64)
		if !ok || !alsoOK {
			return nil, nil, fmt.Errorf("%s: a run has no time or no value", name)
		}
		runs = append(runs, run{pushed, value})
	}
	slices.SortStableFunc(runs, func(a, b run) int { return int(a.pushed - b.pushed) })
	first = map[int64]int{}
	for i, r := range runs {
		if _, seen := first[int64(r.pushed)]; !seen {
			first[int64(r.pushed)] = i
		}
		values = append(values, r.value)
	}
	return values, first, nil
}

func readJSON(name string, into any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// fMeasure is F1: precision against the union of all annotators, recall as the mean over annotators, margin 5.
func fMeasure(marks [][]int, found []int) float64 {
	x := set(found)
	precision := float64(hits(set(marks...), x)) / float64(len(x))
	recall := 0.
	for _, m := range marks {
		recall += float64(hits(set(m), x)) / float64(len(set(m))) / float64(len(marks))
	}
	return 2 * precision * recall / (precision + recall)
}

// hits matches marks with found change points at most margin away, each at most once.
func hits(marks, found map[int]bool) int {
	const margin = 5
	free := maps.Clone(found)
	n := 0
	for _, m := range slices.Sorted(maps.Keys(marks)) {
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

// set is the union of some lists; the start of a series is a change point by convention.
func set(list ...[]int) map[int]bool {
	out := map[int]bool{0: true}
	for _, l := range list {
		for _, x := range l {
			out[x] = true
		}
	}
	return out
}

// covering measures how well the segments of each annotator are covered by those found, weighted by length.
func covering(marks [][]int, found []int, n int) float64 {
	mine := segments(found, n)
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
	border := append(slices.Sorted(maps.Keys(set(at))), n)
	var out [][2]int
	for i := 1; i < len(border); i++ {
		out = append(out, [2]int{border[i-1], border[i]})
	}
	return out
}

func abs(x int) int { return max(x, -x) }
