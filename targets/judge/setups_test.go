package judge_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/naming"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// Runs of one release that state different setups are of several implementations, each with a history of its own; where
// releases state one each, another one is not comparable. What a later release does changes nothing of this.
func TestSetupsOfOneRelease(t *testing.T) {
	for _, c := range []struct{ name, precisions, impls string }{
		{"two from the first on", "fp8+bf16 bf16+fp8 fp8", "fp8+bf16 bf16+fp8 fp8"},
		{"one more", "fp8 fp8 FP8+bf16 bf16 fp8", "- - -+bf16 bf16 -"},
		{"one each", "fp8 bf16 fp8", "- - -"},
		{"one that is not stated", "fp8+ fp8+bf16+ bf16", "-+- -+bf16+unstated bf16"},
		{"three", "fp8 bf16+fp4", "- bf16+fp4"},
	} {
		releases := strings.Fields(c.precisions)
		n := strings.Count(c.precisions, "+") + len(releases)
		cols := judgetest.History{TTFT: judgetest.Steady(n)}.Columns()
		run := 0
		for _, list := range releases {
			release := cols.Runs[run].Release
			for precision := range strings.SplitSeq(list, "+") {
				cols.Runs[run].Release, cols.Runs[run].Model.Precision = release, precision
				run++
			}
		}
		for range 2 {
			if list := judge.Repeats(cols, judge.Releases(cols, nil), nil, "history"); len(list) > 0 {
				t.Errorf("%s: %v", c.name, list)
			}
		}
		got := []string{}
		for run = 0; run < n; run++ {
			impl := cols.Runs[run].System().Impl
			if impl == "" {
				impl = "-"
			}
			if run > 0 && cols.Runs[run].Release == cols.Runs[run-1].Release {
				got[len(got)-1] += "+" + impl
			} else {
				got = append(got, impl)
			}
		}
		if text := strings.Join(got, " "); text != c.impls {
			t.Errorf("%s: %s, want %s", c.name, text, c.impls)
		}
	}
}

// A change of one of two setups names it, and the other one's numbers stay as they are.
func TestAChangeOfOneSetup(t *testing.T) {
	values := judgetest.Steady(12)
	for w := range values[10] {
		values[10][w] *= 1.2
	}
	cols := judgetest.History{TTFT: values}.Columns()
	for i := range cols.Runs {
		cols.Runs[i].Release = cols.Runs[i/2*2].Release
		cols.Runs[i].Model.Precision = []string{"fp8", "bf16"}[i%2]
	}
	judge.Repeats(cols, judge.Releases(cols, nil), nil, "history")
	j := judged(t, cols, nil)
	list := j.Changes(5)
	if len(list) != 1 || list[0].Scope.Impl != "fp8" || !list[0].Worse {
		t.Fatalf("%+v", list)
	}
	for _, v := range j.History(5) {
		if v.Impl == "bf16" && v.Outcome == schema.Regressed {
			t.Errorf("%+v", v)
		}
	}
}

// A pull request in another setup, and a hotfix in two, which comes later and stands earlier, change nothing of what
// the other releases are compared with: of setups, and of the ways in which an eval is asked for.
func TestOthersChangeNoSetup(t *testing.T) {
	type run struct{ release, channel, precision string }
	namesOf := func(list []run) map[string]string {
		h := judgetest.History{TTFT: judgetest.Steady(len(list))}
		for _, x := range list {
			s, shots := judgetest.Share(.7, 1000), len(x.precision) // another precision, other shots
			s.Fewshot = &shots
			h.Scores = append(h.Scores, []schema.Score{s})
		}
		cols := h.Columns()
		for i, x := range list {
			cols.Runs[i].Release, cols.Runs[i].Channel, cols.Runs[i].Model.Precision = x.release, x.channel, x.precision
		}
		judge.Repeats(cols, judge.Releases(cols, nil), nil, "history")
		j, out := judged(t, cols, nil), map[string]string{}
		for r := range j.Releases {
			var names []string
			for _, v := range j.History(r) {
				names = append(names, v.ID+" "+v.Impl+" "+v.Key.String()+" "+v.Baseline)
			}
			slices.Sort(names)
			out[j.Releases[r].Name] = strings.Join(names, "\n")
		}
		return out
	}
	both := []run{{"v0.5.0", "", "fp8"}, {"v0.6.0", "", "bf16"}, {"v0.7.0", "", "bf16"}, {"v0.8.0", "", "bf16"},
		{"v0.8.0", "", "fp8"}}
	before := namesOf(both)
	pr := slices.Insert(slices.Clone(both), 3, run{"pr-1", "pr", "fp4"})
	hotfix := append(slices.Clone(both), run{"v0.5.1", "", "fp8"}, run{"v0.5.1", "", "bf16"})
	for _, list := range [][]run{pr, hotfix} {
		after := namesOf(list)
		for release, was := range before {
			if after[release] != was {
				t.Errorf("%s:\n%swas\n%s", release, after[release], was)
			}
		}
	}
}

