package site_test

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

func ptr(v float64) *float64 { return &v }

// fixture is a small history: a model on two devices over four releases, two workloads, targets, an eval, a failed
// point; or the same under hostile names.
func fixture(model, device string) ([]schema.Run, render.Input) { return fixtureOf(model, device, 4) }

// fixtureOf is the fixture with another number of releases.
func fixtureOf(model, device string, releases int) ([]schema.Run, render.Input) {
	var runs []schema.Run
	b := columns.NewBuilder()
	for i := range releases {
		for d, dev := range []string{device, "t3k"} {
			r := fixtureRun(model, dev, i, d)
			runs = append(runs, r)
			add(b, r)
		}
	}
	c := b.Seal()
	judged, err := gate.New(context.Background(), c, judge.Releases(c, nil), nil)
	if err != nil {
		panic(err)
	}
	note := "# Notes on " + model + "\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n[x](javascript:alert(1)) " + model
	return runs, render.Input{
		Title: "Results of " + model, Gate: judged, Version: "ttreport test",
		Topics: []string{"method", "verdicts", "files", "environment", "exit-codes", "lints", "targets",
			"decisions", "collect", "run-py", "ci", "plans", "glossary", "site"},
		Licences: []render.Licence{
			{Name: "Apache ECharts", Version: "6", Licence: "Apache-2.0", File: "assets/echarts.LICENSE.txt"},
		},
		Notes: []render.Note{{Release: "v0.12.0", Title: "v0.12.0", Source: note}},
	}
}

// fixtureRun is the run of a release on one of two devices.
func fixtureRun(model, device string, release, which int) schema.Run {
	when := time.Date(2026, 1, 1+release, 0, 0, 0, 0, time.UTC)
	r := schema.Run{
		ID: fmt.Sprintf("run-%d-%d", release, which), Start: when, End: when, Release: fmt.Sprintf("v0.%d.0", 9+release),
		Model: schema.Model{ID: "acme/" + model, Name: model, Status: "COMPLETE"}, Device: schema.Device{Name: device},
		Stack:      schema.Stack{Engine: model, Version: "1"},
		Provenance: map[string]schema.Origin{"device.name": {From: "flag", Where: model}},
		Scores: []schema.Score{{
			Task: model, Metric: "acc", Value: schema.Num(.5), Stderr: schema.Num(.05), N: 100, Total: 200,
			Source: schema.Source{Path: "e", SHA256: strings.Repeat("cd", 32), Format: "lm-eval"},
		}},
		Problems: []schema.Problem{
			{Severity: schema.SevWarning, Path: model, Code: "x", Found: model, Expected: model, Hint: model},
		},
		Points: []schema.Point{fixturePoint(model, release, 1), fixturePoint(model, release, 32)},
	}
	r.Points[1].Key.Dims = map[string]string{"note": model}
	if release == 3 && which == 1 {
		r.Points[1].Status = schema.StatusFailed
		why := schema.Kind{Name: "ttft", Unit: "ms", Why: "no request, none began: " + model}
		r.Points[1].Metrics = schema.MetricList{schema.NewMetric(why)}
	}
	limits := map[string]float64{"functional": 1000, "complete": 120, "target": 60}
	for _, l := range schema.Levels() {
		r.Targets = append(r.Targets, schema.Target{
			Key:    schema.Key{Task: "text", ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(1)},
			Metric: "ttft", Stat: "mean", Value: limits[l], Unit: "ms", Level: l, Source: model,
		})
	}
	return r
}

// fixturePoint is a workload in a release.
func fixturePoint(model string, release int, concurrency float64) schema.Point {
	p := schema.Point{
		Key: schema.Key{
			Task: "text", Tool: "vllm", ISL: ptr(128), OSL: ptr(128), Concurrency: &concurrency, Dataset: "random",
		},
		Status: "ok", Repeat: 1, Command: []string{"run", model},
		Conditions: map[string]string{"x": model},
		Slices: schema.Slices{Step: 1.5, Series: []schema.SliceOf{{Name: "ttft", Values: []float64{110, 120, 140, 130}},
			{Name: schema.GaugeWaiting, Values: []float64{0, 2, math.NaN(), 1}}}},
		Source: schema.Source{Path: model + ".json", SHA256: strings.Repeat("ab", 32), Format: "vllm-serve"},
	}
	at := float64(release)
	means := map[string]float64{"ttft": 100 + 10*at + concurrency, "tpot": 20 - at, "e2el": 2000 + 3*concurrency}
	for name, v := range means {
		m := schema.Of(name, "mean", v)
		m.Stats.Set("median", v*.98)
		m.Stats.Set("p99", v*1.4)
		m.N = 256
		p.Metrics.Put(m)
	}
	p.Metrics.Put(schema.Of("output_tps", "value", 50*concurrency))
	p.Metrics.Put(schema.Of("requests_ok", "value", 8))
	return p
}

