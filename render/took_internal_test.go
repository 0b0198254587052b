package render

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
)

// What a command costs is told by what was known in its release: a later one that is slower does not change the page.
func TestTookUpToARelease(t *testing.T) {
	b, one := columns.NewBuilder(), 1.
	key := schema.Key{Task: "text", Tool: "vllm", ISL: &one, OSL: &one, Concurrency: &one}
	of := schema.System{Model: "M", Device: "n150"}
	r := &Report{runs: map[schema.Pair]map[int][]int{}, with: map[schema.Pair][]int{}}
	pair := schema.Pair{Model: of.Model, Device: of.Device}
	r.runs[pair] = map[int][]int{}
	for i, minutes := range []float64{2, 30} {
		p := columns.PointRow{Run: int32(i), Key: b.Key(key, key.String())}
		first := len(b.C.Points)
		b.Begin(&p)
		b.Value(b.StatID(columns.StatID{Metric: "e2el", Stat: "mean", Unit: "ms"}), minutes*60_000)
		b.Value(b.StatID(columns.StatID{Metric: "requests_ok", Stat: "value"}), 1)
		b.End(p)
		b.C.Runs = append(b.C.Runs, columns.RunHead{FirstPoint: first, PointsEnd: first + 1})
		r.Releases = append(r.Releases, judge.Release{Name: []string{"v1", "v2"}[i], Runs: []int{i}})
		r.runs[pair][i], r.with[pair] = []int{i}, append(r.with[pair], i)
	}
	r.Columns = b.Seal()
	for release, want := range map[string]string{"v1": ", about 2 min", "v2": ", about 30 min"} {
		if got := r.took(release, of, []schema.Key{key}); got != want {
			t.Errorf("%s: %q, not %q", release, got, want)
		}
	}
}
