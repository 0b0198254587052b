package lint_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/validity"
)

func ptr(v float64) *float64 { return &v }

// values of a point by "metric/stat".
type values map[string]float64

// release is a made-up release with one run.
type release struct {
	head     columns.RunHead
	points   []point
	scores   []schema.Score
	targets  []schema.Target
	problems []schema.Problem
}

type point struct {
	key    schema.Key
	values values
}

func build(list ...release) *columns.Columns {
	b := columns.NewBuilder()
	for i, r := range list {
		r.head.FirstPoint = len(b.C.Points)
		for _, p := range r.points {
			row := columns.PointRow{Run: int32(i), Key: b.Key(p.key, p.key.String()), Repeat: 1, Status: 1}
			b.Begin(&row)
			for name, v := range p.values {
				metric, stat, _ := strings.Cut(name, "/")
				b.Value(b.StatID(columns.StatID{Metric: metric, Stat: stat}), v)
			}
			b.End(row)
		}
		r.head.PointsEnd = len(b.C.Points)
		for _, s := range r.scores {
			b.C.Scores = append(b.C.Scores, columns.ScoreRow{Run: int32(i), Score: s})
		}
		for _, t := range r.targets {
			b.C.Targets = append(b.C.Targets, columns.TargetRow{Run: int32(i), Target: t})
		}
		for _, p := range r.problems {
			b.C.Problems = append(b.C.Problems, columns.ProblemRow{Run: int32(i), Problem: p})
		}
		b.C.Runs = append(b.C.Runs, r.head)
	}
	return b.Seal()
}

func key(tool string, c float64) schema.Key {
	return schema.Key{Task: "text", Tool: tool, ISL: ptr(128), OSL: ptr(100), Concurrency: ptr(c)}
}

