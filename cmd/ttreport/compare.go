package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

func compareCommand() command {
	return command{
		name: "compare", args: "A B", summary: "two runs, releases, files or folders beside each other, worst first",
		help: `Each side is a release or run id of history/, or a file, a folder or a glob of result files; several measurements of one
workload are repeats. B is compared with A: the geometric mean of each, ± half of the range of the repeats, the change with its 95 %
interval, p and n. The test follows from the data and is named: Mann-Whitney's U from four repeats a side on, Welch's t on
logarithms below, none for a single value. ~ means that nothing can be said; how many runs a side would say it stands beside.

Numbers of two tools, or under two definitions of a metric, are not compared. What only one side has is counted at the end.
For a verdict with the noise of history use ttreport check.`,
		examples: []example{
			{"two releases", "ttreport compare v0.5.0 v0.6.0"},
			{"repeats in two folders", "ttreport compare before/ after/"},
			{"for a pull request", "ttreport compare --format md 'main-*.json' 'pr-*.json'"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			format := fs.String("format", "term", "term, md, csv or json")
			id := identityFlags(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) != 2 {
					return fail(exitUsage, "ttreport compare v0.5.0 v0.6.0", "compare: needs two sides, A and B")
				}
				if !slices.Contains([]string{"term", "md", "csv", "json"}, *format) {
					return fail(exitUsage, "formats are term, md, csv and json", "compare: --format %q", *format)
				}
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				c, err := compareSides(ctx, ws, id, args[0], args[1])
				if err != nil {
					return err
				}
				return c.write(sh.out, *format)
			}
		},
	}
}

// side is one half of a comparison: values by what was measured.
type side struct {
	name   string
	values map[cellName][]float64
	runs   int
	bad    int // values that no measurement gives, and points that failed or are void
}

// cellName is what must be equal for two numbers to be compared. The system is part of it only where both sides have several.
type cellName struct{ system, key, metric, stat, def string }

// compared is one row.
type compared struct {
	system   string
	key      schema.Key
	metric   string
	stat     string
	r        pairing.Result
	worse    float64 // log change, positive is worse
	workload string
}

type comparison struct {
	a, b         string
	rows         []compared
	onlyA, onlyB int
	badA, badB   int // left out: see side
	lost         int // documents of the history that could not be read
}

func compareSides(ctx context.Context, ws *workspace.Workspace, id *identity, a, b string) (*comparison, error) {
	cols, problems, err := history.Load(ctx, ws.Cache(), ws.History())
	if err != nil {
		return nil, err
	}
	var runs [2][]schema.Run
	for i, what := range []string{a, b} {
		list, err := resolveSide(ctx, cols, id, what)
		if err != nil {
			return nil, err
		}
		runs[i] = list
	}
	several := systems(runs[0]) > 1 || systems(runs[1]) > 1
	keys := map[string]schema.Key{}
	left, right := gatherSide(a, runs[0], several, keys), gatherSide(b, runs[1], several, keys)
	c := &comparison{a: a, b: b, badA: left.bad, badB: right.bad, lost: len(lost(problems))}
	for name, values := range right.values {
		base, both := left.values[name]
		if !both {
			c.onlyB++
			continue
		}
		info, _ := schema.MetricByName(name.metric)
		row := compared{system: name.system, key: keys[name.key], metric: name.metric, stat: name.stat, r: pairing.Compare(base, values)}
		row.workload = words.Workload(row.key)
		row.worse = math.Log1p(row.r.Change)
		if info.Better == schema.Higher {
			row.worse = -row.worse
		}
		c.rows = append(c.rows, row)
	}
	for name := range left.values {
		if _, both := right.values[name]; !both {
			c.onlyA++
		}
	}
	if len(c.rows) == 0 {
		return nil, fail(exitUngraded, "workloads, tools and definitions must be the same; ttreport inspect shows what each side holds", "compare: nothing that %s has was measured in %s too (%d and %d numbers)", a, b, len(left.values), len(right.values))
	}
	sort.Slice(c.rows, func(i, j int) bool { return lessRow(c.rows[i], c.rows[j]) })
	return c, nil
}

