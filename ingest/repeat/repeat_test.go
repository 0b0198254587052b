package repeat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
)

// at is a point of a file with foreign fields, conditions (beginning in "?") and measured numbers (beginning in "#").
func at(path string, fields ...any) schema.Point {
	p := schema.Point{
		Key: schema.Key{Task: "text", Tool: "sglang"}, Extra: schema.Unknown{}, Conditions: map[string]string{},
		Source: schema.Source{Path: path},
	}
	for i := 0; i < len(fields); i += 2 {
		name, value := fields[i].(string), fields[i+1]
		switch name[0] {
		case '?':
			p.Conditions[name[1:]] = fmt.Sprint(value)
		case '#':
			m := schema.Of(name[1:], "mean", float64(value.(int)))
			m.Stats.Set("value", float64(value.(int)))
			p.Metrics.Put(m)
		case 'c':
			x := float64(value.(int))
			p.Key.Concurrency = &x
		default:
			p.Extra[name], _ = json.Marshal(value)
		}
	}
	return p
}

// dims lists what tells the points apart, one word a point: "-" for nothing.
func dims(points []schema.Point) string {
	var out []string
	for _, p := range points {
		var one []string
		for name, v := range p.Key.Dims {
			one = append(one, name+"="+strings.ReplaceAll(v, " ", "_"))
		}
		slices.Sort(one)
		if len(one) == 0 {
			one = []string{"-"}
		}
		out = append(out, strings.Join(one, ","))
	}
	return strings.Join(out, " ")
}

func TestSettingsTellApart(t *testing.T) {
	for name, c := range map[string]struct {
		points []schema.Point
		want   string
	}{
		"a text": {
			[]schema.Point{at("x.json", "offloading", "none"), at("x.json", "offloading", "hicache")},
			"offloading=none offloading=hicache",
		},
		"a text that one has": {[]schema.Point{at("x.json", "tag", "a"), at("x.json")}, "tag=a -"},
		"a truth": {
			[]schema.Point{at("x.json", "prefix", true), at("x.json", "prefix", false)},
			"prefix=true prefix=false",
		},
		"a number that is set": {
			[]schema.Point{at("x.json", "sparsity", .5), at("x.json", "sparsity", 0)}, "sparsity=0.5 sparsity=0",
		},
		"a length that is set": {
			[]schema.Point{at("x.json", "max_context", 4096), at("x.json", "max_context", 32768)},
			"max_context=4096 max_context=32768",
		},
		"a temperature in a table": {
			[]schema.Point{at("x.csv", "temp_max_mC", "55300"), at("x.csv", "temp_max_mC", "64900")}, "- -",
		},
		"parallelism": {[]schema.Point{at("x.json", "dep", 8), at("x.json", "tep", 8)}, "dep=8 tep=8"},
		"a number that is measured": {
			[]schema.Point{at("x.json", "cache_hits", 5), at("x.json", "cache_hits", 6)},
			"- -",
		},
		"who and when": {
			[]schema.Point{at("x.json", "host", "a", "run_id", "1"), at("x.json", "host", "b")},
			"- -",
		},
		"a condition": {
			[]schema.Point{at("x", "?ignore_eos", true), at("x", "?ignore_eos", false)},
			"ignore_eos=true ignore_eos=false",
		},
		"a seed": {[]schema.Point{at("x", "?seed", 1), at("x", "?seed", 2)}, "- -"},
	} {
		checkSettings(t, name, c.points, c.want)
	}
}

