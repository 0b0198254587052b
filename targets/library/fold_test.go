package library_test

import (
	"fmt"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/library"
)

// What stands on several levels is one contradiction, with the numbers of the last; other workloads stay apart.
func TestFold(t *testing.T) {
	one := func(level, metric, text string) library.Contradiction {
		return library.Contradiction{Model: "M", Device: "n150", Code: library.Unattainable, Text: text,
			Target: schema.Target{Level: level, Metric: metric}}
	}
	got := library.Fold([]library.Contradiction{
		one("functional", "output_tps", "a"), one("complete", "output_tps", "b"), one("target", "ttft", "c"),
		one("target", "output_tps", "d"),
	})
	if len(got) != 2 || got[0].Target.Level != "functional, complete, target" || got[0].Text != "d" || got[1].Text != "c" {
		t.Errorf("%+v", got)
	}
}

// A model that has targets and no run is listed under the name that its runs on other devices have.
func TestUnmeasured(t *testing.T) {
	lib := library.New()
	const rest = "workload: {isl: 1, osl: 2, concurrency: 1}, metric: ttft, value: 5, source: s, as_of: 2026-01-02}\n"
	const file = "targets:\n  - {model: M, device: n150, " + rest + "  - {model: M, device: N300, " + rest
	if p := lib.Add("own.yaml", []byte(file), "", everyDevice); len(p) > 0 {
		t.Fatal(p)
	}
	runs := []columns.RunHead{{Model: schema.Model{Name: "M"}, Device: "n150"}}
	measured, _ := lib.Unmeasured(runs)
	if got := fmt.Sprint(measured); got != "[{M n300}]" && got != "[{M N300}]" {
		t.Error(got)
	}
	const all = "evals:\n  - {model: M, task: t, metric: acc, value: 0.5, source: s, as_of: 2026-01-02}\n" +
		"  - {model: N, task: t, metric: acc, value: 0.5, source: s, as_of: 2026-01-02}\n"
	evals := library.New()
	if p := evals.Add("evals.yaml", []byte(all), "", everyDevice); len(p) > 0 {
		t.Fatal(p)
	}
	waiting, _ := evals.Unmeasured(runs)
	if got := fmt.Sprint(waiting); got != "[{N any device}]" {
		t.Error("scores that hold on every device:", got)
	}
	waiting, _ = lib.Unmeasured(nil)
	if got := len(waiting); got != 2 {
		t.Errorf("%d of 2 without runs", got)
	}
	for _, c := range []struct {
		model, device string
		want          int
	}{{"", "", 2}, {"m", "", 2}, {"m", "n300", 1}, {"other", "", 0}, {"", "t3k", 0}} {
		if got := len(lib.Select(c.model, c.device)); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
