package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Mapping says what the columns of some tables hold, as in ttreport.yaml. Files is a glob that is matched against the
// end of a path. Columns are by heading:
//
//	Batch: concurrency            a part of the workload: isl osl concurrency rate dataset task label tool
//	Quant: dim quantization       a dimension of the workload
//	GPU: device                   who was measured: model device impl engine version release; start is when
//	TTFT avg: ttft mean s         a metric, its statistic and the unit of the file
//	Throughput: output_tps tok/s  a metric that is one number
//	Power: power W lower          a metric of one's own: its unit, and the better direction
//	Seed: condition seed          a condition
//	Comment: skip                 nothing
type Mapping struct {
	Files   string            `yaml:"files"`
	Tool    string            `yaml:"tool"`
	Columns map[string]string `yaml:"columns"`
}

// Table is a mapping that was checked.
type Table struct {
	files   manifest.Pattern
	tool    string
	columns map[string]column // by heading
}

// column is what one column holds.
type column struct {
	kind   kind
	name   string // of a field, dimension, condition or metric
	stat   string
	factor float64 // to the metric's unit
}

type kind uint8

const (
	skipped kind = iota
	workload
	identity
	dim
	condition
	metric
)

var (
	workloadFields = []string{"isl", "osl", "concurrency", "rate", "dataset", "task", "label", "tool"}
	identityFields = []string{"model", "device", "impl", "engine", "version", "release", "start"}
)

// Compile checks mappings. An error names the mapping and the column, and says what is expected.
func Compile(list []Mapping) ([]Table, error) {
	var out []Table
	for i, m := range list {
		where := fmt.Sprintf("tables: %s", m.Files)
		if m.Files == "" {
			return nil, fmt.Errorf("tables: entry %d names no files", i+1)
		}
		files, err := manifest.NewPattern(m.Files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		t := Table{files: files, tool: m.Tool, columns: map[string]column{}}
		if t.tool == "" {
			t.tool = "table"
		}
		metrics := 0
		for _, heading := range slices.Sorted(maps.Keys(m.Columns)) {
			c, err := newColumn(m.Columns[heading])
			if err != nil {
				return nil, fmt.Errorf("%s: column %q: %w", where, heading, err)
			}
			if c.kind == metric {
				metrics++
			}
			t.columns[heading] = c
		}
		if metrics == 0 {
			return nil, fmt.Errorf("%s: no column is a metric; map one, such as TTFT: ttft mean ms", where)
		}
		out = append(out, t)
	}
	return out, nil
}

// Find returns the first table whose files match a path.
func Find(list []Table, path string) (Table, bool) {
	for _, t := range list {
		if _, _, _, _, ok := t.files.Match(path); ok {
			return t, true
		}
	}
	return Table{}, false
}

func newColumn(text string) (column, error) {
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		return column{}, fmt.Errorf("it says nothing; write skip to leave a column out")
	case text == "skip":
		return column{}, nil
	case len(words) == 1 && slices.Contains(workloadFields, words[0]):
		return column{kind: workload, name: words[0]}, nil
	case len(words) == 1 && slices.Contains(identityFields, words[0]):
		return column{kind: identity, name: words[0]}, nil
	case len(words) == 2 && words[0] == "dim":
		return column{kind: dim, name: words[1]}, nil
	case len(words) == 2 && words[0] == "condition":
		return column{kind: condition, name: words[1]}, nil
	}
	return newMetric(words)
}

// newMetric reads "ttft mean s", "output_tps tok/s" and "power W lower".
func newMetric(words []string) (column, error) {
	info, known := schema.MetricByName(words[0])
	if !known || schema.IsOwn(words[0]) {
		if len(words) == 3 {
			if name, ok := schema.OwnMetric(words[0], words[1], words[2]); ok {
				return column{kind: metric, name: name, stat: "value", factor: 1}, nil
			}
		}
		return column{}, fmt.Errorf("%q is neither a field (%s), a metric, nor a metric of your own (power W lower)",
			strings.Join(words, " "), strings.Join(append(slices.Clone(workloadFields), identityFields...), " "))
	}
	c := column{kind: metric, name: words[0], stat: "value"}
	if info.Unit == "ms" || info.Unit == "tok" || words[0] == "tps_user" {
		c.stat = "mean"
	}
	unit := ""
	switch len(words) {
	case 2:
		unit = words[1]
	case 3:
		c.stat, unit = words[1], words[2]
		if !isStatistic(c.stat) {
			return column{}, fmt.Errorf("%q is no statistic; expected mean, median, std, min, max, value or p1 to p99.9", c.stat)
		}
	}
	if unit == "" && (info.Unit == "req" || info.Unit == "tok") {
		unit = info.Unit // a count
	}
	factor, ok := factorOf(unit, info.Unit)
	if !ok {
		return column{}, fmt.Errorf("state the unit of %s: %s %s %s, or another unit of the same kind", words[0], words[0],
			c.stat, info.Unit)
	}
	c.factor = factor
	return c, nil
}

func isStatistic(name string) bool {
	if slices.Contains([]string{"mean", "median", "std", "min", "max", "value"}, name) {
		return true
	}
	p, ok := strings.CutPrefix(name, "p")
	return ok && len(p) > 0 && len(p) <= 5 && strings.Trim(p, "0123456789.") == "" && p[0] != '.'
}

// factorOf returns what a number in a unit is multiplied by to be in ours.
func factorOf(theirs, ours string) (float64, bool) {
	if theirs == ours {
		return 1, true
	}
	factors := map[string]map[string]float64{
		"ms":    {"s": 1000, "us": 1e-3, "µs": 1e-3, "ns": 1e-6},
		"s":     {"ms": 1e-3, "min": 60, "h": 3600},
		"tok/s": {"tokens/s": 1, "tok/min": 1. / 60, "ktok/s": 1000},
		"req/s": {"requests/s": 1, "req/min": 1. / 60, "rps": 1, "qps": 1},
		"%":     {"fraction": 100},
	}
	f, ok := factors[ours][theirs]
	return f, ok
}
