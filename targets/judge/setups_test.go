package judge_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
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
		{"one that is not stated", "fp8+ fp8+bf16+ bf16", "-+- -+bf16+- bf16"},
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
		if list := judge.Repeats(cols, judge.Releases(cols, nil), nil, "history"); len(list) > 0 {
			t.Errorf("%s: %v", c.name, list)
		}
		got := []string{}
		for run = 0; run < n; run++ {
			impl := cols.Runs[run].Impl
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
