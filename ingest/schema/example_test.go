package schema_test

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
)

// What a tool calls a statistic has one name here, and a tail of few requests is no number.
func ExampleTailHolds() {
	stat, _ := schema.ParseStat("p99p9")
	fmt.Println(stat, schema.TailHolds(stat, 20), schema.TailHolds(stat, 2000))
	// Output: p99.9 false true
}

// The registry has what is to be known of a metric.
func ExampleMetricByName() {
	ttft, _ := schema.MetricByName("ttft")
	fmt.Printf("%s in %s, %s\n", ttft.Label, ttft.Unit, ttft.Better)
	// Output: TTFT in ms, lower is better
}

// A number is a value or the reason for which there is none.
func ExampleNumber() {
	for _, n := range []schema.Number{schema.Num(0), schema.Missing("no request completed")} {
		if v, ok := n.Get(); ok {
			fmt.Println("measured:", v)
		} else {
			fmt.Println("none:", n.Why())
		}
	}
	// Output:
	// measured: 0
	// none: no request completed
}

// Two points of one key measured the same thing. What nobody stated has no place in it.
func ExampleKey() {
	isl, osl, streams := 1024., 128., 32.
	k := schema.Key{Task: "text", Tool: "vllm", ISL: &isl, OSL: &osl, Concurrency: &streams}
	fmt.Println(k.Workload())
	// Output: 1024/128/32
}