// Numbers tell apart where they are the load, or where nothing states the lengths.
func TestNumbersTellApart(t *testing.T) {
	for name, c := range map[string]struct {
		points []schema.Point
		want   string
	}{
		"prompts at once": {
			[]schema.Point{at("x", "?num_prompts", 1), at("x", "?num_prompts", 64)},
			"num_prompts=1 num_prompts=64",
		},
		"prompts one by one": {
			[]schema.Point{at("x", "c", 1, "?num_prompts", 1), at("x", "c", 1, "?num_prompts", 9)},
			"- -",
		},
		"requests that were counted": {
			[]schema.Point{at("x", "#requests_ok", 1), at("x", "#requests_ok", 993), at("x", "#requests_ok", 990)},
			"num_prompts=about_1 num_prompts=about_990 num_prompts=about_990",
		},
		"lengths that nobody states": {
			[]schema.Point{at("x", "c", 1, "#isl", 128), at("x", "c", 1, "#isl", 2048)},
			"isl_measured=about_130 isl_measured=about_2000",
		},
		"how many nodes and users": {
			[]schema.Point{at("x", "rpc_nodes", 1, "concurrent_users", 4), at("x", "rpc_nodes", 2, "concurrent_users", 4)},
			"rpc_nodes=1 rpc_nodes=2",
		},
		"how it went": {
			[]schema.Point{at("x", "elapsed", `26s`, "judge_pass", true, "active_users", 17, "temperature_gpu", 45),
				at("x", "elapsed", `27s`, "judge_pass", false, "active_users", 19, "temperature_gpu", 47)},
			"- -",
		},
		"which node, and how warm": {
			[]schema.Point{at("x", "node", 1, "avg_temperature", 38.5),
				at("x", "node", 2, "avg_temperature", 39.25)},
			"- -",
		},
		"lengths by chance": {[]schema.Point{at("x", "c", 1, "#isl", 344), at("x", "c", 1, "#isl", 401)}, "- -"},
	} {
		checkSettings(t, name, c.points, c.want)
	}
}

func checkSettings(t *testing.T, name string, points []schema.Point, want string) {
	t.Helper()
	problems := repeat.Separate(points)
	if got := dims(points); got != want || (len(problems) == 0) != (want == "- -") {
		t.Errorf("%s: %q, want %q; %d problems", name, got, want, len(problems))
	}
}

func TestNamesTellApart(t *testing.T) {
	for _, c := range []struct{ paths, want string }{
		{"r/llama-70b.jsonl r/llama-405b.jsonl", "file=llama-70b file=llama-405b"},
		{"r/old/x.json r/new/x.json", "file=old/x file=new/x"},
		{"r/x_1.json r/x_2.json r/x_4.json r/x_8.json", "file=x_1 file=x_2 file=x_4 file=x_8"},
		{"r/bs_1.json r/bs_2.json", "file=bs_1 file=bs_2"},
		{"r/x-warm.json r/x-cold.json", "file=x-warm file=x-cold"},
		{"r/result_2048_1024_1500.txt r/result_2048_1024_900.txt", "file=result_2048_1024_1500 file=result_2048_1024_900"},
		// repeats
		{"r/x_1.json r/x_2.json r/x_3.json", "- - -"},
		{"r/x.json r/x_1.json r/x_2.json", "- - -"},
		{"r/x.json r/x_run1.json r/x_run2.json", "- - -"},
		{"r/x_2026-03-16T15-33-00.123.json r/x_2026-03-17T15-34-01.77.json", "- -"},
		{"r/a.json r/b.json", "- -"},
		{"r/run1/x.json r/run7/x.json", "- -"},
		{"r/x-seed-11.json r/x-seed-42.json", "- -"},
		{"r/x_2026-03-16_15-33-00.json r/x_2026-03-17_05-00-11.json", "- -"},
		{"r/x_eval_11-25-2022-05-54-21.json r/x_eval_11-25-2022-05-55-38.json", "- -"},
		{"r/x-20260316-153300.json r/x-20260317-050011.json", "- -"},
		{"r/s_1016_1000.jsonl r/s_1018_1000.jsonl", "- -"},
		{"r/x-3f2a9c1d.json r/x-77ab01ff.json", "- -"},
		{"r/x.json r/x.json.gz", "- -"},
		{"r/x__20240127_141837__993.json r/x__20240127_141846__720.json r/x__20240127_141839__401.json", "- - -"},
		{"r/x_20240127_141837_128.json r/x_20240127_141846_512.json", "file=x__128 file=x__512"},
		{"r/x_c4.json r/x_concurrency-4.json", "- -"},
	} {
		var points []schema.Point
		for _, p := range strings.Fields(c.paths) {
			points = append(points, at(p, "c", 4))
		}
		problems := repeat.Separate(points)
		if got := dims(points); got != c.want || (len(problems) == 0) != strings.HasPrefix(c.want, "-") {
			t.Errorf("%s: %q, want %q; %d problems", c.paths, got, c.want, len(problems))
		}
	}
}

