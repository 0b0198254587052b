// This file reads results of airspeed velocity (asv.readthedocs.io, "Data formats"): a file a commit and environment,
// results/MACHINE/COMMIT-ENVIRONMENT.json, of versions 1 and 2. A benchmark has a value for each combination of its
// parameters, the last of which varies fastest: null where it failed, NaN where it was skipped. Units are in another
// file; the name of a benchmark says what it measures. Lower is better, but for track_ nothing is known of it.

package format

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// ASV is the format. A commit is a build of channel main, and an environment an implementation.
var ASV = draft.Format{
	Name: "asv", Detail: "benchmarks of a commit", All: readASV,
	Wants: draft.Wants(`commit_hash""`, "results{}", "params{}|python|env_name"),
}

// asvMetrics are units and directions by the beginning of a benchmark's name.
var asvMetrics = map[string][3]string{
	"time": {"time", "s", "lower"}, "timeraw": {"time", "s", "lower"}, "mem": {"memory", "B", "lower"},
	"peakmem": {"peak_memory", "B", "lower"}, "track": {"value", "", "neither"},
}

func readASV(f *decode.File, r *schema.Reading) {
	v := f.First
	commit := v.Get("commit_hash").Str()
	r.Facts = schema.Facts{
		Release: commit[:min(8, len(commit))], Channel: schema.ChannelMain, Impl: v.Get("env_name").Str(),
		Device: schema.Device{Name: v.Path("params.machine").Str()},
		Stack:  schema.Stack{Commits: map[string]string{"repository": commit}},
	}
	if ms := v.Get("date").Float0(); ms > 0 {
		r.Facts.Start = time.UnixMilli(int64(ms)).UTC()
	}
	var columns []string
	for c := range v.Get("result_columns").Items() {
		columns = append(columns, c.Str())
	}
	for _, b := range v.Get("results").Members() {
		column := func(name string) decode.Value {
			if i := slices.Index(columns, name); b.Val.Kind() == decode.Array && i >= 0 {
				return b.Val.Index(i)
			}
			return b.Val.Get(name) // of version 1, where one value may stand alone
		}
		one, values := b.Val, column("result")
		if n := values.Len(); values.Kind() == decode.Array {
			for i := range n {
				readASVValue(draft.New(f, r, b.Val, "asv"), b.Key, values.Index(i), i, column)
			}
			continue
		}
		if one.Kind() == decode.Array || one.Kind() == decode.Object {
			one = values
		}
		readASVValue(draft.New(f, r, b.Val, "asv"), b.Key, one, 0, column)
	}
}

// readASVValue makes a point of one value of a benchmark.
func readASVValue(d *draft.Draft, benchmark string, value decode.Value, i int, column func(string) decode.Value) {
	x, ok := value.Float()
	if !ok && value.Kind() != decode.Null {
		return // skipped
	}
	d.Key.Task = ""
	d.Dim(schema.DimLabel, benchmark)
	axes := column("params")
	for n, at := axes.Len()-1, i; n >= 0; n-- {
		axis := axes.Index(n)
		if size := axis.Len(); size > 0 {
			d.Dim(fmt.Sprint("param", n+1), strings.Trim(axis.Index(at%size).Text(), "'"))
			at /= size
		}
	}
	kind, _, _ := strings.Cut(benchmark[strings.LastIndexByte(benchmark, '.')+1:], "_")
	is := cmp.Or(asvMetrics[kind], asvMetrics["track"])
	name, _ := schema.OwnMetric(is[0], is[1], is[2])
	if !ok {
		d.Missing(name, "", "the benchmark failed")
		d.Status = schema.StatusFailed
	}
	for from, stat := range map[string]string{"stats_q_25": "p25", "stats_q_75": "p75"} {
		if q, has := column(from).Index(i).Float(); has && ok {
			d.Stat(name, "", stat, q)
		}
	}
	if ok {
		d.Stat(name, "", "value", x)
	}
	d.Done()
}