// Each check finds its fallacy and says nothing of the same data mended.
func TestEachCheck(t *testing.T) {
	good := values{"ttft/mean": 50, "ttft/median": 49, "ttft/n": 200, "ttft/p99": 60, "e2el/mean": 1000, "rps/value": 8, "osl/mean": 100, "itl/mean": 10, "itl/median": 10, "itl/std": .5, "requests_ok/value": 200, "duration_s/value": 25}
	with := func(change values) values {
		out := values{}
		for k, v := range good {
			out[k] = v
		}
		for k, v := range change {
			out[k] = v
		}
		return out
	}
	one := func(k schema.Key, v values) release { return release{points: []point{{k, v}}} }
	score := func(s schema.Score) release { return release{scores: []schema.Score{s}} }
	rate := key("vllm", 1)
	rate.Concurrency, rate.Rate = nil, ptr(20)
	start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		id        string
		bad, fine release
	}{
		{"hollow", release{problems: []schema.Problem{{Severity: schema.SevError, Code: "hollow-successes", Found: "378 of 1000"}}}, release{problems: []schema.Problem{{Severity: schema.SevError, Code: "other"}}}},
		{"zero-score", score(schema.Score{Task: "t", Value: schema.Num(0), N: 50}), score(schema.Score{Task: "t", Value: schema.Num(.02), N: 50})},
		{"impossible-score", score(schema.Score{Task: "t", Metric: "acc_norm", Value: schema.Num(-.5), N: 50}), score(schema.Score{Task: "t", Metric: "loglikelihood", Value: schema.Num(-.5), N: 50})},
		{"impossible-score", score(schema.Score{Task: "t", Metric: "exact_match", Value: schema.Num(500), N: 50}), score(schema.Score{Task: "t", Metric: "exact_match", Value: schema.Num(79), N: 50})},
		{"few-items", score(schema.Score{Task: "gpqa", Value: schema.Num(1), N: 2}), score(schema.Score{Task: "gpqa", Value: schema.Num(.5), N: 40})},
		{"limited", score(schema.Score{Task: "t", Value: schema.Num(.5), N: 40, Total: 198}), score(schema.Score{Task: "t", Value: schema.Num(.5), N: 198, Total: 198})},
		{"perfect", score(schema.Score{Task: "t", Value: schema.Num(1), Stderr: schema.Num(0), N: 20}), score(schema.Score{Task: "t", Value: schema.Num(.95), Stderr: schema.Num(.05), N: 20})},
		{"failed-share", one(key("vllm", 8), with(values{"requests_failed/value": 10})), one(key("vllm", 8), with(values{"requests_failed/value": 1}))},
		{"saturated", one(key("vllm", 32), good), one(key("vllm", 8), good)}, // 8 req/s × 1 s = 8 in flight
		{"saturated", one(key("vllm", 8), with(values{"client/concurrency_reached": 3})), one(key("vllm", 8), with(values{"client/concurrency_reached": 7.6}))},
		{"saturated", one(rate, good), one(rate, with(values{"rps/value": 19.5}))},
		{"short-answers", one(key("vllm", 1), with(values{"osl/mean": 54})), one(key("vllm", 1), good)},
		{"cold-start", one(key("vllm", 1), with(values{"ttft/mean": 217, "ttft/median": 45})), one(key("vllm", 1), good)},
		{"second-token-stall", one(key("vllm", 1), with(values{"itl/mean": 12.6, "itl/median": 10, "itl/std": 26})), one(key("vllm", 1), good)},
		{"prefix-cache", release{points: []point{{key("vllm", 1), good}, {key("vllm", 1), with(values{"ttft/mean": 20})}}}, release{points: []point{{key("vllm", 1), good}, {key("vllm", 1), good}}}},
		{"few-requests", one(key("vllm", 1), with(values{"ttft/n": 2})), one(key("vllm", 1), good)},
		{"few-for-tail", one(key("vllm", 1), with(values{"ttft/n": 8})), one(key("vllm", 1), good)},
		{"no-commits", release{head: columns.RunHead{Image: "a/b:1.2", Commits: map[string]string{"vllm": "null"}}}, release{head: columns.RunHead{Image: "a/b:1.2", Commits: map[string]string{"vllm": "25305db"}}}},
		{"latest-image", release{head: columns.RunHead{Image: "host:5000/a/b:latest"}}, release{head: columns.RunHead{Image: "host:5000/a/b:latest@sha256:00"}}},
		{"latest-image", release{head: columns.RunHead{Image: "host:5000/a/b"}}, release{head: columns.RunHead{Image: "host:5000/a/b:1.2"}}},
		{"dirty-build", release{head: columns.RunHead{Dirty: true}}, release{}},
		{"mixed-tools", one(key("aiperf", 1), good), one(key("vllm", 1), good)},
		{"stale-targets", release{head: columns.RunHead{Start: start}, targets: []schema.Target{{AsOf: "2025-01-01", Source: "ref.json"}}}, release{head: columns.RunHead{Start: start}, targets: []schema.Target{{AsOf: "2026-05-01"}}}},
	} {
		has := func(r release) bool {
			cols := build(one(key("vllm", 1), good), r) // the release before measured with vllm
			for _, l := range validity.Release(cols, "v2", []int{1}, []int{0}) {
				if l.ID == c.id {
					if l.Release != "v2" || l.Count < 1 || l.Reason.Code != "lint-"+c.id {
						t.Errorf("%s: %+v", c.id, l)
					}
					return true
				}
			}
			return false
		}
		if !has(c.bad) {
			t.Errorf("%s does not find its fallacy", c.id)
		}
		if has(c.fine) {
			t.Errorf("%s finds it where it is not", c.id)
		}
	}
}

// Cases of one run are one lint, whose numbers are those of the worst.
func TestCasesAreCounted(t *testing.T) {
	v := func(n float64) values { return values{"ttft/mean": 50, "ttft/p99": 60, "ttft/n": n} }
	cols := build(release{points: []point{{key("vllm", 1), v(90)}, {key("vllm", 2), v(8)}, {key("vllm", 4), v(50)}}})
	for _, l := range validity.Release(cols, "v", []int{0}, nil) {
		if l.ID == "few-for-tail" && (l.Count != 3 || l.Reason.Args["n"] != "8" || l.Subject != "128/100/2") {
			t.Errorf("%+v", l)
		}
	}
}

// Every check has its section in the documentation.
func TestEveryCheckIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../templates/docs/lints.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range validity.Checks() {
		if !strings.Contains(string(page), "\n## "+c.ID+"\n") {
			t.Errorf("%s has no section in lints.md", c.ID)
		}
		if c.Means == "" || c.Severity == "" {
			t.Errorf("%s says nothing of itself", c.ID)
		}
	}
}