// add puts a run into columns as history does.
func add(b *columns.Builder, r schema.Run) {
	run := int32(len(b.C.Runs))
	h := columns.RunHead{
		ID: r.ID, SHA256: r.ID + " as it is", Start: r.Start, End: r.End, Release: r.Release, Channel: r.Channel,
		Model: r.Model, Device: r.Device.Name, Chips: r.Device.Chips, Engine: r.Stack.Engine, Version: r.Stack.Version,
		FirstPoint: len(b.C.Points), Scores: len(r.Scores), Warnings: len(r.Problems),
	}
	for _, p := range r.Points {
		row := columns.PointRow{Run: run, Key: b.Key(p.Key, p.Key.String()), Repeat: 1, Cond: b.Cond(p.Conditions)}
		for i, w := range columns.Statuses() {
			if w == p.Status {
				row.Status = uint8(i)
			}
		}
		b.Begin(&row)
		names := []string{"ttft", "tpot", "e2el", "output_tps", "requests_ok", "osl", "requests_failed"}
		for _, name := range names {
			m, _ := p.Metric(name)
			k := m.Kind()
			if k.Why != "" {
				row.Reason = b.Reason(k.Why)
			}
			for _, s := range m.Stats {
				b.Value(b.StatID(columns.StatID{Metric: name, Stat: s.Name(), Unit: k.Unit}), s.Value)
			}
			if m.N > 0 {
				b.Value(b.StatID(columns.StatID{Metric: name, Stat: "n", Unit: k.Unit}), float64(m.N))
			}
		}
		b.End(row)
	}
	h.PointsEnd = len(b.C.Points)
	for _, t := range r.Targets {
		b.C.Targets = append(b.C.Targets, columns.TargetRow{Run: run, Target: t})
	}
	for _, s := range r.Scores {
		b.C.Scores = append(b.C.Scores, columns.ScoreRow{Run: run, Score: s})
	}
	for _, p := range r.Problems {
		b.C.Problems = append(b.C.Problems, columns.ProblemRow{Run: run, Problem: p})
	}
	b.C.Runs = append(b.C.Runs, h)
}

// sitesFolder is where the sites are that tests share.
var sitesFolder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "ttreport-site-") })

// sites are the functions that build the shared sites once, by model and device.
var sites sync.Map

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // of the time of hundreds of small sites a seventh was collecting garbage
	code := m.Run()
	stopBrowser()
	if dir, err := sitesFolder(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// shared is the folder of the fixture's site, which is built once for all tests: none may change it.
func shared(t *testing.T, model, device string) string {
	t.Helper()
	once, _ := sites.LoadOrStore([2]string{model, device}, sync.OnceValues(func() (string, error) {
		all, err := sitesFolder()
		if err != nil {
			return "", err
		}
		dir, err := os.MkdirTemp(all, "")
		if err != nil {
			return "", err
		}
		_, _, err = buildWith(model, device, site.Options{Dir: dir})
		return dir, err
	}))
	dir, err := once.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// build builds the fixture's site in a folder of one test.
func build(t *testing.T, dir, model, device string) (site.Result, *render.Report) {
	t.Helper()
	res, r, err := buildWith(model, device, site.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return res, r
}

func buildWith(model, device string, opt site.Options) (site.Result, *render.Report, error) {
	runs, in := fixture(model, device)
	r := render.New(in)
	opt.Run = func(i int) (schema.Run, *schema.Problem) { return runs[i], nil }
	res, err := site.Build(context.Background(), r, opt)
	return res, r, err
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[rel] = unpacked(t, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unpacked is a file of a site with its data as text, where they are packed.
func unpacked(t *testing.T, text string) string {
	t.Helper()
	call, packed, ok := strings.Cut(text, `","`)
	if !ok || !strings.HasPrefix(call, "ttreport.packed(") {
		return text
	}
	packed = strings.TrimSuffix(packed, "\");\n")
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return call + `",` + string(data) + ");\n"
}
