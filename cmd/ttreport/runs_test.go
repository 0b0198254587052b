package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ttreport/ttreport/ingest/schema"
)

// runs v1..v9 OPTION=VALUE… stores a run of each model on each device in each release, a day apart. The options are
// models, devices, points (how many workloads), lengths (how many different prompts those have, in turn), metrics (of
// ttft, tpot, e2el, tps and p99, which is TTFT's), noise (its relative standard deviation), date (2026-01-01 is the day
// of v1), suffix (of a second run of a release), and channel, line, version (of the engine) and client.
// change=MODEL/DEVICE/WORKLOAD/METRIC:FACTOR makes what matches it slower; parts may be patterns and the last ones left
// out. creep does so again in each release. score=TASK:SHARE:QUESTIONS is
// an eval. turns=RELEASE measures the release in turns with that one, in as many blocks as blocks says;
// block=B/WORKLOAD:FACTOR makes a turn of the release slower.
func runs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: runs RELEASE..RELEASE OPTION=VALUE…")
	}
	m := made{options: map[string][]string{"models": {"M"}, "devices": {"n150"}, "points": {"4"}, "metrics": {"ttft"},
		"noise": {".005"}, "channel": {"release"}, "blocks": {"4"}, "suffix": {""}, "line": {""}, "client": {""},
		"version": {"1"}, "turns": {""}, "date": {""}, "lengths": {"1"}}, release: args[0]}
	for _, option := range args[1:] {
		name, value, _ := strings.Cut(option, "=")
		if repeated := name == "change" || name == "creep" || name == "score" || name == "block"; repeated {
			m.options[name] = append(m.options[name], value)
		} else if m.options[name] == nil {
			ts.Fatalf("runs has no option %s", name)
		} else {
			m.options[name] = []string{value}
		}
	}
	from, to, several := strings.Cut(args[0], "..")
	last := trailing(from)
	if several {
		last = trailing(to)
	}
	for n := trailing(from); n <= last; n, m.steps = n+1, m.steps+1 {
		if several {
			m.release = strings.TrimRight(from, "0123456789") + fmt.Sprint(n)
		}
		m.day = n
		for model := range strings.SplitSeq(m.text("models"), ",") {
			for device := range strings.SplitSeq(m.text("devices"), ",") {
				m.write(ts, model, device)
			}
		}
	}
}

// trailing is the number at the end of a name.
func trailing(name string) int {
	n, _ := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):])
	return n
}

// made is a release whose runs are made up.
type made struct {
	options    map[string][]string
	release    string
	day, steps int // of the year; since the first release of the command
}

func (m *made) text(option string) string { return m.options[option][0] }

func (m *made) number(option string) float64 {
	v, err := strconv.ParseFloat(m.text(option), 64)
	if err != nil {
		panic(err)
	}
	return v
}

// write stores the run of a model on a device, and that of a baseline with which it took turns.
func (m *made) write(ts *testscript.TestScript, model, device string) {
	id := "run-" + schema.Slug(model+"-"+device+"-"+m.release+m.text("suffix"))
	with := m.text("turns")
	if with == "" {
		m.store(ts, id, m.release, model, device, nil)
		return
	}
	id += "-turns"
	m.store(ts, id, m.release, model, device, map[string]any{"with": id + "-base", "side": "candidate"})
	m.store(ts, id+"-base", with, model, device, map[string]any{"with": id, "side": "baseline"})
}

