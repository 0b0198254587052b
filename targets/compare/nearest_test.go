package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/curve"
)

// What keeps two sides apart is named with both values: the field in which most of the nearest numbers differ.
func TestNearest(t *testing.T) {
	dims := func(tool string, isl float64, dims ...string) compare.Side {
		s := compare.Side{Name: "s"}
		for _, c := range []float64{1, 2, 4} {
			k := key(tool, c)
			k.ISL, k.Dims = ptr(isl), map[string]string{}
			for _, d := range dims {
				name, value, _ := strings.Cut(d, "=")
				k.Dims[name] = value
			}
			s.Runs = append(s.Runs, run("M", point(k, 100, 0)))
		}
		return s
	}
	other := dims("vllm", 128)
	for i := range other.Runs {
		p := &other.Runs[i].Points[0]
		m, _ := p.Metric("ttft")
		m.Set(schema.Kind{Name: "ttft", Unit: "ms", Def: "first-token"})
		p.Metrics.Put(m)
	}
	for name, c := range map[string]struct {
		a, b compare.Side
		want string
	}{
		"a setting":       {dims("x", 128, "backends=ROCm"), dims("x", 128, "backends=Vulkan"), "backends ROCm Vulkan; 3"},
		"one states none": {dims("x", 128, "fa=1"), dims("x", 128), "fa 1 ; 3"},
		"two":             {dims("x", 128, "fa=1"), dims("y", 128), "fa 1 , tool x y; 3"},
		"a definition":    {dims("vllm", 128), other, "definition of ttft  first-token; 3"},
		"too far":         {dims("x", 128, "a=1", "b=1"), dims("y", 256), ""},
		"nothing":         {compare.Side{}, dims("x", 128), ""},
		"the same":        {dims("x", 128), dims("x", 128), ""},
	} {
		got := ""
		if n := compare.Sides(c.a, c.b).Nearest; n != nil {
			var parts []string
			for _, d := range n.Differ {
				parts = append(parts, d.Name+" "+d.A+" "+d.B)
			}
			got = fmt.Sprintf("%s; %d", strings.Join(parts, ", "), n.N)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A curve against TTFT is tested where the workload has none against speed, and stands beside that one else.
func TestMovedTestsOneCurveOfAWorkload(t *testing.T) {
	moved := &curve.Comparison{P: .001}
	wait := compare.Curve{Axis: compare.AxisWait, Comparison: moved}
	beside := wait
	beside.Beside = true
	if n := len(compare.Moved([]compare.Curve{wait})); n != 1 {
		t.Errorf("%d curves moved, of one against TTFT alone", n)
	}
	if n := len(compare.Moved([]compare.Curve{{Axis: compare.AxisSpeed, Comparison: moved}, beside})); n != 1 {
		t.Errorf("%d curves moved, of one workload", n)
	}
}
