package decode

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// bombs are small or well compressed, and take much of a parser that has no bounds.
func bombs() map[string]string {
	laughs := "results: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		laughs += fmt.Sprintf("k%d: &a%d [%s*a%d]\n", i, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8), i)
	}
	var keys strings.Builder
	keys.WriteString("results:\n")
	for i := range 60000 {
		fmt.Fprintf(&keys, " k%d: 1\n", i)
	}
	return map[string]string{
		"laughs": laughs,
		"long":   "results: &a \"" + strings.Repeat("x", 500<<10) + "\"\nb:\n" + strings.Repeat("- *a\n", 20000),
		"keys":   keys.String(),
		"blanks": "results: |\n" + strings.Repeat(" \n", 300<<10),
		"flow":   "results: {" + strings.Repeat("a: 1, ", 100<<10) + "}",
		"list":   "results: [" + strings.Repeat("[],", 300<<10) + "]",
		"deep":   "results: " + strings.Repeat("[", 100<<10),
		"dashes": "results:\n" + strings.Repeat("- ", 200<<10),
		"lines":  "results:\n" + strings.Repeat("- a\n", 250<<10),
		"docs":   "results: 1\n" + strings.Repeat("---\n", 200<<10),
		"self":   "results: &a [*a, *a, *a]\n",
	}
}

func TestBombsAreDefused(t *testing.T) {
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			f := NewFile("r.yaml", []byte(text), time.Time{}, DefaultLimits())
			var v struct{ Results any }
			p := YAML("ttreport.yaml", []byte(text), &v)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			used := (after.TotalAlloc - before.TotalAlloc) >> 20
			if took > 30*time.Second || used > 200 {
				t.Errorf("%s and %d MB", took, used)
			}
			if name != "self" && (p == nil || f.Form == JSON) {
				t.Errorf("passes: %v, form %d, %v", p, f.Form, f.Problems)
			}
		})
	}
}

func TestPeoplesYAMLStays(t *testing.T) {
	var v struct {
		Base map[string]int
		List []map[string]int
	}
	text := "base: &b {x: 1}\nlist:\n" + strings.Repeat("- {<<: *b, y: 2}\n", 300)
	if p := YAML("a.yaml", []byte(text), &v); p != nil || len(v.List) != 300 || v.List[299]["x"] != 1 {
		t.Errorf("%v, %d", p, len(v.List))
	}
}
