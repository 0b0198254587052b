package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// unlike reports runs of one release and system that are no repeats of each other: a speed of theirs differs by more
// than repeats do, or they state different engines or precisions. Their mean would be a number that no system has.
func unlike(cols *columns.Columns, releases []judge.Release, dir string) (out []schema.Problem) {
	for _, r := range releases {
		by, order := map[schema.System][]int{}, []schema.System{}
		for _, run := range r.Runs {
			system := cols.Runs[run].System()
			if by[system] == nil {
				order = append(order, system)
			}
			by[system] = append(by[system], run)
		}
		for _, system := range order {
			runs := by[system]
			if len(runs) < 2 {
				continue
			}
			found, n := farthest(cols, runs)
			differ := stateDifferently(cols, runs)
			if n == 0 && differ == "" {
				continue
			}
			text := fmt.Sprintf("%s of %s on %s in %s", plaintext.Plural(len(runs), "run"), words.OrUnknown(system.Model),
				words.OrUnknown(system.Device), r.Name)
			if n > 0 {
				text += fmt.Sprintf(" that differ by more than %g x in %s, such as %s", repeat.Chance,
					plaintext.Plural(n, "workload"), found)
			}
			if differ != "" {
				text += "; they state " + differ
			}
			out = append(out, schema.Problem{
				Severity: schema.SevWarning, Path: filepath.ToSlash(dir), Code: "runs-differ", Found: text,
				Expected: "repeats of one system, which differ by noise", Used: "each as a repeat",
				Hint: "tell them apart with {impl} or {config} in --pattern, or in a manifest, and read the files again",
			})
		}
	}
	return out
}

// farthest counts the workloads of which the runs' speeds differ by more than repeats do, and shows the worst one.
func farthest(cols *columns.Columns, runs []int) (worst string, n int) {
	type speed struct {
		key    int32
		metric string
	}
	type ends struct{ least, most float64 }
	of, far, factor := map[speed]ends{}, map[int32]bool{}, repeat.Chance
	for _, run := range runs {
		h := &cols.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &cols.Points[i]
			for _, metric := range schema.Speeds() {
				v, _, _, ok := cols.Center(p, metric)
				if !ok || v <= 0 {
					continue
				}
				at := speed{p.Key, metric}
				e, has := of[at]
				if !has {
					e = ends{v, v}
				}
				of[at] = ends{min(e.least, v), max(e.most, v)}
			}
		}
	}
	for at, e := range of {
		times := e.most / e.least
		if times <= repeat.Chance {
			continue
		}
		far[at.key] = true
		info, _ := schema.MetricByName(at.metric)
		text := fmt.Sprintf("%s, of which %s is from %s to %s", words.Workload(cols.Keys[at.key]), info.Label,
			words.Number(e.least), words.Quantity(e.most, info.Unit))
		if times > factor || times == factor && text < worst { // the order of a map is none
			factor, worst = times, text
		}
	}
	return worst, len(far)
}

// stateDifferently lists the facts of which runs state several.
func stateDifferently(cols *columns.Columns, runs []int) string {
	var out []string
	for _, fact := range []struct {
		name string
		of   func(*columns.RunHead) string
	}{
		{"engine", func(h *columns.RunHead) string { return h.Engine }},
		{"precision", func(h *columns.RunHead) string { return h.Model.Precision }},
	} {
		var values []string
		for _, run := range runs {
			if v := fact.of(&cols.Runs[run]); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			out = append(out, fact.name+" "+strings.Join(values, ", "))
		}
	}
	return strings.Join(out, "; ")
}