func (m *made) store(ts *testscript.TestScript, id, release, model, device string, turns map[string]any) {
	start := time.Date(2026, 1, m.day, 3, 4, 5, 0, time.UTC)
	if date := m.text("date"); date != "" {
		var err error
		start, err = time.Parse(time.DateOnly, date)
		ts.Check(err)
	}
	if m.text("suffix") != "" || turns != nil {
		start = start.Add(6 * time.Hour)
	}
	doc := map[string]any{"schema": "ttreport/v1", "id": id, "start": start, "end": start.Add(time.Hour),
		"release": release, "channel": m.text("channel"),
		"model":   map[string]string{"id": "acme/" + model, "name": model, "key": model},
		"device":  map[string]string{"name": device},
		"stack":   map[string]string{"engine": "vllm", "version": m.text("version")},
		"targets": []any{}, "provenance": map[string]any{}, "problems": []any{}}
	if line := m.text("line"); line != "" {
		doc["line"] = line
	}
	blocks := 0
	if turns != nil {
		doc["interleaved"], blocks = turns, int(m.number("blocks"))
		if turns["side"] == "baseline" {
			doc["channel"] = "dev"
		}
	}
	points := []any{}
	for w := range int(m.number("points")) {
		for block := range max(1, blocks) {
			p := m.point(id, model, device, w+1, block+1, turns)
			if blocks > 0 {
				p["block"], p["repeat"] = block+1, block+1
			}
			points = append(points, p)
		}
	}
	scores := []any{}
	for _, s := range m.options["score"] {
		f := strings.Split(s, ":")
		share, _ := strconv.ParseFloat(f[1], 64)
		n, _ := strconv.Atoi(f[2])
		scores = append(scores, map[string]any{"task": f[0], "metric": "acc", "direction": "higher", "value": share,
			"n": n, "total": n, "source": source(id, "scores")})
	}
	doc["points"], doc["scores"] = points, scores
	b, err := json.Marshal(doc)
	ts.Check(err)
	dir := ts.MkAbs(filepath.Join("history", model, device))
	ts.Check(os.MkdirAll(dir, 0o777))
	ts.Check(os.WriteFile(filepath.Join(dir, id+".json"), b, 0o666))
}

func source(id, name string) map[string]string {
	return map[string]string{"path": "raw/" + id + "/" + name + ".json", "sha256": fmt.Sprintf("%064x", hashOf(id, name)),
		"format": "vllm-serve"}
}

func hashOf(parts ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, parts...)
	return h.Sum64()
}

// point is a workload as a run measured it: TTFT is 100 ms a workload, the other metrics follow from it.
func (m *made) point(id, model, device string, workload, block int, turns map[string]any) map[string]any {
	value := func(metric string, way float64) map[string]any {
		r := rand.New(rand.NewPCG(hashOf(id, model, device, workload, metric, block), 1))
		z := m.number("noise")*r.NormFloat64() + m.changed(model, device, workload, metric)
		if turns != nil && turns["side"] == "baseline" {
			z -= m.changed(model, device, workload, metric)
		} else if turns != nil {
			z += m.factor("block", []string{fmt.Sprint(block), fmt.Sprint(workload)})
		}
		base := 100 * float64(workload) * (1 + float64(hashOf(model, device, metric)%100)/50)
		return map[string]any{"v": math.Round(1000*base*math.Exp(way*z)) / 1000}
	}
	metrics := map[string]any{"requests_ok": map[string]any{"unit": "req", "value": 2000}}
	for metric := range strings.SplitSeq(m.text("metrics"), ",") {
		switch metric {
		case "ttft", "tpot", "e2el":
			v := value(metric, 1)["v"]
			metrics[metric] = map[string]any{"unit": "ms", "mean": v, "median": v, "n": 2000}
		case "tps":
			metrics["output_tps"] = map[string]any{"unit": "tok/s", "value": value(metric, -1)["v"]}
		}
	}
	tails := slices.Contains(strings.Split(m.text("metrics"), ","), "p99")
	if ttft, has := metrics["ttft"].(map[string]any); has && tails {
		ttft["p99"] = 2 * value("p99", 1)["v"].(float64)
	}
	from := source(id, fmt.Sprint(workload, "-", block))
	if client := m.text("client"); client != "" {
		from["tool_version"] = client
	}
	return map[string]any{"key": map[string]any{"task": "text", "tool": "vllm",
		"isl": 128 * (1 + (workload-1)%int(m.number("lengths"))), "osl": 128,
		"concurrency": workload, "dataset": "random"}, "source": from, "status": "ok", "metrics": metrics}
}

// changed is by how much the options make a number of a release slower, on the log scale.
func (m *made) changed(model, device string, workload int, metric string) float64 {
	of := []string{model, device, fmt.Sprint(workload), metric}
	return m.factor("change", of) + float64(m.steps+1)*m.factor("creep", of)
}

func (m *made) factor(option string, of []string) (log float64) {
	for _, text := range m.options[option] {
		selector, factor, _ := strings.Cut(text, ":")
		matches := true
		for i, part := range strings.Split(selector, "/") {
			ok, _ := path.Match(part, of[i])
			matches = matches && ok
		}
		if f, err := strconv.ParseFloat(factor, 64); matches && err == nil {
			log += math.Log(f)
		}
	}
	return log
}
