package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

type object = map[string]any

// story is a history of six releases of M on n150: six workloads and an eval, the last release with two runs.
type story struct {
	docs []object
	file object // other files of the workspace, by name
	args []string
}

// storyOf makes a history in which v6 has TTFT, TPOT and throughput of this many times the others', and this score.
func storyOf(slow, score float64) *story {
	s := &story{file: object{}, args: []string{"check"}}
	for n := 1; n <= 7; n++ {
		name, factor, right := fmt.Sprint("v", min(n, 6)), 1., .8
		if n >= 6 {
			factor, right = slow, score
		}
		doc := object{
			"schema": "ttreport/v1", "id": fmt.Sprint("run-", n), "release": name, "channel": "release",
			"start": fmt.Sprintf("2026-01-%02dT03:04:05Z", n), "end": fmt.Sprintf("2026-01-%02dT04:04:05Z", n),
			"model": object{"id": "acme/M", "name": "M", "key": "M"}, "device": object{"name": "n150"},
			"stack": object{"engine": "vllm"}, "provenance": object{}, "problems": []any{}, "targets": []any{},
		}
		var points []any
		for c := 1; c <= 6; c++ {
			ms := factor * (100*float64(c) + .3137*float64((n*7+c*5)%11)) // less than a percent of noise
			points = append(points, object{
				"key":    object{"task": "text", "tool": "vllm", "isl": 128, "osl": 128, "concurrency": c},
				"source": object{"path": fmt.Sprintf("raw/%d-%d.json", n, c), "format": "vllm-serve"}, "status": "ok",
				"metrics": object{
					"ttft":        object{"unit": "ms", "def": "first-content", "mean": ms, "median": ms, "n": 200},
					"tpot":        object{"unit": "ms", "mean": ms / 10, "median": ms / 10, "n": 200},
					"output_tps":  object{"unit": "tok/s", "value": 1e5 / ms},
					"requests_ok": object{"unit": "req", "value": 200},
				},
			})
		}
		doc["points"] = points
		doc["scores"] = []any{object{
			"task": "gsm8k", "metric": "acc", "filter": "none", "value": right + .001*float64(n%3), "stderr": .01,
			"n": 1000, "total": 1000, "direction": "higher", "version": "3",
			"source": object{"path": fmt.Sprintf("raw/%d-e.json", n), "format": "lm-eval"},
		}}
		s.docs = append(s.docs, doc)
	}
	return s
}

func (s *story) newest() []object { return s.docs[5:] }

// each changes the metrics of so many workloads of the newest release.
func (s *story) each(workloads int, change func(object)) {
	for _, d := range s.newest() {
		for i, p := range d["points"].([]any) {
			if i < workloads {
				change(p.(object)["metrics"].(object))
			}
		}
	}
}

func (s *story) score(member string, value any) {
	for _, d := range s.newest() {
		d["scores"].([]any)[0].(object)[member] = value
	}
}

func (s *story) head(member string, value any) {
	for _, d := range s.newest() {
		d[member] = value
	}
}

func nameOf(d object) string { return filepath.Join("history", "M", "n150", d["id"].(string)+".json") }

// check writes the history, lets tamper change the files, and runs the command.
func (s *story) check(t *testing.T, tamper func(name string, data []byte) (string, []byte)) (code int, said string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i, d := range s.docs {
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		name := nameOf(d)
		if tamper != nil && i >= 5 {
			name, data = tamper(name, data)
		}
		lay(t, name, string(data))
	}
	for name, text := range s.file {
		lay(t, name, text.(string))
	}
	var out strings.Builder
	code = run(context.Background(), s.args, strings.NewReader(""), &out, &out)
	return code, out.String()
}

// trick hides that v6 is worse, or that something of it is lost.
type trick struct {
	do     func(*story)
	tamper func(name string, data []byte) (string, []byte)
	code   int    // 1, unless said otherwise
	says   string // in the headline
}

