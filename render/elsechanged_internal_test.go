package render

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
)

// What differs between two long names of images is said in two lines, and all of it stands below.
func TestWhatElseChangedIsSaid(t *testing.T) {
	const image = "registry.example.com/team/inference-server/vllm-tt-metal-src-release-ubuntu-22.04-amd64:"
	before, after := image+"0.7.0-4ab12cd0007", image+"0.8.0-4ab12cd0008"
	level := func(build string) *levelChange {
		c := &levelChange{began: &schema.Verdict{}, beside: schema.Change{Build: build}}
		c.At, c.Series = "v8", &judge.Series{Model: "m", Device: "n150"}
		return c
	}
	list := []*levelChange{
		level("image " + before + " → " + after + ", version 0.7.0 → 0.8.0"), level("version 0.7.0 → 0.8.0"),
	}
	cell := elseCell(list[0], "v8")
	if cell.Text != "Image 0.7.0-4ab12cd0007 → 0.8.0-4ab12cd0008, version 0.7.0 → 0.8.0." &&
		cell.Text != "Image …0.7.0-4ab12cd0007 → …0.8.0-4ab12cd0008, version 0.7.0 → 0.8.0." {
		t.Errorf("%s", cell.Text)
	}
	whole := elseOfLevels(list).Rows
	if len(whole) != 1 || !strings.Contains(whole[0].Cells[2].Text, before+" → "+after) {
		t.Fatalf("%+v", whole)
	}
	if cell.Href != ChangesPath+"#"+Address(whole[0].Anchor) {
		t.Errorf("%s leads not to %s", cell.Href, whole[0].Anchor)
	}
	if c := elseCell(list[1], "v8"); c.Text != "Version 0.7.0 → 0.8.0." || c.Href != "" {
		t.Errorf("%+v", c)
	}
}

// The beginning of a text is at least half of what there is room for, whatever its words.
func TestOpening(t *testing.T) {
	long := strings.Repeat("x", 200)
	for s, want := range map[string]string{
		"one two three four":     "one two…",
		"a " + long:              "a " + long[:8] + "…",
		"short":                  "short",
		" " + long:               " " + long[:9] + "…",
		"ééééé " + long:          "ééééé…",
		strings.Repeat("é", 200): strings.Repeat("é", 10) + "…",
	} {
		if got := opening(s, 10); got != want {
			t.Errorf("%.30q: %q, want %q", s, got, want)
		}
	}
}

// Before and after are of the release in which a level began, then of the one that found it.
func TestChangeHasTheValuesOfItsRelease(t *testing.T) {
	of := func(was, is float64) *schema.Verdict {
		return &schema.Verdict{Metric: "ttft", Ref: schema.Num(was), Value: schema.Num(is)}
	}
	c := levelChange{began: of(5100, 5720), verdict: of(5090, 5768)}
	c.At, c.Found, c.Series = "v2", "v3", &judge.Series{Metric: "ttft"}
	if got := c.values().Text; got != "5,100 → 5,720, 5,768" {
		t.Errorf("%q", got)
	}
	if c.began = nil; c.values().Missing != "no verdict on v2 has both values" {
		t.Errorf("%+v", c.values())
	}
}

// The size of a change and its interval are of the same runs: a change lies in its interval.
func TestChangeLiesInItsInterval(t *testing.T) {
	whole := &schema.Together{Runs: 2, Effect: .267, Interval: [2]float64{.168, .354}}
	v := &schema.Verdict{Effect: schema.Num(.431), Interval: &[2]float64{.323, .523}}
	v.Reason = schema.Change{Together: whole}
	c := levelChange{verdict: v}
	c.At, c.Found, c.Series, c.Effect = "v2", "v3", &judge.Series{Metric: "ttft"}, .25
	effect, shown := (&Report{}).shown(&c)
	if e, _ := shown.Effect.Get(); effect != .267 || e != effect || *shown.Interval != whole.Interval {
		t.Errorf("%g, %+v", effect, shown)
	}
	v.Reason = schema.Change{}
	if effect, shown := (&Report{}).shown(&c); effect != .25 || shown != nil {
		t.Errorf("the interval of v3 alone stands beside the change of both: %g, %+v", effect, shown)
	}
	if e, _ := v.Effect.Get(); e != .431 {
		t.Error("the verdict itself was changed")
	}
}
