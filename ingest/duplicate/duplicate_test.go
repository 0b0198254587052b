package duplicate_test

import (
	"fmt"
	"testing"

	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/schema"
)

func number(v float64) *float64 { return &v }

// point is a measurement with three latencies that follow from x.
func point(tool string, c, x float64) *schema.Point {
	var metrics schema.MetricList
	for i, name := range []string{"e2el", "ttft", "tpot"} {
		metrics.Put(schema.Of(name, "mean", x*float64(i+1)+.125))
	}
	return &schema.Point{Key: schema.Key{Tool: tool, Concurrency: number(c)}, Metrics: metrics}
}

// once goes through points by their marks, and drops the poorer of two that are the same.
func once(points []*schema.Point, same func(a, b int) bool, merge func(keep, drop int)) {
	marks := func(i int) (list, same []duplicate.Mark) {
		for _, text := range duplicate.Marks(points[i], false, false) {
			list = append(list, duplicate.Mark{Text: text, Last: 20})
		}
		return list, list
	}
	duplicate.Once(len(points), marks, func(a, b int) int {
		if !same(a, b) {
			return -1
		}
		if duplicate.Richness(points[b]) > duplicate.Richness(points[a]) {
			a, b = b, a
		}
		merge(a, b)
		return b
	})
}

// pairs are the copies among points, where those are copies that agree in three statistics.
func pairs(points ...*schema.Point) string {
	out := ""
	same := func(a, b int) bool {
		return duplicate.Agree(points[a], points[b], duplicate.Agreement{Statistics: 3, Digits: 12})
	}
	once(points, same, func(keep, drop int) { out += fmt.Sprintf("%d<%d ", keep, drop) })
	return out
}

func TestCopies(t *testing.T) {
	rich := point("vllm", 1, 10)
	rich.Metrics.Put(schema.Of("output_tps", "value", 5))
	std := point("vllm", 1, 10)
	m, _ := std.Metric("ttft")
	m.Stats.Set("std", 3)
	m.N = 5
	std.Metrics.Put(m)
	otherStd := point("vllm", 1, 10)
	m, _ = otherStd.Metric("ttft")
	m.Stats.Set("std", 3.354102)
	otherStd.Metrics.Put(m)
	unknownLoad := point("vllm", 1, 10)
	unknownLoad.Key.Concurrency = nil
	otherDef := point("vllm", 1, 10)
	m, _ = otherDef.Metric("ttft")
	m.Set(schema.Kind{Name: "ttft", Unit: "ms", Def: schema.DefFirstChunk})
	otherDef.Metrics.Put(m)
	firstContent := point("vllm", 1, 10)
	m, _ = firstContent.Metric("ttft")
	m.Set(schema.Kind{Name: "ttft", Unit: "ms", Def: schema.DefFirstContent})
	firstContent.Metrics.Put(m)
	for name, c := range map[string]struct {
		points []*schema.Point
		want   string
	}{
		"equal":                    {[]*schema.Point{point("vllm", 1, 10), point("vllm", 1, 10)}, "0<1 "},
		"the richer one is kept":   {[]*schema.Point{point("vllm", 1, 10), rich}, "1<0 "},
		"three forms":              {[]*schema.Point{point("vllm", 1, 10), point("vllm", 1, 10), rich}, "0<1 2<0 "},
		"beyond a millionth":       {[]*schema.Point{point("vllm", 1, 10), point("vllm", 1, 10.0001)}, ""},
		"other tool":               {[]*schema.Point{point("vllm", 1, 10), point("aiperf", 1, 10)}, ""},
		"other load":               {[]*schema.Point{point("vllm", 1, 10), point("vllm", 2, 10)}, ""},
		"load that one states":     {[]*schema.Point{point("vllm", 1, 10), unknownLoad}, "0<1 "},
		"deviations by n and n-1":  {[]*schema.Point{std, otherStd}, "0<1 "},
		"a definition unknown":     {[]*schema.Point{point("vllm", 1, 10), otherDef}, "0<1 "},
		"two definitions: 2 agree": {[]*schema.Point{otherDef, firstContent}, ""},
		"whole numbers": {[]*schema.Point{
			{Metrics: whole(3)}, {Metrics: whole(3)},
		}, ""},
		"whole numbers beside fractions": {[]*schema.Point{
			{Metrics: beside(whole(1250), "tpot", "rps")}, {Metrics: beside(whole(1250), "tpot", "rps")},
		}, "0<1 "},
		"one fraction": {[]*schema.Point{{Metrics: beside(whole(1250), "tpot")}, {Metrics: beside(whole(1250), "tpot")}}, ""},
	} {
		got := pairs(c.points...)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// beside makes some of the numbers fractions.
func beside(metrics schema.MetricList, names ...string) schema.MetricList {
	for i, name := range names {
		metrics.Put(schema.Of(name, "mean", float64(i)+64.6))
	}
	return metrics
}

// whole has whole numbers, which different measurements may share by chance.
func whole(x float64) (metrics schema.MetricList) {
	for _, name := range []string{"e2el", "ttft", "tpot", "rps"} {
		metrics.Put(schema.Of(name, "mean", x))
	}
	return metrics
}

// The caller decides first whether two can be one at all.
func TestCopiesAsks(t *testing.T) {
	points := []*schema.Point{point("vllm", 1, 10), point("vllm", 1, 10)}
	asked := 0
	never := func(int, int) bool { asked++; return false }
	once(points, never, func(int, int) { t.Error("a pair that the caller ruled out") })
	if asked == 0 {
		t.Error("the caller was not asked")
	}
}
