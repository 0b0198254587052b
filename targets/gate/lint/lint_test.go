package lint_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// none are the releases before the first one.
func none(func([]int) bool) {}

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

// good are the values of a point that no check objects to.
func good() values {
	return values{
		"ttft/mean": 50, "ttft/median": 49, "ttft/n": 200, "ttft/p99": 60, "e2el/mean": 1000, "rps/value": 8,
		"osl/mean": 100, "itl/mean": 10, "itl/median": 10, "itl/std": .5, "requests_ok/value": 200,
		"duration_s/value": 25,
	}
}

// with are the good values with some changed.
func with(change values) values {
	out := good()
	maps.Copy(out, change)
	return out
}

func one(k schema.Key, v values) release { return release{points: []point{{k, v}}} }

func head(h columns.RunHead) release { return release{head: h} }

// example is a release in which a check finds something, and the same release corrected.
type example struct {
	want      lint.Detail
	bad, fine release
}

// sized is a share of right answers with a standard error.
func sized(stderr float64, n int) schema.Score {
	return schema.Score{Metric: "acc", Value: schema.Num(.7), Stderr: schema.Num(stderr), N: n}
}

func scoreExamples() []example {
	score := func(s schema.Score) release { s.Task = "t"; return release{scores: []schema.Score{s}} }
	of := func(v float64, n int) schema.Score { return schema.Score{Value: schema.Num(v), N: n} }
	metric := func(name string, v float64) release {
		return score(schema.Score{Metric: name, Value: schema.Num(v), N: 50})
	}
	part, whole := of(.5, 40), of(.5, 198)
	part.Total, whole.Total = 198, 198
	first := of(.5, 40)
	first.Limit = ptr(40)
	beyond, all := sized(.0145, 0), sized(.0459, 0) // of 1000 questions, of 100
	beyond.Limit, all.Limit = ptr(1000), ptr(1000)
	sure, unsure := of(1, 20), of(.95, 20)
	sure.Stderr, unsure.Stderr = schema.Num(0), schema.Num(.05)
	return []example{
		{lint.ZeroScore{Task: "t", N: 50}, score(of(0, 50)), score(of(.02, 50))},
		{lint.ZeroScore{Task: "t", N: 50}, metric("is_correct", 0), metric("is_not_attempted", 0)},
		{lint.ImpossibleScore{Task: "t", Metric: "acc_norm", Value: -.5}, metric("acc_norm", -.5),
			metric("loglikelihood", -.5)},
		{lint.ImpossibleScore{Task: "t", Metric: "exact_match", Value: 500}, metric("exact_match", 500),
			metric("exact_match", 79)},
		{lint.FewItems{Task: "t", N: 2, Value: 1}, score(of(1, 2)), score(of(.5, 40))},
		{lint.Subsampled{Task: "t", N: 40, Of: 198}, score(part), score(whole)},
		{lint.Subsampled{Task: "t", N: 40}, score(first), score(of(.5, 40))},
		{lint.Subsampled{Task: "t"}, score(beyond), score(all)},
		{lint.ZeroStderr{Task: "t", N: 20}, score(sure), score(unsure)},
		{lint.ImpossibleError{Name: "t", Value: .6, Most: .5}, score(sized(.6, 0)), score(sized(.4, 0))},
		{lint.ImpossibleError{Name: "t", Value: .2, Most: .15}, score(sized(.2, 101)), score(sized(.14, 101))},
	}
}

