package tool

import (
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"
)

// ScriptResult is the file that an exec command writes below {out}: {"metrics": {"my_ms": {"value": 12.3, "unit":
// "ms", "better": "lower"}}}.
const ScriptResult = "metrics.json"

// placeholders are what a command line of the user may hold.
const placeholders = "{url} {model} {isl} {osl} {concurrency} {rate} {requests} {seed} {tokenizer} {out}"

// Script is a benchmark of the user's own: a name and a command line from ttreport.yaml that writes one file of
// metrics. A command line with a length, a concurrency or a rate runs for every workload, any other once per plan;
// one without {url} needs no server.
func Script(name, line string) (Adapter, error) {
	words, err := shellquote.Split(line)
	if err != nil {
		return Adapter{}, fmt.Errorf("the command cannot be split into words: %w", err)
	}
	if len(words) == 0 {
		return Adapter{}, fmt.Errorf("no command")
	}
	if !strings.Contains(line, "{out}") {
		return Adapter{}, fmt.Errorf("the command does not use {out}, the folder for its result file %s", ScriptResult)
	}
	if rest := fill(Job{}, "", line); strings.Contains(rest, "{") {
		rest = rest[strings.IndexByte(rest, '{'):]
		return Adapter{}, fmt.Errorf("an unknown placeholder at %.20q; there are %s", rest, placeholders)
	}
	once := true
	for _, p := range []string{"{isl}", "{osl}", "{concurrency}", "{rate}"} {
		once = once && !strings.Contains(line, p)
	}
	command := func(j Job, out string, _ Flags) Command {
		var argv args
		for _, w := range words[1:] {
			argv = argv.add(fill(j, out, w))
		}
		return Command{Argv: argv.add(j.Extra...), Conditions: j.conditions()}
	}
	return Adapter{
		Name: name, Program: words[0], Once: once, Offline: !strings.Contains(line, "{url}"),
		Command: command, Read: scriptRead,
	}, nil
}

// fill replaces the placeholders of a text with a job's values.
func fill(j Job, out, text string) string {
	return strings.NewReplacer("{url}", j.URL, "{model}", j.Model, "{isl}", itoa(j.ISL), "{osl}", itoa(j.OSL),
		"{concurrency}", itoa(j.Concurrency), "{rate}", ftoa(j.Rate), "{requests}", itoa(j.Requests), "{seed}", utoa(j.Seed),
		"{tokenizer}", j.Tokenizer, "{out}", out).Replace(text)
}

func scriptRead(out string) (Summary, error) {
	s := Summary{File: ScriptResult}
	var r struct {
		Metrics map[string]struct{ Value *float64 }
	}
	if err := readJSON(out, s.File, "the command left no "+s.File, &r); err != nil {
		return s, err
	}
	for _, m := range r.Metrics {
		if m.Value != nil {
			s.Completed++
		}
	}
	if s.Completed == 0 {
		const expected = `{"metrics": {"my_ms": {"value": 12.3, "unit": "ms", "better": "lower"}}}`
		return s, fmt.Errorf("%s holds no metric; expected %s", s.File, expected)
	}
	return s, nil
}