// How many devices share a model is a part of the workload also where nothing else has the same key: the results may be
// runs of their own, or the others come later.
func TestParallelismInNames(t *testing.T) {
	for path, want := range map[string]string{
		"r/m_tep8_c4.json": "tep=8", "r/m_dep8_c4.json": "dep=8", "r/x_tp4.json": "tp=4", "r/x_TP-4/y.json": "tp=4",
		"r/gptoss_fp4_h200_tp8_pp2_conc64/x.json": "pp=2,tp=8", "tp2/a/tp_4_ep_8.json": "ep=8,tp=4",
		"r/pp512_ep3.json": "-", "r/http4.json": "-", "r/tp.json": "-",
	} {
		points := []schema.Point{at(path, "c", 4)}
		problems := repeat.Separate(points)
		if got := dims(points); got != want || len(problems) > 0 {
			t.Errorf("%s: %q, want %q; %d problems", path, got, want, len(problems))
		}
	}
}

// The same points have the same keys, in whatever order and steps they came.
func TestSeparateTakesBack(t *testing.T) {
	points := []schema.Point{at("x-70b.json"), at("x-405b.json")}
	repeat.Separate(points)
	repeat.Separate(points[:1])
	if got := dims(points); got != "- file=x-405b" {
		t.Error(got)
	}
	repeat.Separate(points)
	if got := dims(points); got != "file=x-70b file=x-405b" {
		t.Error(got)
	}
	if len(points[0].Stated) != 1 {
		t.Error(points[0].Stated)
	}
}

// A collector of ours describes each measurement beside it, and numbers its files.
func TestCollectedPointsAreDescribed(t *testing.T) {
	points := []schema.Point{at("r/01-isl128-c1.json"), at("r/12-isl128-c1.json")}
	for i := range points {
		points[i].Command, points[i].Client = []string{"ttreport"}, map[string]string{"cpu": "1"}
	}
	if repeat.Separate(points); dims(points) != "- -" {
		t.Error(dims(points))
	}
}

func TestScoresTellApart(t *testing.T) {
	five, zero := 5, 0
	score := func(task string, shots *int, version string) schema.Score {
		return schema.Score{Task: task, Metric: "acc", Filter: "none", Fewshot: shots, Version: version}
	}
	scores := []schema.Score{
		score("a", &five, "1"), score("a", &zero, "1"), score("b", &five, "1"), score("b", &five, "1"), score("c", nil, "1"),
		score("c", nil, "2"),
	}
	for range 2 { // however often
		if problems := repeat.SeparateScores(scores); len(problems) != 2 {
			t.Error(problems)
		}
		got := ""
		for _, s := range scores {
			got += s.Task + " " + s.Filter + "; "
		}
		if got != "a none | shots 5; a none | shots 0; b none; b none; c none | version 1; c none | version 2; " {
			t.Error(got)
		}
	}
}

// Counters of speculative decoding are measured: they make no other workload.
func TestCountersAreNoSettings(t *testing.T) {
	const name = "spec_decode_num_drafts"
	points := []schema.Point{at("a-1.json", name, 37820), at("a-2.json", name, 37830)}
	if got := repeat.Separate(points); len(got) > 0 || points[0].Key.String() != points[1].Key.String() {
		t.Errorf("%v, %s and %s", got, points[0].Key, points[1].Key)
	}
}