func replaced(old, with string) func(string, []byte) (string, []byte) {
	return func(name string, data []byte) (string, []byte) {
		return name, []byte(strings.ReplaceAll(string(data), old, with))
	}
}

func drop(names ...string) func(object) {
	return func(m object) {
		for _, n := range names {
			delete(m, n)
		}
	}
}

func set(metric, member string, value any) func(object) {
	return func(m object) { m[metric].(object)[member] = value }
}

func lostTricks() map[string]trick {
	const invalid, missing = "makes numbers invalid", "required, planned or tried number"
	return map[string]trick{
		"eval without a value":   {do: func(s *story) { s.score("value", nil) }, says: invalid},
		"eval in quotes":         {do: func(s *story) { s.score("value", "0.6") }, says: invalid},
		"eval NaN in quotes":     {do: func(s *story) { s.score("value", "NaN") }, says: invalid},
		"eval flipped":           {do: func(s *story) { s.score("direction", "lower") }, says: "invalid"},
		"eval odd direction":     {do: func(s *story) { s.score("direction", "up") }, says: invalid},
		"eval huge error":        {do: func(s *story) { s.score("stderr", 5) }, says: "invalid"},
		"eval large error":       {do: func(s *story) { s.score("stderr", .2) }, says: "invalid"},
		"eval under a filter":    {do: func(s *story) { s.score("filter", "strict") }, says: missing},
		"eval under a metric":    {do: func(s *story) { s.score("metric", "acc2") }, says: missing},
		"unit of all":            {do: func(s *story) { s.each(6, set("ttft", "unit", "s")) }, says: invalid},
		"unit of some":           {do: func(s *story) { s.each(3, set("ttft", "unit", "s")) }, says: invalid},
		"definition of all":      {do: func(s *story) { s.each(6, set("ttft", "def", "other")) }, says: missing},
		"definition of some":     {do: func(s *story) { s.each(2, set("ttft", "def", "other")) }, says: missing},
		"metric dropped":         {do: func(s *story) { s.each(2, drop("ttft")) }, says: missing},
		"metric null":            {do: func(s *story) { s.each(2, set("ttft", "mean", nil)) }, says: invalid},
		"metric with a reason":   {do: func(s *story) { s.each(2, reasoned) }, says: missing},
		"numbers in quotes":      {do: func(s *story) { s.each(6, set("ttft", "mean", "1.0")) }, says: invalid},
		"one number in quotes":   {do: func(s *story) { s.each(1, set("output_tps", "value", "1.0")) }, says: invalid},
		"negative":               {do: func(s *story) { s.each(1, set("ttft", "mean", -1)) }, says: "invalid"},
		"zero":                   {do: func(s *story) { s.each(1, set("ttft", "mean", 0)) }, says: "invalid"},
		"huge error":             {do: func(s *story) { s.each(6, set("ttft", "se", 1e9)) }, says: "invalid"},
		"status misspelt":        {tamper: replaced(`"status":"ok"`, `"status":"failled"`), says: invalid},
		"all failed":             {tamper: replaced(`"status":"ok"`, `"status":"failed"`), says: missing},
		"all invalid":            {tamper: replaced(`"status":"ok"`, `"status":"invalid"`), says: "invalid"},
		"time that is none":      {do: func(s *story) { s.head("start", "yesterday") }, says: invalid},
		"another schema":         {do: func(s *story) { s.head("schema", "ttreport/v2") }, says: invalid},
		"list for a text":        {do: func(s *story) { s.head("release", []any{"v6"}) }, says: invalid},
		"two releases":           {tamper: replaced(`"release":`, `"release":"v6","release":`), says: invalid},
		"two lists of points":    {tamper: replaced(`"points":`, `"points":[],"points":`), says: invalid},
		"two means":              {tamper: replaced(`"mean":`, `"mean":1,"mean":`), says: invalid},
		"two metrics":            {tamper: replaced(`"ttft":`, `"ttft":{},"ttft":`), says: invalid},
		"two scores of one name": {tamper: replaced(`"stderr":`, `"value":0.8,"stderr":`), says: invalid},
		"more after the end": {tamper: func(n string, b []byte) (string, []byte) {
			return n, append(b, "{}"...)
		}, says: invalid},
		"cut":   {tamper: func(n string, b []byte) (string, []byte) { return n, b[:300] }, says: invalid},
		"empty": {tamper: func(n string, _ []byte) (string, []byte) { return n, nil }, says: invalid},
		"hidden": {tamper: func(n string, b []byte) (string, []byte) {
			return filepath.Join(filepath.Dir(n), "."+filepath.Base(n)), b
		}, says: invalid},
		"renamed":  {tamper: func(n string, b []byte) (string, []byte) { return n + ".bak", b }, says: invalid},
		"a suffix": {tamper: func(n string, b []byte) (string, []byte) { return n[:len(n)-2], b }, says: invalid},
		"capitals": {tamper: func(n string, b []byte) (string, []byte) {
			return strings.Replace(n, ".json", ".JSON", 1), b
		}, says: invalid},
		"compressed": {tamper: func(n string, b []byte) (string, []byte) {
			var z strings.Builder
			w := gzip.NewWriter(&z)
			_, _ = w.Write(b)
			_ = w.Close()
			return n + ".gz", []byte(z.String())
		}, says: invalid},
		"an archive": {tamper: func(n string, _ []byte) (string, []byte) {
			return filepath.Join(filepath.Dir(n), "old.zip"), []byte("PK\x03\x04 and so on")
		}, says: invalid},
	}
}

