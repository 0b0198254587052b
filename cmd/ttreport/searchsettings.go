package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/terminal"
	"github.com/ttreport/ttreport/render/words"
)

// searchSettings measures combinations of --server-param until no neighbour of the best one is better, and says which
// were measured and which were not. One that fails, as where a server does not start, does not end the search.
func (o collectOptions) searchSettings(ctx context.Context, entries []plan.Entry) error {
	climb, err := o.climb(entries)
	if err != nil {
		return err
	}
	info, _ := schema.MetricByName(o.search)
	at, more := climb.Next()
	for ; more && ctx.Err() == nil; at, more = climb.Next() {
		setting := strings.Join(entries[at].ServerParams, ", ")
		o.sh.say("search    %d of at most %d: %s", len(climb.Values)+1, len(entries), setting)
		one := o
		one.Options = o.With(entries[at])
		done, err := one.measure(ctx)
		value := math.NaN()
		if err == nil {
			value, err = searched(ctx, o.ws, done.dirs, info.Name)
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			o.sh.say("error: %s: %v", setting, err)
			value = math.NaN()
		}
		climb.Note(at, value)
	}
	left := len(entries) - len(climb.Values)
	if len(climb.Values) > 0 {
		writeSearch(o.sh, climb, entries, info)
	}
	switch {
	case ctx.Err() != nil:
		return failure{code: exitCollect, err: ctx.Err(),
			hint: "with --once the same command continues where this one stopped"}
	case climb.Best < 0:
		return fail(exitCollect, "the lines above say why", "collect: no setting could be measured")
	case left > 0:
		fmt.Fprintf(o.sh.out, "%s not tried. None of them differs from the best by one step of one flag; a better one may "+
			"be among them.\n",
			plaintext.Plural(left, "setting"))
	}
	fmt.Fprintln(o.sh.out, "Each was measured by itself, so a difference smaller than the noise of a run means nothing.")
	return nil
}

// climb is the search for a metric among entries that are all combinations of the settings of one plan.
func (o collectOptions) climb(entries []plan.Entry) (*plan.Climb, error) {
	const example = "--server-param max-num-seqs=64,128,256 --server-param block-size=16,32 --search output_tps"
	info, _ := schema.MetricByName(o.search)
	switch {
	case info.Better == schema.Neither:
		const format = "collect: --search %q: expected a metric of which more or less is better"
		return nil, fail(exitUsage, example, format, o.search)
	case len(entries) < 2:
		return nil, fail(exitUsage, example, "collect: --search needs --server-param with the values to choose from")
	}
	var sizes []int // how many values each flag has
	for k := range entries[0].ServerParams {
		values := map[string]bool{}
		for _, e := range entries {
			values[e.ServerParams[k]] = true
		}
		sizes = append(sizes, len(values))
	}
	return plan.NewClimb(sizes, info.Better == schema.Higher), nil
}

// searched is what a search compares: the geometric mean of a metric over the points of a run, of a share or a count
// that may be 0 the mean. A point without it is an error, since a mean of the others would be of another load.
func searched(ctx context.Context, ws *workspace.Workspace, dirs []string, metric string) (float64, error) {
	set, err := load(ctx, ws, dirs, &identity{})
	if err != nil {
		return 0, err
	}
	n, sum, logs := 0., 0., 0.
	for _, r := range set.Runs {
		for i := range r.Points {
			m, _ := r.Points[i].Metric(metric)
			_, v := m.Primary()
			x, ok := v.Get()
			if !ok || !schema.IsMeasurement(metric, x) {
				return 0, fmt.Errorf("%s has no %s of %s", strings.Join(dirs, ", "), metric, words.Workload(r.Points[i].Key))
			}
			n, sum, logs = n+1, sum+x, logs+math.Log(x)
		}
	}
	switch {
	case n == 0:
		return 0, fmt.Errorf("%s has no %s", strings.Join(dirs, ", "), metric)
	case schema.MayBeZero(metric):
		return sum / n, nil
	}
	return math.Exp(logs / n), nil
}

// writeSearch writes a row a combination, in their order: its value and how far it is from the best, or that it has
// none.
func writeSearch(sh *shell, climb *plan.Climb, entries []plan.Entry, info schema.MetricInfo) {
	head := []string{""}
	for _, p := range entries[0].ServerParams {
		name, _, _ := strings.Cut(p, "=")
		head = append(head, name)
	}
	label := info.Label
	if info.Unit != "" && !strings.HasSuffix(label, info.Unit) {
		label += ", " + info.Unit
	}
	lines := [][]string{append(head, label, "to the best")}
	for i, e := range entries {
		line := []string{""}
		for _, p := range e.ServerParams {
			_, value, _ := strings.Cut(p, "=")
			line = append(line, value)
		}
		switch v, tried := climb.Values[i]; {
		case !tried:
			line = append(line, "not tried", "")
		case math.IsNaN(v):
			line = append(line, "failed", "")
		case i == climb.Best:
			line[0] = "best"
			line = append(line, words.Number(v), "")
		default:
			line = append(line, words.Number(v), words.Change(v/climb.Values[climb.Best]-1))
		}
		lines = append(lines, line)
	}
	terminal.Align(sh.out, lines, func(column int) bool { return column > 0 })
}