// The name that Inspect gives a log, with a time and a random id, says nothing but its task.
func TestInspectNames(t *testing.T) {
	score := func(path string) *schema.Score {
		return &schema.Score{Task: "mmlu", Metric: "accuracy", Source: schema.Source{Path: path}}
	}
	for name, apart := range map[string]int{"mmlu-pro": 0, "mmlu-max": 1} {
		scores := []*schema.Score{score("logs/2026-01-10T10-00-00+00-00_mmlu-pro_aBcDeFgHiJkLmNoPqRsTuV.json"),
			score("logs/2026-01-11T10-00-00-05-00-" + name + "-2wErTyUiOpAsDfGhJkLzXc.json")}
		if got := repeat.SeparateScoreFiles(scores); len(got) != apart {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Repeats that differ by more than noise does are said, with what else differs between them; noise is not.
func TestRepeatsThatDiffer(t *testing.T) {
	for _, c := range []struct {
		points []schema.Point
		says   string
	}{
		{[]schema.Point{at("a", "#output_tps", 100, "git_commit", "x"), at("a", "#output_tps", 160, "git_commit", "y")},
			"is from 100 to 160; they differ in git_commit"},
		{[]schema.Point{at("a.jsonl", "#output_tps", 100), at("a.jsonl", "#output_tps", 160)},
			"is from 100 to 160; nothing in the file tells them apart"},
		{[]schema.Point{at("a.jsonl", "#output_tps", 100, "iteration", 1), at("a.jsonl", "#output_tps", 160, "iteration", 2)},
			"is from 100 to 160; only iteration tells them apart: 1 and 2"},
		{[]schema.Point{at("a-1.json", "#tpot", 10), at("a-2.json", "#tpot", 40)}, "the least in a-1.json"},
		{[]schema.Point{at("a.jsonl", "#output_tps", 100), at("a.jsonl", "#output_tps", 149)}, ""},
		{[]schema.Point{at("a.jsonl", "#output_tps", 100, "c", 1), at("a.jsonl", "#output_tps", 160, "c", 2)}, ""},
		{[]schema.Point{at("a.jsonl", "#ttft", 100), at("a.jsonl", "#ttft", 900)}, ""},
		{[]schema.Point{at("a.jsonl", "#ttft", 50, "prompt_tokens", 512),
			at("a.jsonl", "#ttft", 5100, "prompt_tokens", 32768)}, "is from 50 to 5100; they differ in prompt_tokens"},
		{[]schema.Point{at("a.jsonl", "#output_tps", 100, "instances", 1, "requests_seen", 500),
			at("a.jsonl", "#output_tps", 400, "instances", 4, "requests_seen", 501)}, "400; they differ in instances"},
	} {
		repeat.Separate(c.points)
		got := repeat.Doubtful(c.points)
		if (c.says == "") != (len(got) == 0) || c.says != "" && !strings.Contains(got[0].Found, c.says) {
			t.Errorf("%v, want %q", got, c.says)
		}
	}
}

// A number that all workloads of a table have the same values of, or that doubles, is a setting whatever its column is
// called, and no mean is taken over it. What a row measured, and what counts repeats, is none.
func TestColumnsTellRowsApart(t *testing.T) {
	for what, c := range map[string]struct {
		values [][]any // of two workloads
		want   int
	}{
		"gamma":         {[][]any{{2, 4, 8}, {2, 4, 8}}, 6},
		"alpha":         {[][]any{{.25, .75}, {.25, .75}}, 4},
		"width":         {[][]any{{16, 32, 64}, {}}, 3},
		"odd":           {[][]any{{3, 5}, {}}, 1},
		"memory_mb":     {[][]any{{10234, 10240}, {10244, 10251}}, 2},
		"GPU Mem (GB)":  {[][]any{{10, 20}, {10, 20}}, 2},
		"Num Requests":  {[][]any{{64, 128}, {}}, 1},
		"Peak Power":    {[][]any{{300, 400}, {300, 400}}, 2},
		"power_limit_w": {[][]any{{300, 400}, {300, 400}}, 4},
		"Run #":         {[][]any{{5, 7}, {5, 7}}, 2},
		"Beta Blocks":   {[][]any{{2, 4}, {2, 4}}, 4},
		"repetition":    {[][]any{{1, 2, 3}, {1, 2, 3}}, 2},
		"from 0":        {[][]any{{0, 1, 2}, {0, 1, 2}}, 2},
		"iteration":     {[][]any{{10, 20}, {10, 20}}, 2},
		"latency_total": {[][]any{{16, 32}, {}}, 1},
	} {
		var points []*schema.Point
		for i, values := range c.values {
			for _, x := range values {
				p := at("t.jsonl", "c", i+1, what, x)
				points = append(points, &p)
			}
		}
		repeat.SeparateRows(points, func(int) string { return "" })
		keys := map[string]bool{}
		for _, p := range points {
			keys[p.Key.String()] = true
		}
		if len(keys) != c.want {
			t.Errorf("%s: %d workloads, want %d: %v", what, len(keys), c.want, keys)
		}
	}
}