// lessRow puts what is surely worse first, then surely better, then the rest, each by size.
func lessRow(x, y compared) bool {
	rank := func(r compared) int {
		switch {
		case r.r.Sure && r.worse > 0:
			return 0
		case r.r.Sure:
			return 1
		}
		return 2
	}
	if rank(x) != rank(y) {
		return rank(x) < rank(y)
	}
	if dx, dy := math.Abs(x.worse), math.Abs(y.worse); dx != dy {
		return dx > dy
	}
	if x.key.String() != y.key.String() {
		return x.key.Less(y.key)
	}
	return x.system+x.metric+x.stat < y.system+y.metric+y.stat
}

func systems(runs []schema.Run) int {
	seen := map[string]bool{}
	for i := range runs {
		seen[systemOf(&runs[i])] = true
	}
	return len(seen)
}

func systemOf(r *schema.Run) string {
	return orUnknown(r.Model.Name) + " on " + orUnknown(r.Device.Name)
}

// gatherSide collects the values of a side: one a measurement.
func gatherSide(name string, runs []schema.Run, several bool, keys map[string]schema.Key) side {
	s := side{name: name, values: map[cellName][]float64{}, runs: len(runs)}
	for i := range runs {
		system := ""
		if several {
			system = systemOf(&runs[i])
		}
		for k := range runs[i].Points {
			p := &runs[i].Points[k]
			if p.Status == schema.StatusFailed || p.Status == schema.StatusInvalid {
				s.bad++
				continue
			}
			key := p.Key.String()
			keys[key] = p.Key
			for _, metric := range judgedOf(p) {
				m, ok := p.Metrics[metric]
				stat, n := m.Primary()
				v, has := n.Get()
				if !ok || !has {
					continue
				}
				if !targets.Measurable(v) {
					s.bad++
					continue
				}
				c := cellName{system, key, metric, stat, m.Def}
				s.values[c] = append(s.values[c], v)
			}
		}
	}
	return s
}

// resolveSide finds what a side names: a release or run in history, else files.
func resolveSide(ctx context.Context, cols *columns.Columns, id *identity, what string) ([]schema.Run, error) {
	if runs, err := storedSide(cols, what); err != nil || len(runs) > 0 {
		return runs, err
	}
	paths := []string{what}
	if _, err := os.Stat(what); err != nil {
		if paths, err = filepath.Glob(what); err != nil || len(paths) == 0 {
			return nil, fail(exitUsage, "a side is a release or run id in history/, a file, a folder or a glob in quotes", "compare: %q is none of them", what)
		}
	}
	set, err := load(ctx, paths, id)
	if err != nil {
		return nil, err
	}
	if len(set.Runs) == 0 {
		return nil, fail(exitInput, "ttreport inspect "+what, "compare: no result was found in %s", what)
	}
	return set.Runs, nil
}

func storedSide(cols *columns.Columns, what string) ([]schema.Run, error) {
	var out []schema.Run
	for _, r := range targets.Releases(cols, nil) {
		for _, run := range r.Runs {
			h := &cols.Runs[run]
			if r.Name != what && h.ID != what {
				continue
			}
			doc, problem := history.Read(h.Path)
			if problem != nil {
				return nil, failure{code: exitInput, err: *problem}
			}
			out = append(out, doc)
		}
	}
	return out, nil
}

// judgedOf are the metrics of a point that are compared: the primary ones, then the user's own by name.
func judgedOf(p *schema.Point) []string {
	out := targets.PrimaryMetrics()
	for name := range p.Metrics {
		if schema.IsOwn(name) {
			out = append(out, name)
		}
	}
	sort.Strings(out[len(targets.PrimaryMetrics()):])
	return out
}