func pointExamples() []example {
	rate := key("vllm", 1)
	rate.Concurrency, rate.Rate = nil, ptr(20)
	k := key("vllm", 1)
	thinks, shared := key("vllm", 8), key("vllm", 1)
	shared.Dims = map[string]string{schema.DimHit: "90%"}
	thinks.Dims = map[string]string{schema.DimThink: "2s"}
	problem := func(code string) release {
		return release{problems: []schema.Problem{{Severity: schema.SevError, Code: code, Found: "378 of 1000"}}}
	}
	return []example{
		{lint.ImpossibleError{Name: "ttft", Value: 60, Most: 50}, one(k, with(values{"ttft/se": 60})),
			one(k, with(values{"ttft/se": 40}))},
		{lint.EmptyResponses{Found: "378 of 1000"}, problem("hollow-success"), problem("other")},
		{lint.DuplicateRun{Same: true, Copy: "378 of 1000"}, problem(schema.CodeCopy), problem("other")},
		{lint.Unread{Found: "378 of 1000"}, problem(schema.CodeUnread), problem("other")},
		{lint.OtherUnit{Metric: "ttft", Now: .052, Then: 50, Before: "v1"}, one(k, with(values{"ttft/mean": .052})),
			one(k, with(values{"ttft/mean": .2}))},
		{lint.OtherUnit{Asked: 8, Reached: .008}, one(key("vllm", 8), with(values{"e2el/mean": 1})),
			one(key("vllm", 8), with(values{"e2el/mean": 50}))},
		{lint.OtherUnit{Asked: 8, Reached: .008}, one(key("vllm", 8), with(values{"e2el/mean": 1})),
			one(key("vllm", 8), with(values{"e2el/mean": 1, "requests_failed/value": 190}))},
		{lint.MoreFailures{Failed: 10, Of: 210, OfBefore: 200, Before: "v1"},
			one(k, with(values{"requests_failed/value": 10})), one(k, with(values{"requests_failed/value": 5}))},
		{lint.FailedShare{Failed: 10, Of: 210}, one(key("vllm", 8), with(values{"requests_failed/value": 10})),
			one(key("vllm", 8), with(values{"requests_failed/value": 1}))},
		// 8 req/s × 1 s = 8 in flight
		{lint.Saturated{Asked: 32, Reached: 8}, one(key("vllm", 32), good()), one(key("vllm", 8), good())},
		{lint.Saturated{Asked: 8, Reached: 3}, one(key("vllm", 8), with(values{"client/concurrency_reached": 3})),
			one(key("vllm", 8), with(values{"client/concurrency_reached": 7.6}))},
		{lint.Saturated{Rate: true, Asked: 20, Reached: 8}, one(rate, good()), one(rate, with(values{"rps/value": 19.5}))},
		{lint.Saturated{Asked: 8, Reached: 3}, one(key("vllm", 8), with(values{"client/concurrency_reached": 3})),
			one(thinks, with(values{"client/concurrency_reached": 3}))},
		{lint.ShortAnswers{Asked: 100, Got: 54}, one(k, with(values{"osl/mean": 54})), one(k, good())},
		{lint.OtherLengths{Prompts: true, Asked: 128, Got: 409}, one(k, with(values{"isl/mean": 409})),
			one(k, with(values{"isl/mean": 160}))},
		{lint.OtherLengths{Asked: 100, Got: 186}, one(k, with(values{"osl/mean": 186})),
			one(k, with(values{"osl/mean": 105}))},
		{lint.ColdStart{Mean: 217, Median: 45, N: 200},
			one(rate, with(values{"ttft/mean": 217, "ttft/median": 45, "rps/value": 19.5})),
			one(rate, with(values{"ttft/mean": 217, "ttft/median": 45, "ttft/p90": 900, "rps/value": 19.5}))},
		{lint.ColdStart{Mean: 217, Median: 45, N: 200}, one(k, with(values{"ttft/mean": 217, "ttft/median": 45})),
			one(k, good())},
		{lint.SecondTokenStall{Stall: 2.6 * 99, Median: 10, Mean: 12.6},
			one(k, with(values{"itl/mean": 12.6, "itl/median": 10, "itl/std": 26})), one(k, good())},
		{lint.PrefixCache{First: 50, Later: 20}, release{points: []point{{k, good()}, {k, with(values{"ttft/mean": 20})}}},
			release{points: []point{{k, good()}, {k, good()}}}},
		{lint.PrefixCache{Cached: .98}, one(k, with(values{"client/prompt_cached": .98})),
			one(shared, with(values{"client/prompt_cached": .98}))},
		{lint.FewRequests{N: 2}, one(k, with(values{"ttft/n": 2})), one(k, good())},
		{lint.FewForTail{N: 8}, one(k, with(values{"ttft/n": 8})), one(k, good())},
		{lint.Unsettled{Metric: "ttft", Drift: -12}, one(k, with(values{"client/steady": 0, "client/drift_ttft": -12,
			"client/drift_tpot": 3})), one(k, with(values{"client/steady": 1, "client/ci_asked": 2, "client/ci_ttft": 2}))},
		{lint.OpenSearch{Holds: 67, Fails: 70}, one(k, with(values{"client/capacity_settled": 0,
			"client/capacity_fails": 70, "client/capacity_holds": 67})), one(k, with(values{"client/capacity_settled": 1,
			"client/capacity_fails": 70, "client/capacity_holds": 67}))},
		{lint.Overload{After: 300}, one(k, with(values{"client/overload_after": 300})), one(k, good())},
		{lint.Imprecise{Metric: "e2el", Asked: 2, Reached: 3.5}, one(k, with(values{"client/ci_asked": 2,
			"client/ci_ttft": 1, "client/ci_e2el": 3.5})), one(k, with(values{"client/ci_ttft": 3.5}))},
		{lint.MixedTools{Now: "aiperf", Before: "vllm"}, one(key("aiperf", 1), good()), one(k, good())},
	}
}