func reasoned(m object) { m["ttft"] = object{"unit": "ms", "missing": "not streamed"} }

// What was measured before and is lost, unreadable, without a value or another number now fails, and the headline says
// so. The numbers of v6 are good, so nothing else fails.
func TestLostNumbersFail(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	if code, said := storyOf(1, .8).check(t, nil); code != 0 || !strings.Contains(said, "PASS\n") {
		t.Fatalf("without a trick: exit %d: %s", code, said)
	}
	for name, x := range lostTricks() {
		s := storyOf(1, .8)
		if x.do != nil {
			x.do(s)
		}
		code, said := s.check(t, x.tamper)
		if code != 1 || !strings.Contains(said, x.says) &&
			!strings.Contains(said, strings.Replace(x.says, "makes", "make", 1)) {
			t.Errorf("%s: exit %d, and it does not say %q: %.600s", name, code, x.says, said)
		}
	}
}

func hidingTricks() map[string]trick {
	config := func(text string) func(*story) { return func(s *story) { s.file["ttreport.yaml"] = text } }
	args := func(list ...string) func(*story) { return func(s *story) { s.args = append(s.args, list...) } }
	targets := func(text string) func(*story) { return func(s *story) { s.file["targets/a.yaml"] = text } }
	const row = "targets:\n  - {model: M, device: n150, source: s, as_of: 2026-01-01, "
	return map[string]trick{
		"channel misspelt":   {do: func(s *story) { s.head("channel", "relaese") }, says: "invalid"},
		"date in the future": {do: func(s *story) { s.docs[4]["start"] = "2099-01-01T00:00:00Z" }, says: "invalid"},
		"no date":            {do: func(s *story) { delete(s.docs[4], "start") }, says: "invalid"},
		"date in the past":   {do: func(s *story) { s.head("start", "2001-01-01T00:00:00Z") }, says: "invalid"},
		"date in the list":   {do: config("releases:\n  - {name: v5, date: 2099-01-01}\n"), says: "invalid"},
		"copy of a part":     {do: copyOfAPart, says: "(all 18 numbers), suspected"},
		"more repeats": {do: func(s *story) {
			s.docs = append(s.docs, storyOf(1.01, .8).docs[6])
			s.docs[7]["id"] = "run-8"
		}, says: "regressed"},
		"fail_on: []":         {do: config("judge: {fail_on: []}\n"), code: exitUsage, says: "none"},
		"fail_on: ['']":       {do: config("judge: {fail_on: ['']}\n"), code: exitUsage, says: "none"},
		"fail_on: none, …":    {do: config("judge: {fail_on: [none, target]}\n"), code: exitUsage, says: "none"},
		"--fail-on ''":        {do: args("--fail-on", ""), code: exitUsage, says: "none"},
		"--fail-on ,":         {do: args("--fail-on", ","), code: exitUsage, says: "none"},
		"--fail-on suspected": {do: args("--fail-on", "suspected"), says: "confirmed"},
		"two configurations":  {do: config("title: a\n---\njudge: {fail_on: [none]}\n"), code: exitUsage, says: "one"},
		"two lists":           {do: config("judge: {fail_on: [none]}\njudge: {}\n"), code: exitUsage, says: "judge"},
		"ttreport.yml": {do: func(s *story) { s.file["ttreport.yml"] = "title: a\n" }, code: exitUsage,
			says: "ttreport.yaml"},
		"a level": {do: targets(row + "metric: ttft, value: 1, level: complet}\n"), code: exitUsage,
			says: "complet"},
		"a metric":    {do: targets(row + "metric: tttft, value: 1}\n"), code: exitUsage, says: "tttft"},
		"a statistic": {do: targets(row + "metric: ttft, stat: maen, value: 1}\n"), code: exitUsage, says: "maen"},
		"a field":     {do: targets(row + "metric: ttft, value: 1, levl: target}\n"), code: exitUsage, says: "levl"},
		"a section":   {do: targets("target:\n  - {}\n"), code: exitUsage, says: "target"},
		"no section":  {do: targets("- a\n"), code: exitUsage, says: "targets/a.yaml"},
		"a value":     {do: targets(row + "metric: ttft, value: .nan}\n"), code: exitUsage, says: "NaN"},
		"a huge tolerance": {do: targets(row + "metric: ttft, value: 1, tolerance: 100}\n"), code: exitUsage,
			says: "tolerance"},
		"targets that are cut": {do: targets(row), code: exitUsage, says: "targets/a.yaml"},
	}
}

