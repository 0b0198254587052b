package parity_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/parity"
	"github.com/ttreport/ttreport/targets/gate"
)

// reports are the files of one run with points, and verdicts on them.
func reports(t *testing.T, points []schema.Point, targets []schema.Verdict) map[string]string {
	t.Helper()
	in := parity.Input{Model: "M", Device: "n150", Review: gate.Review{Findings: gate.Findings{Targets: targets}},
		Runs: []schema.Run{{ID: "r", Model: schema.Model{ID: "acme/M", Name: "M"}, Points: points}}}
	files, err := parity.Files([]parity.Input{in})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		name, _, _ := strings.Cut(f.Path, "id_")
		out[name] += string(f.Data)
	}
	return out
}

// point is a result of a task with a latency.
func point(task, tool string, conditions map[string]string) schema.Point {
	one := 1.
	ttft, e2el := schema.Of("ttft", "mean", 300), schema.Of("e2el", "mean", 300)
	ttft.N, e2el.N = 4, 4
	return schema.Point{Key: schema.Key{Task: task, Tool: tool, Concurrency: &one}, Status: schema.StatusOK,
		Metrics: schema.MetricList{ttft, e2el}, Conditions: conditions}
}

// A setting that no result states is in no report, neither as false.
func TestUnstatedSettings(t *testing.T) {
	for name, c := range map[string]struct {
		conditions map[string]string
		want       string
	}{
		"not stated": {nil, "n/a"}, // of the table of statistics
		"off":        {map[string]string{"streaming": "false", "preprocessing": "false"}, "false"},
		"on":         {map[string]string{"streaming": "true", "preprocessing": "true"}, "true"},
	} {
		all := reports(t, []schema.Point{point("asr", schema.ToolMedia, c.conditions)}, nil)
		found := 0
		for path, text := range all {
			for _, setting := range []string{`"streaming_enabled": `, `"preprocessing_enabled": `} {
				for _, said := range strings.Split(text, setting)[1:] {
					found++
					if value := strings.ToLower(strings.TrimPrefix(said, `"`)); !strings.HasPrefix(value, c.want) {
						t.Errorf("%s: %s%.8s in %s", name, setting, said, path)
					}
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no report has the settings: %v", name, all)
		}
	}
}

func verdict(p *schema.Point, metric string) schema.Verdict {
	return schema.Verdict{Key: p.Key, Metric: metric, Stat: "mean", Level: schema.LevelTarget, Outcome: schema.Pass,
		Ref: schema.Num(800), Value: schema.Num(300)}
}

// Targets that were not measured are no lack of targets, and those of sound stand beside those of text.
func TestTargetsOfSeveralTasks(t *testing.T) {
	text, sound := point("text", "vllm", nil), point("asr", schema.ToolMedia, nil)
	unmeasured := verdict(&text, "ttft")
	unmeasured.Key.Tool, unmeasured.Value = "", schema.Missing("not measured")
	const none = "No performance targets defined"
	for name, c := range map[string]struct {
		points     []schema.Point
		targets    []schema.Verdict
		has, lacks string
	}{
		"not measured": {
			[]schema.Point{sound}, []schema.Verdict{unmeasured}, "Text-to-Text Performance Benchmark Targets", none},
		"both": {
			[]schema.Point{text, sound}, []schema.Verdict{verdict(&text, "ttft"), verdict(&sound, "e2el")}, "Audio", none},
		"text alone": {
			[]schema.Point{text}, []schema.Verdict{verdict(&text, "ttft")}, "Text-to-Text", "Audio Benchmark Targets"},
		"no targets":    {[]schema.Point{text}, nil, none, "Targets for"},
		"sound at rest": {[]schema.Point{text}, []schema.Verdict{verdict(&sound, "e2el")}, "no result here has one", none},
	} {
		var release string
		for path, all := range reports(t, c.points, c.targets) {
			if strings.HasPrefix(path, "release/report_") {
				release += all
			}
		}
		_, section, ok := strings.Cut(release, "### Performance Benchmark Targets")
		if !ok || !strings.Contains(section, c.has) || strings.Contains(section, c.lacks) {
			t.Errorf("%s: %.900s", name, section)
		}
	}
}

// Targets on two numbers of an embedding are two.
func TestTargetsOfEmbeddings(t *testing.T) {
	p := point("embedding", schema.ToolMedia, nil)
	first := verdict(&p, "ttft")
	first.Ref = schema.Num(111)
	both := reports(t, []schema.Point{p}, []schema.Verdict{first, verdict(&p, "e2el")})
	found := false
	for _, text := range both {
		found = found || strings.Contains(text, `"e2el_ms": 800`)
		if strings.Contains(text, `"e2el_ms": 111`) {
			t.Error("the limit of a TTFT stands as that of E2EL")
		}
	}
	if !found {
		t.Errorf("no report has the limit of E2EL: %v", both)
	}
}