func runExamples() []example {
	start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	from := func(start, end time.Time) release { return head(columns.RunHead{Start: start, End: end}) }
	commits := func(c string) release {
		return head(columns.RunHead{Image: "a/b:1.2", Commits: map[string]string{"vllm": c}})
	}
	image := func(name string) release { return head(columns.RunHead{Image: name}) }
	stated := func(asOf string) release {
		return release{
			head: columns.RunHead{Start: start}, targets: []schema.Target{{AsOf: asOf, Source: "ref.json"}},
		}
	}
	hour := start.Add(time.Hour)
	return []example{
		{lint.NoCommits{Image: "a/b:1.2"}, commits("null"), commits("25305db")},
		{lint.LatestImage{Image: "host:5000/a/b:latest"}, image("host:5000/a/b:latest"),
			image("host:5000/a/b:latest@sha256:00")},
		{lint.LatestImage{Image: "host:5000/a/b"}, image("host:5000/a/b"), image("host:5000/a/b:1.2")},
		{lint.DirtyBuild{}, head(columns.RunHead{Dirty: true}), release{}},
		{lint.StaleTargets{Source: "ref.json", AsOf: "2025-01-01", Days: 516}, stated("2025-01-01"), stated("2026-05-01")},
		{lint.NoStart{}, release{}, head(columns.RunHead{Start: start})},
		{lint.BadTimestamps{Start: hour, End: start}, from(hour, start), from(start, hour)},
		{lint.BadTimestamps{Start: start, End: start.AddDate(0, 2, 0)}, from(start, start.AddDate(0, 2, 0)),
			from(start, start.AddDate(0, 0, 3))},
		{lint.BadTimestamps{Start: time.Unix(5, 0).UTC()}, from(time.Unix(5, 0).UTC(), time.Time{}),
			from(start, time.Time{})},
	}
}

// inspect looks at a release after one that measured with vLLM's client.
func inspect(r release, id lint.ID) *lint.Lint {
	before := one(key("vllm", 1), with(values{"requests_failed/value": 0}))
	before.head.Release = "v1"
	cols := build(before, r)
	for _, l := range lint.Release(cols, "v2", []int{1}, slices.Values([][]int{{0}})) {
		if l.ID == id {
			return &l
		}
	}
	return nil
}

// Each check finds its fault, with its numbers, and nothing in the corrected data.
func TestEachCheck(t *testing.T) {
	tested := map[lint.ID]bool{}
	for _, x := range append(append(scoreExamples(), pointExamples()...), runExamples()...) {
		id := lint.New("", "", x.want).ID
		tested[id] = true
		l := inspect(x.bad, id)
		if l == nil {
			t.Errorf("%s does not find %+v", id, x.want)
			continue
		}
		if l.Release != "v2" || l.Count != 1 || l.Severity == "" || !same(l.Detail, x.want) {
			t.Errorf("%s: %+v, want %+v", id, *l, x.want)
		}
		if l := inspect(x.fine, id); l != nil {
			t.Errorf("%s finds it where it is not: %+v", id, *l)
		}
	}
	elsewhere := map[lint.ID]bool{ // found in package gate
		lint.IDNothingGraded: true, "channel": true, "release-list": true,
		"lost-document": true, lint.IDDrift: true, "not-positive": true,
		"unused-decision": true, "report-rejects": true, "release-order": true,
		"no-pair": true,
	}
	for _, id := range lint.IDs() {
		if tested[id] == elsewhere[id] {
			t.Errorf("%s: tested here is %v, found by package gate is %v", id, tested[id], elsewhere[id])
		}
	}
}

