package render

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// beside is what is compared at first: the newest release that has an earlier one with a model and device in common,
// and that one. Where nothing was measured twice, at has two devices, tools or models with the same workloads.
func (r *Report) beside() (a, b, at string) {
	newest := r.Newest()
	if newest < 0 {
		return "", "", ""
	}
	b, found := r.Releases[newest].Name, -1
	for _, p := range r.Pairs {
		if len(r.runs[p.Pair][newest]) == 0 {
			continue
		}
		for _, at := range slices.Backward(r.measuredIn(p.Model, p.Device)) {
			if at < newest && at > found && r.share(p.Pair, at, newest) {
				found = at
			}
		}
	}
	if found >= 0 {
		return r.Releases[found].Name, b, ""
	}
	for _, p := range r.Pairs { // the newest has no such one: any that was measured twice
		list := r.measuredIn(p.Model, p.Device)
		if n := len(list); n > 1 && list[n-1] > found && r.share(p.Pair, list[n-2], list[n-1]) {
			found = list[n-1]
			a, b = r.Releases[list[n-2]].Name, r.Releases[found].Name
		}
	}
	if found >= 0 {
		return a, b, ""
	}
	if one, two := r.opposed(); one.pair.Model != "" || one.pair.Device != "" {
		return r.Releases[one.release].Name, r.Releases[two.release].Name, choice(one, two)
	}
	return "", b, ""
}

// share reports whether two releases have a workload or a task of a model on a device in common.
func (r *Report) share(p schema.Pair, a, b int) bool {
	for _, x := range r.byTool(a, p) {
		for _, y := range r.byTool(b, p) {
			if x.tool == y.tool && shared(x, y) > 0 {
				return true
			}
		}
	}
	return false
}

// measured is what one release has of a model on a device with a tool; without one, with all.
type measured struct {
	release int
	pair    schema.Pair
	tool    string
	keys    map[string]bool // workloads and tasks, without the tool
}

// choice is the address of two sides: what they choose differently is what is compared.
func choice(one, two *measured) string {
	v := url.Values{}
	for side, m := range map[string]*measured{"a": one, "b": two} {
		if one.pair.Model != two.pair.Model {
			v.Set(side+"model", words.OrUnknown(m.pair.Model))
		}
		if one.pair.Device != two.pair.Device {
			v.Set(side+"device", words.Device(m.pair.Device))
		}
		if one.tool != two.tool {
			v.Set(side+"tool", m.tool)
		}
	}
	return v.Encode()
}

// mostOpposed bounds the search for two sides, which looks at each two of what was measured.
const mostOpposed = 200

// opposed are the two measurements that have most in common and differ in the device alone; where there are none, in
// the tool, or in the model.
func (r *Report) opposed() (one, two *measured) {
	var all []*measured
	for _, p := range r.Pairs {
		for _, at := range r.measuredIn(p.Model, p.Device) {
			if len(all) < mostOpposed {
				all = append(all, r.byTool(at, p.Pair)...)
			}
		}
	}
	for _, differ := range []func(x, y *measured) bool{
		func(x, y *measured) bool { return x.pair.Model == y.pair.Model && x.tool == y.tool && x.pair != y.pair },
		func(x, y *measured) bool { return x.pair == y.pair && x.release == y.release && x.tool != y.tool },
		func(x, y *measured) bool {
			return x.pair.Device == y.pair.Device && x.tool == y.tool && x.pair != y.pair
		},
	} {
		most := 0
		for i, x := range all {
			for _, y := range all[i+1:] {
				if n := shared(x, y); differ(x, y) && n > most {
					most, one, two = n, x, y
				}
			}
		}
		if most > 0 {
			return one, two
		}
	}
	return &measured{}, &measured{}
}

func shared(x, y *measured) (n int) {
	for k := range x.keys {
		n += truth(y.keys[k])
	}
	return n
}

// byTool is what a release has of a model on a device, for each tool in the order of its points; scores have none.
func (r *Report) byTool(release int, pair schema.Pair) (out []*measured) {
	at := map[string]int{}
	add := func(tool, key string) {
		i := place(at, tool, &out, func() *measured {
			return &measured{release, pair, tool, map[string]bool{}}
		})
		out[i].keys[key] = true
	}
	for _, run := range r.runs[pair][release] {
		h := &r.Columns.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			k := r.Columns.Keys[r.Columns.Points[i].Key]
			tool := k.Tool
			k.Tool = ""
			add(tool, strings.Join([]string{h.Impl, k.String()}, "\n"))
		}
		for _, s := range r.Columns.ScoresOf(run) {
			add("", strings.Join([]string{s.Task, fewshotText(&s), s.Metric, s.Filter}, "\n"))
		}
	}
	return out
}
