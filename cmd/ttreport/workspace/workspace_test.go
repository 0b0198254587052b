package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
)

// open writes a configuration and reads it.
func open(t *testing.T, text string) (*workspace.Workspace, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, workspace.ConfigName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return workspace.Open(dir)
}

func TestConfiguration(t *testing.T) {
	ws, err := open(t, `
title: Results of us
judge: {effects: {ttft: 10%}, eval_points: 2, fail_on: [confirmed, suspected]}
decisions:
  - {id: D-1, kind: waive, select: {workload: 128/128/1}, reason: known, owner: jana, expires: 2099-01-31}
releases: [{name: v1, date: 2026-01-31, line: main}]
`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ws.Policy(time.Now())
	if err != nil || p.Effect("ttft") != .1 || p.EvalEffect() != .02 || len(p.Decisions) != 1 ||
		p.Decisions[0].Kind != schema.Waive || p.Decisions[0].Select.Workload != "128/128/1" {
		t.Errorf("%+v %v", p, err)
	}
	if len(ws.FailOn) != 3 || !ws.FailOn[gate.Kind("suspected")] {
		t.Errorf("%v", ws.FailOn)
	}
	if order := ws.Order; len(order) != 1 || order[0].Line != "main" || order[0].Date.Day() != 31 {
		t.Errorf("%+v", order)
	}
}

// Each mistake names the file, the place and what was expected.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"judge: {effects: {ttfft: 5%}}": "ttreport.yaml: judge: effects: no metric is called \"ttfft\"; " +
			"there are ttft",
		"judge: {eval_points: 100}":                     "ttreport.yaml: judge: eval_points: 100",
		"judge: {fail_on: [confirmd]}":                  `ttreport.yaml: judge: fail_on: "confirmd"`,
		"site: {mode: nights}":                          `ttreport.yaml: site.mode "nights": modes are auto, release,`,
		"releases: [{name: v1}, {name: v1}]":            "v1 is listed twice",
		"releases: [{name: v1, date: 31.1.2026}]":       "does not have the form 2026-01-31",
		"decisions: [{id: a, kind: ignore, reason: r}]": `ttreport.yaml: decisions[0] a: kind "ignore"`,
	} {
		ws, err := open(t, text)
		if err == nil {
			_, err = ws.Policy(time.Now())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := open(t, "judge: {effekts: {}}"); err == nil || !strings.Contains(err.Error(), "effekts") {
		t.Errorf("an unknown field: %v", err)
	}
}