// copyOfAPart puts one point of the newest run where it is read first.
func copyOfAPart(s *story) {
	s.docs = s.docs[:6] // v6 has one run
	s.args = append(s.args, "--fail-on", "suspected,confirmed")
	d := object{}
	for k, v := range s.docs[5] {
		d[k] = v
	}
	d["id"], d["points"], d["scores"], d["release"] = "a", d["points"].([]any)[:1], []any{}, "v5"
	s.docs = append([]object{d}, s.docs...)
}

// A regression that is there is not hidden by what stands around it.
func TestHiddenRegressionsFail(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	const found = "(all 18 numbers), confirmed by a re-run"
	if code, said := storyOf(2, .6).check(t, nil); code != 1 || !strings.Contains(said, found) {
		t.Fatalf("without a trick: exit %d: %s", code, said)
	}
	for name, x := range hidingTricks() {
		s := storyOf(2, .6)
		x.do(s)
		code, said := s.check(t, x.tamper)
		if want := max(x.code, 1); code != want || !strings.Contains(said, x.says) {
			t.Errorf("%s: exit %d, want %d, and it says %q: %.600s", name, code, want, x.says, said)
		}
	}
}

// What is moved out of what is judged passes with a count in the headline, and so do runs under the name of a release
// that was judged before.
func TestMovedRunsAreCounted(t *testing.T) {
	moved := func(member string, value any) func(*story) { return func(s *story) { s.head(member, value) } }
	for name, x := range map[string]trick{
		"to channel pr":  {do: moved("channel", "pr"), says: "2 newer runs are not judged: 2 in channel pr"},
		"to channel dev": {do: moved("channel", "dev"), says: "2 newer runs are not judged: 2 in channel dev"},
		"to no release": {do: func(s *story) { s.head("release", ""); s.head("channel", "") },
			says: "2 without a release"},
		"to v5":             {do: moved("release", "v5"), says: "2 of 3 runs began a day or more after the first"},
		"to v4":             {do: moved("release", "v4"), says: "2 newer runs are not judged: 2 of v4"},
		"one of them to pr": {do: func(s *story) { s.docs[6]["channel"] = "pr" }, says: "1 newer run is not judged"},
	} {
		s := storyOf(2, .6)
		x.do(s)
		if _, said := s.check(t, nil); !strings.Contains(said, x.says) {
			t.Errorf("%s: it does not say %q: %.600s", name, x.says, said)
		}
	}
	s := storyOf(1, .8)
	s.docs = s.docs[:6]
	if _, said := s.check(t, nil); strings.Contains(said, "newer") || strings.Contains(said, "after the first") {
		t.Errorf("nothing is moved: %.600s", said)
	}
}

