package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// releasesOf writes the documents of some releases of a made-up history: two models on two devices, whose numbers vary,
// with steps of one point, of a device and of a system, and with a release that is measured twice.
func releasesOf(t *testing.T, seed uint64, from, to int) {
	t.Helper()
	for m := range 2 {
		for d := range 2 {
			for r := from; r < to; r++ {
				writeRelease(t, seed, m, d, r, "")
			}
		}
	}
}

func writeRelease(t *testing.T, seed uint64, m, d, r int, again string) {
	t.Helper()
	id := fmt.Sprintf("m%d-d%d-r%02d%s", m, d, r, again)
	rnd := rand.New(rand.NewPCG(seed, uint64(m*1000+d*100+r+len(again)*7777)))
	var points []any
	for w := range 12 {
		factor := 1 + .015*rnd.NormFloat64()
		switch {
		case w == 3 && r >= 6, m == 0 && d == 0 && r >= 8: // a point, and a system
			factor *= 1.12
		case d == 1 && r >= 7: // a device
			factor *= 1.09
		case w == 5 && r == 4 && again == "":
			factor *= 1.3
		}
		points = append(points, warmPoint(w, factor))
	}
	day := fmt.Sprintf("2026-%02d-%02dT%02d:00:00Z", r/28+1, r%28+1, len(again))
	document := map[string]any{
		"schema": "ttreport/v1", "id": id, "start": day, "end": day, "release": fmt.Sprintf("v0.%d.0", r),
		"model":  map[string]any{"id": fmt.Sprintf("acme/m-%d", m), "name": fmt.Sprintf("m-%d", m)},
		"device": map[string]any{"name": fmt.Sprintf("dev%d", d)}, "points": points,
		"stack":  map[string]any{"engine": "vllm", "version": fmt.Sprintf("0.%d.0", r)},
		"scores": []any{}, "targets": []any{}, "provenance": map[string]any{}, "problems": []any{},
	}
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	writeWarm(t, fmt.Sprintf("history/m-%d/dev%d/%s.json", m, d, id), string(data))
}

func warmPoint(w int, factor float64) map[string]any {
	ms := func(v float64) map[string]any { return map[string]any{"unit": "ms", "mean": v} }
	return map[string]any{
		"key": map[string]any{
			"task": "text", "tool": "vllm", "isl": 128 << (w % 4), "osl": 128, "concurrency": 1 << (w / 4),
			"dataset": "random",
		},
		"status": "ok", "metrics": map[string]any{
			"ttft": ms(float64(50+w) * factor), "tpot": ms(10 * factor),
			"requests_ok": map[string]any{"unit": "req", "value": 64},
		},
	}
}

func writeWarm(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// warmSite builds, and returns the bytes of the site.
func warmSite(t *testing.T) map[string]string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"build"}, nil, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	files := map[string]string{}
	err := filepath.WalkDir("_site", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// cachesOf lists the files in which a build keeps what it knows.
func cachesOf(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(os.Getenv("XDG_CACHE_HOME") + "/ttreport/*/*")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What a build knows from the ones before changes nothing of its site: whatever was added, changed, removed or damaged
// since, a build that knows nothing makes the same bytes.
func TestWarmIsCold(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	const seed = 1
	t.Setenv("CI", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	releasesOf(t, seed, 0, 10)
	warmSite(t)
	var cold map[string]string
	for _, step := range warmSteps() {
		step.do(t, seed)
		warm := warmSite(t)
		cold = coldSite(t)
		sameFiles(t, step.name, warm, cold)
	}
	caches := cachesOf(t)
	if len(caches) != 2 {
		t.Errorf("a build knows %v; want the units of the site, and the build", caches)
	}
	for i, name := range caches {
		damage(t, name, uint64(i))
		writeRelease(t, seed, 1, 1, 10, "") // as it was, at another time: the last build does not stand
		sameFiles(t, "a damaged "+filepath.Base(name), warmSite(t), cold)
	}
}

// coldSite builds as if nothing was known and no site were there, and leaves the site and what is known as they were.
func coldSite(t *testing.T) map[string]string {
	t.Helper()
	known := os.Getenv("XDG_CACHE_HOME")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	defer t.Setenv("XDG_CACHE_HOME", known)
	if err := os.Rename("_site", "_warm"); err != nil {
		t.Fatal(err)
	}
	files := warmSite(t)
	if err := os.RemoveAll("_site"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("_warm", "_site"); err != nil {
		t.Fatal(err)
	}
	return files
}

func sameFiles(t *testing.T, what string, warm, cold map[string]string) {
	t.Helper()
	if len(warm) != len(cold) {
		t.Errorf("%s: %d files, cold %d", what, len(warm), len(cold))
	}
	for name, data := range cold {
		if warm[name] != data {
			t.Errorf("%s: %s is other than in a cold build", what, name)
		}
	}
}

// warmStep is something that happens to a workspace between two builds.
type warmStep struct {
	name string
	do   func(t *testing.T, seed uint64)
}

func warmSteps() []warmStep {
	config := func(text string) func(*testing.T, uint64) {
		return func(t *testing.T, _ uint64) { writeWarm(t, "ttreport.yaml", text) }
	}
	remove := func(pattern string) func(*testing.T, uint64) {
		return func(t *testing.T, _ uint64) {
			list, _ := filepath.Glob(pattern)
			if len(list) == 0 {
				t.Fatalf("nothing is %s", pattern)
			}
			for _, name := range list {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	accept := "decisions:\n- {id: D-1, kind: accept, release: v0.8.0, select: {model: m-0, device: dev0}, " +
		"owner: ann, " +
		"reason: as planned}\n"
	return []warmStep{
		{"a release more", func(t *testing.T, seed uint64) { releasesOf(t, seed, 10, 11) }},
		{"the newest is measured again", func(t *testing.T, seed uint64) { writeRelease(t, seed, 1, 1, 10, "b") }},
		{"a model more", func(t *testing.T, seed uint64) { writeRelease(t, seed, 2, 0, 10, "") }},
		{"an old run is other", func(t *testing.T, seed uint64) { writeRelease(t, seed+9, 0, 1, 5, "") }},
		{"a decision and a note", func(t *testing.T, seed uint64) {
			config(accept)(t, seed)
			writeWarm(t, "notes/v0.8.0.md", "A new scheduler.\n")
		}},
		{"what matters, and a target", func(t *testing.T, seed uint64) {
			config("judge: {effects: {ttft: 3%}}\n")(t, seed)
			writeWarm(t, "targets/a.yaml", "targets:\n- {model: m-0, device: dev0, metric: ttft, stat: mean, value: 55, "+
				"workload: {task: text, isl: 128, osl: 128, concurrency: 1},\n   "+
				"level: complete, source: plan, as_of: 2026-01-31}\n")
		}},
		{"a release of the middle is gone", remove("history/*/*/*-r07.json")},
	}
}

// damage changes a byte in the middle of a file.
func damage(t *testing.T, name string, seed uint64) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil || len(data) == 0 {
		t.Fatal(name, err)
	}
	data[len(data)/4+rand.New(rand.NewPCG(seed, 3)).IntN(len(data)/2)] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