// same compares details; numbers may differ in the last digits.
func same(got, want lint.Detail) bool {
	a, b := reflect.ValueOf(got), reflect.ValueOf(want)
	if a.Type() != b.Type() {
		return false
	}
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		if x.Kind() == reflect.Float64 {
			if d := x.Float() - y.Float(); d > 1e-9 || d < -1e-9 {
				return false
			}
			continue
		}
		if !reflect.DeepEqual(x.Interface(), y.Interface()) {
			return false
		}
	}
	return true
}

// Cases of one run are one lint, whose numbers are those of the worst.
func TestCasesAreCounted(t *testing.T) {
	v := func(n float64) values { return values{"ttft/mean": 50, "ttft/p99": 60, "ttft/n": n} }
	cols := build(release{points: []point{{key("vllm", 1), v(90)}, {key("vllm", 2), v(8)}, {key("vllm", 4), v(50)}}})
	found := 0
	for _, l := range lint.Release(cols, "v", []int{0}, none) {
		if l.ID != "few-for-tail" {
			continue
		}
		found++
		if l.Count != 3 || l.Detail != lint.Detail(lint.FewForTail{N: 8}) || l.Subject != "128/100/2" {
			t.Errorf("%+v", l)
		}
	}
	if found != 1 {
		t.Errorf("%d lints", found)
	}
}

// The most serious come first.
func TestWorstFirst(t *testing.T) {
	cols := build(release{
		head:     columns.RunHead{Dirty: true},
		points:   []point{{key("vllm", 1), with(values{"ttft/n": 2})}},
		problems: []schema.Problem{{Severity: schema.SevError, Code: "hollow-success"}},
	})
	rank := map[schema.Severity]int{schema.SevError: 0, schema.SevWarning: 1, schema.SevNote: 2}
	at, seen := 0, map[schema.Severity]bool{}
	for _, l := range lint.Release(cols, "v", []int{0}, none) {
		if rank[l.Severity] < at {
			t.Errorf("%s (%s) is too late", l.ID, l.Severity)
		}
		at = rank[l.Severity]
		seen[l.Severity] = true
	}
	if len(seen) != 3 {
		t.Errorf("%v", seen)
	}
}

// A point that failed is not inspected.
func TestFailedPointsAreLeftOut(t *testing.T) {
	cols := build(one(key("vllm", 1), with(values{"ttft/n": 2})))
	cols.Points[0].Status = 3
	for _, l := range lint.Release(cols, "v", []int{0}, none) {
		if l.ID == "few-requests" {
			t.Errorf("%+v", l)
		}
	}
}

// Prompts that the client fitted to the server's own count are not off by what a chat template adds.
func TestCountedPromptsAreExact(t *testing.T) {
	k := key("builtin", 1)
	for got, want := range map[float64]int{128: 0, 129: 0, 131: 1} {
		for cond, lints := range map[string]int{schema.ISLCounted: want, "": 0} {
			b := columns.NewBuilder()
			row := columns.PointRow{Key: b.Key(k, k.String()), Repeat: 1, Status: 1}
			row.Cond = b.Cond(columns.Conditions{schema.ConditionISL: cond})
			b.Begin(&row)
			for name, v := range with(values{"isl/mean": got}) {
				metric, stat, _ := strings.Cut(name, "/")
				b.Value(b.StatID(columns.StatID{Metric: metric, Stat: stat}), v)
			}
			b.End(row)
			b.C.Runs = append(b.C.Runs, columns.RunHead{PointsEnd: 1})
			found := 0
			for _, l := range lint.Release(b.Seal(), "v1", []int{0}, none) {
				if l.ID == "other-lengths" {
					found++
				}
			}
			if found != lints {
				t.Errorf("%g tokens, %q: %d lints, want %d", got, cond, found, lints)
			}
		}
	}
}