// A pull request is one build of channel pr, whatever its files state: neither the name of a judged release nor another
// channel nor an old commit makes its regression pass.
func TestPullRequestsStateNothingOfThemselves(t *testing.T) {
	for name, change := range map[string]func(object){
		"nothing":         func(object) {},
		"channel dev":     func(d object) { d["channel"] = "dev" },
		"another release": func(d object) { d["release"] = "v5" },
		"no release":      func(d object) { d["release"], d["channel"] = "", "" },
		"an old commit":   func(d object) { d["stack"] = object{"engine": "vllm", "commits": object{"vllm": "abc"}} },
	} {
		s := storyOf(2, .8)
		for i, d := range s.docs {
			if d["stack"] = (object{"engine": "vllm", "commits": object{"vllm": fmt.Sprint("c", i)}}); i == 4 {
				d["stack"] = object{"engine": "vllm", "commits": object{"vllm": "abc"}}
			}
		}
		for _, d := range s.newest() {
			d["release"], d["channel"] = "change", ""
			change(d)
		}
		s.check(t, func(name string, data []byte) (string, []byte) { return "change/" + filepath.Base(name), data })
		var out strings.Builder
		code := run(context.Background(), []string{"check", "change"}, strings.NewReader(""), &out, &out)
		if code != exitGate || !strings.Contains(out.String(), "(all 18 numbers), confirmed by a re-run") ||
			strings.Contains(out.String(), "same build") {
			t.Errorf("%s: exit %d: %.700s", name, code, out.String())
		}
	}
}

// What the documentation lists as not failing passes with a count in the headline.
func TestAnnouncedGapsAreCounted(t *testing.T) {
	key := func(member string, value any) func(*story) {
		return func(s *story) {
			for _, d := range s.newest() {
				for _, p := range d["points"].([]any) {
					p.(object)["key"].(object)[member] = value
				}
			}
		}
	}
	for name, x := range map[string]trick{
		"workloads renamed": {do: key("dims", object{"x": "y"}), says: "6 measurements of v5 were not measured again in v6"},
		"other lengths":     {do: key("isl", 129), says: "6 measurements of v5 were not measured again in v6"},
		"another dataset":   {do: key("dataset", "other"), says: "6 measurements of v5 were not measured again in v6"},
		"fewer points": {do: func(s *story) {
			for _, d := range s.newest() {
				d["points"] = d["points"].([]any)[3:]
			}
		}, says: "3 measurements of v5 were not measured again in v6"},
		"no eval":      {do: func(s *story) { s.head("scores", []any{}) }, says: "1 measurement of v5 was not"},
		"another task": {do: func(s *story) { s.score("task", "gsm9k") }, says: "1 measurement of v5 was not"},
	} {
		s := storyOf(1, .8)
		x.do(s)
		code, said := s.check(t, nil)
		if code != 0 || !strings.Contains(said, x.says) || !strings.Contains(said, "PASS with warnings") {
			t.Errorf("%s: exit %d, and it does not say %q: %.600s", name, code, x.says, said)
		}
		s.args = append(s.args, "--fail-on", "not-remeasured")
		if code, _ := s.check(t, nil); code != 1 {
			t.Errorf("%s: exit %d with --fail-on not-remeasured", name, code)
		}
	}
}
