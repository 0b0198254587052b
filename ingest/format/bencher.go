// This file reads Bencher's metric format, BMF JSON (bencher.dev, explanation/bencher-metric-format): benchmarks by
// name, each with measures of a value and perhaps its bounds. No unit is stated: latency is in nanoseconds and
// throughput in operations a second by Bencher's own definition, any other is a number as it stands.

package format

import (
	"cmp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Bencher is the format: every member is a benchmark of measures, and nothing else.
var Bencher = draft.Format{Name: "bencher", Detail: "measures of benchmarks", Sniff: sniffBencher, All: readBencher}

func sniffBencher(f *decode.File, m *draft.Check) {
	measures := 0
	for _, benchmark := range f.First.Members() {
		for _, measure := range benchmark.Val.Members() {
			if measure.Val.Get("value").Kind() != decode.Number || len(measure.Val.Members()) > 3 {
				m.Detail, m.Lacks = "", []string{"NAME.MEASURE.value alone"}
				return
			}
			for _, x := range measure.Val.Members() {
				m.Not(x.Key != "value" && x.Key != "lower_value" && x.Key != "upper_value", "a value and its bounds alone")
			}
			measures++
		}
	}
	m.Want(measures > 0, "NAME.MEASURE.value")
}

// bencherMeasures are the units and directions of Bencher's own measures.
var bencherMeasures = map[string][2]string{
	"latency": {"ns", "lower"}, "throughput": {"ops/s", "higher"}, "build-time": {"s", "lower"},
	"file-size": {"B", "lower"}, "instructions": {"instructions", "lower"},
}

func readBencher(f *decode.File, r *schema.Reading) {
	for _, benchmark := range f.First.Members() {
		d := draft.New(f, r, benchmark.Val, "bencher")
		d.Key.Task = ""
		d.Dim(schema.DimLabel, benchmark.Key)
		for _, measure := range benchmark.Val.Members() {
			is := cmp.Or(bencherMeasures[measure.Key], [2]string{"", "neither"})
			name, ok := schema.OwnMetric(measure.Key, is[0], is[1])
			if !ok {
				d.Problem(schema.SevWarning, "bad-metric", measure.Val, "a measure called "+measure.Key,
					"a name of letters, digits and _ . -", "the other measures")
				continue
			}
			for key, stat := range map[string]string{"value": "value", "lower_value": "min", "upper_value": "max"} {
				d.Put(draft.Field{Metric: name}, stat, measure.Val.Get(key))
			}
		}
		d.Done()
	}
}
