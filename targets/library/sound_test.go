package library_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

// A target that every measurement meets, or none, is refused and reported, whichever file states it.
func TestUnsoundRequirements(t *testing.T) {
	evals := func(eval string) string { return requirementsHead + `"accuracyEvals":[` + eval + `]}` }
	ttft := func(more string) string { return `{"metric":"ttft","comparator":"lte",` + more + `}` }
	for _, doc := range []string{
		evals(`{"name":"a","gpuReferenceScore":79,"tolerance":5}`),
		evals(`{"name":"a","gpuReferenceScore":79,"tolerance":-3}`),
		evals(`{"name":"a","gpuReferenceScore":500}`),
		scenario(ttft(`"target":1,"unit":"fortnights"`), sweepPoint),
		scenario(ttft(`"target":100,"statistic":"typical"`), sweepPoint),
		scenario(ttft(`"target":-100`), sweepPoint),
		scenario(ttft(`"target":100`), `{"isl":128,"osl":128,"concurrency":-1}`),
	} {
		l := library.New()
		p := l.Add("req.json", []byte(doc), "", everyDevice)
		refused := slices.Equal(codes(p), []string{"bad-target"}) && p[0].Severity == schema.SevError
		if !refused || len(l.List()) != 0 {
			t.Errorf("%s: %v", doc, p)
		}
	}
}

func TestUnsoundOwnTargets(t *testing.T) {
	const row = `targets: [{model: M, device: n150, workload: {isl: 128, osl: 128, concurrency: 1}, metric: ttft, ` +
		`value: 80, tolerance: 0.05, stat: mean, source: x, as_of: 2026-01-31}]`
	const eval = `evals: [{model: M, task: gsm8k, value: 0.79, tolerance: 0.05, source: x, as_of: 2026-01-31}]`
	for _, sound := range []string{row, eval} {
		if l := library.New(); len(l.Add("own.yaml", []byte(sound), "", everyDevice)) != 0 || len(l.List()) != 1 {
			t.Errorf("refused: %s", sound)
		}
	}
	for _, c := range [][3]string{
		{row, "80", ".nan"}, {row, "80", ".inf"}, {row, "80", "-1"}, {row, "0.05", ".nan"}, {row, "0.05", "1"},
		{row, "mean", "average"}, {row, "mean", "p100"}, {row, "2026-01-31", "soon"},
		{row, "concurrency: 1", "concurrency: -1"}, {eval, "0.79", ".nan"}, {eval, "0.79", "790"},
		{eval, "0.05", ".nan"}, {eval, "2026-01-31", "2026-31-01"},
	} {
		l := library.New()
		doc := strings.Replace(c[0], c[1], c[2], 1)
		p := l.Add("own.yaml", []byte(doc), "", everyDevice)
		if !slices.Equal(codes(p), []string{"bad-target"}) || len(l.List()) != 0 {
			t.Errorf("%s: %v", doc, p)
		}
	}
}