// Where a release states nothing, what was told apart stays so.
func TestAnUnstatedSetup(t *testing.T) {
	cols := judgetest.History{TTFT: judgetest.Steady(6)}.Columns()
	for i, precision := range []string{"fp8", "bf16", "", "bf16", "fp8", "bf16"} {
		cols.Runs[i].Model.Precision = precision
	}
	cols.Runs[1].Release, cols.Runs[5].Release = cols.Runs[0].Release, cols.Runs[4].Release
	judge.Repeats(cols, judge.Releases(cols, nil), nil, "history")
	for i, want := range []string{"fp8", "bf16", "unstated", "bf16", "fp8", "bf16"} {
		if got := cols.Runs[i].Setup; got != want {
			t.Errorf("run %d: %q, want %q", i, got, want)
		}
	}
}

// Folders of one release with other names hold other setups where both have the same measured; dates, repeats, channels
// and what the run is known as are no such names. Nights of one folder each are one history, however it is called.
func TestFoldersOfOneRelease(t *testing.T) {
	for _, c := range []struct{ name, folders, impls string }{
		{"two", "v1/a-int4+v1/a-int8 v2/a-int8+v2/a-int4 v3/a-int4", "a-int4+a-int8 a-int8+a-int4 a-int4"},
		{"one has no name", "v1/x+v1/b/x v2/x", "no folder+b no folder"},
		{"repeats and days", "d/x+d/run2/x results/x+again/x d/2026-01-02/x+d/2026-01-03/x", "-+- -+- -+-"},
		{"channels and names", "d/nightly/x+d/main/x d/llama-8b/x+d/llama-8b~2/x", "-+- -+-"},
		{"one each", "d/old d/new", "- -"},
		{"ours", "+ +", "-+- -+-"},
		{"another one later", "v1/alpha+v1/beta v2/gamma", "alpha+beta no folder"},
	} {
		releases := strings.Fields(c.folders)
		n := strings.Count(c.folders, "+") + len(releases)
		cols := judgetest.History{TTFT: judgetest.Steady(n)}.Columns()
		run := 0
		for _, list := range releases {
			release := cols.Runs[run].Release
			for folder := range strings.SplitSeq(list, "+") {
				cols.Runs[run].Release, cols.Runs[run].Folder, cols.Runs[run].Model.Name = release, folder, "llama-8b"
				run++
			}
		}
		var got string
		for range 2 {
			judge.Repeats(cols, judge.Releases(cols, nil), nil, "history")
			got = ""
			for i := range cols.Runs {
				if i > 0 {
					got += map[bool]string{true: "+", false: " "}[cols.Runs[i].Release == cols.Runs[i-1].Release]
				}
				got += cmp.Or(cols.Runs[i].Setup, "-")
			}
		}
		if got != c.impls {
			t.Errorf("%s: %s, want %s", c.name, got, c.impls)
		}
	}
}

// Two runs that state nothing are of one setup, beside others of the release.
func TestUnstatedSetupsAreOne(t *testing.T) {
	cols := judgetest.History{TTFT: judgetest.Steady(4)}.Columns()
	for i, precision := range []string{"fp8", "bf16", "", ""} {
		cols.Runs[i].Release, cols.Runs[i].Model.Precision = cols.Runs[0].Release, precision
	}
	judge.Repeats(cols, judge.Releases(cols, nil), nil, "history")
	for i, want := range []string{"fp8", "bf16", "unstated", "unstated"} {
		if got := cols.Runs[i].Setup; got != want {
			t.Errorf("run %d: %q, want %q", i, got, want)
		}
	}
}

