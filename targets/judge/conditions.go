package judge

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Blocking lists the conditions that change what a number means. Two numbers that differ in one of them are not
// compared; other conditions (num_prompts, warmups, seed …) are shown and block nothing. A condition that one side
// does not state blocks nothing: unknown is not different.
func Blocking(name string) bool {
	switch name {
	case "tokenizer", "ignore_eos", "streaming", "stream", "temperature", "endpoint", "client", "burstiness",
		"prefix_cache", "enable_prefix_caching", "backend", "scheduling",
		"engine", "precision", "mesh", schema.ConditionWindow, schema.ConditionSteps, "preprocessing":
		return true
	}
	return strings.HasSuffix(name, "_distribution") || slices.Contains(schema.ModelSettings(), name)
}

// classes groups conditions that block alike.
type classes struct {
	c      *columns.Columns
	list   []map[string]string
	byText map[string]int32
	memo   map[[2]int32]int32 // by conditions of the point and by system facts of the run
	facts  []int32            // by run: index of the facts in its head
	blocks [][]bool
}

func newClasses(c *columns.Columns) *classes {
	k := &classes{c: c, byText: map[string]int32{}, memo: map[[2]int32]int32{}}
	type facts struct{ engine, precision, mesh string }
	seen := map[facts]int32{}
	for i := range c.Runs {
		h := &c.Runs[i]
		k.facts = append(k.facts, intern(seen, facts{h.Engine, h.Model.Precision, h.Mesh}))
	}
	return k
}

// of returns the class of a point of a run.
func (k *classes) of(run int, p *columns.PointRow) int32 {
	id := [2]int32{p.Cond, k.facts[run]}
	if i, ok := k.memo[id]; ok {
		return i
	}
	h := &k.c.Runs[run]
	m := map[string]string{}
	for name, v := range k.c.Conds[p.Cond] {
		if Blocking(name) && v != "" {
			m[name] = v
		}
	}
	for name, v := range map[string]string{"engine": h.Engine, "precision": h.Model.Precision, "mesh": h.Mesh} {
		if v != "" {
			m[name] = v
		}
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "%q=%q,", name, m[name])
	}
	i, ok := k.byText[text.String()]
	if !ok {
		i = int32(len(k.list))
		k.byText[text.String()] = i
		k.list = append(k.list, m)
	}
	k.memo[id] = i
	return i
}

// close computes which classes block each other; no class may be added afterwards.
func (k *classes) close() {
	k.blocks = make([][]bool, len(k.list))
	for i := range k.list {
		k.blocks[i] = make([]bool, len(k.list))
		for j := range k.list {
			k.blocks[i][j] = len(Differing(k.list[i], k.list[j])) > 0
		}
	}
}

// Block reports whether two classes differ in something that changes the meaning of a number.
func (k *classes) Block(a, b int32) bool { return k.blocks[a][b] }

// Named lists the conditions in which two classes differ: "ignore_eos true → false".
func (k *classes) Named(before, now int32) string {
	var out []string
	for _, name := range Differing(k.list[before], k.list[now]) {
		out = append(out, name+" "+Stated(name, k.list[before])+" → "+Stated(name, k.list[now]))
	}
	return strings.Join(out, ", ")
}

// Stated returns a condition. A window that is not stated is the whole measurement.
func Stated(name string, of map[string]string) string {
	if v := of[name]; v != "" || name != schema.ConditionWindow {
		return v
	}
	return "whole"
}

// Differing names the conditions by which two numbers do not mean the same: those that both state, differently, and a
// window of the measurement that one of them states.
func Differing(a, b map[string]string) []string {
	var out []string
	if (a[schema.ConditionWindow] == "") != (b[schema.ConditionWindow] == "") {
		out = append(out, schema.ConditionWindow)
	}
	for name, v := range a {
		if w, both := b[name]; both && v != w {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}
