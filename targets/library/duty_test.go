package library_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

// What must hold is in force under every name of a model, and nothing else that is stated for it makes it looser: no
// other file, name or device.
func TestDutiesStandUnderEveryName(t *testing.T) {
	head := func(model, device, kind string) string {
		return "{model: " + model + ", device: " + device + ", " + kind + ", source: s, as_of: 2026-01-01, "
	}
	const ttft = "workload: {isl: 128, osl: 4, concurrency: 1}, metric: ttft, level: complete"
	perf := func(model, device, value, priority string) string {
		return "targets:\n  - " + head(model, device, ttft) + "value: " + value + ", priority: " + priority + "}\n"
	}
	score := func(model, device, value, priority string) string {
		return "evals:\n  - " + head(model, device, "task: gsm8k, metric: acc") + "value: " + value + ", priority: " +
			priority + "}\n"
	}
	m := schema.Model{ID: "meta-llama/Llama-3.1-8B-Instruct", Name: "Llama-3.1-8B-Instruct", Key: "Llama-3.1-8B"}
	for name, c := range map[string]struct {
		files []string
		value float64
	}{
		"the id":                     {[]string{perf(m.ID, "n150", "5", "must")}, 5},
		"an eval of the id":          {[]string{score(m.ID, "n150", "0.9", "must")}, .9},
		"an eval with a blank":       {[]string{score("' "+m.Name+"'", "'n150 '", "0.9", "must")}, .9},
		"a looser one of the name":   {[]string{perf(m.Key, "n150", "5", "must"), perf(m.Name, "n150", "50", "must")}, 5},
		"what should hold":           {[]string{perf(m.Key, "n150", "5", "must"), perf(m.Name, "n150", "50", "should")}, 5},
		"a stricter one of the name": {[]string{perf(m.Key, "n150", "50", "must"), perf(m.Name, "n150", "5", "must")}, 5},
		"of any device": {[]string{"evals:\n  - {model: " + m.Name + ", task: gsm8k, metric: acc, value: 0.9, " +
			"priority: must, source: s, as_of: 2026-01-01}\n", score(m.Name, "n150", "0.1", "must")}, .9},
	} {
		l := library.New()
		for i, text := range c.files {
			for _, p := range l.Add(string(rune('a'+i))+".yaml", []byte(text), "", everyDevice) {
				if p.Severity == schema.SevError {
					t.Fatalf("%s: %v", name, p)
				}
			}
		}
		rows := l.For(m, "n150", nil)
		if len(rows) != 1 || rows[0].Value != c.value || rows[0].Priority != "must" {
			t.Errorf("%s: %+v, want %g", name, rows, c.value)
		}
	}
}

// The source of a target is stored with each run and shown: a secret in it is neither.
func TestSourcesAreRedacted(t *testing.T) {
	l := library.New()
	l.Add("a.yaml", []byte("targets:\n  - {model: m, device: n150, workload: {isl: 1, osl: 1, concurrency: 1}, "+
		"metric: ttft, value: 5, level: complete, source: 'plan at https://u:hunter2@h/t', "+
		"as_of: 2026-01-01}\n"), "", everyDevice)
	rows := l.For(schema.Model{Name: "m"}, "n150", nil)
	if len(rows) != 1 || rows[0].Source != "plan at https://[redacted]@h/t" {
		t.Errorf("%+v", rows)
	}
}