// A run in another folder is another setup, which is said; a folder that is called after a re-check is none.
func TestARecheckInAnotherFolder(t *testing.T) {
	for folder, want := range map[string]string{
		"verify/x": "verify", "recheck/x": "", "nights/run2/x": "", "run2/x": "no folder",
	} {
		cols := judgetest.History{TTFT: judgetest.Steady(6)}.Columns()
		cols.Runs[5].Release = cols.Runs[4].Release
		for i := range cols.Runs {
			cols.Runs[i].Folder = "nights/" + cols.Runs[i].Release + "/x"
		}
		cols.Runs[5].Folder = folder
		list := judge.Repeats(cols, judge.Releases(cols, nil), nil, "history")
		first, second := cols.Runs[4].System().Impl, cols.Runs[5].System().Impl
		isSaid := len(list) == 1 && list[0].Code == judge.CodeNames && strings.Contains(list[0].Hint, cols.Runs[5].ID)
		if (first == second) != (want == "") || second != want || isSaid != (want != "") {
			t.Errorf("%s: %q and %q, %v", folder, first, second, list)
		}
	}
}

// Builds that nothing names are compared whatever their folders are called; names that say more than a date, a number
// or a build are told, with the fact that they look like.
func TestUnlikeBuilds(t *testing.T) {
	for names, want := range map[string]string{
		"r/n1 r/n2": "", "r/night3 r/night12": "", "r/2026-01-01 r/2026-01-02": "", "r/v0.6.2 r/v0.6.3": "",
		"r/nightly_123/x r/nightly_456/x": "", "r/b6000-x r/b6100-x": "", "r/0.8 r/0.9": "",
		"r/bench-gpu/2026-01-01 r/bench-tpu/2026-01-02": "{device} identify r ",
		"r/h100 r/a100":             "{device} identify r ",
		"r/a/qwen3-8b r/a/gemma-4b": "{model} identify r/a ", "vllm-x sglang-x": "{impl} identify . ",
		"r/oss-x2 r/turbo-x4": "{config} identify r ", "r/oss r/oss/results_2026-01-02": "",
	} {
		cols := judgetest.History{TTFT: judgetest.Steady(2)}.Columns()
		for i, folder := range strings.Fields(names) {
			cols.Runs[i].Release, cols.Runs[i].Folder = "", folder
		}
		list, got := judge.Repeats(cols, judge.Releases(cols, nil), nil, "history"), ""
		if len(list) == 1 && list[0].Code == judge.CodeNames {
			got = list[0].Hint
		}
		fact, command, _ := strings.Cut(want, " ")
		if (want == "") != (len(list) == 0) || !strings.Contains(got, fact) || !strings.Contains(got, command) {
			t.Errorf("%s: %v, want %q", names, list, want)
		}
	}
}

// A workload that the names of files tell apart in some releases only is said with the newest one.
func TestWorkloadsOfFiles(t *testing.T) {
	for _, c := range []struct {
		of   int // the release whose workloads have the name of a file
		want string
	}{{-1, ""}, {1, "told"}, {3, "told"}} {
		cols := judgetest.History{TTFT: judgetest.Steady(4)}.Columns()
		if c.of >= 0 {
			for i := cols.Runs[c.of].FirstPoint; i < cols.Runs[c.of].PointsEnd; i++ {
				k := cols.Keys[cols.Points[i].Key]
				k.Dims = map[string]string{naming.File: "x"}
				cols.Points[i].Key, cols.Keys = int32(len(cols.Keys)), append(cols.Keys, k)
			}
		}
		list, got := judge.Repeats(cols, judge.Releases(cols, nil), nil, "history"), ""
		if len(list) == 1 && list[0].Code == judge.CodeNames {
			got = "told"
		}
		if got != c.want {
			t.Errorf("%d: %v", c.of, list)
		}
	}
}
