package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// unlike reports runs of one release and system that are no repeats of each other: a speed of theirs differs by more
// than 1.5 x, or they state different engines or precisions. Their mean would be a number that no system has.
func unlike(cols *columns.Columns, releases []judge.Release, dir string) (out []schema.Problem) {
	for _, r := range releases {
		by := map[schema.System][]int{}
		for _, run := range r.Runs {
			h := &cols.Runs[run]
			system := schema.System{Model: h.Model.Name, Device: h.Device, Impl: h.Impl}
			by[system] = append(by[system], run)
		}
		for _, run := range r.Runs { // in order
			h := &cols.Runs[run]
			runs := by[schema.System{Model: h.Model.Name, Device: h.Device, Impl: h.Impl}]
			if len(runs) < 2 || runs[0] != run {
				continue
			}
			found, n := farthest(cols, runs)
			differ := stateDifferently(cols, runs)
			if n == 0 && differ == "" {
				continue
			}
			text := fmt.Sprintf("%s of %s on %s in %s", plaintext.Plural(len(runs), "run"), words.OrUnknown(h.Model.Name),
				words.OrUnknown(h.Device), r.Name)
			if n > 0 {
				text += fmt.Sprintf(" that differ by more than 1.5 x in %s, such as %s", plaintext.Plural(n, "workload"), found)
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
	const most = 1.5
	type id struct {
		key    int32
		metric string
	}
	ends, far, factor := map[id][2]float64{}, map[int32]bool{}, most
	for _, run := range runs {
		h := &cols.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &cols.Points[i]
			for _, metric := range []string{"output_tps", "total_tps", "tpot"} {
				for _, stat := range append(schema.CenterStats(), "value") {
					x, _ := cols.Value(p, metric, stat)
					v, ok := x.Get()
					if !ok || v <= 0 {
						continue
					}
					at := id{p.Key, metric}
					e, has := ends[at]
					if !has {
						e = [2]float64{v, v}
					}
					e = [2]float64{min(e[0], v), max(e[1], v)}
					if ends[at] = e; e[1] > most*e[0] {
						far[p.Key] = true
					}
					if e[1] > factor*e[0] {
						factor = e[1] / e[0]
						info, _ := schema.MetricByName(metric)
						worst = fmt.Sprintf("%s, of which %s is from %s to %s", words.Workload(cols.Keys[p.Key]), info.Label,
							words.Number(e[0]), words.Quantity(e[1], info.Unit))
					}
					break
				}
			}
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
